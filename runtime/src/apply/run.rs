//! What the turns of one run share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host_functions::assets::AssetSource;
use host_functions::{HostContext, Node};
use serde_json::Value as Json;

use super::deliveries::Deliveries;
use super::recover::Unresolved;
use super::stamps::Stamps;
use super::subscriptions::Subscriptions;
use super::turn::Ended;
use crate::engine::{Attempt, AttemptError, Reason};
use crate::journal::JournalHandle;
use crate::model::ids::{OwnerName, ResourceId};
use crate::model::report::{Action, Outcome, ResourceReport, RunMode};
use crate::plan::{Available, Groups, Outputs, Ready};
use crate::store::Recorded;

/// The run that turns belong to.
pub struct Run {
    /// Whether it may change the node.
    pub mode: RunMode,
    /// Whether it runs health checks and does nothing else.
    pub health_only: bool,
    /// Whose bundle it is.
    pub owner: OwnerName,
    /// The node.
    pub node: Arc<Node>,
    /// Content that resources name.
    pub assets: Arc<dyn AssetSource>,
    /// Tells whether sensitive values are those of the last run.
    pub stamps: Stamps,
    /// Where intents go; none in noop, which has none.
    pub journal: Option<JournalHandle>,
    /// What earlier runs left behind.
    pub recorded: BTreeMap<ResourceId, Recorded>,
    /// Resources whose interrupted operation is not settled, with the reason.
    pub unresolved: BTreeMap<ResourceId, Unresolved>,
    /// The resources of each type, for conflicts within it.
    pub groups: Groups,
    /// What resources put out, for those that wait for it.
    pub outputs: Outputs,
    /// Who is refreshed after whom.
    pub subscriptions: Subscriptions,
    /// Shared actions that were delivered.
    pub deliveries: Deliveries,
    /// What recovery has used of the deadlines of resources whose operation was interrupted.
    pub spent: BTreeMap<ResourceId, Duration>,
}

impl Run {
    /// The report of a resource that may not be touched because an interrupted operation of it is open.
    pub(super) fn unresolved_report(&self, id: &ResourceId) -> Option<Box<ResourceReport>> {
        let reason = format!("an interrupted change is not settled: {}", self.unresolved.get(id)?.reason);
        let report = ResourceReport::untouched(id.clone());
        Some(Box::new(ResourceReport { outcome: Outcome::Unresolved, action: Action::Skip, reason: Some(reason), ..report }))
    }

    /// Notes what can be read of a resource that has ended: what it put out in this run, else what is on record. Nothing
    /// can where it did not end well: then nobody who reads it has a turn.
    pub(super) fn note_outputs(&self, ended: Ended) -> ResourceReport {
        let Ended { report, outputs } = ended;
        let recorded = || self.recorded.get(&report.id).and_then(|recorded| recorded.outputs.clone());
        let known = |outputs: Option<Json>, without| outputs.map_or(without, Available::Known);
        let available = match report.outcome {
            Outcome::Changed => known(outputs, Available::Silent),
            Outcome::Unchanged => known(outputs.or_else(recorded), Available::Silent),
            Outcome::Skipped => known(recorded(), Available::Skipped),
            Outcome::WouldChange => Available::WouldChange,
            _ => return report,
        };
        self.outputs.note(report.id.clone(), available);
        report
    }

    /// When the one deadline of a resource that has its turn now began: earlier, where its interrupted operation was recovered.
    pub(super) fn started(&self, id: &ResourceId) -> Instant {
        let now = Instant::now();
        self.spent.get(id).and_then(|spent| now.checked_sub(*spent)).unwrap_or(now)
    }

    /// The host's side of a new instance for an attempt that began at `started`.
    pub(super) fn host(&self, ready: &Ready, started: Instant) -> HostContext {
        // What the last run put there may be there still, and is no less sensitive because it is to be replaced.
        let had_secrets = self.recorded.get(ready.id()).is_some_and(|recorded| recorded.secrets.is_some());
        ready.host(&self.node, &self.assets, started, had_secrets)
    }

    /// The journal, which every run but noop has.
    pub(super) fn journal(&self) -> &JournalHandle {
        self.journal.as_ref().expect("noop ends a turn before it needs the journal")
    }

    /// What has changed since the plan that forbids the change, in words.
    pub(super) async fn inspect_again(
        &self,
        attempt: &mut Attempt,
        ready: &Ready,
        reason: &Reason,
    ) -> Result<Option<String>, AttemptError> {
        if let Some(safety) = self.groups.safety(attempt, ready, reason).await?
            && !ready.is_safe_as(&safety)
        {
            return Ok(Some("what it holds on this node has changed since the run began: run again".into()));
        }
        let conflicts = self.groups.conflicts(attempt, &ready.id().type_name, reason).await?;
        let own = conflicts.into_iter().find(|conflict| conflict.resources.contains(ready.id()));
        Ok(own.map(|conflict| conflict.message))
    }
}
