//! The half that meets the node, in full: for types whose work is more than bringing a state about.

use serde_json::Value;

use crate::bindings::exports::runtime::module::lifecycle::Conflict;
use crate::node::{NodeResult, not_supported};
use crate::{Action, Change, Context, Definition, InterruptedOperation, Outcome, Prior, ResourceId, Safety};

/// A resource type that plans work of its own, applies it, and says itself how it is known to have succeeded.
///
/// Choose [`StateType`](crate::StateType) where success can be told by reading a state and comparing it. This trait is for the rest: commands, refresh,
/// prerequisites, previews that cannot be complete, work that must not be repeated to be verified. The adapter decodes, keeps the work between the
/// calls, and refuses to apply it twice.
pub trait FullType: Definition {
    /// What [`check`](Self::check) found to do. It lives in this component only, and is never recorded.
    type Work: 'static;

    /// What [`apply`](Self::apply) leaves for [`verify`](Self::verify). The same holds for it.
    type Applied: 'static;

    /// The capabilities that this node offers to the type, as `validate` names them. None by default, which leaves it to policy.
    fn available() -> Vec<String> {
        Vec::new()
    }

    /// Claims and paths that only the node can tell. Refused by default, which says that there never are any.
    fn inspect(_desired: &Self::Desired, _context: &Context) -> NodeResult<Safety> {
        Err(not_supported(format!("`{}` has no claims that only the node can tell", Self::TYPE)))
    }

    /// Conflicts within all resources of the type. Refused by default, which says that there never are any.
    fn conflicts(_group: &[(ResourceId, Self::Desired)], _context: &Context) -> NodeResult<Vec<Conflict>> {
        Err(not_supported(format!("resources of `{}` do not conflict but by their claims", Self::TYPE)))
    }

    /// What is to be done. Nothing may be changed here.
    fn check(desired: &Self::Desired, context: &Context) -> NodeResult<Plan<Self::Work>>;

    /// Does the work.
    fn apply(desired: &Self::Desired, work: &Self::Work, context: &Context) -> NodeResult<(Outcome, Self::Applied)>;

    /// Whether the work has had its effect, by looking and not by doing it again.
    fn verify(desired: &Self::Desired, work: &Self::Work, applied: &Self::Applied, context: &Context) -> NodeResult<Verified>;

    /// Does a shared action that [`check`](Self::check) asked for. Refused by default.
    fn perform(_action: &str, _desired: &Self::Desired, _context: &Context) -> NodeResult<Outcome> {
        Err(not_supported(format!("`{}` has no shared actions", Self::TYPE)))
    }

    /// Does what a changed subscription asks for, where [`Reading::refreshable`] says that there is something to do. Refused by default; `validate` must
    /// say whether it is.
    fn refresh(_desired: &Self::Desired, _context: &Context) -> NodeResult<Outcome> {
        Err(not_supported(format!("`{}` takes no refresh", Self::TYPE)))
    }

    /// Makes checking and applying again safe after an interrupted operation. Refused by default: then a person must look.
    fn recover(_desired: &Self::Desired, _operation: &InterruptedOperation, _context: &Context) -> NodeResult<()> {
        Err(not_supported(format!("`{}` cannot tell how to go on after an interrupted operation", Self::TYPE)))
    }

    /// The outputs of an object that an earlier run recorded; none if it is gone. Refused by default.
    fn read(_prior: &Prior, _context: &Context) -> NodeResult<Option<Value>> {
        Err(not_supported(format!("`{}` has no recorded outputs", Self::TYPE)))
    }

    /// Deletes an object that an earlier run recorded. Refused by default.
    fn delete(_prior: &Prior, _context: &Context) -> NodeResult<Outcome> {
        Err(not_supported(format!("`{}` has no recorded objects to delete", Self::TYPE)))
    }
}

/// The answer of [`FullType::check`].
#[derive(Debug, Clone, PartialEq)]
pub enum Plan<W> {
    /// There is nothing to do.
    InSync(Reading),
    /// It is not for this node; the reason.
    Skipped(String),
    /// What would be done cannot be told; the reason.
    CannotPlan(String),
    /// There is something to do.
    NeedsApply(Needed<W>),
}

/// What was found of an object that needs nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// For the record, and for telling drift.
    pub observed: Option<Value>,
    /// The type's outputs; none leaves those that the last run recorded.
    pub outputs: Option<Value>,
    /// Whether a refresh would find something to do.
    pub refreshable: bool,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Needed<W> {
    /// What it does to the object.
    pub action: Action,
    /// What differs, in any order. It may be empty where there is only upkeep to do.
    pub changes: Vec<Change>,
    /// What [`FullType::apply`] gets.
    pub work: W,
    /// Why the changes may not be all of them.
    pub incomplete_preview: Option<String>,
    /// A shared action to run first, one of those that `validate` declared.
    pub prerequisite: Option<String>,
    /// Whether applying also does what a refresh would do.
    pub handles_refresh: bool,
}

impl<W> Needed<W> {
    /// Work with a preview that is complete, and nothing to do before it.
    pub fn new(action: Action, changes: Vec<Change>, work: W) -> Self {
        Self { action, changes, work, incomplete_preview: None, prerequisite: None, handles_refresh: false }
    }
}

/// The answer of [`FullType::verify`].
#[derive(Debug, Clone, PartialEq)]
pub enum Verified {
    /// It has had its effect. What was observed, for the record.
    Converged(Option<Value>),
    /// These still differ, in any order.
    NotConverged(Vec<Change>),
}
