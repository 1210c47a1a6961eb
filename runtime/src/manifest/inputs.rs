//! Values for variables: `--var k=v` and files of variables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use hcl_edit::Span;
use hcl_edit::expr::Expression as Hcl;
use serde_json::Value as Json;

use super::blocks::Reader;
use super::{Manifest, Type, Variable};
use crate::language::diagnostic::{Diagnostic, Diagnostics};
use crate::language::source::{Source, Sources};
use crate::language::value::{Marks, Value};
use crate::language::{parse, suggest};
use crate::model::expression::Place;
use crate::model::kind::Unshown;

/// What is given for a variable. Its debug output does not show it.
#[derive(Clone)]
enum Given {
    /// Text, read according to the variable's type.
    Text(String),
    /// A value from a file.
    Value { json: Json, place: Option<Place> },
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => f.write_str("text"),
            Self::Value { json, .. } => Unshown(json).fmt(f),
        }
    }
}

/// Values for variables, in the order in which they were given; a later one overrides.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    given: Vec<(String, String, Given)>,
    sources: Sources,
}

impl Inputs {
    /// Adds `NAME=VALUE`.
    ///
    /// # Errors
    /// If there is no `=`.
    pub fn variable(&mut self, text: &str) -> Result<(), Box<Diagnostic>> {
        let Some((name, value)) = text.split_once('=') else {
            // The text may be a secret that was given without its name.
            let error = Diagnostic::general("a variable is given without `=`");
            return Err(Box::new(error.hint("write `--var NAME=VALUE`".to_owned())));
        };
        self.given.push((name.trim().to_owned(), "`--var`".to_owned(), Given::Text(value.to_owned())));
        Ok(())
    }

    /// Adds a file of variables: JSON if its name ends in `.json`, else HCL attributes.
    ///
    /// # Errors
    /// With everything that is wrong with the file.
    pub fn file(&mut self, name: &str, text: String) -> Result<(), Diagnostics> {
        // Any of its values may be for a sensitive variable.
        let source = Arc::new(Source::private(name, text));
        self.sources.add(source.clone());
        let errors = if name.ends_with(".json") { self.json(&source) } else { self.hcl(&source) };
        if errors.is_empty() { Ok(()) } else { Err(Diagnostics { list: errors, sources: self.sources.clone() }) }
    }

    fn json(&mut self, source: &Source) -> Vec<Diagnostic> {
        if source.text().len() > parse::MAX_SOURCE {
            return vec![Diagnostic::general(format!("`{}` is larger than {} MiB", source.name(), parse::MAX_SOURCE >> 20))];
        }
        match serde_json::from_str(source.text()) {
            Ok(Json::Object(members)) => {
                let origin = format!("`{}`", source.name());
                let given = members.into_iter().map(|(name, json)| (name, origin.clone(), Given::Value { json, place: None }));
                self.given.extend(given);
                Vec::new()
            }
            Ok(_) => vec![Diagnostic::general(format!("`{}` must hold a JSON object", source.name()))],
            Err(error) => {
                let at = format!("line {}, column {}", error.line(), error.column());
                vec![Diagnostic::general(format!("`{}` is not valid JSON at {at}", source.name()))]
            }
        }
    }

    fn hcl(&mut self, source: &Source) -> Vec<Diagnostic> {
        let body = match parse::body(source) {
            Ok(body) => body,
            Err(error) => return vec![*error],
        };
        let mut reader = Reader { source, errors: Vec::new() };
        for block in body.blocks() {
            let place = reader.header(block);
            let error = reader.error(&place, "a file of variables holds no blocks");
            error.hint = Some("write `NAME = VALUE` for each variable".to_owned());
        }
        for attribute in body.attributes() {
            let place = reader.place(attribute.key.span());
            if let Some((json, _)) = reader.constant(attribute) {
                let name = attribute.key.as_str().to_owned();
                self.given.push((name, format!("`{}`", source.name()), Given::Value { json, place: Some(place) }));
            }
        }
        reader.errors
    }

    /// The values of the variables of a manifest, with their marks, and what is wrong with what was given. A variable without a good value is
    /// not among them.
    pub(super) fn values(&self, manifest: &Manifest) -> (BTreeMap<String, Value>, Diagnostics) {
        let mut errors = Vec::new();
        let mut values: BTreeMap<String, Json> = BTreeMap::new();
        let mut refused = BTreeSet::new();
        for (name, origin, given) in &self.given {
            let Some(variable) = manifest.variables.get(name) else {
                errors.push(unknown(manifest, name, origin, given));
                continue;
            };
            if variable.is_hole {
                continue;
            }
            match take(name, variable, origin, given) {
                Ok(json) => {
                    values.insert(name.clone(), json);
                }
                Err(error) => {
                    refused.insert(name);
                    errors.push(*error);
                }
            }
        }
        let mut marked = BTreeMap::new();
        for (name, variable) in manifest.variables.iter().filter(|(name, variable)| !variable.is_hole && !refused.contains(name))
        {
            match values.get(name).or(variable.default.as_ref()).map(Value::from_json) {
                Some(Ok(value)) => {
                    let marks = if variable.sensitive { Marks::sensitive() } else { Marks::default() };
                    marked.insert(name.clone(), value.marked(&marks));
                }
                Some(Err(error)) => errors.push(Diagnostic::error(&variable.place, format!("the value of `{name}`: {error}"))),
                None => errors.push(missing(name, variable)),
            }
        }
        (marked, Diagnostics { list: errors, sources: manifest.sources.joined(&self.sources) })
    }
}

