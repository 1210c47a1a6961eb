//! The report of a run, and the plan, which is the report of a run that changes nothing.
//!
//! Its JSON has exactly one supported version; docs/formats/report.md describes it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::digest::{BundleDigest, ComponentDigest};
use super::health::HealthReport;
use super::ids::{OwnerName, ProviderName, ResourceId, RunId};

/// The one report version that this program writes and reads.
pub const REPORT_VERSION: u32 = 2;

/// Whether a run may change the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunMode {
    /// It converges the node.
    Apply,
    /// It reports what it would change.
    Noop,
}

/// What a run found and did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use = "an unread report is not actionable"]
pub struct Report {
    /// [`REPORT_VERSION`].
    pub report_version: u32,
    /// The run; none for noop, which leaves no trace.
    pub run: Option<RunId>,
    /// Whether it could change the node.
    pub mode: RunMode,
    /// Whose bundle it was.
    pub owner: OwnerName,
    /// The manifest's serial.
    pub serial: u64,
    /// Which bundle.
    pub bundle: BundleDigest,
    /// The component of each resource type.
    pub modules: BTreeMap<String, ComponentDigest>,
    /// When it began and ended, RFC 3339 in UTC.
    pub started: String,
    /// As `started`.
    pub ended: String,
    /// Findings that concern no single resource.
    pub notes: Vec<Note>,
    /// Every resource, in catalog order; then those no longer declared whose interrupted change is not settled.
    pub resources: Vec<ResourceReport>,
}

impl Report {
    /// How many resources ended in each way.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary { total: self.resources.len(), ..Summary::default() };
        for resource in &self.resources {
            *summary.counter(resource.outcome) += 1;
            summary.drifted += usize::from(resource.drift);
        }
        summary
    }
}

/// A finding with a severity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// How much it matters.
    pub severity: Severity,
    /// What was found.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// How much a note matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Probably not what was meant.
    Warning,
}

/// How one resource ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceReport {
    /// Which resource.
    pub id: ResourceId,
    /// The provider that was selected for it, where its type has providers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderName>,
    /// How it ended.
    pub outcome: Outcome,
    /// What converging does or did to the object.
    pub action: Action,
    /// Attributes that differed when it was checked.
    pub changes: Vec<Change>,
    /// The last run left it converged with this desired state, and it was different now.
    pub drift: bool,
    /// Why it was left alone, where it was; a failure says its own.
    pub reason: Option<String>,
    /// Why the changes may not be all of them.
    pub incomplete_preview: Option<String>,
    /// Shared actions that went before, or would.
    pub prerequisites: Vec<String>,
    /// What became of a refresh that it owed.
    pub refresh: Option<Refresh>,
    /// What its health check said; absent where there is none, or it was not its turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<HealthReport>,
    /// What went wrong.
    pub failure: Option<Failure>,
    /// Messages of the module, at most 64 KiB.
    pub log: Vec<String>,
    /// Wall time of the attempt in microseconds.
    pub duration_us: u64,
    /// What the attempt was held to, and what it used; none where there was none.
    pub limits: Option<Limits>,
}

impl ResourceReport {
    /// The report of a resource that nothing has been done about.
    pub fn untouched(id: ResourceId) -> Self {
        Self {
            id,
            provider: None,
            outcome: Outcome::NotReached,
            action: Action::Unchanged,
            changes: Vec::new(),
            drift: false,
            reason: None,
            incomplete_preview: None,
            prerequisites: Vec::new(),
            refresh: None,
            health: None,
            failure: None,
            log: Vec::new(),
            duration_us: 0,
            limits: None,
        }
    }
}

/// What an attempt at a resource was held to, and how much memory it used; `duration_us` says how much time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Its deadline in milliseconds.
    pub deadline_ms: u64,
    /// The memory that an instance of its module may have, in bytes.
    pub memory_bytes: u64,
    /// The most that one had.
    pub memory_used_bytes: u64,
}

/// A refresh that a resource owed at its turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    /// What changed, or would; sorted.
    pub because_of: Vec<ResourceId>,
    /// What became of it.
    pub ending: RefreshEnding,
}

/// What became of a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefreshEnding {
    /// The mode forbids it.
    Would,
    /// It was done.
    Refreshed,
    /// Converging did what it would have done, or would do.
    Handled,
    /// There is nothing to refresh, so it lapses.
    Suppressed,
    /// It is still owed: the resource did not get so far.
    Owed,
}

