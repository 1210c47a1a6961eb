//! For authors of modules: a component's declarations read, and the component held against the contract.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

use super::controller::read_text;
use super::error::RunError;
use crate::conformance::{self, ChildBlock, DEADLINE, Elsewhere, Report, Sample, Transcript};
use crate::engine::{Engine, EngineOptions};
use crate::language::diagnostic::Diagnostic;
use crate::manifest::{self, Declaration, Evaluation, ExportError, Exported, Exports, Inputs, NoFiles, Part, Trail};
use crate::model::ids::ResourceId;

/// What to check, and with which declarations.
#[derive(Debug, Clone)]
pub struct CheckRequest {
    /// The component.
    pub component: Vec<u8>,
    /// Declarations that are known already: those that a built-in module comes with.
    pub samples: Vec<Sample>,
    /// Manifests with more.
    pub declarations: Vec<PathBuf>,
    /// Folder for compiled code; none compiles each time.
    pub cache: Option<PathBuf>,
}

/// Holds a component against the contract. `elsewhere` is another process that asks the same component the same.
///
/// # Errors
/// If it is no component of the contract, or a declaration cannot be read.
pub fn check_module(request: &CheckRequest, elsewhere: Option<&(dyn Elsewhere + Sync)>) -> Result<Report, RunError> {
    Ok(conformance::check(&engine(request)?, &request.component, &samples(request)?, elsewhere)?)
}

/// What the other process gives.
///
/// # Errors
/// As [`check_module`].
pub fn transcribe_module(request: &CheckRequest) -> Result<Transcript, RunError> {
    Ok(conformance::transcribe(&engine(request)?, &request.component, &samples(request)?)?)
}

fn engine(request: &CheckRequest) -> Result<Engine, RunError> {
    Ok(Engine::new(EngineOptions { cache: request.cache.clone(), definition_deadline: DEADLINE, ..EngineOptions::default() })?)
}

fn samples(request: &CheckRequest) -> Result<Vec<Sample>, RunError> {
    let mut samples = request.samples.clone();
    for path in &request.declarations {
        samples.extend(read_samples(&file_name(path), read_text(path)?)?);
    }
    Ok(samples)
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The resources of a manifest as declarations to try a module with. Each stands alone: it reads no facts, files or other resources.
///
/// # Errors
/// With everything that is wrong.
pub fn read_samples(name: &str, text: String) -> Result<Vec<Sample>, RunError> {
    let manifest = Arc::new(manifest::read(name, text).map_err(RunError::Manifest)?);
    let evaluation =
        Evaluation::new(Arc::clone(&manifest), &Inputs::default(), None, Arc::new(NoFiles)).map_err(RunError::Manifest)?;
    let samples: Vec<Option<Sample>> = manifest.resources.iter().map(|declaration| sample(&evaluation, declaration)).collect();
    let diagnostics = evaluation.diagnostics();
    match samples.into_iter().collect() {
        Some(samples) if !diagnostics.has_errors() => Ok(samples),
        _ => Err(RunError::Manifest(diagnostics)),
    }
}

/// One declaration; none if something is wrong with it, which has been told.
fn sample(evaluation: &Evaluation, declaration: &Declaration) -> Option<Sample> {
    let blocks: Vec<Option<ChildBlock>> =
        (0..declaration.blocks.len()).map(|place| child(evaluation, declaration, place)).collect();
    let attributes = attributes(evaluation, declaration, Part::Own);
    Some(Sample {
        type_name: declaration.id.type_name.clone(),
        name: declaration.id.name.to_string(),
        is_given: true,
        attributes: attributes?,
        blocks: blocks.into_iter().collect::<Option<_>>()?,
    })
}

fn child(evaluation: &Evaluation, declaration: &Declaration, place: usize) -> Option<ChildBlock> {
    let block = &declaration.blocks[place];
    let label = match block.labels.as_slice() {
        [] => None,
        [(label, _)] => Some(label.clone()),
        [_, (_, second), ..] => {
            evaluation.add(Diagnostic::error(second, format!("a second label of the block `{}`", block.name)));
            return None;
        }
    };
    Some(ChildBlock { name: block.name.clone(), label, attributes: attributes(evaluation, declaration, Part::Block(place))? })
}

/// The values of a part's attributes; none if one has none here.
fn attributes(evaluation: &Evaluation, declaration: &Declaration, part: Part) -> Option<BTreeMap<String, Json>> {
    let given = declaration.attributes_of(part)?;
    let values: Vec<Option<(String, Json)>> = given
        .iter()
        .map(|(spelling, attribute)| {
            let value = evaluation.attribute(&declaration.id, part, spelling, &Trail::default(), &Alone).ok().flatten()?;
            if value.marks().is_sensitive() {
                return Some((spelling.clone(), conformance::slot(declaration.id.name.as_str(), spelling)));
            }
            let json = value.json();
            if json.is_none() {
                let message = Diagnostic::error(&attribute.value.place, format!("`{spelling}` is known on a node only"));
                evaluation.add(message.hint("a declaration to check a module with gives values themselves".to_owned()));
            }
            Some((spelling.clone(), json?))
        })
        .collect();
    values.into_iter().collect()
}

/// Other resources, of which none is to be read.
struct Alone;

impl Exports for Alone {
    fn export(&self, _resource: &ResourceId, _attribute: &str, _trail: &Trail) -> Result<Exported, ExportError> {
        Err(ExportError::Refused("a declaration to check a module with stands alone and reads no other".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn declarations_are_read_with_their_values() {
        let text = "variable \"key\" {\n  sensitive = true\n  default = \"k\"\n}\nlocals { n = 2 }\n\
                    resource \"thing\" \"a\" {\n  size = local.n * 2\n  key = var.key\n  none = null\n  part \"p\" {\n    x = [1]\n  }\n}\n";
        let samples = read_samples("samples.hcl", text.to_owned()).unwrap();
        assert_eq!(samples.len(), 1);
        assert_eq!((samples[0].name.as_str(), samples[0].is_given), ("a", true));
        let attributes: Json = samples[0].attributes.clone().into_iter().collect::<serde_json::Map<_, _>>().into();
        let part =
            ChildBlock { name: "part".into(), label: Some("p".into()), attributes: BTreeMap::from([("x".into(), json!([1]))]) };
        assert_eq!(samples[0].blocks, [part]);
        assert_eq!(attributes, json!({"size": 4, "key": {"$secret": "a/key"}, "none": null}));
    }

    #[test]
    fn a_declaration_stands_alone() {
        let refused = |value: &str| {
            let text = format!("resource \"thing\" \"a\" {{\n  x = {value}\n}}\nresource \"thing\" \"b\" {{\n  y = 1\n}}\n");
            read_samples("samples.hcl", text).unwrap_err().to_string()
        };
        assert!(refused("facts.hostname").contains("known on a node only"), "{}", refused("facts.hostname"));
        assert!(refused("thing.b.y").contains("stands alone"), "{}", refused("thing.b.y"));
        assert!(refused("file(\"x\")").contains("no such file"), "{}", refused("file(\"x\")"));
    }
}
