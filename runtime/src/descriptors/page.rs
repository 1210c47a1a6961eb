//! The page of a resource type in the manifest reference, as Markdown.

use std::fmt::Write as _;

use crate::model::description::{Attribute, Block, BlockKind, Description, Ensure};
use crate::model::key::escape;
use crate::model::provider::{ANY_SYSTEM, ProviderDescription};

/// The reference page of the type.
pub fn page(description: &Description) -> String {
    let mut text = format!("# `{}`\n\n{}\n", description.type_name, cell(&description.summary));
    let _ = write!(text, "\nRendered from the descriptors of the module, schema version {}.\n", description.schema_version);
    attributes(&mut text, "## Attributes", &description.attributes);
    if let Some(words) = &description.ensure {
        ensure(&mut text, words);
    }
    for each in &description.blocks {
        block(&mut text, each);
    }
    exports(&mut text, description);
    rights(&mut text, description);
    text
}

/// The reference page of a provider.
pub fn provider_page(provider: &ProviderDescription) -> String {
    let options = provider.options_as_type();
    let mut text = format!("# `{}`\n\n{}\n", options.type_name, cell(&provider.summary));
    let _ = write!(
        text,
        "\nThe provider `{}` of [`{}`]({}.md). Rendered from the descriptors of the module, schema version {}.\n",
        provider.name, provider.type_name, provider.type_name, provider.schema_version
    );
    text.push_str("\n## Systems\n\nIt serves");
    for (place, system) in provider.systems.iter().enumerate() {
        let id = if system.id == ANY_SYSTEM {
            "any system that no other provider names".to_owned()
        } else {
            format!("`{}`", system.id)
        };
        let comma = if place == 0 { "" } else { "," };
        let _ = write!(text, "{comma} {id}");
        if !system.versions.is_empty() {
            let _ = write!(text, " ({})", cell(&system.versions.join(", ")));
        }
    }
    text.push('.');
    for condition in &provider.conditions {
        let _ = write!(text, " It needs {}.", condition.needs());
    }
    text.push('\n');
    attributes(&mut text, &format!("## Options, in a block `{}`", provider.name), &provider.options);
    rights(&mut text, &options);
    text
}

/// A text within a table: on one line, with nothing that would end its cell.
fn cell(text: &str) -> String {
    escape(text).replace('|', "\\|")
}

fn attributes(text: &mut String, heading: &str, attributes: &[Attribute]) {
    if attributes.is_empty() {
        return;
    }
    let _ = write!(text, "\n{heading}\n\n| name | type | | meaning |\n|---|---|---|---|\n");
    for attribute in attributes {
        let names: Vec<String> =
            std::iter::once(&attribute.name).chain(&attribute.aliases).map(|name| format!("`{name}`")).collect();
        let (ty, marks) = (cell(&attribute.attribute_type.to_string()), marks(attribute));
        let _ = writeln!(text, "| {} | {ty} | {marks} | {} |", names.join(", also "), cell(&attribute.doc));
    }
}

fn marks(attribute: &Attribute) -> String {
    let marks = [
        (attribute.required, "required"),
        (attribute.identity, "names the object: may not wait for the node"),
        (attribute.source, "a source: may not wait for the node"),
        (attribute.nullable, "may be null"),
        (attribute.sensitive, "sensitive"),
        (attribute.exported, "exported"),
    ];
    let mut marks: Vec<String> = marks.iter().filter(|(set, _)| *set).map(|(_, mark)| (*mark).to_owned()).collect();
    marks.extend(attribute.checksum_of.as_ref().map(|source| format!("checksum of `{source}`")));
    marks.extend(attribute.default.as_ref().map(|default| format!("default `{}`", cell(&default.to_string()))));
    marks.join("; ")
}

fn ensure(text: &mut String, ensure: &Ensure) {
    text.push_str("\n## Words of `ensure`\n\n| word | meaning |\n|---|---|\n");
    for (word, meaning) in &ensure.values {
        let aliases = ensure.aliases.iter().filter(|(_, of)| of == word).map(|(alias, _)| format!(", also `{}`", cell(alias)));
        let default = if ensure.default.as_ref() == Some(word) { ", the default" } else { "" };
        let _ = writeln!(text, "| `{}`{}{default} | {} |", cell(word), aliases.collect::<String>(), cell(meaning));
    }
    if ensure.default.is_none() {
        text.push_str("\nLeft out, it is not managed.\n");
    }
}

