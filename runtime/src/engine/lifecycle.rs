//! One attempt at one resource: an instance that lives from check to settle, and is dropped at a trap or at the end.
//!
//! The attempt knows phases and the one deadline; what a phase may do is decided by host-functions.

mod answers;
mod outcome;
mod translate;

use std::time::{Duration, Instant};

use host_functions::phase::Phase;
use host_functions::{HostContext, HostView};
use wasmtime::Store;
use wasmtime::component::{ResourceAny, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::bindings::exports::runtime::module::lifecycle as wit;
use super::error::{CallError, Fault};
use super::limits::Limiter;
use super::module::Module;
use super::{clock, convert, fault};
use crate::model::canonical::CanonicalJson;
use crate::model::ids::ResourceId;

pub use answers::{
    AttemptError, AttemptLimits, CheckResult, Conflict, ContentChange, GuestChange, Interrupted, LifecycleError, Needed,
    OperationReason, Outcome, Prior, Reading, Reason, Safety, Verification,
};

/// What a host may allocate for values of one call, in bytes.
const HOSTCALL_BYTES: usize = 16 << 20;

/// Handles that a component may hold.
const MAX_HANDLES: usize = 1_000;

/// How many changes or conflicts an answer may list.
const MAX_LIST: usize = 4_096;

/// What a store of one attempt holds.
pub(super) struct LifecycleState {
    host: HostContext,
    limiter: Limiter,
    wasi: WasiCtx,
    wasi_table: ResourceTable,
}

impl LifecycleState {
    /// The host's side of the guest's calls.
    pub(super) fn host_mut(&mut self) -> &mut HostContext {
        &mut self.host
    }

    /// The limit that was met, if one was.
    pub(super) fn exceeded(&self) -> Option<Fault> {
        self.limiter.exceeded().cloned()
    }
}

/// A store for an instance that meets the node, of a resource type or a provider. It has no deadline yet.
pub(super) fn new_store(engine: &wasmtime::Engine, host: HostContext, memory_bytes: usize) -> Store<LifecycleState> {
    let mut wasi_table = ResourceTable::new();
    wasi_table.set_max_capacity(MAX_HANDLES);
    let state = LifecycleState {
        host,
        limiter: Limiter::lenient(memory_bytes),
        wasi: WasiCtx::builder().max_random_size(1 << 20).build(),
        wasi_table,
    };
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(HOSTCALL_BYTES);
    store.set_max_component_handles(MAX_HANDLES);
    store
}

impl HostView for LifecycleState {
    fn host(&mut self) -> &mut HostContext {
        &mut self.host
    }
}

impl WasiView for LifecycleState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.wasi_table }
    }
}

/// An instance of a component at work on one resource.
pub struct Attempt {
    module: Module,
    store: Store<LifecycleState>,
    guest: wit::Guest,
    work: Option<ResourceAny>,
    /// Whether that work deletes the object.
    deletes: bool,
    started: Instant,
    limit: Duration,
    over: bool,
}

impl Attempt {
    /// A new instance of `module`; its deadline begins now.
    ///
    /// # Errors
    /// If the instance cannot be made within its limits.
    pub async fn start(module: &Module, host: HostContext, limits: AttemptLimits) -> Result<Self, CallError> {
        Self::resume(module, host, limits, Instant::now()).await
    }

    /// A new instance for an attempt whose deadline began at `started`: the one before was dropped after a shared action.
    ///
    /// # Errors
    /// If the instance cannot be made within its limits.
    pub async fn resume(module: &Module, host: HostContext, limits: AttemptLimits, started: Instant) -> Result<Self, CallError> {
        let mut store = new_store(module.wasmtime(), host, limits.memory_bytes);
        clock::hold_to(&mut store, started + limits.deadline);
        match module.instantiate(&mut store).await {
            Ok(guest) => {
                let module = module.clone();
                Ok(Self { module, store, guest, work: None, deletes: false, started, limit: limits.deadline, over: false })
            }
            Err(error) => {
                let exceeded = store.data().limiter.exceeded().cloned();
                let fault = fault::classify(&error, exceeded, started, limits.deadline);
                Err(CallError { module: module.name(), function: "instantiate", fault })
            }
        }
    }

