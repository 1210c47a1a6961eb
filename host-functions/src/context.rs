//! The host's side of one attempt at one resource: what its calls are held against, and what they leave behind.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::component::ResourceTable;

use crate::assets::AssetSource;
use crate::audit::{Record, Verdict};
use crate::authorize::{Denial, Rule, Standing, authorize};
use crate::backends::{Backend, Circumstances};
use crate::call::HostCall;
use crate::error::CallError;
use crate::gate::{IntentGate, Shut};
use crate::log::LogBook;
use crate::node::Node;
use crate::node::staging::StagingName;
use crate::phase::Phase;
use crate::processes::native::ControlGroup;
use crate::rights::Rights;

/// The most handles that a guest may hold at once.
pub const MAX_HANDLES: usize = 1_000;

/// The most denials kept of one attempt; more are counted.
pub const MAX_DENIALS: usize = 100;

/// Gives the host functions the context of the attempt that calls them. The data of a lifecycle store implements it.
pub trait HostView {
    /// The attempt's context.
    fn host(&mut self) -> &mut HostContext;
}

/// One attempt at one resource. Made anew for each, and dropped with its store: what was staged and not committed is then removed.
pub struct HostContext {
    node: Arc<Node>,
    rights: Rights,
    phase: Phase,
    assets: Arc<dyn AssetSource>,
    gate: Arc<dyn IntentGate>,
    staging: Option<StagingName>,
    control_group: Option<ControlGroup>,
    deadline: Instant,
    pub(crate) table: ResourceTable,
    pub(crate) log: LogBook,
    denials: Vec<Denial>,
    more_denials: u64,
    let_change_through: bool,
    /// How often a change was let through.
    changes: u64,
    backend: Option<Box<dyn Backend>>,
}

