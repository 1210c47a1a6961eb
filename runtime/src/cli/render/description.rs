//! What `module inspect` shows of a component.

use super::table;
use crate::model::description::{Attribute, Block, BlockKind, Capability, Description, Ensure, Output};
use crate::model::digest::ComponentDigest;
use crate::report::{line, value};

/// What the component `digest` says about itself, and how a policy would allow it.
pub(in crate::cli) fn render(digest: &ComponentDigest, description: &Description, builtin: bool) -> String {
    let mut lines = table(&head(digest, description), "");
    lines.push(String::new());
    lines.push("attributes".to_owned());
    lines.extend(attribute_lines(&description.attributes, "  "));
    lines.extend(description.ensure.as_ref().map(ensure_lines).unwrap_or_default());
    lines.extend(block_lines(&description.blocks));
    lines.extend(output_lines(&description.outputs));
    lines.extend(right_lines(digest, description, builtin));
    lines.join("\n") + "\n"
}

/// The rights that a component asks for, and how a policy would grant them.
pub(super) fn right_lines(digest: &ComponentDigest, description: &Description, builtin: bool) -> Vec<String> {
    let mut lines = vec![String::new(), "rights that it asks for".to_owned()];
    lines.extend(table(&description.capabilities.iter().map(capability_row).collect::<Vec<_>>(), "  "));
    if description.capabilities.is_empty() {
        lines.push("  none".to_owned());
    }
    lines.push(String::new());
    if builtin {
        lines.push("policy: built in, so it has these rights unless the policy says otherwise".to_owned());
    } else {
        lines.push("policy row that grants them".to_owned());
        lines.extend(policy_row(digest, description).lines().map(|text| format!("  {text}")));
    }
    lines
}

/// The row of a policy file that grants the component what it asks for.
pub(in crate::cli) fn policy_row(digest: &ComponentDigest, description: &Description) -> String {
    let mut blocks: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for capability in &description.capabilities {
        let (interface, action) = (capability.interface.as_str(), capability.action.as_str());
        match blocks.iter_mut().find(|block| (block.0, block.1) == (interface, action)) {
            Some(block) => block.2.push(&capability.scope),
            None => blocks.push((interface, action, vec![&capability.scope])),
        }
    }
    let mut row = format!("module \"{}\" {{\n  digest = \"{digest}\"\n", description.type_name);
    for (interface, action, scopes) in blocks {
        let scopes: Vec<String> = scopes.iter().map(|scope| hcl_string(scope)).collect();
        row += &format!("  {} {{ {} = [{}] }}\n", line(interface), line(action), scopes.join(", "));
    }
    row + "}\n"
}

/// A string of the policy language, where `${` and `%{` begin templates.
fn hcl_string(text: &str) -> String {
    let quoted = line(&serde_json::Value::from(text).to_string());
    quoted.replace("${", "$${").replace("%{", "%%{")
}

fn head(digest: &ComponentDigest, description: &Description) -> Vec<Vec<String>> {
    let rows = [
        ("type", description.type_name.to_string()),
        ("summary", line(&description.summary)),
        ("schema", description.schema_version.to_string()),
        ("digest", digest.to_string()),
    ];
    rows.into_iter().map(|(name, text)| vec![name.to_owned(), text]).collect()
}

pub(super) fn attribute_lines(attributes: &[Attribute], indent: &str) -> Vec<String> {
    let row = |attribute: &Attribute| vec![line(&attribute.name), line(&attribute.attribute_type.to_string()), flags(attribute)];
    documented(&attributes.iter().map(|attribute| (row(attribute), attribute.doc.as_str())).collect::<Vec<_>>(), indent)
}

/// Rows of a table, each with its document beneath.
fn documented(rows: &[(Vec<String>, &str)], indent: &str) -> Vec<String> {
    let heads = table(&rows.iter().map(|(row, _)| row.clone()).collect::<Vec<_>>(), indent);
    let docs = rows.iter().map(|(_, doc)| format!("{indent}    {}", line(doc)));
    heads.into_iter().zip(docs).flat_map(|(head, doc)| [head, doc]).collect()
}

fn block_lines(blocks: &[Block]) -> Vec<String> {
    let mut lines = Vec::new();
    for block in blocks {
        let often = match (block.kind, block.required) {
            (BlockKind::Single, true) => "once",
            (BlockKind::Single, false) => "at most once",
            (BlockKind::Repeated | BlockKind::Labelled, true) => "at least once",
            (BlockKind::Repeated | BlockKind::Labelled, false) => "any number of times",
        };
        lines.extend([String::new(), format!("block {}  {often}", line(&block.written())), format!("  {}", line(&block.doc))]);
        lines.extend(attribute_lines(&block.attributes, "    "));
    }
    lines
}

