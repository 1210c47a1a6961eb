//! What a description must be for the host to use the module: names that do not clash, selectors that mean something.

use std::collections::BTreeSet;

use crate::model::description::{Attribute, AttributeType, Block, Description};

/// Names of blocks that every resource has, which no attribute may take.
const RESERVED_NAMES: [&str; 1] = ["meta"];

/// Refuses a description that cannot be served, with the reason in words.
pub(super) fn check(description: &Description) -> Result<(), String> {
    if description.schema_version == 0 {
        return Err("`schema-version` is 0: it counts from 1".into());
    }
    check_names(description)?;
    check_attributes(&description.attributes)?;
    description.blocks.iter().try_for_each(check_block)?;
    check_ensure(description)?;
    check_selectors(description)
}

/// Attributes with their aliases, blocks and outputs share one namespace; the attributes of each block have one of their own.
fn check_names(description: &Description) -> Result<(), String> {
    let blocks = description.blocks.iter().map(|block| &block.name);
    let outputs = description.outputs.iter().map(|output| &output.name);
    check_namespace(spellings(&description.attributes).chain(blocks).chain(outputs))?;
    description.blocks.iter().try_for_each(|block| {
        check_namespace(spellings(&block.attributes)).map_err(|error| format!("in the block `{}`: {error}", block.name))
    })
}

fn spellings(attributes: &[Attribute]) -> impl Iterator<Item = &String> {
    attributes.iter().flat_map(|a| std::iter::once(&a.name).chain(&a.aliases))
}

fn check_namespace<'a>(names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for name in names {
        let word = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.len() <= 63
            && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        if !word {
            return Err(format!("`{}` is not an attribute name", crate::model::key::escape(name)));
        }
        if RESERVED_NAMES.contains(&name.as_str()) {
            return Err(format!("the attribute name `{name}` is reserved"));
        }
        if !seen.insert(name) {
            return Err(format!("the attribute name `{name}` occurs twice"));
        }
    }
    Ok(())
}

fn check_block(block: &Block) -> Result<(), String> {
    let name = &block.name;
    if let Some(exported) = block.attributes.iter().find(|attribute| attribute.exported) {
        return Err(format!("the attribute `{}` of the block `{name}` is exported, and nobody could read it", exported.name));
    }
    check_attributes(&block.attributes).map_err(|error| format!("in the block `{name}`: {error}"))
}

fn check_attributes(attributes: &[Attribute]) -> Result<(), String> {
    attributes.iter().try_for_each(check_attribute)?;
    attributes.iter().try_for_each(|attribute| check_checksum(attribute, attributes))
}

/// A checksum is of exactly one source beside it.
fn check_checksum(attribute: &Attribute, all: &[Attribute]) -> Result<(), String> {
    let Some(of) = &attribute.checksum_of else { return Ok(()) };
    let name = &attribute.name;
    if !all.iter().any(|other| other.source && other.name == *of) {
        return Err(format!("the attribute `{name}` is the checksum of `{of}`, which is no source beside it"));
    }
    if attribute.attribute_type != AttributeType::String || attribute.sensitive {
        return Err(format!("the attribute `{name}` is a checksum and not plain text"));
    }
    if all.iter().any(|other| other.name != *name && other.checksum_of.as_ref() == Some(of)) {
        return Err(format!("the attribute `{name}` is a second checksum of `{of}`"));
    }
    Ok(())
}

fn check_attribute(attribute: &Attribute) -> Result<(), String> {
    let name = &attribute.name;
    if attribute.identity && attribute.sensitive {
        return Err(format!("the attribute `{name}` is identity and sensitive: what names an object cannot be hidden"));
    }
    if attribute.source && (attribute.attribute_type != AttributeType::String || attribute.sensitive) {
        return Err(format!("the attribute `{name}` names a source and is not plain text"));
    }
    match &attribute.default {
        Some(_) if attribute.required => Err(format!("the required attribute `{name}` has a default")),
        Some(default) if !attribute.attribute_type.accepts(default) => {
            Err(format!("the default of the attribute `{name}` is not of its type"))
        }
        _ => Ok(()),
    }
}

fn check_ensure(description: &Description) -> Result<(), String> {
    let Some(ensure) = &description.ensure else { return Ok(()) };
    if !description.attributes.iter().any(|attribute| attribute.name == "ensure") {
        return Err("it has words for `ensure` but no such attribute".into());
    }
    let known: BTreeSet<&str> = ensure.values.iter().map(|(word, _)| word.as_str()).collect();
    if known.len() != ensure.values.len() || known.is_empty() {
        return Err("the words of `ensure` are empty or occur twice".into());
    }
    let unknown = ensure.aliases.iter().find(|(alias, word)| known.contains(alias.as_str()) || !known.contains(word.as_str()));
    if let Some((alias, _)) = unknown {
        return Err(format!("the `ensure` alias `{alias}` is a word itself, or means none"));
    }
    match &ensure.default {
        Some(word) if !known.contains(word.as_str()) => Err(format!("the `ensure` default `{word}` is not one of its words")),
        _ => Ok(()),
    }
}

