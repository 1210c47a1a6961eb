//! Catalogs for tests.

use serde_json::{Value as Json, json};

use crate::model::catalog::{Catalog, EdgeReason};

/// A catalog of the manifest `owner` with these resources, and these edges between them.
pub(super) fn catalog(resources: &[&str], edges: &[(&str, &str, EdgeReason)]) -> Catalog {
    let source = json!({"file": "site.hcl", "line": 1, "column": 1});
    let resource = |id: &&str| {
        json!({
            "id": id, "source": source, "claims": [], "effects": [], "affected_paths": [], "timeout_ms": null, "control": null,
            "state": {"compiled": {
                "desired": {},
                "semantics": {
                    "capabilities": [], "assets": [], "sensitive": false, "accepts_refresh": false, "timeout_ms": 1, "prerequisites": []
                }
            }}
        })
    };
    let edge = |(first, then, reason): &(&str, &str, EdgeReason)| json!({"prerequisite": first, "dependent": then, "reason": reason, "source": source});
    serde_json::from_value(json!({
        "catalog_version": 1, "language_version": 1, "owner": "site", "serial": 0, "audience": [], "target_facts": {},
        "modules": {}, "assets": {}, "secrets": [], "node_secrets": [],
        "resources": resources.iter().map(resource).collect::<Vec<Json>>(),
        "edges": edges.iter().map(edge).collect::<Vec<Json>>()
    }))
    .unwrap()
}

/// A folder, two files in it, a command that is refreshed after one of them, and a file on its own.
pub(super) fn small() -> Catalog {
    let derived = || EdgeReason::Derived("a folder goes before what lies in it".to_owned());
    catalog(
        &["file.folder", "file.one", "file.two", "exec.reload", "file.motd"],
        &[
            ("file.folder", "file.one", EdgeReason::Reference),
            ("file.folder", "file.one", derived()),
            ("file.folder", "file.two", derived()),
            ("file.one", "file.two", EdgeReason::Before),
            ("file.two", "exec.reload", EdgeReason::Notify),
            ("file.two", "exec.reload", EdgeReason::Require),
        ],
    )
}