fn output_lines(outputs: &[Output]) -> Vec<String> {
    if outputs.is_empty() {
        return Vec::new();
    }
    let row = |output: &Output| {
        let flags = if output.sensitive { "sensitive" } else { "" };
        vec![line(&output.name), line(&output.output_type.to_string()), flags.to_owned()]
    };
    let rows: Vec<_> = outputs.iter().map(|output| (row(output), output.doc.as_str())).collect();
    let mut lines = vec![String::new(), "outputs, known once it has been applied".to_owned()];
    lines.extend(documented(&rows, "  "));
    lines
}

fn flags(attribute: &Attribute) -> String {
    let named = [
        (attribute.required, "required"),
        (attribute.identity, "identity"),
        (attribute.source, "source"),
        (attribute.nullable, "nullable"),
        (attribute.sensitive, "sensitive"),
        (attribute.exported, "exported"),
    ];
    let mut flags: Vec<String> = named.iter().filter(|(set, _)| *set).map(|(_, word)| (*word).to_owned()).collect();
    flags.extend(attribute.checksum_of.as_ref().map(|source| format!("checksum of {}", line(source))));
    flags.extend(attribute.default.as_ref().map(|default| format!("default {}", value(default))));
    if !attribute.aliases.is_empty() {
        flags.push(format!("also {}", line(&attribute.aliases.join(", "))));
    }
    flags.join(", ")
}

fn ensure_lines(ensure: &Ensure) -> Vec<String> {
    let row = |(word, meaning): &(String, String)| {
        let aliases: Vec<&str> =
            ensure.aliases.iter().filter(|(_, canonical)| canonical == word).map(|(alias, _)| alias.as_str()).collect();
        let mut notes = Vec::new();
        if ensure.default.as_ref() == Some(word) {
            notes.push("default".to_owned());
        }
        if !aliases.is_empty() {
            notes.push(format!("also {}", line(&aliases.join(", "))));
        }
        vec![line(word), notes.join(", "), line(meaning)]
    };
    let mut lines = vec![String::new(), "ensure".to_owned()];
    lines.extend(table(&ensure.values.iter().map(row).collect::<Vec<_>>(), "  "));
    lines
}

