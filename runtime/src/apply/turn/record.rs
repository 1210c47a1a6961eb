//! What is kept of a resource for the next run, and what the last one kept.

use serde_json::Value as Json;

use super::Turn;
use crate::engine::{Prior, Reading, canonical_json};
use crate::journal::JournalError;
use crate::model::canonical::CanonicalJson;
use crate::model::description::Description;
use crate::model::managed::Managed;
use crate::model::report::RunMode;
use crate::store::Recorded;

impl Turn<'_> {
    pub(super) fn record(&self, outputs: Option<Json>, observed: Option<CanonicalJson>) -> Recorded {
        Recorded {
            component: self.ready.module().digest(),
            schema_version: self.ready.module().description().schema_version,
            inputs: self.ready.managed.clone(),
            outputs: outputs.map(|outputs| without_sensitive(outputs, self.ready.module().description())),
            observed,
            configuration: None,
            secrets: self.run.stamps.of(self.ready),
            converged: true,
        }
    }

    /// A resource that is as desired is on record too, so that drift can be told next time.
    pub(super) fn keep_unchanged(&self, reading: Reading) -> Result<(), JournalError> {
        if self.run.mode == RunMode::Noop {
            return Ok(());
        }
        let outputs = reading.outputs.or_else(|| self.recorded().and_then(|recorded| recorded.outputs.clone()));
        let record = self.record(outputs, reading.observed);
        if self.recorded() == Some(&record) {
            return Ok(());
        }
        self.run.journal().keep(&self.run.owner, self.ready.id(), record)
    }

    pub(super) fn recorded(&self) -> Option<&Recorded> {
        self.run.recorded.get(self.ready.id())
    }

    /// The desired state alone, of what was recorded with its provider.
    fn desired_of(&self, recorded: &Recorded) -> CanonicalJson {
        if !self.ready.module().description().has_providers {
            return recorded.inputs.clone();
        }
        let desired = Managed::read(recorded.inputs.json(), true).ok().and_then(|managed| canonical_json(&managed.desired).ok());
        // What another version recorded without a provider is the desired state itself.
        desired.unwrap_or_else(|| recorded.inputs.clone())
    }

    pub(super) fn prior(&self) -> Option<Prior> {
        self.recorded().map(|recorded| Prior {
            schema_version: recorded.schema_version,
            inputs: self.desired_of(recorded),
            outputs: recorded.outputs.clone(),
            observed: recorded.observed.clone(),
            configuration: recorded.configuration.clone(),
        })
    }
}

/// Outputs as they may be on record: nothing stands for a sensitive one.
fn without_sensitive(mut outputs: Json, description: &Description) -> Json {
    if let Some(members) = outputs.as_object_mut() {
        members.retain(|name, _| !description.output(name).is_some_and(|output| output.sensitive));
    }
    outputs
}
