//! A resource type that leaves its work on the node to a provider.

use std::time::Duration;

use runtime_sdk::{
    Action, Attribute, Capability, Change, Compiled, Context, Definition, DefinitionError, DefinitionResult, Diagnostic, Effect,
    Footprint, InterruptedOperation, NodeResult, Outcome, Parameters, Safety, Semantics, StateType, TestedState, Value, backend,
};
use serde::{Deserialize, Serialize};

/// The component.
pub struct Gadget;

/// The desired state, which providers know too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// Where the provider may keep things.
    pub path: String,
    /// What it is to keep there.
    pub text: String,
}

/// What a provider observes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// What it keeps; none if it keeps nothing.
    pub text: Option<String>,
    /// What else of what it keeps is not as its options say, each in words.
    pub more: Vec<String>,
}

fn path(given: &Parameters) -> DefinitionResult<String> {
    let path: String = given.required("path")?;
    if path.starts_with('/') { Ok(path) } else { Err(Diagnostic::at("path", "the path is not absolute").into()) }
}

fn footprint(path: &str) -> Footprint {
    Footprint::empty().effect(Effect::write_path(path)).affects(path)
}

impl Definition for Gadget {
    const TYPE: &'static str = "gadget";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Has a provider keep a text.";
    const HAS_PROVIDERS: bool = true;

    type Given = ();
    type Desired = Desired;

    fn attributes() -> Vec<Attribute> {
        vec![
            Attribute::string("path").required().identity().exported().doc("Where the provider may keep things."),
            Attribute::string("text").required().doc("What it is to keep."),
        ]
    }

    fn capabilities() -> Vec<Capability> {
        Vec::new()
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        Ok(footprint(&path(given)?))
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        Ok(Compiled::new(Desired { path: path(given)?, text: given.required("text")? }))
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        if !desired.path.starts_with('/') {
            return Err(Diagnostic::at("path", "the path is not absolute").into());
        }
        Ok(Semantics::new(footprint(&desired.path), Duration::from_secs(60)))
    }

    fn resolve_export(attribute: &str, given: &Parameters) -> DefinitionResult<Value> {
        match attribute {
            "path" => Ok(path(given)?.into()),
            _ => Err(DefinitionError::Unsupported(format!("`{attribute}` is not exported"))),
        }
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        TestedState::new(desired)
    }
}

impl StateType for Gadget {
    type State = Observation;

    fn inspect(desired: &Desired, _context: &Context) -> NodeResult<Safety> {
        // What the provider alone can tell: here just that it was asked, and that it may look at nothing but metadata.
        let _: Value = backend::inspect(desired)?;
        Ok(Safety { claims: Vec::new(), affected_paths: Vec::new() })
    }

    fn read(desired: &Desired, _context: &Context) -> NodeResult<Observation> {
        backend::read(desired)
    }

    fn expected_changes(desired: &Desired, state: &Observation) -> NodeResult<Vec<Change>> {
        let mut changes = Vec::new();
        if state.text.as_ref() != Some(&desired.text) {
            let before = state.text.clone().map(Value::from);
            changes.push(Change::new("text", before, Some(desired.text.clone().into()), "it keeps another text")?);
        }
        if !state.more.is_empty() {
            changes.push(Change::new("more", None, None, state.more.join(", "))?);
        }
        Ok(changes)
    }

    fn action(_desired: &Desired, state: &Observation) -> Action {
        if state.text.is_some() { Action::Update } else { Action::Create }
    }

    fn apply(desired: &Desired, state: &Observation, _context: &Context) -> NodeResult<Outcome> {
        backend::apply(desired, state)
    }

    fn recover(desired: &Desired, operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        backend::recover(desired, operation)
    }
}

runtime_sdk::export_state_type!(Gadget);