fn capability_row(capability: &Capability) -> Vec<String> {
    let right = format!("{}.{}", line(&capability.interface), line(&capability.action));
    vec![right, line(&capability.scope), line(&capability.reason)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::description::{AttributeType, Selectors};

    fn description() -> Description {
        let attribute = |name: &str, attribute_type: &str| {
            json!({
                "name": name, "aliases": [], "type": attribute_type, "required": name == "path", "nullable": name != "path",
                "sensitive": false, "exported": false, "identity": name == "path", "source": false, "default": null, "checksum_of": null, "doc": format!("The {name}.")
            })
        };
        let capability = |action: &str, scope: &str| Capability {
            interface: "files".to_owned(),
            action: action.to_owned(),
            scope: scope.to_owned(),
            reason: "to do its work".to_owned(),
        };
        let mut mode: Attribute = serde_json::from_value(attribute("mode", "string")).unwrap();
        mode.aliases = vec!["permissions".to_owned()];
        mode.default = Some(json!("0644"));
        Description {
            type_name: "vhost".parse().unwrap(),
            schema_version: 1,
            summary: "An nginx virtual host.".to_owned(),
            attributes: vec![serde_json::from_value(attribute("path", "string")).unwrap(), mode],
            blocks: Vec::new(),
            outputs: Vec::new(),
            ensure: Some(Ensure {
                values: vec![("file".into(), "It is there.".into()), ("absent".into(), "It is not.".into())],
                aliases: vec![("present".into(), "file".into())],
                default: Some("file".into()),
            }),
            capabilities: vec![
                capability("read", "/etc/nginx/**"),
                capability("write", "/etc/nginx/a"),
                capability("write", "/b"),
            ],
            selectors: Selectors::default(),
            has_providers: false,
        }
    }

    #[test]
    fn a_module_for_people() {
        insta::assert_snapshot!(render(&ComponentDigest::from_bytes([0x1c; 32]), &description(), false), @r#"
        type     vhost
        summary  An nginx virtual host.
        schema   1
        digest   sha256:1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c

        attributes
          path  string  required, identity
              The path.
          mode  string  nullable, default "0644", also permissions
              The mode.

        ensure
          file    default, also present  It is there.
          absent                         It is not.

        rights that it asks for
          files.read   /etc/nginx/**  to do its work
          files.write  /etc/nginx/a   to do its work
          files.write  /b             to do its work

        policy row that grants them
          module "vhost" {
            digest = "sha256:1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c"
            files { read = ["/etc/nginx/**"] }
            files { write = ["/etc/nginx/a", "/b"] }
          }
        "#);
    }

    #[test]
    fn blocks_outputs_and_checksums_are_shown() {
        let mut described = description();
        described.attributes[1].checksum_of = Some("path".to_owned());
        let attribute = described.attributes[0].clone();
        let block = |name: &str, kind, required| Block {
            name: name.to_owned(),
            kind,
            required,
            attributes: vec![attribute.clone()],
            doc: format!("A {name}."),
        };
        described.blocks = vec![
            block("retry", BlockKind::Single, false),
            block("rule", BlockKind::Repeated, false),
            block("host", BlockKind::Labelled, true),
        ];
        let output = |name: &str, sensitive| Output {
            name: name.to_owned(),
            output_type: AttributeType::Integer,
            sensitive,
            doc: format!("The {name}."),
        };
        described.outputs = vec![output("size", false), output("token", true)];
        let text = render(&ComponentDigest::from_bytes([0x1c; 32]), &described, true);
        let start = text.find("attributes").unwrap();
        insta::assert_snapshot!(&text[start..], @r#"
        attributes
          path  string  required, identity
              The path.
          mode  string  nullable, checksum of path, default "0644", also permissions
              The mode.

        ensure
          file    default, also present  It is there.
          absent                         It is not.

        block retry { … }  at most once
          A retry.
            path  string  required, identity
                The path.

        block rule { … }  any number of times
          A rule.
            path  string  required, identity
                The path.

        block host "LABEL" { … }  at least once
          A host.
            path  string  required, identity
                The path.

        outputs, known once it has been applied
          size   integer
              The size.
          token  integer  sensitive
              The token.

        rights that it asks for
          files.read   /etc/nginx/**  to do its work
          files.write  /etc/nginx/a   to do its work
          files.write  /b             to do its work

        policy: built in, so it has these rights unless the policy says otherwise
        "#);
    }

    #[test]
    fn the_row_is_one_that_a_policy_takes() {
        let mut asking = description();
        let files = asking.capabilities[0].clone();
        asking.capabilities.push(Capability { interface: "accounts".to_owned(), scope: "*".to_owned(), ..files });
        let row = policy_row(&ComponentDigest::from_bytes([0x1c; 32]), &asking);
        assert_eq!(crate::policy::parse(&row, &[]).err(), None, "{row}");
    }

    #[test]
    fn a_built_in_module_needs_no_row() {
        let modest = Description { capabilities: Vec::new(), ensure: None, attributes: Vec::new(), ..description() };
        insta::assert_snapshot!(render(&ComponentDigest::from_bytes([0x1c; 32]), &modest, true), @r"
        type     vhost
        summary  An nginx virtual host.
        schema   1
        digest   sha256:1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c

        attributes

        rights that it asks for
          none

        policy: built in, so it has these rights unless the policy says otherwise
        ");
    }

    #[test]
    fn hostile_words_are_escaped_and_scopes_stay_strings() {
        let mut hostile = description();
        hostile.summary = "\u{1b}[2J".to_owned();
        hostile.attributes[0].doc = "\u{1b}".to_owned();
        let attributes = vec![hostile.attributes[0].clone()];
        let (name, doc) = ("\u{1b}[1m".to_owned(), "\u{9b}".to_owned());
        hostile.outputs =
            vec![Output { name: name.clone(), output_type: AttributeType::Any, sensitive: false, doc: doc.clone() }];
        hostile.blocks = vec![Block { name, kind: BlockKind::Labelled, required: true, attributes, doc }];
        hostile.capabilities[0].scope = "/a\" ${x}\u{9b}".to_owned();
        let text = render(&ComponentDigest::from_bytes([0; 32]), &hostile, false);
        assert!(!text.contains(['\u{1b}', '\u{9b}']), "{text}");
        assert!(text.contains(r#"files { read = ["/a\" $${x}\u{9b}"] }"#), "{text}");
    }
}