/// How a resource ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It was as desired.
    Unchanged,
    /// It was brought to what is desired, and verified.
    Changed,
    /// It differs, and the mode forbids to change it.
    WouldChange,
    /// It was tried and did not work.
    Failed,
    /// A host call was denied, or the node's result breaks what the catalog claims.
    Refused,
    /// Its own `control` says to leave it alone.
    Skipped,
    /// A resource that it needs did not end well.
    Unmet,
    /// No provider serves it on this node.
    NoProvider,
    /// The module could not say what it would do.
    CannotPlan,
    /// An intent of an earlier run is not settled.
    Unresolved,
    /// The run ended before its turn.
    NotReached,
}

impl Outcome {
    /// Whether resources that require this one may run.
    pub fn meets_requirement(self) -> bool {
        matches!(self, Self::Unchanged | Self::Changed | Self::WouldChange | Self::Skipped)
    }

    /// The word for people and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::WouldChange => "would-change",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::Skipped => "skipped",
            Self::Unmet => "unmet",
            Self::NoProvider => "no-provider",
            Self::CannotPlan => "cannot-plan",
            Self::Unresolved => "unresolved",
            Self::NotReached => "not-reached",
        }
    }
}

/// What converging does to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Nothing.
    Unchanged,
    /// It makes the object.
    Create,
    /// It changes the object.
    Update,
    /// It makes another object in its place.
    Replace,
    /// It removes the object.
    Delete,
    /// It leaves the object alone.
    Skip,
}

/// One attribute that differs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Which attribute.
    pub attribute: String,
    /// What was observed.
    pub before: Option<Json>,
    /// What is desired.
    pub after: Option<Json>,
    /// Why that counts as a difference.
    pub reason: String,
    /// The difference of the content as text, or why there is none.
    pub diff: Option<String>,
}

/// What went wrong with a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The resource type's module.
    pub module: String,
    /// Where in the attempt.
    pub phase: Phase,
    /// What it left behind.
    pub effect: EffectClass,
    /// The attribute it is about.
    pub attribute: Option<String>,
    /// What happened.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The limit that ended it, as `deadline 30s` or `memory 64MiB`.
    pub limit: Option<String>,
}

/// A part of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Evaluating `control`, deferred values and their definition.
    Resolve,
    /// Looking for dynamic claims and conflicts.
    Inspect,
    /// Comparing.
    Check,
    /// Doing a shared action.
    Perform,
    /// Changing.
    Apply,
    /// Doing what a changed subscription asks for.
    Refresh,
    /// Comparing again.
    Verify,
    /// Making an interrupted operation safe.
    Recover,
}

impl Phase {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Resolve => "resolve",
            Self::Inspect => "inspect",
            Self::Check => "check",
            Self::Perform => "perform",
            Self::Apply => "apply",
            Self::Refresh => "refresh",
            Self::Verify => "verify",
            Self::Recover => "recover",
        }
    }
}

/// How much may have happened on the node before a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EffectClass {
    /// Nothing has changed.
    BeforeChange,
    /// Something has changed, and it is known that the rest has not.
    PartialChange,
    /// It may or may not have changed.
    UnknownOutcome,
    /// Something has changed, and the rest is not known.
    PartialChangeUnknown,
}

/// How many resources ended in each way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// All of them.
    pub total: usize,
    /// [`Outcome::Unchanged`].
    pub unchanged: usize,
    /// [`Outcome::Changed`].
    pub changed: usize,
    /// [`Outcome::WouldChange`].
    pub would_change: usize,
    /// [`Outcome::Failed`].
    pub failed: usize,
    /// [`Outcome::Refused`].
    pub refused: usize,
    /// [`Outcome::Skipped`].
    pub skipped: usize,
    /// [`Outcome::Unmet`].
    pub unmet: usize,
    /// [`Outcome::NoProvider`].
    pub no_provider: usize,
    /// [`Outcome::CannotPlan`].
    pub cannot_plan: usize,
    /// [`Outcome::Unresolved`].
    pub unresolved: usize,
    /// [`Outcome::NotReached`].
    pub not_reached: usize,
    /// How many had drifted, whatever their outcome.
    pub drifted: usize,
}

impl Summary {
    fn counter(&mut self, outcome: Outcome) -> &mut usize {
        match outcome {
            Outcome::Unchanged => &mut self.unchanged,
            Outcome::Changed => &mut self.changed,
            Outcome::WouldChange => &mut self.would_change,
            Outcome::Failed => &mut self.failed,
            Outcome::Refused => &mut self.refused,
            Outcome::Skipped => &mut self.skipped,
            Outcome::Unmet => &mut self.unmet,
            Outcome::NoProvider => &mut self.no_provider,
            Outcome::CannotPlan => &mut self.cannot_plan,
            Outcome::Unresolved => &mut self.unresolved,
            Outcome::NotReached => &mut self.not_reached,
        }
    }
}