impl HostContext {
    /// An attempt in the definition phase, where nothing is allowed, without an intent.
    pub fn new(node: Arc<Node>, rights: Rights, assets: Arc<dyn AssetSource>, deadline: Instant) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(MAX_HANDLES);
        Self {
            node,
            rights,
            phase: Phase::Definition,
            assets,
            gate: Arc::new(Shut),
            staging: None,
            control_group: None,
            deadline,
            table,
            log: LogBook::default(),
            denials: Vec::new(),
            more_denials: 0,
            let_change_through: false,
            changes: 0,
            backend: None,
        }
    }

    /// Enters a phase. For the engine, before each call into the guest.
    pub fn set_phase(&mut self, phase: Phase) {
        self.phase = phase;
    }

    /// The phase that the attempt is in.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Tells of the intent that is now on disk, with the staging name recorded in it. Without this no change is allowed.
    pub fn set_intent(&mut self, gate: Arc<dyn IntentGate>, staging: StagingName) {
        self.gate = gate;
        self.staging = Some(staging);
    }

    /// Names the control group that programs run in: the one that the intent has on record.
    pub fn set_control_group(&mut self, group: ControlGroup) {
        self.control_group = Some(group);
    }

    /// Takes over where another attempt at the same resource stands: that of the type that this provider serves.
    pub fn set_circumstances(&mut self, circumstances: Circumstances) {
        let Circumstances { phase, gate, staging, deadline } = circumstances;
        self.phase = phase;
        self.gate = gate;
        self.staging = staging;
        self.deadline = self.deadline.min(deadline);
    }

    /// Gives the attempt the provider that was selected for the resource.
    pub fn set_backend(&mut self, backend: Box<dyn Backend>) {
        self.backend = Some(backend);
    }

    pub(crate) fn backend(&self) -> Option<&dyn Backend> {
        self.backend.as_deref()
    }

    /// Takes the provider out while it is at work, so that it cannot be entered twice.
    pub(crate) fn take_backend(&mut self) -> Option<Box<dyn Backend>> {
        self.backend.take()
    }

    pub(crate) fn gate(&self) -> Arc<dyn IntentGate> {
        Arc::clone(&self.gate)
    }

    /// Takes over what the provider's own calls left behind: denials, changes and messages count for the attempt.
    pub(crate) fn absorb(&mut self, own: &mut HostContext) {
        self.let_change_through |= own.let_change_through;
        self.more_denials += std::mem::take(&mut own.more_denials);
        for denial in std::mem::take(&mut own.denials) {
            self.keep(denial);
        }
        self.log.join(&mut own.log);
    }

    /// Replaces the deadline.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }

    /// Moves the deadline of the provider by what was spent on something that is not this attempt's own.
    pub fn put_off_backend(&mut self, by: Duration) {
        if let Some(backend) = &mut self.backend {
            backend.put_off(by);
        }
    }

    /// The moment after which host calls fail.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// What is left until the deadline; zero if it has passed.
    pub fn remaining(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The node.
    pub fn node(&self) -> &Arc<Node> {
        &self.node
    }

    /// The rights of the attempt.
    pub fn rights(&self) -> &Rights {
        &self.rights
    }

    /// The handles that the guest holds.
    pub fn table(&mut self) -> &mut ResourceTable {
        &mut self.table
    }

    /// The messages that the guest wrote.
    pub fn log(&self) -> &LogBook {
        &self.log
    }

    /// Takes what the guest wrote for the operator, oldest first; what it wrote for its author goes to `tracing` alone. The caps
    /// on an attempt go on counting.
    pub fn take_log(&mut self) -> Vec<String> {
        self.log.take()
    }

    /// Whether a call that changes the node has passed every check, so that something may have changed since.
    pub fn let_change_through(&self) -> bool {
        self.let_change_through
    }

    pub(crate) fn note_change(&mut self) {
        self.let_change_through = true;
        self.changes += 1;
    }

    /// How often a change was noted, to tell whether there was another one since.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Takes back what a call noted that is known to have changed nothing; `before` is what stood before that call.
    pub(crate) fn take_back_change(&mut self, before: bool) {
        self.let_change_through = before;
    }

    /// The calls that were refused, oldest first, at most [`MAX_DENIALS`], and how many more there were.
    pub fn denials(&self) -> (&[Denial], u64) {
        (&self.denials, self.more_denials)
    }

    /// The first refused call that would have changed the node. In a check it makes the plan invalid; in an apply it ends the attempt.
    pub fn denied_change(&self) -> Option<&Denial> {
        self.denials.iter().find(|denial| denial.changes)
    }

    #[cfg(test)]
    pub(crate) fn replace_rights(&mut self, rights: Rights) {
        self.rights = rights;
    }

    pub(crate) fn assets(&self) -> &Arc<dyn AssetSource> {
        &self.assets
    }

    pub(crate) fn staging(&self) -> Option<&StagingName> {
        self.staging.as_ref()
    }

    pub(crate) fn control_group(&self) -> Option<&ControlGroup> {
        self.control_group.as_ref()
    }

    /// What calls are held against now.
    pub(crate) fn standing(&self) -> Standing<'_> {
        Standing {
            rights: &self.rights,
            phase: self.phase,
            intent_open: self.gate.is_open(),
            staging_name: self.staging.as_ref().map(StagingName::as_str),
            run_as: self.node.run_as(),
        }
    }

    /// Fails once the deadline has passed.
    pub(crate) fn check_deadline(&self) -> Result<(), CallError> {
        check_deadline(self.deadline)
    }

    /// Allows a call, or fails; every host function begins here. The verdict goes to the audit trail.
    pub(crate) fn authorize(&mut self, call: &HostCall) -> Result<(), CallError> {
        if let Err(denial) = authorize(&self.standing(), call, None) {
            return Err(self.refuse(denial));
        }
        let late = self.check_deadline();
        self.record(call.name(), call.subject(), if late.is_ok() { Verdict::Allowed } else { Verdict::TooLate });
        late
    }

    /// Allows an allowed call at the place that its path resolved to, or fails.
    pub(crate) fn authorize_resolved(&mut self, call: &HostCall, resolved: &[u8]) -> Result<(), CallError> {
        authorize(&self.standing(), call, Some(resolved)).map_err(|denial| self.refuse(denial))
    }

    /// Refuses an allowed call by a rule that only the node can tell.
    pub(crate) fn deny(&mut self, call: &HostCall, rule: Rule) -> CallError {
        let denial = Denial::new(&self.standing(), call, rule);
        self.refuse(Box::new(denial))
    }

    fn refuse(&mut self, denial: Box<Denial>) -> CallError {
        self.record(denial.call.clone(), denial.subject.clone(), Verdict::Denied(denial.rule.to_string()));
        self.keep(Denial::clone(&denial));
        CallError::Denied(denial)
    }

    fn keep(&mut self, denial: Denial) {
        let first_change = denial.changes && self.denied_change().is_none();
        if self.denials.len() < MAX_DENIALS || first_change {
            self.denials.push(denial);
        } else {
            self.more_denials += 1;
        }
    }

    fn record(&self, call: String, subject: String, verdict: Verdict) {
        let (resource, module) = (self.rights.resource.clone(), self.rights.module.name.clone());
        self.node.audit().add(Record { resource, module, phase: self.phase, call, subject, verdict });
    }
}

/// Fails once `deadline` has passed.
pub(crate) fn check_deadline(deadline: Instant) -> Result<(), CallError> {
    if Instant::now() < deadline { Ok(()) } else { Err(CallError::Deadline) }
}
