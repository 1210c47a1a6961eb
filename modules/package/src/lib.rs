//! The resource type `package`: a package of the system's package manager, at a version, the latest, or gone.
//!
//! The provider that the node selected reads and changes; what counts as a difference, what is done about held packages, what a plan says and how
//! success is told is here and the same for all of them. Nothing here knows a provider by its name. Deliberately absent: repositories and keys,
//! which are files, and groups of packages.

mod attributes;
mod compare;

use std::time::Duration;

use package_backend::{Desired, Observation, REFRESH_INDEX};
use runtime_sdk::{
    Action, Capability, Compiled, Context, Definition, DefinitionResult, Footprint, FullType, InterruptedOperation, Needed,
    NodeResult, Outcome, Parameters, Plan, Reading, Semantics, TestedState, Value, Verified, backend, json,
};

use attributes::Given;

/// Enough for a large download.
const TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// The resource type.
pub struct Package;

runtime_sdk::export_full_type!(Package);

impl Definition for Package {
    const TYPE: &'static str = "package";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A package of the system's package manager: installed, at a version, the latest, or gone.";
    const HAS_PROVIDERS: bool = true;

    type Given = Given;
    type Desired = Desired;

    fn capabilities() -> Vec<Capability> {
        // Packages are its provider's business, which asks for itself.
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
        Ok(Semantics::new(desired.footprint(), TIMEOUT).prerequisite(REFRESH_INDEX))
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        let Desired { name, ensure, version, architecture, hold, when_held, allow_downgrade, configuration_files } = desired;
        TestedState::new(&serde_json::json!({
            "name": name, "ensure": ensure, "version": version, "architecture": architecture, "hold": hold, "when_held": when_held,
            "allow_downgrade": allow_downgrade, "configuration_files": configuration_files,
        }))
    }
}

impl FullType for Package {
    type Work = Observation;
    type Applied = ();

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
        Ok(if changes.is_empty() { Verified::Converged(Some(observed(&found)?)) } else { Verified::NotConverged(changes) })
    }

    fn perform(action: &str, desired: &Desired, _context: &Context) -> NodeResult<Outcome> {
        backend::perform(action, desired)
    }

    fn recover(desired: &Desired, operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        backend::recover(desired, operation)
    }
}

/// What a plan says of what was found.
fn plan(desired: &Desired, found: Observation) -> NodeResult<Plan<Observation>> {
    let changes = compare::changes(desired, &found)?;
    if let Some(reason) = compare::kept_back(desired, &found, &changes) {
        return Ok(Plan::Skipped(reason));
    }
    if found.target_version_unconfirmed && found.needs_index_update {
        let mut needed = Needed::new(action(desired, &found), changes, found);
        needed.incomplete_preview = Some("the index of packages is fetched first, and may offer another version".to_owned());
        needed.prerequisite = Some(REFRESH_INDEX.to_owned());
        return Ok(Plan::NeedsApply(needed));
    }
    if found.target_version_unconfirmed && found.target_version.is_none() {
        let reason = "the index of packages on this node offers no version of it, and is not to be fetched";
        return Ok(Plan::CannotPlan(reason.to_owned()));
    }
    if changes.is_empty() {
        return Ok(Plan::InSync(Reading { observed: Some(observed(&found)?), ..Reading::default() }));
    }
    Ok(Plan::NeedsApply(Needed::new(action(desired, &found), changes, found)))
}

fn action(desired: &Desired, found: &Observation) -> Action {
    use package_backend::State;
    match (desired.ensure.installs(), found.state) {
        (false, _) => Action::Delete,
        (true, State::Absent | State::ConfigurationFiles) => Action::Create,
        (true, _) => Action::Update,
    }
}

/// What is recorded of what was found: what a person could have changed, and not what an index offers at the moment.
fn observed(found: &Observation) -> NodeResult<Value> {
    let Observation { state, detail, installed_version, architecture, held, .. } = found;
    let value = serde_json::json!({
        "state": state, "detail": detail, "installed_version": installed_version, "architecture": architecture, "held": held,
    });
    // Through the canonical form, so that nothing is recorded that has none.
    Ok(json::parse(&json::canonical(&value)?)?)
}

/// For tests: what a plan would say.
#[cfg(test)]
fn changes_of(plan: &Plan<Observation>) -> Vec<&str> {
    match plan {
        Plan::NeedsApply(needed) => needed.changes.iter().map(|change| change.attribute.as_str()).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
