//! What a description must be for the host to use the module: names that do not clash, selectors that mean something.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::model::description::{Attribute, AttributeType, Block, Description, is_secret_slot};
use crate::model::provider::ProviderDescription;

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

/// Refuses a provider's description that cannot be served, with the reason in words.
pub(super) fn check_provider(description: &ProviderDescription) -> Result<(), String> {
    if description.schema_version == 0 {
        return Err("`schema-version` is 0: it counts from 1".into());
    }
    description.module_name().map_err(|error| error.to_string())?;
    if RESERVED_NAMES.contains(&description.name.as_str()) {
        return Err(format!("the provider name `{}` is reserved", description.name));
    }
    if description.systems.is_empty() {
        return Err("it serves no system".into());
    }
    let ids: BTreeSet<&str> = description.systems.iter().map(|system| system.id.as_str()).collect();
    if ids.len() != description.systems.len() {
        return Err("it names a system twice".into());
    }
    check_namespace(spellings(&description.options))?;
    check_block(&description.block())
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
        Some(default) if !attribute.attribute_type.accepts(default) || holds_slot(default) => {
            Err(format!("the default of the attribute `{name}` is not of its type"))
        }
        _ => Ok(()),
    }
}

/// Whether what stands for a sensitive value is in it: a slot that a module names by itself is none.
fn holds_slot(json: &Json) -> bool {
    match json {
        Json::Array(items) => items.iter().any(holds_slot),
        Json::Object(members) => is_secret_slot(json) || members.values().any(holds_slot),
        _ => false,
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
mod tests;
