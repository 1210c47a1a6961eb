//! What policy decided, as the receipt keeps it.
//!
//! A JSON object with a member for each resource type, and each provider as `TYPE_PROVIDER`: `component`, `by` (the rule), `files` (`read`, `write`, `deny`, `setuid`, `chown`,
//! `links`), `accounts`, `objects` (packages, units, accounts and programs: `everything`, `rows`, `maintenance`, `commands`,
//! `unconfined_queries`, `deny`), `facts`, `limits` (`memory` in bytes, `deadline_ms`), and `secrets`, the names of those of the node that it may use. It
//! is for people and audits; no run reads it.

use std::collections::BTreeMap;

use host_functions::files::policy::PathPattern;
use host_functions::grant::{FileGrant, Grant, Limits};
use host_functions::objects::{ArgumentsPattern, NamePattern, ObjectGrant, ObjectRow};
use serde_json::{Value as Json, json};

use super::modules::Granted;
use super::providers::GrantedProviders;
use crate::model::catalog::Catalog;
use crate::model::digest::ComponentDigest;
use crate::model::ids::{ProviderName, SecretName, TypeName};
use crate::model::provider::module_name;
use crate::policy::SecretReaders;

/// The record as text.
pub(super) fn text(
    catalog: &Catalog,
    granted: &BTreeMap<TypeName, Granted>,
    providers: &GrantedProviders,
    readers: &SecretReaders,
) -> String {
    let module = |(name, granted): (&TypeName, &Granted)| {
        let secrets: Vec<&SecretName> =
            readers.iter().filter(|(_, types)| types.contains(name)).map(|(secret, _)| secret).collect();
        (name.to_string(), of_module(catalog.modules[name].component, granted, &secrets))
    };
    let of_provider = |(type_name, name, granted): (&TypeName, &ProviderName, &Granted)| {
        let module = module_name(type_name, name).ok()?;
        Some((module.to_string(), of_module(catalog.providers[type_name][name].component, granted, &[])))
    };
    let providers =
        providers.iter().flat_map(|(type_name, known)| known.iter().map(move |(name, granted)| (type_name, name, granted)));
    Json::Object(granted.iter().map(module).chain(providers.filter_map(of_provider)).collect()).to_string()
}

fn of_module(component: ComponentDigest, granted: &Granted, secrets: &[&SecretName]) -> Json {
    let Grant { builtin: _, files, accounts, objects: granted_objects, facts, limits } = &granted.grant;
    let FileGrant { read, write, deny, setuid, chown, links } = files;
    let Limits { memory, deadline } = limits;
    json!({
        "component": component,
        "by": granted.by,
        "files": {
            "read": patterns(read),
            "write": patterns(write),
            "deny": patterns(deny),
            "setuid": setuid,
            "chown": chown,
            "links": links,
        },
        "accounts": accounts,
        "objects": objects(granted_objects),
        "facts": facts,
        "secrets": secrets,
        "limits": { "memory": memory, "deadline_ms": deadline.map(|deadline| deadline.as_millis() as u64) },
    })
}

fn objects(grant: &ObjectGrant) -> Json {
    let ObjectGrant { everything, rows, maintenance, commands, unconfined_queries, deny } = grant;
    let names = |names: &[NamePattern]| names.iter().map(|name| name.as_str().to_owned()).collect::<Vec<_>>();
    let row = |row: &ObjectRow| json!({ "domain": row.domain.word(), "names": names(&row.names), "verbs": row.verbs });
    let lines =
        |patterns: &Vec<ArgumentsPattern>| patterns.iter().map(ArgumentsPattern::texts).map(Json::from).collect::<Vec<_>>();
    json!({
        "everything": everything.iter().map(|interface| interface.word()).collect::<Vec<_>>(),
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "maintenance": maintenance.iter().map(|(interface, verb)| format!("{}.{verb}", interface.word())).collect::<Vec<_>>(),
        "commands": commands.iter().map(|(verb, patterns)| ((*verb).to_owned(), lines(patterns).into())).collect::<serde_json::Map<_, _>>(),
        "unconfined_queries": unconfined_queries,
        "deny": deny.iter().map(|(domain, patterns)| (domain.word().to_owned(), names(patterns).into())).collect::<serde_json::Map<_, _>>(),
    })
}

fn patterns(patterns: &[PathPattern]) -> Vec<&str> {
    patterns.iter().map(PathPattern::as_str).collect()
}