fn missing(name: &str, variable: &Variable) -> Diagnostic {
    Diagnostic::error(&variable.place, format!("no value is given for the variable `{name}`"))
        .label("has no default")
        .hint(format!("pass `--var {name}=…` or a `--var-file`"))
}

fn unknown(manifest: &Manifest, name: &str, origin: &str, given: &Given) -> Diagnostic {
    let summary = format!("{origin} gives a value for `{name}`, which the manifest does not declare");
    let message = match given {
        Given::Value { place: Some(place), .. } => Diagnostic::error(place, summary),
        _ => Diagnostic::general(summary),
    };
    message.hint(suggest::one_of(name, manifest.variables.keys().map(String::as_str)))
}

fn take(name: &str, variable: &Variable, origin: &str, given: &Given) -> Result<Json, Box<Diagnostic>> {
    let (json, place) = match given {
        Given::Text(text) => (read_text(text, &variable.type_), None),
        Given::Value { json, place } => (Some(json.clone()), place.as_ref()),
    };
    let wrong = |label: String| {
        let summary = format!("the value from {origin} for `{name}` does not fit its type `{}`", variable.type_);
        Box::new(Diagnostic::error(place.unwrap_or(&variable.place), summary).label(label))
    };
    let Some(json) = json else { return Err(wrong("its text does not spell such a value".to_owned())) };
    if json.is_null() && variable.default == Some(Json::Null) {
        return Ok(json);
    }
    variable.type_.check(&json).map_err(|error| wrong(error.to_string()))?;
    Ok(json)
}

/// Text from the command line: itself for strings, else a constant in HCL.
fn read_text(text: &str, type_: &Type) -> Option<Json> {
    if matches!(type_, Type::Any | Type::String) {
        return Some(Json::String(text.to_owned()));
    }
    if text.len() > parse::MAX_SOURCE {
        return None;
    }
    let source = Source::new("--var", format!("v = {text}\n"));
    let body = parse::body(&source).ok()?;
    let mut attributes = body.attributes();
    let attribute = attributes.next().filter(|attribute| !matches!(attribute.value, Hcl::Variable(_)))?;
    let mut reader = Reader { source: &source, errors: Vec::new() };
    let (json, _) = reader.constant(attribute)?;
    (attributes.next().is_none() && body.blocks().next().is_none() && reader.errors.is_empty()).then_some(json)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::manifest::read;

    fn manifest() -> Manifest {
        let text = r#"
            variable "name" { type = string }
            variable "ports" {
              type = list(integer)
              default = [80]
            }
            variable "maybe" {
              type = string
              default = null
            }
            variable "token" {
              sensitive = true
              default = "x"
            }
        "#;
        read("site.hcl", text.to_owned()).unwrap()
    }

    fn values(variables: &[&str]) -> Result<BTreeMap<String, Value>, String> {
        let mut inputs = Inputs::default();
        variables.iter().for_each(|text| inputs.variable(text).unwrap());
        settled(&inputs)
    }

    fn settled(inputs: &Inputs) -> Result<BTreeMap<String, Value>, String> {
        let (values, errors) = inputs.values(&manifest());
        if errors.list.is_empty() { Ok(values) } else { Err(errors.to_string()) }
    }

    #[test]
    fn text_is_read_by_the_type_and_later_wins() {
        let values = values(&["name=a=b", "ports=[1]", "ports=[2, 3]"]).unwrap();
        assert_eq!(values["name"].json(), Some(json!("a=b")));
        assert_eq!(values["ports"].json(), Some(json!([2, 3])));
        assert_eq!(values["maybe"].json(), Some(Json::Null));
        assert!(values["token"].marks().is_sensitive());
        assert!(!values["name"].marks().is_sensitive());
    }

    #[test]
    fn wrong_inputs_are_refused_without_their_values() {
        assert!(values(&[]).unwrap_err().contains("no value is given for the variable `name`"));
        let text = values(&["nam=hush", "name=x", "ports=hush", "ports=[1]\nx = 2"]).unwrap_err();
        assert!(text.contains("did you mean `name`?") && text.contains("`list(integer)`") && !text.contains("hush"), "{text}");
        assert!(
            values(&["name=x", "ports=[\"hush\"]"]).unwrap_err().contains("at `[0]` it must be a whole number, not a string")
        );
        let mut given = Inputs::default();
        given.variable("token=hush").unwrap();
        given.file("a.json", "{\"token\": \"hush\"}".to_owned()).unwrap();
        assert!(!format!("{given:?} {:?}", settled(&given)).contains("hush"));
        let error = Inputs::default().variable("hush").unwrap_err();
        assert!(!error.summary.contains("hush"));
    }

    #[test]
    fn files_are_hcl_or_json() {
        let mut inputs = Inputs::default();
        inputs.file("a.hcl", "name = \"x\"\nports = [1]\n".to_owned()).unwrap();
        inputs.file("b.json", "{\"ports\": [9]}".to_owned()).unwrap();
        assert_eq!(settled(&inputs).unwrap()["ports"].json(), Some(json!([9])));
        let error = inputs.file("c.hcl", "name = local.x\nblock {}\n".to_owned()).unwrap_err().to_string();
        assert!(error.contains("c.hcl:1:8") && error.contains("holds no blocks"), "{error}");
        assert!(inputs.file("d.json", "[1]".to_owned()).unwrap_err().to_string().contains("must hold a JSON object"));
    }
}
