//! The resource type `user`: a user account, or its absence.
//!
//! What is omitted from a declaration stays as it is on the node. A password is only ever a hash, which the host compares and sets; it never
//! crosses into this module. Deliberately absent: renaming, moving a home directory, ages and warnings of passwords, keys of SSH (declare
//! the file), subordinate ids.

mod apply;

mod attributes;

mod compare;

mod compile;

mod desired;

mod expiry;

mod hash;

mod home;

mod order;

mod primary;

mod state;

mod validate;

#[cfg(test)]
mod testing;

use runtime_sdk::{
    Action, AssetRef, Capability, Catalog, Change, Compiled, Conflict, Context, Definition, DefinitionResult, Edge, Footprint,
    InterruptedOperation, NodeResult, Outcome, Parameters, Presence, ResourceId, Safety, Semantics, StateType, TestedState,
};

pub use desired::Desired;
pub use state::State;

/// The resource type.
pub struct User;

runtime_sdk::export_state_type!(User);

impl Definition for User {
    const TYPE: &'static str = "user";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A user account, or its absence.";

    type Given = attributes::Given;
    type Desired = Desired;

    fn capabilities() -> Vec<Capability> {
        attributes::capabilities()
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        Ok(compile::identity(given)?.footprint())
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        compile::compile(given)
    }

    fn assign_asset(desired: &mut Desired, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
        compile::assign_asset(desired, slot, asset)
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        validate::validate(desired)
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        compile::test_view(desired)
    }

    fn relationships(id: &ResourceId, _desired: Option<&Desired>, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
        order::edges(id, catalog)
    }
}

impl StateType for User {
    type State = State;

    fn inspect(desired: &Desired, _context: &Context) -> NodeResult<Safety> {
        state::safety(desired)
    }

    fn conflicts(group: &[(ResourceId, Desired)], _context: &Context) -> NodeResult<Vec<Conflict>> {
        state::conflicts(group)
    }

    fn read(desired: &Desired, context: &Context) -> NodeResult<State> {
        state::read(desired, context)
    }

    fn expected_changes(desired: &Desired, state: &State) -> NodeResult<Vec<Change>> {
        compare::changes(desired, state)
    }

    fn action(desired: &Desired, state: &State) -> Action {
        match (desired.ensure, &state.user) {
            (Presence::Absent, _) => Action::Delete,
            (Presence::Present, None) => Action::Create,
            (Presence::Present, Some(_)) => Action::Update,
        }
    }

    fn apply(desired: &Desired, state: &State, context: &Context) -> NodeResult<Outcome> {
        apply::apply(desired, state, context)
    }

    /// The tools change the account files whole or not at all, and a home directory is made by one rename, so checking and applying again is
    /// safe.
    fn recover(desired: &Desired, operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        home::recover(desired, operation)
    }
}