    /// The host's side: audit trail, log, denials, text differences.
    pub fn host(&mut self) -> &mut HostContext {
        &mut self.store.data_mut().host
    }

    /// The memory of the instance, in bytes: what it has, which is the most that it had.
    pub fn memory_used(&self) -> usize {
        self.store.data().limiter.memory_used()
    }

    /// What is left of the deadline.
    pub fn remaining(&self) -> Duration {
        self.limit.saturating_sub(self.started.elapsed())
    }

    /// What of the type's capabilities the node offers; empty if the type does not say.
    ///
    /// # Errors
    /// See [`AttemptError`].
    pub async fn capabilities(&mut self) -> Result<Vec<String>, AttemptError> {
        const FUNCTION: &str = "capabilities";
        self.prepare(FUNCTION, Phase::Inspect, None, &Reason::default())?;
        let answer = self.guest.call_capabilities(&mut self.store).await;
        let offered = self.answer(FUNCTION, answer.map(Ok))?;
        if offered.len() > MAX_LIST {
            return Err(self.broken(FUNCTION, format!("{} capabilities, more than {MAX_LIST}", offered.len())).into());
        }
        Ok(offered.iter().map(|word| convert::message(word)).collect())
    }

    /// Claims and paths that depend on the node.
    ///
    /// # Errors
    /// See [`AttemptError`].
    pub async fn inspect_safety(&mut self, desired: &CanonicalJson, reason: &Reason) -> Result<Safety, AttemptError> {
        const FUNCTION: &str = "inspect-safety";
        let (desired, context) = self.prepare(FUNCTION, Phase::Inspect, Some(desired), reason)?;
        let guest = &self.guest;
        let answer = guest.call_inspect_safety(&mut self.store, &desired, &context).await;
        let safety = self.answer(FUNCTION, answer)?;
        let paths = safety.affected_paths;
        let claims = convert::footprint(self.module.type_name(), safety.claims, Vec::new(), paths);
        let footprint = claims.map_err(|message| self.broken(FUNCTION, message))?;
        Ok(Safety { claims: footprint.claims, affected_paths: footprint.affected_paths })
    }

    /// When the attempt's own deadline began. It stands still while [`composition_conflicts`](Self::composition_conflicts) is asked.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Conflicts within all resources of this type. That may take as long as `within`, and nothing of the attempt's own deadline: it is not about
    /// its resource alone.
    ///
    /// # Errors
    /// See [`AttemptError`].
    pub async fn composition_conflicts(
        &mut self,
        group: &[(ResourceId, CanonicalJson)],
        within: Duration,
        reason: &Reason,
    ) -> Result<Vec<Conflict>, AttemptError> {
        let (own_start, own_limit) = (self.started, self.limit);
        self.hold_to(Instant::now(), within);
        let answer = self.ask_for_conflicts(group, reason).await;
        let asked = self.started.elapsed();
        self.hold_to(own_start + asked, own_limit);
        self.host().put_off_backend(asked);
        answer
    }

    fn hold_to(&mut self, started: Instant, limit: Duration) {
        (self.started, self.limit) = (started, limit);
        clock::hold_to(&mut self.store, started + limit);
        self.host().set_deadline(started + limit);
    }

    async fn ask_for_conflicts(
        &mut self,
        group: &[(ResourceId, CanonicalJson)],
        reason: &Reason,
    ) -> Result<Vec<Conflict>, AttemptError> {
        const FUNCTION: &str = "composition-conflicts";
        let (_, context) = self.prepare(FUNCTION, Phase::Inspect, None, reason)?;
        let mut declared = Vec::with_capacity(group.len());
        for (id, desired) in group {
            declared.push(wit::Declared { id: convert::resource_id(id), desired: desired.text().to_owned() });
        }
        let guest = &self.guest;
        let answer = guest.call_composition_conflicts(&mut self.store, &declared, &context).await;
        let conflicts = self.answer(FUNCTION, answer)?;
        let conflicts: Result<Vec<Conflict>, String> = conflicts.into_iter().take(MAX_LIST).map(translate::conflict).collect();
        conflicts.map_err(|message| self.broken(FUNCTION, message).into())
    }

