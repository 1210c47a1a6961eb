//! What `inspect` shows of a bundle.

use super::{count, reason, table};
use crate::model::catalog::{Backends, Candidate, Catalog, Claim, Control, DeferredPart, Edge, Effect, Resource, State};
use crate::model::digest::BundleDigest;
use crate::model::health::Health;
use crate::model::ids::ProviderName;
use crate::report::{line, size, value};

/// The catalog of `bundle` as text.
pub(in crate::cli) fn render(bundle: &BundleDigest, catalog: &Catalog) -> String {
    let mut lines = table(&head(bundle, catalog), "");
    lines.push(String::new());
    lines.push("modules".to_owned());
    let module = |(name, module): (&_, &crate::model::catalog::Module)| {
        vec![format!("{name}"), format!("{}", module.component), format!("schema {}", module.schema_version)]
    };
    lines.extend(table(&catalog.modules.iter().map(module).collect::<Vec<_>>(), "  "));
    if !catalog.providers.is_empty() {
        lines.push(String::new());
        lines.push("providers that a node may select".to_owned());
        lines.extend(table(&provider_rows(catalog), "  "));
    }
    if !catalog.target_facts.is_empty() {
        lines.push(String::new());
        lines.push("only where these facts hold".to_owned());
        lines.extend(catalog.target_facts.iter().map(|(path, fact)| format!("  {} = {}", line(path), value(fact))));
    }
    if !catalog.secrets.is_empty() {
        lines.push(String::new());
        lines.push("secrets of the bundle".to_owned());
        lines.extend(catalog.secrets.iter().map(|slot| format!("  {slot}")));
    }
    if !catalog.node_secrets.is_empty() {
        lines.push(String::new());
        lines.push("secrets of the node".to_owned());
        lines.extend(catalog.node_secrets.iter().map(|name| format!("  {name}")));
    }
    lines.push(String::new());
    lines.push("resources, in order".to_owned());
    for resource in &catalog.resources {
        let edges = catalog.edges.iter().filter(|edge| edge.dependent == resource.id);
        lines.extend(resource_lines(resource, edges));
    }
    lines.join("\n") + "\n"
}

fn head(bundle: &BundleDigest, catalog: &Catalog) -> Vec<Vec<String>> {
    let audience = match catalog.audience.as_slice() {
        [] => "any node".to_owned(),
        names => names.iter().map(|name| line(name)).collect::<Vec<_>>().join(", "),
    };
    let bytes = catalog.assets.values().map(|asset| asset.size).sum();
    let rows = [
        ("bundle", bundle.to_string()),
        ("owner", catalog.owner.to_string()),
        ("serial", catalog.serial.to_string()),
        ("for", audience),
        ("assets", format!("{}, {}", count(catalog.assets.len(), "asset"), size(bytes))),
    ];
    rows.into_iter().map(|(name, text)| vec![name.to_owned(), text]).collect()
}

fn provider_rows(catalog: &Catalog) -> Vec<Vec<String>> {
    let of_type = catalog.providers.iter().flat_map(|(type_name, known)| {
        known.iter().map(move |(name, module)| {
            let (component, schema) = (module.component.to_string(), format!("schema {}", module.schema_version));
            vec![format!("{name} of {type_name}"), component, schema]
        })
    });
    of_type.collect()
}

fn backend_row(backends: &Backends) -> Vec<String> {
    let told = |(name, candidate): (&ProviderName, &Candidate)| match candidate {
        Candidate::Compiled { .. } => name.to_string(),
        Candidate::Deferred { .. } => format!("{name} (options settled on the node)"),
        Candidate::Refused { message, .. } => format!("{name} (cannot: {})", line(message)),
    };
    let names: Vec<String> = backends.candidates.iter().map(told).collect();
    row(if backends.forced.is_some() { "served by" } else { "one of" }, names.join(", "))
}

fn resource_lines<'a>(resource: &Resource, edges: impl Iterator<Item = &'a Edge>) -> Vec<String> {
    let mut rows = state_rows(&resource.state);
    rows.extend(resource.backends.as_deref().map(backend_row));
    rows.extend(resource.claims.iter().map(|claim| row("claims", claim_text(claim))));
    rows.extend(resource.effects.iter().map(|effect| row("may", effect_text(effect))));
    rows.extend(edges.map(|edge| row("after", format!("{} ({}, {})", edge.prerequisite, reason(&edge.reason), edge.source))));
    rows.extend(resource.timeout_ms.map(|timeout| row("timeout", format!("{timeout} ms"))));
    rows.extend(resource.control.as_ref().map(|control| row("control", control_text(control))));
    rows.extend(resource.health.as_ref().map(|health| row("health", health_text(health))));
    let mut lines = vec![format!("  {}  {}", resource.id, resource.source)];
    lines.extend(table(&rows, "    "));
    lines
}

fn row(name: &str, text: String) -> Vec<String> {
    vec![name.to_owned(), text]
}

