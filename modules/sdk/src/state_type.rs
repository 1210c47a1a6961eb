//! The half that meets the node, for types that read a state, compare it with the desired one and bring that about.

use serde::Serialize;
use serde_json::Value;

use crate::node::{NodeResult, not_supported};
use crate::{Action, Change, Conflict, Context, Definition, InterruptedOperation, Outcome, ResourceId, Safety};

/// A resource type whose object has a state that can be read at any time.
///
/// The adapter calls [`read`](Self::read), then [`expected_changes`](Self::expected_changes). No change: the object is in sync. Else it
/// keeps both states and, if the run is to change the node, calls [`apply`](Self::apply), reads again and asks for the changes again:
/// any that is left is a failure. So check and verify cannot disagree about what counts as a difference.
///
/// [`outputs`](Definition::outputs) of [`Definition`] says which outputs there are; [`current_outputs`](Self::current_outputs) gives those of an object that
/// needs no change.
pub trait StateType: Definition {
    /// What was read from the node. Its JSON is recorded as what was observed.
    type State: Serialize + 'static;

    /// The capabilities that this node offers to the type, as `validate` names them. None by default, which leaves it to policy.
    fn available() -> Vec<String> {
        Vec::new()
    }

    /// Claims and paths that only the node can tell. Refused by default, which says that there never are any.
    fn inspect(_desired: &Self::Desired, _context: &Context) -> NodeResult<Safety> {
        Err(not_supported(format!("`{}` has no claims that only the node can tell", Self::TYPE)))
    }

    /// Resources of this type that cannot be managed together on this node; `group` is all of them. Refused by default, which says that
    /// they never conflict but by their claims.
    fn conflicts(_group: &[(ResourceId, Self::Desired)], _context: &Context) -> NodeResult<Vec<Conflict>> {
        Err(not_supported(format!("resources of `{}` do not conflict but by their claims", Self::TYPE)))
    }

    /// Reads what is there. Absence is a state, not an error; not being allowed to look is an error, not absence.
    fn read(desired: &Self::Desired, context: &Context) -> NodeResult<Self::State>;

    /// Each attribute that differs, with the reason. Pure: no host calls.
    fn expected_changes(desired: &Self::Desired, state: &Self::State) -> NodeResult<Vec<Change>>;

    /// What applying will do to the object. Asked only where there are changes. Pure: no host calls.
    fn action(desired: &Self::Desired, state: &Self::State) -> Action;

    /// The outputs of an object that is as desired, by name: an object with those that `outputs()` lists. None, as by default, leaves
    /// those that the last run recorded. Pure: no host calls.
    fn current_outputs(_desired: &Self::Desired, _state: &Self::State) -> NodeResult<Option<Value>> {
        Ok(None)
    }

    /// Brings the desired state about, starting from `state`. Outputs go into the answer: [`Outcome::outputs`].
    fn apply(desired: &Self::Desired, state: &Self::State, context: &Context) -> NodeResult<Outcome>;

    /// Makes checking and applying again safe after an interrupted operation. Refused by default: then a person must look.
    fn recover(_desired: &Self::Desired, _operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        Err(not_supported(format!("`{}` cannot tell how to go on after an interrupted operation", Self::TYPE)))
    }
}