    /// Compares the desired state with the node, and keeps the work that it finds.
    ///
    /// # Errors
    /// See [`AttemptError`].
    pub async fn check(&mut self, desired: &CanonicalJson, reason: &Reason) -> Result<CheckResult, AttemptError> {
        const FUNCTION: &str = "check";
        let (desired, context) = self.prepare(FUNCTION, Phase::Check, Some(desired), reason)?;
        let guest = &self.guest;
        let answer = guest.call_check(&mut self.store, &desired, &context).await;
        match self.answer(FUNCTION, answer)? {
            wit::CheckResult::InSync(reading) => Ok(CheckResult::InSync(Reading {
                observed: self.kept(FUNCTION, reading.observed)?,
                outputs: self.outputs(FUNCTION, reading.outputs)?,
                refreshable: reading.refreshable,
            })),
            wit::CheckResult::Skipped(reason) => Ok(CheckResult::Skipped(convert::message(&reason))),
            wit::CheckResult::CannotPlan(reason) => Ok(CheckResult::CannotPlan(convert::message(&reason))),
            wit::CheckResult::NeedsApply(needed) => {
                self.work = Some(needed.work);
                self.deletes = needed.action == wit::Action::Delete;
                Ok(CheckResult::NeedsApply(Needed {
                    action: translate::action(needed.action),
                    changes: self.changes(FUNCTION, needed.changes)?,
                    incomplete_preview: needed.incomplete_preview.map(|text| convert::message(&text)),
                    prerequisite: needed.prerequisite.map(|text| convert::message(&text)),
                    handles_refresh: needed.handles_refresh,
                }))
            }
        }
    }

    /// Does the work that the last check found.
    ///
    /// # Errors
    /// See [`AttemptError`]; a call that did not return leaves an unknown outcome.
    pub async fn apply(&mut self, reason: &Reason) -> Result<Outcome, AttemptError> {
        const FUNCTION: &str = "work.apply";
        let work = self.work(FUNCTION)?;
        let (_, context) = self.prepare(FUNCTION, Phase::Apply, None, reason)?;
        let guest = &self.guest;
        let answer = guest.work().call_apply(&mut self.store, work, &context).await;
        let outcome = self.answer(FUNCTION, answer)?;
        let puts_out = !self.deletes;
        self.outcome(FUNCTION, outcome, puts_out)
    }

    /// Reads again and compares again, after an application.
    ///
    /// # Errors
    /// See [`AttemptError`].
    pub async fn verify(&mut self, reason: &Reason) -> Result<Verification, AttemptError> {
        const FUNCTION: &str = "work.verify";
        let work = self.work(FUNCTION)?;
        let (_, context) = self.prepare(FUNCTION, Phase::Verify, None, reason)?;
        let guest = &self.guest;
        let answer = guest.work().call_verify(&mut self.store, work, &context).await;
        match self.answer(FUNCTION, answer)? {
            wit::Verification::Converged(observed) => Ok(Verification::Converged(self.kept(FUNCTION, observed)?)),
            wit::Verification::NotConverged(changes) => Ok(Verification::NotConverged(self.changes(FUNCTION, changes)?)),
        }
    }

    /// Makes it safe to go on after an interrupted operation.
    ///
    /// # Errors
    /// See [`AttemptError`].
    pub async fn recover(
        &mut self,
        desired: &CanonicalJson,
        operation: &Interrupted,
        reason: &Reason,
    ) -> Result<(), AttemptError> {
        const FUNCTION: &str = "recover-interrupted";
        let (desired, context) = self.prepare(FUNCTION, Phase::Recover, Some(desired), reason)?;
        let operation = wit::InterruptedOperation {
            staging_name: operation.staging_name.clone(),
            reason: translate::operation_reason(operation.reason),
        };
        let guest = &self.guest;
        let answer = guest.call_recover_interrupted(&mut self.store, &desired, &operation, &context).await;
        self.answer(FUNCTION, answer)
    }

