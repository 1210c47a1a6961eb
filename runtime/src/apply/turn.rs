//! One resource at its turn: check, intend, apply, verify, settle.
//!
//! Written once for every resource type. In noop it ends after the check: nothing after that line is reached, and the host's gate stays
//! shut (I6).

use std::sync::Arc;
use std::time::Instant;

use serde_json::Value as Json;

use super::gate::open_gate;
use super::run::Run;
use super::seen;
use super::verdict::{self, Verdict};
use crate::engine::{Attempt, AttemptError, CheckResult, GuestChange, Needed, Prior, Reading, Reason, Verification};
use crate::journal::{Ending, IntentToken, Intention, JournalError, Operation, Settlement};
use crate::model::description::Description;
use crate::model::report::{Action, Change, Outcome, Phase, ResourceReport, RunMode};
use crate::plan::{Ready, Waiting};
use crate::store::Recorded;

/// Takes the turn of `ready` and says how it ended.
///
/// # Errors
/// If the journal cannot be written: then the run ends, and what was begun stays open.
pub(super) async fn take(run: &Arc<Run>, ready: &Ready) -> Result<Ended, JournalError> {
    let started = Instant::now();
    let mut turn = Turn { run, ready, report: ready.report(), outputs: None };
    turn.go().await?;
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

fn microseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

struct Turn<'a> {
    run: &'a Arc<Run>,
    ready: &'a Ready,
    report: ResourceReport,
    outputs: Option<Json>,
}

