//! The resource type `exec`: a command that is run when it is needed.
//!
//! When that is must be said: by a guard (`creates`, `unless`, `only_if`), by `refresh_only`, or by `always`. Guards run as queries, which can change nothing,
//! so a plan evaluates them too. Deliberately absent: a search path for the program, an implicit shell, and `ensure`: a command
//! has no condition.

mod attributes;

mod compile;

mod desired;

mod guard;

mod program;

mod umask;

mod validate;

mod word;

mod work;

use runtime_sdk::{
    Capability, Compiled, Context, Definition, DefinitionResult, Footprint, FullType, InterruptedOperation, NodeResult, Outcome,
    Output, Parameters, Plan, Semantics, TestedState, Verified,
};

pub use desired::Desired;

/// The resource type.
pub struct Exec;

runtime_sdk::export_full_type!(Exec);

impl Definition for Exec {
    const TYPE: &'static str = "exec";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A command that is run when it is needed.";

    type Given = attributes::Given;
    type Desired = Desired;

    fn capabilities() -> Vec<Capability> {
        attributes::capabilities()
    }

    fn outputs() -> Vec<Output> {
        attributes::outputs()
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        compile::footprint(given)
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        compile::compile(given)
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        validate::validate(desired)
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        compile::test_view(desired)
    }
}

impl FullType for Exec {
    type Work = work::Work;
    type Applied = work::Applied;

    fn check(desired: &Desired, _context: &Context) -> NodeResult<Plan<work::Work>> {
        work::check(desired)
    }

    fn apply(desired: &Desired, work: &work::Work, _context: &Context) -> NodeResult<(Outcome, work::Applied)> {
        work::apply(desired, work)
    }

    fn verify(desired: &Desired, _work: &work::Work, applied: &work::Applied, _context: &Context) -> NodeResult<Verified> {
        work::verify(desired, applied)
    }

    fn refresh(desired: &Desired, _context: &Context) -> NodeResult<Outcome> {
        work::refresh(desired)
    }

    fn recover(_desired: &Desired, _operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        work::recover()
    }
}
