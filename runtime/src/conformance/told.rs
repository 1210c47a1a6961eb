//! Answers in full, as JSON, to be compared and never shown.

use serde_json::{Value as Json, json};

use crate::engine::{AssetRequest, AssetSource, Compiled, DefinitionError, DerivedEdge, Footprint, TestedState, Validated};
use crate::model::description::Description;

/// What a function answers.
pub(super) trait Told {
    /// All of it.
    fn told(&self) -> Json;
}

/// An answer or a refusal.
pub(super) fn told<T: Told>(answer: &Result<T, DefinitionError>) -> Json {
    match answer {
        Ok(answer) => json!({ "answer": answer.told() }),
        Err(DefinitionError::Invalid(message)) => {
            json!({ "invalid": [message.attribute, message.message, message.hint] })
        }
        Err(error) => json!({ "refused": error.to_string() }),
    }
}

impl Told for Result<Description, String> {
    fn told(&self) -> Json {
        json!(self.as_ref().map_err(|why| json!({ "bad": why })).map_or_else(|bad| bad, |description| json!(description)))
    }
}

impl Told for Json {
    fn told(&self) -> Json {
        self.clone()
    }
}

impl Told for Footprint {
    fn told(&self) -> Json {
        json!([self.claims, self.effects, self.affected_paths])
    }
}

impl Told for Compiled {
    fn told(&self) -> Json {
        json!({ "desired": self.desired, "assets": self.assets.iter().map(request).collect::<Vec<_>>() })
    }
}

pub(super) fn request(request: &AssetRequest) -> Json {
    let (kind, text) = match &request.source {
        AssetSource::Parameter(text) => ("parameter", text),
        AssetSource::Inline(text) => ("inline", text),
        AssetSource::Local(text) => ("local", text),
        AssetSource::Url(text) => ("url", text),
    };
    json!([request.slot, kind, text, request.checksum, request.checksum_error, request.attribute])
}

impl Told for TestedState {
    fn told(&self) -> Json {
        json!([self.attributes, self.content])
    }
}

impl Told for Validated {
    fn told(&self) -> Json {
        json!([self.footprint.told(), self.semantics, self.only_refreshed])
    }
}

impl Told for Vec<DerivedEdge> {
    fn told(&self) -> Json {
        self.iter().map(|edge| json!([edge.prerequisite, edge.dependent, edge.reason, edge.way_out])).collect()
    }
}
