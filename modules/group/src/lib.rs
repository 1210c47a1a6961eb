//! The resource type `group`: a group of users, or its absence.
//!
//! What is omitted from a declaration stays as it is on the node. Membership can be managed from here as a whole, or user by user from the
//! type `user`, never from both. Deliberately absent: group passwords and administrators, renaming, and giving files of an old id to a new one.

mod attributes;

mod desired;

mod order;

mod state;

mod apply;

use runtime_sdk::{
    Action, Capability, Catalog, Change, Compiled, Conflict, Context, Definition, DefinitionResult, Edge, Footprint,
    InterruptedOperation, NodeResult, Outcome, Parameters, Presence, ResourceId, Semantics, StateType, TestedState,
};

pub use desired::Desired;
pub use state::State;

/// The resource type.
pub struct Group;

runtime_sdk::export_state_type!(Group);

impl Definition for Group {
    const TYPE: &'static str = "group";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A group of users, or its absence.";

    type Given = attributes::Given;
    type Desired = Desired;

    fn capabilities() -> Vec<Capability> {
        attributes::capabilities()
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        Ok(desired::identity(given)?.footprint())
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        desired::compile(given)
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        desired::validate(desired)
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        desired::test_view(desired)
    }

    fn relationships(id: &ResourceId, _desired: Option<&Desired>, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
        order::edges(id, catalog)
    }
}

impl StateType for Group {
    type State = State;

    fn conflicts(group: &[(ResourceId, Desired)], _context: &Context) -> NodeResult<Vec<Conflict>> {
        Ok(order::conflicts(group))
    }

    fn read(desired: &Desired, _context: &Context) -> NodeResult<State> {
        state::read(desired)
    }

    fn expected_changes(desired: &Desired, state: &State) -> NodeResult<Vec<Change>> {
        state::changes(desired, state)
    }

    fn action(desired: &Desired, state: &State) -> Action {
        match (desired.ensure, &state.group) {
            (Presence::Absent, _) => Action::Delete,
            (Presence::Present, None) => Action::Create,
            (Presence::Present, Some(_)) => Action::Update,
        }
    }

    fn apply(desired: &Desired, state: &State, _context: &Context) -> NodeResult<Outcome> {
        apply::apply(desired, state)
    }

    /// The tools change the account files whole or not at all, so checking and applying again is safe.
    fn recover(_desired: &Desired, _operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        Ok(())
    }
}
