//! What lifecycle calls take and give, as data.

use std::time::Duration;

use serde_json::Value as Json;

use crate::engine::error::{CallError, Diagnostic};
use crate::model::asset::AssetRef;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::Claim;
use crate::model::ids::ResourceId;
use crate::model::key::Key;
use crate::model::report::{Action, EffectClass};

/// Why an operation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationReason {
    /// To bring about the desired state.
    Converge,
    /// A resource that this one subscribes to has changed.
    Refresh,
}

/// What the last run that managed the object recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Prior {
    /// Of the recorded inputs.
    pub schema_version: u32,
    /// The desired state then.
    pub inputs: CanonicalJson,
    /// What applying gave.
    pub outputs: Option<Json>,
    /// What was observed last.
    pub observed: Option<CanonicalJson>,
    /// The module's configuration then.
    pub configuration: Option<Json>,
}

/// What every lifecycle call is told besides its arguments.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reason {
    /// None is to converge.
    pub reason: Option<OperationReason>,
    /// The name under which this operation stages, in apply and recover.
    pub staging_name: Option<String>,
    /// What the last run recorded.
    pub prior: Option<Prior>,
    /// The module's current configuration.
    pub configuration: Option<Json>,
}

/// One attribute that differs, in the module's words.
#[derive(Debug, Clone, PartialEq)]
pub struct GuestChange {
    /// Which attribute.
    pub attribute: String,
    /// What was observed.
    pub before: Option<Json>,
    /// What is desired.
    pub after: Option<Json>,
    /// Why that counts as a difference.
    pub reason: String,
    /// Content for the host to compare as text.
    pub content: Option<ContentChange>,
}

/// A change of a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentChange {
    /// Of which file.
    pub path: Key,
    /// What it will become.
    pub asset: AssetRef,
}

/// What a check found to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Needed {
    /// What applying does to the object.
    pub action: Action,
    /// What differs.
    pub changes: Vec<GuestChange>,
    /// Why the changes may not be all of them.
    pub incomplete_preview: Option<String>,
    /// A shared action to run first.
    pub prerequisite: Option<String>,
    /// Whether applying also does what a refresh would do.
    pub handles_refresh: bool,
}

/// What was found of an object that is as desired.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// What was observed.
    pub observed: Option<CanonicalJson>,
    /// Its outputs; none leaves those on record.
    pub outputs: Option<Json>,
    /// Whether a refresh would find something to do.
    pub refreshable: bool,
}

/// The answer of a check.
#[derive(Debug, Clone, PartialEq)]
pub enum CheckResult {
    /// Nothing differs.
    InSync(Reading),
    /// Not for this node.
    Skipped(String),
    /// What would be done cannot be told.
    CannotPlan(String),
    /// Something differs. The work stays in the attempt.
    NeedsApply(Needed),
}

/// What an application did.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// For the record and for other resources.
    pub outputs: Option<Json>,
    /// Whether a command was executed.
    pub executed: bool,
    /// Whether it did what a refresh would do.
    pub handled_refresh: bool,
    /// For the operator.
    pub output: Option<String>,
}

/// The answer of a verification.
#[derive(Debug, Clone, PartialEq)]
pub enum Verification {
    /// Nothing differs; what was observed.
    Converged(Option<CanonicalJson>),
    /// These still differ.
    NotConverged(Vec<GuestChange>),
}

/// Claims that only the node can tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Safety {
    /// Further claims.
    pub claims: Vec<Claim>,
    /// Further paths.
    pub affected_paths: Vec<Key>,
}

/// Resources that cannot be managed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Which.
    pub resources: Vec<ResourceId>,
    /// Why.
    pub message: String,
}

/// An operation that a lost run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupted {
    /// The name under which it staged.
    pub staging_name: String,
    /// Why it ran.
    pub reason: OperationReason,
}

/// A failure that the module reports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .diagnostic.message)]
pub struct LifecycleError {
    /// What it left behind.
    pub effect: EffectClass,
    /// In the module's words.
    pub diagnostic: Diagnostic,
    /// A host call was denied.
    pub denied: bool,
    /// The type or node cannot do this.
    pub unsupported: bool,
}

/// Why a lifecycle call gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum AttemptError {
    /// It trapped, ran out of something, or broke the contract. The attempt is over.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The module reports a failure.
    #[error(transparent)]
    Module(#[from] LifecycleError),
}

/// What an attempt may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptLimits {
    /// Memory of the instance, in bytes.
    pub memory_bytes: usize,
    /// From the first call to the last.
    pub deadline: Duration,
}
