//! One resource at its turn: check, prerequisite, intend, apply, verify, settle, refresh.
//!
//! Written once for every resource type. In noop it ends after the check: nothing after that line is reached, and the host's gate stays
//! shut (I6). One deadline holds from the first check to the last settle, across the instances that a shared action makes necessary.

mod change;
mod prerequisite;
mod record;
mod refresh;

use std::sync::Arc;
use std::time::Instant;

use host_functions::processes::native::ControlGroup;
use serde_json::Value as Json;

use super::group;
use super::health;
use super::run::Run;
use super::seen;
use super::verdict::{self, Verdict};
use crate::engine::{Attempt, AttemptError, CheckResult, GuestChange, Needed, Reading, Reason};
use crate::journal::JournalError;
use crate::model::health::{HealthReport, HealthStatus};
use crate::model::report::{Action, Change, Limits, Outcome, Phase, ResourceReport, RunMode};
use crate::plan::{Ready, Waiting};
use crate::store::Recorded;

/// Takes the turn of `ready` and says how it ended.
///
/// # Errors
/// If the journal cannot be written: then the run ends, and what was begun stays open.
pub(super) async fn take(run: &Arc<Run>, ready: &Ready) -> Result<Ended, JournalError> {
    let started = Instant::now();
    let mut turn = Turn {
        run,
        ready,
        started: run.started(ready.id()),
        checked: 0,
        delivered: Vec::new(),
        group: group::of(ready),
        report: ready.report(),
        outputs: None,
    };
    turn.go().await?;
    turn.check_health();
    turn.report.duration_us = microseconds(started);
    Ok(Ended { report: turn.report, outputs: turn.outputs })
}

/// Takes the turn of a resource that waits for others: first it is settled.
///
/// # Errors
/// As [`take`].
pub(super) async fn take_waiting(run: &Arc<Run>, waiting: &Waiting) -> Result<Ended, JournalError> {
    let started = Instant::now();
    // What is open blocks it, whatever it should be now.
    let settled = match run.unresolved_report(&waiting.id) {
        Some(report) => Err(report),
        None => waiting.settle().await,
    };
    let mut ended = match settled {
        Ok(ready) => take(run, &ready).await?,
        Err(report) => Ended { report: *report, outputs: None },
    };
    ended.report.duration_us = microseconds(started);
    Ok(ended)
}

/// How a turn ended, and what the resource put out in it. Outputs may be sensitive, so this cannot be printed.
pub(super) struct Ended {
    pub(super) report: ResourceReport,
    pub(super) outputs: Option<Json>,
}

/// What an attempt at `ready` is held to; it has used nothing yet.
fn limits(ready: &Ready) -> Limits {
    let deadline = ready.limits().deadline.as_millis();
    Limits {
        deadline_ms: u64::try_from(deadline).unwrap_or(u64::MAX),
        memory_bytes: ready.limits().memory_bytes as u64,
        memory_used_bytes: 0,
    }
}

fn microseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

struct Turn<'a> {
    run: &'a Arc<Run>,
    ready: &'a Ready,
    /// When the deadline began.
    started: Instant,
    /// The moment before the last check, on the clock of deliveries.
    checked: u64,
    /// Shared actions that went before the last check.
    delivered: Vec<String>,
    /// For its programs.
    group: Option<ControlGroup>,
    report: ResourceReport,
    outputs: Option<Json>,
}

/// Whether a turn goes on.
enum Next {
    /// It has ended.
    Over,
    /// A shared action went before: the instance is dropped, and another one checks again.
    CheckAgain,
}

