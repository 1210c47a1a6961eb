//! What `module inspect` shows of a provider.

use super::description::{attribute_lines, right_lines};
use super::table;
use crate::model::digest::ComponentDigest;
use crate::model::provider::{ANY_SYSTEM, ProviderDescription, System};
use crate::report::line;

/// What the component `digest` says about itself, and how a policy would allow it.
pub(in crate::cli) fn render(digest: &ComponentDigest, description: &ProviderDescription, builtin: bool) -> String {
    let systems: Vec<String> = description.systems.iter().map(system).collect();
    let conditions: Vec<String> = description.conditions.iter().map(|condition| line(&condition.needs())).collect();
    let mut rows = vec![
        ("provider", format!("{} of {}", description.name, description.type_name)),
        ("summary", line(&description.summary)),
        ("schema", description.schema_version.to_string()),
        ("digest", digest.to_string()),
        ("serves", systems.join("; ")),
    ];
    if !conditions.is_empty() {
        rows.push(("needs", conditions.join("; ")));
    }
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, text)| vec![name.to_owned(), text]).collect();
    let mut lines = table(&rows, "");
    lines.extend([String::new(), format!("options, in a block `{} {{ … }}`", description.name)]);
    lines.extend(attribute_lines(&description.options, "  "));
    if description.options.is_empty() {
        lines.push("  none".to_owned());
    }
    lines.extend(right_lines(digest, &description.options_as_type(), builtin));
    lines.join("\n") + "\n"
}

fn system(System { id, versions }: &System) -> String {
    let id = if id == ANY_SYSTEM { "any system that no other provider names".to_owned() } else { line(id) };
    if versions.is_empty() { id } else { format!("{id}, versions {}", line(&versions.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::description::{Attribute, AttributeType, Capability};

    #[test]
    fn a_provider_is_shown_with_what_it_serves_and_its_row() {
        let option = Attribute {
            name: "recommends".into(),
            aliases: vec![],
            attribute_type: AttributeType::Boolean,
            required: false,
            nullable: true,
            sensitive: false,
            exported: false,
            identity: false,
            source: false,
            default: Some(serde_json::json!(false)),
            checksum_of: None,
            doc: "Whether recommended packages come along.".into(),
        };
        let right = |action: &str| Capability {
            interface: "files".into(),
            action: action.into(),
            scope: "/var/lib/dpkg/**".into(),
            reason: "to do its work".into(),
        };
        let description = ProviderDescription {
            type_name: "package".parse().unwrap(),
            name: "apt".parse().unwrap(),
            schema_version: 1,
            summary: "Packages by apt.".into(),
            systems: vec![
                System { id: "debian".into(), versions: vec!["12".into(), "13".into()] },
                System { id: ANY_SYSTEM.into(), versions: vec![] },
            ],
            conditions: vec!["init:systemd".parse().unwrap()],
            options: vec![option],
            capabilities: vec![right("read")],
        };
        let digest = ComponentDigest::from_bytes([0x1c; 32]);
        insta::assert_snapshot!(render(&digest, &description, false), @r#"
        provider  apt of package
        summary   Packages by apt.
        schema    1
        digest    sha256:1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c
        serves    debian, versions 12, 13; any system that no other provider names
        needs     systemd as the init system

        options, in a block `apt { … }`
          recommends  boolean  nullable, default false
              Whether recommended packages come along.

        rights that it asks for
          files.read  /var/lib/dpkg/**  to do its work

        policy row that grants them
          module "package_apt" {
            digest = "sha256:1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c"
            files { read = ["/var/lib/dpkg/**"] }
          }
        "#);
    }
}
