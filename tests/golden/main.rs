//! Golden manifests: a case is a file `NAME.hcl` in `tests/golden/manifests/valid` or `invalid`.
//!
//! Beside a valid one stands `NAME.json`, what its attributes evaluate to; beside an invalid one `NAME.err`, the whole message. Optional for
//! both: `NAME.facts.json` (the target's facts), `NAME.vars` (one `--var` a line), and files to read under `files/`. With `BLESS=1`
//! in the environment expected files are written instead of compared.
#![expect(clippy::disallowed_methods, reason = "cases are files, and the environment says whether to write them")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtime::language::diagnostic::Diagnostics;
use runtime::language::value::{Marks, Value};
use runtime::manifest::{Evaluation, ExportError, Exported, Exports, Folder, Inputs, Manifest, Part, Trail, read};
use runtime::model::ids::ResourceId;
use serde_json::{Value as Json, json};

/// Exports every attribute as it is given.
struct AsGiven<'e>(&'e Evaluation);

impl Exports for AsGiven<'_> {
    fn export(&self, resource: &ResourceId, attribute: &str, trail: &Trail) -> Result<Exported, ExportError> {
        match self.0.attribute(resource, Part::Own, attribute, trail, self) {
            Ok(Some(value)) if value.is_known() => Ok(Exported::Known(value)),
            Ok(Some(value)) => Ok(Exported::Deferred(value.marks())),
            Ok(None) => {
                let declaration = self.0.manifest().resource(resource);
                let exported = declaration.map(|declaration| declaration.attributes.keys().cloned().collect());
                Err(ExportError::NotExported { exported: exported.unwrap_or_default() })
            }
            Err(_) => Err(ExportError::Reported),
        }
    }
}

fn folder(kind: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/manifests").join(kind)
}

/// Evaluates everything in a manifest.
fn evaluate(path: &Path) -> Result<Json, Diagnostics> {
    let name = path.file_name().unwrap().to_str().unwrap();
    let manifest = Arc::new(read(name, std::fs::read_to_string(path).unwrap())?);
    let mut inputs = Inputs::default();
    for line in std::fs::read_to_string(path.with_extension("vars")).unwrap_or_default().lines() {
        inputs.variable(line).unwrap();
    }
    let facts = std::fs::read_to_string(path.with_extension("facts.json")).ok();
    let facts = facts.map(|text| serde_json::from_str::<Json>(&text).unwrap());
    let files = Arc::new(Folder::open(path.parent().unwrap()).unwrap());
    let evaluation = Evaluation::new(manifest.clone(), &inputs, facts.as_ref(), files)?;
    let exports = AsGiven(&evaluation);
    evaluation.check_locals(&exports);
    let resources: BTreeMap<String, Json> = manifest
        .resources
        .iter()
        .map(|declaration| (declaration.id.to_string(), resource(&evaluation, &declaration.id)))
        .collect();
    let diagnostics = evaluation.diagnostics();
    if diagnostics.has_errors() {
        return Err(diagnostics);
    }
    Ok(json!({ "manifest": header(&manifest), "resources": resources, "facts_read": evaluation.facts_read() }))
}

fn header(manifest: &Manifest) -> Json {
    json!({ "name": manifest.name, "serial": manifest.serial, "audience": manifest.audience })
}

fn resource(evaluation: &Evaluation, id: &ResourceId) -> Json {
    let exports = AsGiven(evaluation);
    let declaration = evaluation.manifest().resource(id).unwrap();
    let mut shown = serde_json::Map::new();
    for (name, attribute) in &declaration.attributes {
        if let Ok(Some(value)) = evaluation.attribute(id, Part::Own, name, &Trail::default(), &exports) {
            shown.insert(name.clone(), show(&value, &attribute.value.place));
        }
    }
    let mut meta = serde_json::Map::new();
    let addresses = |list: &[(ResourceId, _)]| json!(list.iter().map(|(id, _)| id).collect::<Vec<_>>());
    meta.insert("require".into(), addresses(&declaration.meta.require));
    meta.insert("before".into(), addresses(&declaration.meta.before));
    meta.insert("timeout_ms".into(), json!(declaration.meta.timeout_ms));
    let control = declaration.meta.control.iter();
    for (name, condition) in control.flat_map(|control| [("if", &control.if_), ("unless", &control.unless)]) {
        if let Some(condition) = condition
            && let Ok(value) = evaluation.expression(declaration, condition, &exports)
        {
            meta.insert(name.into(), show(&value, &condition.place));
        }
    }
    meta.retain(|_, value| !value.is_null() && *value != json!([]));
    if meta.is_empty() { json!(shown) } else { json!({ "attributes": shown, "meta": meta }) }
}

/// A value with whatever is remarkable about it.
fn show(value: &Value, place: &runtime::model::expression::Place) -> Json {
    let marks = value.marks();
    let plain = value.json().filter(|_| marks == Marks::default());
    if let Some(plain) = plain {
        return plain;
    }
    let mut shown = serde_json::Map::new();
    match value.json() {
        Some(json) => shown.insert("value".into(), json),
        None => shown.insert("deferred".into(), json!(value.residual(place))),
    };
    if marks.is_sensitive() {
        shown.insert("sensitive".into(), json!(true));
    }
    if marks.resources().next().is_some() {
        shown.insert("from".into(), json!(marks.resources().collect::<Vec<_>>()));
    }
    Json::Object(shown)
}

/// Compares what every case of a folder gives with the file beside it.
fn run(kind: &str, extension: &str, outcome: impl Fn(Result<Json, Diagnostics>) -> Result<String, String>) {
    let bless = std::env::var_os("BLESS").is_some();
    let files: Vec<PathBuf> = std::fs::read_dir(folder(kind)).unwrap().map(|entry| entry.unwrap().path()).collect();
    let of = |extension: &str| -> Vec<PathBuf> {
        files.iter().filter(|path| path.extension().is_some_and(|found| found == extension)).cloned().collect()
    };
    let cases = of("hcl");
    assert!(!cases.is_empty(), "no cases in {kind}");
    let mut failures = Vec::new();
    for case in &cases {
        let expected = case.with_extension(extension);
        match outcome(evaluate(case)) {
            Err(message) => failures.push(format!("{}: {message}", case.display())),
            Ok(text) if bless => std::fs::write(&expected, text).unwrap(),
            Ok(text) => {
                let wanted = std::fs::read_to_string(&expected).unwrap_or_default();
                if wanted != text {
                    failures.push(format!("{}: expected\n{wanted}\nfound\n{text}", case.display()));
                }
            }
        }
    }
    for expected in of(extension).iter().filter(|path| !path.to_string_lossy().ends_with(".facts.json")) {
        if !expected.with_extension("hcl").exists() {
            failures.push(format!("{} belongs to no case", expected.display()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}

#[test]
fn valid_manifests_give_what_stands_beside_them() {
    run("valid", "json", |result| match result {
        Ok(json) => Ok(serde_json::to_string_pretty(&json).unwrap() + "\n"),
        Err(errors) => Err(format!("refused\n{errors}")),
    });
}

#[test]
fn invalid_manifests_are_refused_with_what_stands_beside_them() {
    run("invalid", "err", |result| match result {
        Ok(json) => Err(format!("accepted as {json}")),
        Err(errors) => Ok(errors.to_string()),
    });
}
