//! Refreshes that the resource owes because something that it subscribes to has changed.
//!
//! What is owed is on record, in the transaction of the intent that brought it about, and is closed in the transaction that settles what met it.
//! So neither a failure nor a crash in between loses it.

use std::collections::BTreeSet;

use super::Turn;
use crate::apply::gate::open_gate;
use crate::apply::{seen, verdict};
use crate::engine::{Attempt, AttemptError, CheckResult, GuestChange, OperationReason, Reason};
use crate::journal::{Closing, Ending, JournalError, OpenObligation, Operation, Settlement};
use crate::model::ids::ResourceId;
use crate::model::report::{Outcome, Phase, Refresh, RefreshEnding, RunMode};

/// How a refresh went.
enum Refreshed {
    /// It was done, and the object is still as desired.
    Done(Option<String>),
    /// There was nothing to do.
    Idle,
    /// It was done, and the object is no longer as desired.
    NotAsDesired(Vec<GuestChange>),
    Denied(Phase),
    Failed(Phase, AttemptError),
}

impl Turn<'_> {
    /// What it owes now, oldest first.
    pub(super) async fn owed(&self) -> Result<Vec<OpenObligation>, JournalError> {
        if !self.run.subscriptions.may_owe(self.ready.id()) {
            return Ok(Vec::new());
        }
        self.run.journal().owed(&self.run.owner, self.ready.id()).await
    }

    /// Refreshes a resource that is as desired.
    pub(super) async fn refresh_in_sync(
        &mut self,
        attempt: &mut Attempt,
        refreshable: bool,
        reason: Reason,
    ) -> Result<(), JournalError> {
        if self.run.mode == RunMode::Noop {
            let because_of = self.run.subscriptions.would_owe(self.ready.id());
            if !because_of.is_empty() {
                let ending = if refreshable { RefreshEnding::Would } else { RefreshEnding::Suppressed };
                self.report.outcome = if refreshable { Outcome::WouldChange } else { Outcome::Unchanged };
                self.report.refresh = Some(Refresh { because_of, ending });
            }
            return Ok(());
        }
        let owed = self.owed().await?;
        match (owed.is_empty(), self.ready.accepts_refresh() && refreshable) {
            (true, _) => Ok(()),
            (false, true) => self.refresh(attempt, owed, reason).await,
            (false, false) => self.lapse(&owed),
        }
    }

    /// Refreshes a resource that was just brought to what is desired in another way than a refresh.
    pub(super) async fn refresh_after_change(
        &mut self,
        attempt: &mut Attempt,
        owed: Vec<OpenObligation>,
        reason: Reason,
    ) -> Result<(), JournalError> {
        match attempt.check(&self.ready.desired, &reason).await {
            Ok(CheckResult::InSync(reading)) if self.ready.accepts_refresh() && reading.refreshable => {
                self.refresh(attempt, owed, reason).await
            }
            Ok(CheckResult::InSync(_)) => self.lapse(&owed),
            // It has just been verified, so this is somebody else's doing; the next run tells.
            Ok(_) => Ok(()),
            Err(error) => {
                self.fail_call(Phase::Refresh, error, attempt);
                Ok(())
            }
        }
    }

    /// What is owed has nothing to do here: it lapses.
    fn lapse(&mut self, owed: &[OpenObligation]) -> Result<(), JournalError> {
        let closing = if self.ready.accepts_refresh() { Closing::Suppressed } else { Closing::Orphaned };
        owed.iter().try_for_each(|owed| self.run.journal().close(owed.obligation, closing, None))?;
        self.note_refresh(owed, RefreshEnding::Suppressed);
        Ok(())
    }

    async fn refresh(
        &mut self,
        attempt: &mut Attempt,
        owed: Vec<OpenObligation>,
        mut reason: Reason,
    ) -> Result<(), JournalError> {
        if let Err(verdict) = self.inspect_again(attempt, &reason).await {
            self.fail(verdict);
            return Ok(());
        }
        reason.reason = Some(OperationReason::Refresh);
        let token = self.run.journal().intend(self.intention(Operation::Refresh)).await?;
        reason.staging_name = Some(token.staging_name().to_string());
        open_gate(attempt.host(), &token);
        let refreshed = self.refresh_and_check(attempt, &reason).await;
        let closed = |closing| owed.iter().map(|owed| (owed.obligation, closing)).collect();
        let settlement = match refreshed {
            Refreshed::Done(output) => {
                self.report.outcome = Outcome::Changed;
                self.report.log.extend(output);
                self.note_refresh(&owed, RefreshEnding::Refreshed);
                Settlement { ending: Ending::Done, record: None, detail: None, closes: closed(Closing::Refreshed) }
            }
            Refreshed::Idle => {
                self.note_refresh(&owed, RefreshEnding::Suppressed);
                Settlement { ending: Ending::NotStarted, record: None, detail: None, closes: closed(Closing::Suppressed) }
            }
            Refreshed::NotAsDesired(changes) => {
                self.fail(verdict::not_as_desired(self.module(), &changes));
                self.failed_settlement()
            }
            Refreshed::Denied(phase) => {
                let seen = seen::of(attempt);
                self.fail(verdict::of_denial(self.module(), phase, &seen));
                self.failed_settlement()
            }
            Refreshed::Failed(phase, error) => {
                self.fail_call(phase, error, attempt);
                self.failed_settlement()
            }
        };
        self.run.journal().settle(token, settlement)
    }

    async fn refresh_and_check(&mut self, attempt: &mut Attempt, reason: &Reason) -> Refreshed {
        let outcome = match attempt.refresh(&self.ready.desired, reason).await {
            Ok(outcome) => outcome,
            Err(error) => return Refreshed::Failed(Phase::Refresh, error),
        };
        if attempt.host().denied_change().is_some() {
            return Refreshed::Denied(Phase::Refresh);
        }
        if !outcome.executed && !attempt.host().let_change_through() {
            return Refreshed::Idle;
        }
        match attempt.check(&self.ready.desired, reason).await {
            Ok(_) if attempt.host().denied_change().is_some() => Refreshed::Denied(Phase::Verify),
            Ok(CheckResult::NeedsApply(needed)) => Refreshed::NotAsDesired(needed.changes),
            Ok(_) => Refreshed::Done(outcome.output),
            Err(error) => Refreshed::Failed(Phase::Verify, error),
        }
    }

    /// In noop: what it would owe once it is brought to what is desired.
    pub(super) fn would_refresh(&mut self, handled: bool) {
        let because_of = self.run.subscriptions.would_owe(self.ready.id());
        if !because_of.is_empty() {
            let ending = if handled { RefreshEnding::Handled } else { RefreshEnding::Would };
            self.report.refresh = Some(Refresh { because_of, ending });
        }
    }

    pub(super) fn note_handled(&mut self, owed: &[OpenObligation]) {
        self.note_refresh(owed, RefreshEnding::Handled);
    }

    fn note_refresh(&mut self, owed: &[OpenObligation], ending: RefreshEnding) {
        let because_of: BTreeSet<&ResourceId> = owed.iter().map(|owed| &owed.because_of).collect();
        self.report.refresh = Some(Refresh { because_of: because_of.into_iter().cloned().collect(), ending });
    }

    /// A turn that did not get so far leaves what it owes, and says so.
    pub(super) async fn note_what_is_still_owed(&mut self) -> Result<(), JournalError> {
        if self.report.refresh.is_some() || self.run.mode == RunMode::Noop {
            return Ok(());
        }
        let owed = self.owed().await?;
        if !owed.is_empty() {
            self.note_refresh(&owed, RefreshEnding::Owed);
        }
        Ok(())
    }
}