    /// Does what a changed subscription asks for.
    ///
    /// # Errors
    /// See [`AttemptError`]; a call that did not return leaves an unknown outcome.
    pub async fn refresh(&mut self, desired: &CanonicalJson, reason: &Reason) -> Result<Outcome, AttemptError> {
        const FUNCTION: &str = "refresh";
        let (desired, context) = self.prepare(FUNCTION, Phase::Apply, Some(desired), reason)?;
        let guest = &self.guest;
        let answer = guest.call_refresh(&mut self.store, &desired, &context).await;
        let outcome = self.answer(FUNCTION, answer)?;
        // A refresh leaves the outputs that the check has found.
        self.outcome(FUNCTION, wit::Outcome { outputs: None, ..outcome }, false)
    }

    /// Does a shared action that the check asked for.
    ///
    /// # Errors
    /// See [`AttemptError`].
    pub async fn perform(&mut self, action: &str, desired: &CanonicalJson, reason: &Reason) -> Result<Outcome, AttemptError> {
        const FUNCTION: &str = "perform";
        let (desired, context) = self.prepare(FUNCTION, Phase::Perform, Some(desired), reason)?;
        let guest = &self.guest;
        let answer = guest.call_perform(&mut self.store, action, &desired, &context).await;
        let outcome = self.answer(FUNCTION, answer)?;
        self.outcome(FUNCTION, wit::Outcome { outputs: None, ..outcome }, false)
    }

    fn work(&self, function: &'static str) -> Result<ResourceAny, CallError> {
        self.work.ok_or_else(|| CallError {
            module: self.module.name(),
            function,
            fault: Fault::Answer { message: "there is no work: the check found nothing to do".into() },
        })
    }

    /// Enters `phase`, and makes the texts of a call.
    fn prepare(
        &mut self,
        function: &'static str,
        phase: Phase,
        desired: Option<&CanonicalJson>,
        reason: &Reason,
    ) -> Result<(String, wit::Context), CallError> {
        if self.over {
            return Err(self.broken(function, "the instance has failed and is not used again".into()));
        }
        let context = translate::context(self.remaining(), reason).map_err(|message| self.broken(function, message))?;
        self.store.data_mut().host.set_phase(phase);
        Ok((desired.map(|desired| desired.text().to_owned()).unwrap_or_default(), context))
    }

    fn answer<R>(
        &mut self,
        function: &'static str,
        answer: wasmtime::Result<Result<R, wit::LifecycleError>>,
    ) -> Result<R, AttemptError> {
        match answer {
            Ok(answer) => Ok(answer.map_err(translate::lifecycle_error)?),
            Err(error) => {
                self.over = true;
                if let Some(of_provider) = error.downcast_ref::<CallError>() {
                    return Err(of_provider.clone().into());
                }
                let exceeded = self.store.data().limiter.exceeded().cloned();
                let fault = fault::classify(&error, exceeded, self.started, self.limit);
                Err(CallError { module: self.module.name(), function, fault }.into())
            }
        }
    }

    /// An answer that the contract forbids ends the attempt like a trap.
    fn broken(&mut self, function: &'static str, message: String) -> CallError {
        self.over = true;
        CallError { module: self.module.name(), function, fault: Fault::Answer { message } }
    }

    /// What an answer wants kept for the next run.
    fn kept(&mut self, function: &'static str, text: Option<String>) -> Result<Option<CanonicalJson>, CallError> {
        text.map(convert::kept_json).transpose().map_err(|message| self.broken(function, message))
    }

    fn changes(&mut self, function: &'static str, from: Vec<wit::Change>) -> Result<Vec<GuestChange>, CallError> {
        if from.len() > MAX_LIST {
            return Err(self.broken(function, format!("{} changes, more than {MAX_LIST}", from.len())));
        }
        let changes: Result<Vec<GuestChange>, String> = from.into_iter().map(translate::change).collect();
        changes.map_err(|message| self.broken(function, message))
    }
}