impl Turn<'_> {
    async fn go(&mut self) -> Result<(), JournalError> {
        if let Some(report) = self.run.unresolved_report(&self.ready.id) {
            self.report = *report;
            return Ok(());
        }
        let host = self.run.host(self.ready);
        let mut attempt = match Attempt::start(&self.ready.module, host, self.ready.limits).await {
            Ok(attempt) => attempt,
            Err(error) => {
                let seen = verdict::Seen::default();
                self.fail(verdict::of_error(self.module(), Phase::Check, error.into(), &seen));
                return Ok(());
            }
        };
        let ended = self.check(&mut attempt).await;
        self.report.log = attempt.host().take_log();
        ended
    }

    async fn check(&mut self, attempt: &mut Attempt) -> Result<(), JournalError> {
        let reason = Reason { prior: self.prior(), ..Reason::default() };
        let result = attempt.check(&self.ready.desired, &reason).await;
        if let Some(verdict) = seen::wrote_in_check(self.module(), attempt) {
            self.fail(verdict);
            return Ok(());
        }
        match result {
            Err(error) => self.fail_call(Phase::Check, error, attempt),
            Ok(CheckResult::InSync(reading)) => {
                self.report.outcome = Outcome::Unchanged;
                self.outputs.clone_from(&reading.outputs);
                self.keep_unchanged(reading)?;
            }
            Ok(CheckResult::Skipped(reason)) => self.end(Outcome::Skipped, Action::Skip, reason),
            Ok(CheckResult::CannotPlan(reason)) => self.end(Outcome::CannotPlan, Action::Skip, reason),
            Ok(CheckResult::NeedsApply(needed)) => {
                self.note_needed(&needed, attempt);
                if let Some(action) = &needed.prerequisite {
                    self.fail(verdict::undelivered(self.module(), action));
                } else if self.run.mode == RunMode::Noop {
                    self.report.outcome = Outcome::WouldChange;
                } else {
                    self.change(attempt, reason).await?;
                }
            }
        }
        Ok(())
    }

    fn note_needed(&mut self, needed: &Needed, attempt: &mut Attempt) {
        self.report.action = needed.action;
        self.report.incomplete_preview.clone_from(&needed.incomplete_preview);
        let show = self.run.mode == RunMode::Noop || needed.action != Action::Create;
        self.report.changes = needed.changes.iter().map(|change| told(change, show, attempt)).collect();
        let (desired, component) = (&self.ready.desired, self.ready.module.digest());
        let stamp = self.run.stamps.of(self.ready);
        let is_drift = |recorded: &Recorded| recorded.difference_is_drift(desired, &component, stamp.as_deref());
        self.report.drift = self.recorded().is_some_and(is_drift);
    }

    async fn change(&mut self, attempt: &mut Attempt, mut reason: Reason) -> Result<(), JournalError> {
        if let Err(verdict) = self.inspect_again(attempt, &reason).await {
            self.fail(verdict);
            return Ok(());
        }
        let token = self.run.journal().intend(self.intention()).await?;
        reason.staging_name = Some(token.staging_name().to_string());
        open_gate(attempt.host(), &token);
        let applied = self.apply_and_verify(attempt, &reason).await;
        self.settle(token, applied, attempt)
    }

    /// What may have changed since the plan: claims that the node decides, and conflicts within the type.
    async fn inspect_again(&mut self, attempt: &mut Attempt, reason: &Reason) -> Result<(), Verdict> {
        let changed = self.run.inspect_again(attempt, self.ready, reason).await;
        let seen = seen::of(attempt);
        match changed {
            Ok(_) if attempt.host().denied_change().is_some() => Err(verdict::of_denial(self.module(), Phase::Inspect, &seen)),
            Ok(None) => Ok(()),
            Ok(Some(message)) => Err(verdict::refused(self.module(), Phase::Inspect, message, None, &seen)),
            Err(error) => Err(verdict::of_error(self.module(), Phase::Inspect, error, &seen)),
        }
    }

    async fn apply_and_verify(&mut self, attempt: &mut Attempt, reason: &Reason) -> Applied {
        let outcome = match attempt.apply(reason).await {
            Ok(outcome) => outcome,
            Err(error) => return Applied::Failed(Phase::Apply, error),
        };
        if attempt.host().denied_change().is_some() {
            return Applied::Denied(Phase::Apply);
        }
        match attempt.verify(reason).await {
            Ok(_) if attempt.host().denied_change().is_some() => Applied::Denied(Phase::Verify),
            Ok(Verification::Converged(observed)) => Applied::Converged { outputs: outcome.outputs, observed },
            Ok(Verification::NotConverged(changes)) => Applied::NotConverged(changes),
            Err(error) => Applied::Failed(Phase::Verify, error),
        }
    }

    fn settle(&mut self, token: IntentToken, applied: Applied, attempt: &mut Attempt) -> Result<(), JournalError> {
        let settlement = match applied {
            Applied::Converged { outputs, observed } => {
                self.report.outcome = Outcome::Changed;
                self.outputs.clone_from(&outputs);
                Settlement { ending: Ending::Done, record: Some(self.record(outputs, observed)), detail: None }
            }
            Applied::NotConverged(changes) => {
                self.fail(verdict::not_converged(self.module(), &changes));
                self.failed_settlement()
            }
            Applied::Denied(phase) => {
                let seen = seen::of(attempt);
                self.fail(verdict::of_denial(self.module(), phase, &seen));
                self.failed_settlement()
            }
            Applied::Failed(phase, error) => {
                self.fail_call(phase, error, attempt);
                self.failed_settlement()
            }
        };
        self.run.journal().settle(token, settlement)
    }

    fn failed_settlement(&self) -> Settlement {
        let failure = self.report.failure.as_ref().expect("a failed turn says why");
        Settlement { ending: failure.effect.ending(), record: None, detail: Some(failure.message.clone()) }
    }

    fn intention(&self) -> Intention {
        Intention {
            owner: self.run.owner.clone(),
            resource: self.ready.id.clone(),
            component: self.ready.module.digest(),
            schema_version: self.ready.module.description().schema_version,
            desired: self.ready.desired_text.clone(),
            operation: Operation::Converge(super::journal_action(self.report.action)),
            subscribers: Vec::new(),
            cgroup: None,
        }
    }

    fn record(&self, outputs: Option<Json>, observed: Option<Json>) -> Recorded {
        Recorded {
            component: self.ready.module.digest(),
            schema_version: self.ready.module.description().schema_version,
            inputs: self.ready.desired.clone(),
            outputs: outputs.map(|outputs| without_sensitive(outputs, self.ready.module.description())),
            observed,
            configuration: None,
            secrets: self.run.stamps.of(self.ready),
            converged: true,
        }
    }

    /// A resource that is as desired is on record too, so that drift can be told next time.
    fn keep_unchanged(&self, reading: Reading) -> Result<(), JournalError> {
        if self.run.mode == RunMode::Noop {
            return Ok(());
        }
        let outputs = reading.outputs.or_else(|| self.recorded().and_then(|recorded| recorded.outputs.clone()));
        let record = self.record(outputs, reading.observed);
        if self.recorded() == Some(&record) {
            return Ok(());
        }
        self.run.journal().keep(&self.run.owner, &self.ready.id, record)
    }

    fn recorded(&self) -> Option<&Recorded> {
        self.run.recorded.get(&self.ready.id)
    }

    fn prior(&self) -> Option<Prior> {
        self.recorded().map(|recorded| Prior {
            schema_version: recorded.schema_version,
            inputs: recorded.inputs.clone(),
            outputs: recorded.outputs.clone(),
            observed: recorded.observed.clone(),
            configuration: recorded.configuration.clone(),
        })
    }

    fn module(&self) -> &str {
        self.ready.id.type_name.as_str()
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

/// Outputs as they may be on record: nothing stands for a sensitive one.
fn without_sensitive(mut outputs: Json, description: &Description) -> Json {
    if let Some(members) = outputs.as_object_mut() {
        members.retain(|name, _| !description.output(name).is_some_and(|output| output.sensitive));
    }
    outputs
}

/// How the change itself went.
enum Applied {
    Converged {
        outputs: Option<Json>,
        observed: Option<Json>,
    },
    NotConverged(Vec<GuestChange>),
    /// A change was denied, and the module went on as if it had not been.
    Denied(Phase),
    Failed(Phase, AttemptError),
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