fn block(text: &mut String, block: &Block) {
    let often = match (block.kind, block.required) {
        (BlockKind::Single, false) => "at most once",
        (BlockKind::Single, true) => "once",
        (BlockKind::Repeated, false) => "any number of times",
        (BlockKind::Repeated, true) => "at least once",
        (BlockKind::Labelled, false) => "any number of times, each with a label of its own",
        (BlockKind::Labelled, true) => "at least once, each with a label of its own",
    };
    let _ = write!(text, "\n## Block `{}`\n\n{} It may be given {often}.\n", block.name, escape(&block.doc));
    attributes(text, &format!("### Attributes of `{}`", block.name), &block.attributes);
}

/// What other resources can read.
fn exports(text: &mut String, description: &Description) {
    let exported = description.attributes.iter().filter(|attribute| attribute.exported).map(|attribute| &attribute.name);
    let example = |name: &String| format!("`{}.NAME.{name}`", description.type_name);
    let known: Vec<String> = exported.map(example).collect();
    if !known.is_empty() {
        let _ = write!(text, "\n## What others can read\n\nKnown when the manifest is compiled: {}.\n", known.join(", "));
    }
    if description.outputs.is_empty() {
        return;
    }
    text.push_str("\nKnown once the resource has been applied:\n\n| output | type | meaning |\n|---|---|---|\n");
    for output in &description.outputs {
        let sensitive = if output.sensitive { ", sensitive" } else { "" };
        let _ = writeln!(
            text,
            "| `{}` | {}{sensitive} | {} |",
            output.name,
            cell(&output.output_type.to_string()),
            cell(&output.doc)
        );
    }
}

fn rights(text: &mut String, description: &Description) {
    if description.capabilities.is_empty() {
        return;
    }
    text.push_str("\n## Rights that the module asks for\n\n| right | where | why |\n|---|---|---|\n");
    for ask in &description.capabilities {
        let (interface, action) = (cell(&ask.interface), cell(&ask.action));
        let _ = writeln!(text, "| `{interface}.{action}` | `{}` | {} |", cell(&ask.scope), cell(&ask.reason));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conformance::testing::{attribute, description};
    use crate::model::description::{AttributeType, Output};

    #[test]
    fn a_page_says_all_that_the_descriptors_say() {
        let path =
            Attribute { required: true, identity: true, exported: true, aliases: vec!["name".into()], ..attribute("path") };
        let mode = Attribute { nullable: true, default: Some(json!("a|b")), sensitive: true, ..attribute("mode") };
        let mut description = description(vec![path, mode]);
        description.ensure = Some(Ensure {
            values: vec![("present".into(), "It is there.".into()), ("absent".into(), "It is not.".into())],
            aliases: vec![("file".into(), "present".into())],
            default: Some("present".into()),
        });
        description.blocks = vec![Block {
            name: "part".into(),
            kind: BlockKind::Labelled,
            required: true,
            attributes: vec![attribute("size")],
            doc: "A part.".into(),
        }];
        description.outputs =
            vec![Output { name: "id".into(), output_type: AttributeType::String, sensitive: true, doc: "Its number.".into() }];
        insta::assert_snapshot!(page(&description), @r#"
        # `thing`

        A thing.

        Rendered from the descriptors of the module, schema version 1.

        ## Attributes

        | name | type | | meaning |
        |---|---|---|---|
        | `path`, also `name` | string | required; names the object: may not wait for the node; exported | What is called path. |
        | `mode` | string | may be null; sensitive; default `"a\|b"` | What is called mode. |

        ## Words of `ensure`

        | word | meaning |
        |---|---|
        | `present`, also `file`, the default | It is there. |
        | `absent` | It is not. |

        ## Block `part`

        A part. It may be given at least once, each with a label of its own.

        ### Attributes of `part`

        | name | type | | meaning |
        |---|---|---|---|
        | `size` | string |  | What is called size. |

        ## What others can read

        Known when the manifest is compiled: `thing.NAME.path`.

        Known once the resource has been applied:

        | output | type | meaning |
        |---|---|---|
        | `id` | string, sensitive | Its number. |
        "#);
    }
}