impl Turn<'_> {
    async fn go(&mut self) -> Result<(), JournalError> {
        if let Some(report) = self.run.unresolved_report(self.ready.id()) {
            self.report = *report;
            return Ok(());
        }
        if self.run.health_only {
            self.report.outcome = Outcome::Unchanged;
            return Ok(());
        }
        self.report.limits = Some(limits(self.ready));
        loop {
            let mut host = self.run.host(self.ready, self.started);
            if let Some(group) = &self.group {
                host.set_control_group(group.clone());
            }
            let attempt = Attempt::resume(self.ready.module(), host, self.ready.limits(), self.started).await;
            let mut attempt = match attempt {
                Ok(attempt) => attempt,
                Err(error) => {
                    let seen = verdict::Seen::default();
                    self.fail(verdict::of_error(self.module(), Phase::Check, error.into(), &seen));
                    break;
                }
            };
            let next = self.check(&mut attempt).await;
            self.note_memory(attempt.memory_used());
            self.report.log.extend(attempt.host().take_log());
            if let Next::Over = next? {
                break;
            }
        }
        self.note_what_is_still_owed().await
    }

    /// Notes what one instance had; a shared action makes another necessary.
    fn note_memory(&mut self, used: usize) {
        if let Some(limits) = &mut self.report.limits {
            limits.memory_used_bytes = limits.memory_used_bytes.max(used as u64);
        }
    }

    /// Asks whether it works, where it is as desired and something tells. It is not asked where it could not have been brought about.
    fn check_health(&mut self) {
        let Some(health) = self.ready.health() else { return };
        match (self.report.outcome, self.run.mode) {
            (Outcome::Unchanged | Outcome::WouldChange, RunMode::Noop) if !self.run.health_only => {
                self.report.health = Some(HealthReport { status: HealthStatus::Pending, tries: 0, message: None });
            }
            (Outcome::Unchanged | Outcome::Changed, _) => {
                let found = health::check(&self.run.node, health);
                if !found.status.is_well() {
                    self.report.outcome = Outcome::Failed;
                    self.report.reason = Some(format!("its health check is {}", found.status.word()));
                }
                self.report.health = Some(found);
            }
            _ => {}
        }
    }

    async fn check(&mut self, attempt: &mut Attempt) -> Result<Next, JournalError> {
        self.checked = self.run.deliveries.now();
        let reason = Reason { prior: self.prior(), ..Reason::default() };
        let result = attempt.check(&self.ready.desired, &reason).await;
        if let Some(verdict) = seen::wrote_in_check(self.module(), attempt) {
            self.fail(verdict);
            return Ok(Next::Over);
        }
        match result {
            Err(error) => self.fail_call(Phase::Check, error, attempt),
            Ok(CheckResult::InSync(reading)) => self.in_sync(attempt, reading, reason).await?,
            Ok(CheckResult::Skipped(reason)) => self.end(Outcome::Skipped, Action::Skip, reason),
            Ok(CheckResult::CannotPlan(reason)) => self.end(Outcome::CannotPlan, Action::Skip, reason),
            Ok(CheckResult::NeedsApply(needed)) => return self.needs_apply(attempt, needed, reason).await,
        }
        Ok(Next::Over)
    }

    async fn in_sync(&mut self, attempt: &mut Attempt, reading: Reading, reason: Reason) -> Result<(), JournalError> {
        // Differences that an earlier check found are gone: a shared action was all it took.
        self.report.changes.clear();
        (self.report.action, self.report.incomplete_preview, self.report.drift) = (Action::Unchanged, None, false);
        self.report.outcome = Outcome::Unchanged;
        self.outputs.clone_from(&reading.outputs);
        let refreshable = reading.refreshable;
        self.keep_unchanged(reading)?;
        self.refresh_in_sync(attempt, refreshable, reason).await
    }

    async fn needs_apply(&mut self, attempt: &mut Attempt, needed: Needed, reason: Reason) -> Result<Next, JournalError> {
        self.note_needed(&needed, attempt);
        match (needed.prerequisite, self.run.mode) {
            (Some(action), mode) => self.prerequisite(attempt, action, mode, reason).await,
            (None, RunMode::Noop) => {
                self.report.outcome = Outcome::WouldChange;
                self.would_refresh(needed.handles_refresh);
                Ok(Next::Over)
            }
            (None, RunMode::Apply) => {
                self.change(attempt, reason).await?;
                Ok(Next::Over)
            }
        }
    }

    fn note_needed(&mut self, needed: &Needed, attempt: &mut Attempt) {
        self.report.action = needed.action;
        self.report.incomplete_preview.clone_from(&needed.incomplete_preview);
        let show = self.run.mode == RunMode::Noop || needed.action != Action::Create;
        self.report.changes = needed.changes.iter().map(|change| told(change, show, attempt)).collect();
        let (desired, component) = (&self.ready.managed, self.ready.module().digest());
        let stamp = self.run.stamps.of(self.ready);
        let is_drift = |recorded: &Recorded| recorded.difference_is_drift(desired, &component, stamp.as_deref());
        self.report.drift = self.recorded().is_some_and(is_drift);
    }

    /// What may have changed since the plan: claims that the node decides, and conflicts within the type.
    async fn inspect_again(&mut self, attempt: &mut Attempt, reason: &Reason) -> Result<(), Verdict> {
        let changed = self.run.inspect_again(attempt, self.ready, reason).await;
        self.started = attempt.started();
        let seen = seen::of(attempt);
        match changed {
            Ok(_) if attempt.host().denied_change().is_some() => Err(verdict::of_denial(self.module(), Phase::Inspect, &seen)),
            Ok(None) => Ok(()),
            Ok(Some(message)) => Err(verdict::refused(self.module(), Phase::Inspect, message, None, &seen)),
            Err(error) => Err(verdict::of_error(self.module(), Phase::Inspect, error, &seen)),
        }
    }

    fn module(&self) -> &str {
        self.ready.id().type_name.as_str()
    }

    fn end(&mut self, outcome: Outcome, action: Action, reason: String) {
        self.report.outcome = outcome;
        self.report.action = action;
        self.report.reason = Some(reason);
    }

    fn fail_call(&mut self, phase: Phase, error: AttemptError, attempt: &mut Attempt) {
        let seen = seen::of(attempt);
        self.fail(verdict::of_error(self.module(), phase, error, &seen));
    }

    fn fail(&mut self, verdict: Verdict) {
        self.report.outcome = verdict.outcome;
        self.report.failure = Some(verdict.failure);
    }
}

/// A change for the report, with its content as a difference of text if `show`.
fn told(change: &GuestChange, show: bool, attempt: &mut Attempt) -> Change {
    let diff = change.content.as_ref().filter(|_| show).and_then(|content| seen::text_diff(attempt, content));
    Change {
        attribute: change.attribute.clone(),
        before: change.before.clone(),
        after: change.after.clone(),
        reason: change.reason.clone(),
        diff,
    }
}
