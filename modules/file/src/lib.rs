//! The resource type `file`: a file, a directory or a symbolic link at a path, or nothing there.
//!
//! What is omitted from a declaration stays as it is on the node. Contents never cross into this module: they are named by
//! digest, and the host fetches, hashes and writes them. Deliberately absent: recursion into directories, templates (the manifest
//! language has them), access control lists and extended attributes.

mod attributes;

mod source;

mod compile;

mod order;

mod desired;

mod links;

mod mode;

mod validate;

mod validation;

mod state;

mod compare;

mod apply;

#[cfg(test)]
mod testing;

use runtime_sdk::{
    Action, AssetRef, Capability, Catalog, Change, Compiled, Context, Definition, DefinitionResult, Edge, Footprint,
    InterruptedOperation, NodeResult, Outcome, Parameters, ResourceId, Semantics, StateType, TestedState,
};

pub use desired::{Desired, Ensure};
pub use links::Links;
pub use mode::Mode;
pub use state::State;

/// The resource type.
pub struct File;

runtime_sdk::export_state_type!(File);

impl Definition for File {
    const TYPE: &'static str = "file";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A file, a directory or a symbolic link, or nothing, at a path.";

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

    fn relationships(id: &ResourceId, desired: Option<&Desired>, catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
        order::edges(id, desired, catalog)
    }
}

impl StateType for File {
    type State = State;

    fn read(desired: &Desired, _context: &Context) -> NodeResult<State> {
        state::read(desired)
    }

    fn expected_changes(desired: &Desired, state: &State) -> NodeResult<Vec<Change>> {
        compare::changes(desired, state)
    }

    fn action(desired: &Desired, state: &State) -> Action {
        compare::action(desired, state)
    }

    fn apply(desired: &Desired, state: &State, _context: &Context) -> NodeResult<Outcome> {
        apply::apply(desired, state)
    }

    fn recover(desired: &Desired, operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        apply::recover(desired, operation)
    }
}
