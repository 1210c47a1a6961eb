//! What an application did, and outputs: held against what `describe` lists before anybody reads them.

use serde_json::Value as Json;

use super::answers::Outcome;
use super::{Attempt, AttemptError};
use crate::engine::bindings::exports::runtime::module::lifecycle as wit;
use crate::engine::convert;
use crate::engine::error::CallError;
use crate::model::description::{Description, holds_reserved_key};
use crate::model::key::escape;
use crate::model::kind::kind_of;

/// The longest text for the operator that is kept, in bytes.
const MAX_OUTPUT_BYTES: usize = 64 << 10;

/// The largest outputs of one resource, in bytes of JSON: they are on record, and in memory for the rest of the run.
const MAX_OUTPUTS_BYTES: usize = 1 << 20;

impl Attempt {
    /// The answer of a call. `puts_out`: whether it must give the outputs that the type has.
    pub(super) fn outcome(
        &mut self,
        function: &'static str,
        from: wit::Outcome,
        puts_out: bool,
    ) -> Result<Outcome, AttemptError> {
        let outputs = self.outputs(function, from.outputs)?;
        if outputs.is_none() && puts_out && !self.module.description().outputs.is_empty() {
            return Err(self.broken(function, "no outputs, although `describe` lists some".into()).into());
        }
        Ok(Outcome {
            outputs,
            executed: from.executed,
            handled_refresh: from.handled_refresh,
            output: from.output.map(|text| {
                let end = text.floor_char_boundary(MAX_OUTPUT_BYTES);
                escape(&text[..end])
            }),
        })
    }

    /// The outputs that an answer gives, if it gives any.
    pub(super) fn outputs(&mut self, function: &'static str, text: Option<String>) -> Result<Option<Json>, CallError> {
        let checked = text.as_deref().map(|text| checked(self.module.description(), text)).transpose();
        checked.map_err(|message| self.broken(function, message))
    }
}

/// Outputs from a guest's text: an object with just those that `describe` lists, each of its type.
///
/// # Errors
/// In words that quote no value.
fn checked(description: &Description, text: &str) -> Result<Json, String> {
    if text.len() > MAX_OUTPUTS_BYTES {
        return Err(format!("outputs of {} bytes, more than {MAX_OUTPUTS_BYTES}", text.len()));
    }
    let outputs = convert::parse_json(text)?;
    let Some(given) = outputs.as_object() else { return Err(format!("outputs that are {}, not an object", kind_of(&outputs))) };
    if let Some(name) = given.keys().find(|name| description.output(name).is_none()) {
        return Err(format!("the output `{}`, which `describe` does not list", convert::message(name)));
    }
    for output in &description.outputs {
        let name = &output.name;
        let Some(value) = given.get(name) else {
            return Err(format!("no output `{name}`, although `describe` lists it"));
        };
        if holds_reserved_key(value) {
            return Err(format!("the output `{name}` with the key `$secret`, which is reserved"));
        }
        if !output.output_type.accepts(value) {
            return Err(format!("the output `{name}` that is {}, not {}", kind_of(value), output.output_type));
        }
    }
    Ok(outputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::description::{AttributeType, Output, Selectors};

    fn described() -> Description {
        let output = |name: &str, output_type| Output { name: name.into(), output_type, sensitive: false, doc: String::new() };
        Description {
            type_name: "thing".parse().unwrap(),
            schema_version: 1,
            summary: String::new(),
            attributes: vec![],
            blocks: vec![],
            outputs: vec![output("id", AttributeType::String), output("size", AttributeType::Integer)],
            ensure: None,
            capabilities: vec![],
            selectors: Selectors::default(),
            has_providers: false,
        }
    }

    #[test]
    fn outputs_are_just_those_that_are_described_each_of_its_type() {
        let checked = |text: &str| checked(&described(), text);
        assert!(checked(r#"{"id":"a","size":1}"#).is_ok());
        for (bad, words) in [
            ("[]", "a list, not an object"),
            (r#"{"id":"a"}"#, "no output `size`"),
            (r#"{"id":"a","more":1,"size":1}"#, "the output `more`"),
            (r#"{"id":"a","size":1.5}"#, "`size` that is a number, not integer"),
            (r#"{"id":null,"size":1}"#, "`id` that is null, not string"),
            (r#"{"id":{"$secret":"a"},"size":1}"#, "reserved"),
            (r#"{"size":1,"id":"a"}"#, "not canonical"),
            ("{", "not JSON"),
        ] {
            let error = checked(bad).unwrap_err();
            assert!(error.contains(words), "{bad}: {error}");
        }
        let huge = format!("\"{}\"", "x".repeat(MAX_OUTPUTS_BYTES));
        assert!(checked(&huge).unwrap_err().contains("more than 1048576"));
        assert!(!checked(r#"{"\u001b":1}"#).unwrap_err().contains('\u{1b}'));
    }
}
