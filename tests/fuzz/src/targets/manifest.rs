//! Manifests, up to the values of their attributes.
//!
//! What is deferred must survive its way into a catalog, and be what a node takes.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use runtime::language::check_travelled;
use runtime::language::value::Value;
use runtime::manifest::{Evaluation, ExportError, Exported, Exports, FileError, Files, Inputs, Part, Trail, read};
use runtime::model::expression::Expression;
use runtime::model::ids::ResourceId;
use serde_json::{Value as Json, json};

use super::{Target, plainly};
use crate::seeds;

const WORDS: &[&str] = &[
    "${",
    "%{ if ",
    "%{ for x in ",
    "%{ endif }",
    "%{ endfor }",
    "~}",
    "<<-A\n",
    "\nA\n",
    "[for x in ",
    "{for k, v in ",
    " : x]",
    " => ",
    "...",
    "? ",
    " : ",
    "[*]",
    ".*.",
    "\\u0000",
    "\\u{1f512}",
    "facts.os.family",
    "var.v",
    "local.a",
    "secret(\"a\")",
    "file(\"a.txt\")",
    "templatefile(\"a.tftpl\", {})",
    "try(",
    "can(",
    "regexall(",
    "\"(a*)*$\"",
    "range(",
    "format(\"%09d\", ",
    "jsondecode(",
    "jsonencode(",
    "merge(",
    "flatten(",
    "setproduct(",
    "substr(",
    "replace(",
    "join(",
    "cidrhost(",
    "null",
    "true",
    "-1",
    "resource \"file\" \"a\" {\n",
    "meta {\n",
    "control {\n if = ",
    "require = [",
    "manifest {\n",
    "variable \"v\" {\n",
    "locals {\n",
    "output \"o\" {\n",
    "}\n",
    "sensitive = true\n",
    "#",
    "/*",
    "e\u{301}",
    "\u{202e}",
    "\r\n",
];

pub(super) fn target() -> Target {
    Target {
        name: "manifest",
        seeds: || {
            let mut seeds = seeds::files("docs/examples", "hcl");
            seeds.extend(seeds::files("tests/golden/manifests", "hcl"));
            seeds.extend(seeds::blocks("docs"));
            seeds.retain(|seed| seed.len() < 20_000);
            seeds
        },
        words: WORDS,
        change: plainly,
        run: |input| drop(evaluate(input)),
        // A budget of ten million steps takes seconds, more with these counters, and 64 bytes of a value are a step.
        time: Duration::from_secs(30),
        memory: 1 << 30,
    }
}

/// What is left for a node of everything that a manifest has, once for any node, once for one.
pub(super) fn evaluate(input: &[u8]) -> Vec<Json> {
    let Ok(text) = std::str::from_utf8(input) else { return Vec::new() };
    let manifest = match read("fuzz.hcl", text.to_owned()) {
        Ok(manifest) => Arc::new(manifest),
        Err(errors) => {
            let _ = errors.to_string();
            return Vec::new();
        }
    };
    let target = json!({"os": {"id": "debian", "family": "debian", "version_id": "12"}, "hostname": "web1", "cpus": [1, 2, 3]});
    let mut left = Vec::new();
    for facts in [None, Some(&target)] {
        let Ok(evaluation) = Evaluation::new(manifest.clone(), &Inputs::default(), facts, Arc::new(Beside)) else { continue };
        let exports = AsGiven(&evaluation);
        evaluation.check_locals(&exports);
        for declaration in &manifest.resources {
            for (name, attribute) in &declaration.attributes {
                if let Ok(Some(value)) = evaluation.attribute(&declaration.id, Part::Own, name, &Trail::default(), &exports) {
                    left.extend(travelled(&value, &attribute.value));
                }
            }
            let gates = declaration.meta.control.iter().flat_map(|gate| gate.if_.iter().chain(&gate.unless));
            gates.for_each(|gate| drop(evaluation.expression(declaration, gate, &exports)));
        }
        let _ = evaluation.diagnostics().to_string();
    }
    left
}

/// A value that is not known, as it is in a catalog.
fn travelled(value: &Value, given: &Expression) -> Option<Json> {
    if value.is_known() {
        return None;
    }
    let expression = value.residual(&given.place);
    // Sensitive values take another way.
    let json = serde_json::to_value(&expression).ok()?;
    let read: Expression = serde_json::from_value(json.clone()).expect("what was written can be read");
    assert_eq!(read, expression, "what was written is read as something else");
    check_travelled(&read).expect("a node takes what is left for it");
    Some(json)
}

/// Exports every attribute as it is given.
struct AsGiven<'e>(&'e Evaluation);

impl Exports for AsGiven<'_> {
    fn export(&self, resource: &ResourceId, attribute: &str, trail: &Trail) -> Result<Exported, ExportError> {
        match self.0.attribute(resource, Part::Own, attribute, trail, self) {
            Ok(Some(value)) if value.is_known() => Ok(Exported::Known(value)),
            Ok(Some(value)) => Ok(Exported::Deferred(value.marks())),
            Ok(None) => Err(ExportError::NotExported { exported: Vec::new() }),
            Err(_) => Err(ExportError::Reported),
        }
    }
}

/// The files beside the manifest.
struct Beside;

impl Files for Beside {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        match path {
            "a.txt" => Ok(b"line\nline\n".to_vec()),
            "a.tftpl" => Ok(b"%{ for x in xs ~}\n${x}\n%{ endfor ~}\n".to_vec()),
            _ => Err(FileError::NotFound),
        }
    }

    fn open(&self, path: &str) -> Result<Box<dyn io::Read + Send>, FileError> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }
}
