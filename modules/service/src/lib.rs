//! The resource type `service`: a service of the init system, running or stopped, started at boot or not.
//!
//! The provider that the node selected reads and acts; what counts as a difference, what a plan says and what a refresh needs is here and
//! the same for all of them. Nothing here knows a provider by its name. Deliberately absent: the definition of a service, which is a file.

mod attributes;
mod compare;
mod order;

use std::time::Duration;

use runtime_sdk::{
    Action, Capability, Catalog, Claim, Compiled, Context, Definition, DefinitionResult, Edge, Footprint, FullType,
    InterruptedOperation, Needed, NodeResult, Outcome, Parameters, Plan, Reading, ResourceId, Safety, Semantics, TestedState,
    Value, Verified, backend,
};
use service_backend::{DAEMON_RELOAD, Desired, Identity, Observation, Step, steps};

use attributes::Given;

/// Longer than init systems wait for a service to start or to stop.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The resource type.
pub struct Service;

runtime_sdk::export_full_type!(Service);

impl Definition for Service {
    const TYPE: &'static str = "service";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A service of the init system: running or stopped, started at boot or not.";
    const HAS_PROVIDERS: bool = true;

    type Given = Given;
    type Desired = Desired;

    fn capabilities() -> Vec<Capability> {
        // Units are its provider's business, which asks for itself.
        Vec::new()
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        Ok(attributes::desired(given)?.footprint())
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        Ok(Compiled::new(attributes::desired(given)?))
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        desired.check()?;
        let mut semantics = Semantics::new(desired.footprint(), TIMEOUT).prerequisite(DAEMON_RELOAD);
        semantics.accepts_refresh = true;
        Ok(semantics)
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        let Desired { name, ensure, enabled, masked, on_refresh, daemon_reload } = desired;
        TestedState::new(&serde_json::json!({
            "name": name, "ensure": ensure, "enabled": enabled, "masked": masked, "on_refresh": on_refresh,
            "daemon_reload": daemon_reload,
        }))
    }

    fn relationships(id: &ResourceId, desired: Option<&Desired>, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
        Ok(order::edges(id, desired, catalog))
    }
}

impl FullType for Service {
    type Work = Observation;
    type Applied = ();

    /// Holds the other names of the service too, so that no other resource can have it by one of them.
    fn inspect(desired: &Desired, _context: &Context) -> NodeResult<Safety> {
        let identity: Identity = backend::inspect(desired)?;
        Ok(Safety { claims: claims(desired, identity), affected_paths: Vec::new() })
    }

    fn check(desired: &Desired, _context: &Context) -> NodeResult<Plan<Observation>> {
        let found: Observation = backend::read(desired)?;
        plan(desired, found)
    }

    fn apply(desired: &Desired, found: &Observation, _context: &Context) -> NodeResult<(Outcome, ())> {
        Ok((backend::apply(desired, found)?, ()))
    }

    fn verify(desired: &Desired, _work: &Observation, _applied: &(), _context: &Context) -> NodeResult<Verified> {
        let found: Observation = backend::read(desired)?;
        let changes = compare::changes(desired, &found)?;
        Ok(if changes.is_empty() { Verified::Converged(Some(observed(&found))) } else { Verified::NotConverged(changes) })
    }

    fn perform(action: &str, desired: &Desired, _context: &Context) -> NodeResult<Outcome> {
        backend::perform(action, desired)
    }

    fn refresh(desired: &Desired, _context: &Context) -> NodeResult<Outcome> {
        backend::refresh(desired)
    }

    fn recover(desired: &Desired, operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        backend::recover(desired, operation)
    }
}

/// One claim for each other name of the service. Who only looks holds nothing.
fn claims(desired: &Desired, identity: Identity) -> Vec<Claim> {
    if !desired.changes_anything() {
        return Vec::new();
    }
    let others = identity.names.into_iter().filter(|name| name != desired.name.unit());
    others.map(|name| Claim { domain: "unit".into(), key: name.into_bytes(), qualifier: String::new() }).collect()
}

/// What a plan says of what was found.
fn plan(desired: &Desired, found: Observation) -> NodeResult<Plan<Observation>> {
    let changes = compare::changes(desired, &found)?;
    let is_unread = found.definition_changed && desired.daemon_reload && desired.needs_definition();
    if changes.is_empty() && !is_unread {
        return Ok(Plan::InSync(Reading { observed: Some(observed(&found)), outputs: None, refreshable: desired.runs() }));
    }
    let mut needed = Needed::new(Action::Update, changes, found);
    needed.handles_refresh = steps(desired, &needed.work).contains(&Step::Start);
    needed.prerequisite = is_unread.then(|| DAEMON_RELOAD.to_owned());
    if !needed.work.exists && desired.needs_definition() {
        needed.incomplete_preview = Some("there is no such service on this node yet".to_owned());
    }
    Ok(Plan::NeedsApply(needed))
}

/// What is recorded of what was found: what a person could have changed.
fn observed(found: &Observation) -> Value {
    let Observation { activity, boot, mask, .. } = found;
    serde_json::json!({ "activity": activity, "boot": boot, "mask": mask })
}

#[cfg(test)]
mod tests;
