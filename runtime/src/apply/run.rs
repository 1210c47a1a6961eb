//! What the turns of one run share.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use host_functions::assets::AssetSource;
use host_functions::{HostContext, Node};

use super::recover::Unresolved;
use super::stamps::Stamps;
use crate::engine::{Attempt, AttemptError, Reason};
use crate::journal::JournalHandle;
use crate::model::ids::{OwnerName, ResourceId};
use crate::model::report::RunMode;
use crate::plan::{Groups, Ready};
use crate::store::Recorded;

/// The run that turns belong to.
pub struct Run {
    /// Whether it may change the node.
    pub mode: RunMode,
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
}

impl Run {
    /// Why the resource may not be touched, if an interrupted operation of it is open.
    pub(super) fn unresolved(&self, id: &ResourceId) -> Option<&Unresolved> {
        self.unresolved.get(id)
    }

    /// The host's side of a new attempt.
    pub(super) fn host(&self, ready: &Ready) -> HostContext {
        let deadline = Instant::now() + ready.limits.deadline;
        let mut rights = ready.rights.clone();
        // What the last run put there may be there still, and is no less sensitive because it is to be replaced.
        rights.had_secrets |= self.recorded.get(&ready.id).is_some_and(|recorded| recorded.secrets.is_some());
        HostContext::new(Arc::clone(&self.node), rights, Arc::clone(&self.assets), deadline)
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
            && safety != ready.safety
        {
            return Ok(Some("what it holds on this node has changed since the run began: run again".into()));
        }
        let conflicts = self.groups.conflicts(attempt, &ready.id.type_name, reason).await?;
        let own = conflicts.into_iter().find(|conflict| conflict.resources.contains(&ready.id));
        Ok(own.map(|conflict| conflict.message))
    }
}
