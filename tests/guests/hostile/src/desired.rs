//! The desired state: what to do, and where.

use runtime_sdk::{Asset, DefinitionError, DefinitionResult, Diagnostic, Effect, Footprint, NodeResult, json};
use serde::{Deserialize, Serialize};

use crate::behaviour::{Act, Behaviour, Place};

/// A slot that it is never given.
pub const FOREIGN_SECRET: &str = "secret:file.apart/content";

/// The desired state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// As `act@place`; none to behave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behaviour: Option<String>,
    /// Whatever the act makes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The path that the effects name.
    pub path: String,
    /// A path that they do not name.
    pub other: String,
    /// Content, which may be sensitive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Asset>,
}

impl Desired {
    /// The state that a text says, for a definition.
    pub fn parse(text: &str) -> DefinitionResult<Self> {
        Ok(json::parse_canonical(text)?)
    }

    /// The state that a text says, on the node.
    pub fn parse_on_node(text: &str) -> NodeResult<Self> {
        Ok(json::parse_canonical(text)?)
    }

    /// What to do in `place`; none to behave.
    pub fn act(&self, place: Place) -> Option<Act> {
        let behaviour = self.behaviour.as_deref().and_then(Behaviour::parse)?;
        (behaviour.place == place).then_some(behaviour.act)
    }

    /// The name of the content; one of another resource if there is none.
    pub fn secret_name(&self) -> &str {
        self.secret.as_ref().and_then(Asset::name).unwrap_or(FOREIGN_SECRET)
    }

    /// Refuses words that it does not know, so that a test cannot pass by a slip of the pen.
    pub fn check(&self) -> DefinitionResult<()> {
        match self.behaviour.as_deref() {
            Some(text) if Behaviour::parse(text).is_none() => {
                Err(DefinitionError::Invalid(Diagnostic::at("behaviour", "the guest knows no such behaviour")))
            }
            _ => Ok(()),
        }
    }

    /// What it touches: `path` and nothing else, unless an act is to look at `other`, or calls about all that is in the folder of `path`.
    pub fn footprint(&self) -> Footprint {
        if self.behaviour.as_deref().and_then(Behaviour::parse).is_some_and(|told| matches!(told.act, Act::Call | Act::Storm)) {
            let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            return Footprint::empty().effect(Effect::write_path(format!("{folder}/**"))).affects(self.path.as_bytes());
        }
        let footprint = Footprint::empty().effect(Effect::write_path(self.path.as_bytes())).affects(self.path.as_bytes());
        match self.act(Place::CompositionConflicts) {
            Some(Act::ConflictWithOther) => footprint.effect(Effect::read_path(self.other.as_bytes())),
            _ => footprint,
        }
    }
}