fn check_selectors(description: &Description) -> Result<(), String> {
    let selectors = &description.selectors;
    let attribute = |name: &String| description.attributes.iter().any(|attribute| attribute.name == *name);
    let inputs = [&selectors.equality, &selectors.replace, &selectors.replace_when];
    if let Some(name) = inputs.into_iter().flatten().find(|name| !attribute(name)) {
        return Err(format!("the selector `{name}` is not an attribute"));
    }
    let mut replacing = BTreeSet::new();
    if let Some(name) = selectors.replace.iter().chain(&selectors.replace_when).find(|name| !replacing.insert(*name)) {
        return Err(format!("the selector `{name}` replaces in two ways"));
    }
    if !selectors.drift.is_empty() && !selectors.has_stable_id {
        return Err("it replaces on drift without a stable id".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::description::{BlockKind, Ensure, Output, Selectors};

    fn attribute(name: &str) -> Attribute {
        Attribute {
            name: name.into(),
            aliases: vec![],
            attribute_type: AttributeType::String,
            required: false,
            nullable: false,
            sensitive: false,
            exported: false,
            identity: false,
            source: false,
            default: None,
            checksum_of: None,
            doc: String::new(),
        }
    }

    fn description(attributes: Vec<Attribute>) -> Description {
        Description {
            type_name: "thing".parse().unwrap(),
            schema_version: 1,
            summary: String::new(),
            attributes,
            blocks: vec![],
            outputs: vec![],
            ensure: None,
            capabilities: vec![],
            selectors: Selectors::default(),
        }
    }

    #[test]
    fn a_plain_description_passes() {
        assert_eq!(check(&description(vec![attribute("path"), attribute("tags")])), Ok(()));
    }

    #[test]
    fn each_bad_description_is_refused_by_name() {
        let bad = |change: &dyn Fn(&mut Description)| {
            let mut description = description(vec![attribute("path"), attribute("ensure")]);
            change(&mut description);
            check(&description).unwrap_err()
        };
        assert!(bad(&|d| d.schema_version = 0).contains("schema-version"));
        assert!(bad(&|d| d.attributes.push(attribute("path"))).contains("twice"));
        assert!(bad(&|d| d.attributes[0].aliases.push("ensure".into())).contains("twice"));
        assert!(bad(&|d| d.attributes.push(attribute("meta"))).contains("reserved"));
        assert!(bad(&|d| d.attributes.push(attribute("Bad-name"))).contains("not an attribute name"));
        assert!(bad(&|d| (d.attributes[0].identity, d.attributes[0].sensitive) = (true, true)).contains("hidden"));
        assert!(bad(&|d| d.attributes[0].default = Some(json!(1))).contains("not of its type"));
        let block = |name: &str, attributes| Block {
            name: name.into(),
            kind: BlockKind::Repeated,
            required: false,
            attributes,
            doc: String::new(),
        };
        assert!(bad(&|d| d.blocks.push(block("path", vec![]))).contains("twice"));
        assert!(bad(&|d| d.blocks.push(block("meta", vec![]))).contains("reserved"));
        assert!(bad(&|d| d.blocks.push(block("part", vec![attribute("a"), attribute("a")]))).contains("in the block `part`"));
        let exported = Attribute { exported: true, ..attribute("a") };
        assert!(bad(&|d| d.blocks.push(block("part", vec![exported.clone()]))).contains("nobody could read it"));
        let output = Output { name: "path".into(), output_type: AttributeType::String, sensitive: false, doc: String::new() };
        assert!(bad(&|d| d.outputs.push(output.clone())).contains("twice"));
        assert!(bad(&|d| d.attributes[0].checksum_of = Some("ensure".into())).contains("no source"));
        assert!(bad(&|d| d.selectors.equality.push("nope".into())).contains("selector `nope`"));
        assert!(bad(&|d| d.selectors.drift.push("id".into())).contains("stable id"));
        let ensure = |values: &[&str], default: &str| {
            let values = values.iter().map(|word| (word.to_string(), String::new())).collect();
            Some(Ensure { values, aliases: vec![], default: Some(default.into()) })
        };
        assert!(bad(&|d| d.ensure = ensure(&["a"], "b")).contains("default"));
        assert!(bad(&|d| d.ensure = ensure(&["a", "a"], "a")).contains("twice"));
        assert!(bad(&|d| (d.attributes.truncate(1), d.ensure = ensure(&["a"], "a")).1).contains("no such attribute"));
    }
}