fn state_rows(state: &State) -> Vec<Vec<String>> {
    match state {
        State::Compiled { desired, semantics } => {
            let desired = desired.json();
            let mut rows = match desired.as_object() {
                Some(map) => {
                    map.iter().map(|(name, desired)| row("desired", format!("{} = {}", line(name), value(desired)))).collect()
                }
                None => vec![row("desired", value(&desired))],
            };
            if !semantics.capabilities.is_empty() {
                rows.push(row("needs", line(&semantics.capabilities.join(", "))));
            }
            rows
        }
        State::Deferred { .. } => {
            let of_part = |(block, attributes): DeferredPart<'_>| -> Vec<String> {
                let within = block.map_or_else(String::new, |block| match &block.label {
                    Some(label) => format!("{} \"{label}\" ", block.name),
                    None => format!("{} ", block.name),
                });
                attributes.keys().map(|name| line(&format!("{within}{name}"))).collect()
            };
            let names: Vec<String> = state.deferred_parts().into_iter().flat_map(of_part).collect();
            vec![row("deferred", format!("settled on the node from {}", names.join(", ")))]
        }
    }
}

fn claim_text(claim: &Claim) -> String {
    let qualifier = if claim.qualifier.is_empty() { String::new() } else { format!(" ({})", line(&claim.qualifier)) };
    format!("{} {}{qualifier}", line(&claim.domain), claim.key)
}

fn effect_text(effect: &Effect) -> String {
    let qualifier = effect.qualifier.as_ref().map_or_else(String::new, |qualifier| format!(" ({})", line(qualifier)));
    format!("{} {} {}{qualifier}", line(&effect.actions.join(", ")), line(&effect.domain), effect.key)
}

fn control_text(control: &Control) -> String {
    match (&control.if_, &control.unless) {
        (Some(_), Some(_)) => "managed if one condition holds and the other does not",
        (Some(_), None) => "managed if a condition holds",
        (None, Some(_)) => "managed unless a condition holds",
        (None, None) => "none",
    }
    .to_owned()
}

fn health_text(health: &Health) -> String {
    let words: Vec<String> = health.command.iter().map(|word| line(word)).collect();
    format!("{} ({}, up to {} tries)", words.join(" "), health.format.word(), health.tries)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::catalog::EdgeReason;

    fn catalog() -> Catalog {
        serde_json::from_value(json!({
            "catalog_version": 1, "language_version": 1, "owner": "site", "serial": 3, "audience": [],
            "target_facts": {"os.family": "debian"},
            "modules": {"file": {"component": format!("sha256:{}", "1c".repeat(32)), "schema_version": 1}},
            "assets": {format!("sha256:{}", "aa".repeat(32)): {"size": 12}},
            "secrets": ["file.motd/content#0"], "node_secrets": ["db"],
            "resources": [
                {
                    "id": "file.dir", "source": {"file": "site.hcl", "line": 3, "column": 1},
                    "claims": [{"domain": "path", "key": "/srv", "qualifier": ""}],
                    "effects": [{"domain": "path", "key": "/srv", "actions": ["read", "write"], "qualifier": null}],
                    "affected_paths": ["/srv"], "timeout_ms": 5000, "control": null,
                    "state": {"compiled": {
                        "desired": {"path": "/srv", "mode": 493},
                        "semantics": {
                            "capabilities": ["files.read", "files.write"], "assets": [], "sensitive": false,
                            "accepts_refresh": false, "timeout_ms": 30000, "prerequisites": []
                        }
                    }}
                },
                {
                    "id": "file.motd", "source": {"file": "site.hcl", "line": 8, "column": 1},
                    "claims": [], "effects": [], "affected_paths": [], "timeout_ms": null, "control": null,
                    "state": {"deferred": {
                        "attributes": {"source": ["literal", "site.hcl:9:1+1", "motd"]},
                        "sources": {"source": format!("sha256:{}", "aa".repeat(32))},
                        "blocks": [{"name": "part", "label": "a", "attributes": {"b": ["literal", "site.hcl:9:1+1", 1]}}]
                    }}
                }
            ],
            "edges": [{
                "prerequisite": "file.dir", "dependent": "file.motd", "reason": "require",
                "source": {"file": "site.hcl", "line": 11, "column": 16}
            }]
        }))
        .unwrap()
    }

    #[test]
    fn a_catalog_for_people() {
        insta::assert_snapshot!(render(&BundleDigest::from_bytes([0xab; 32]), &catalog()), @r#"
        bundle  sha256:abababababababababababababababababababababababababababababababab
        owner   site
        serial  3
        for     any node
        assets  1 asset, 12 B

        modules
          file  sha256:1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c  schema 1

        only where these facts hold
          os.family = "debian"

        secrets of the bundle
          file.motd/content#0

        secrets of the node
          db

        resources, in order
          file.dir  site.hcl:3:1
            desired  mode = 493
            desired  path = "/srv"
            needs    files.read, files.write
            claims   path /srv
            may      read, write path /srv
            timeout  5000 ms
          file.motd  site.hcl:8:1
            deferred  settled on the node from source, part "a" b
            after     file.dir (require, site.hcl:11:16)
        "#);
    }

    #[test]
    fn hostile_words_are_escaped() {
        let mut hostile = catalog();
        hostile.audience = vec!["\u{1b}[31m".to_owned()];
        hostile.resources[0].source.file = "\u{1b}]0;\u{7}".to_owned();
        hostile.edges[0].reason = EdgeReason::Derived("\u{1b}c".to_owned());
        hostile.edges[0].source.file = "\u{1b}e".to_owned();
        hostile.resources[0].claims[0].domain = "\u{1b}d".to_owned();
        assert!(!render(&BundleDigest::from_bytes([0; 32]), &hostile).contains('\u{1b}'));
    }
}
