//! The change itself: an intent on disk, the module's work, the same comparison again, and how it ended.

use serde_json::Value as Json;

use super::Turn;
use crate::apply::gate::open_gate;
use crate::apply::{journal_action, seen, verdict};
use crate::engine::{Attempt, AttemptError, GuestChange, Reason, Verification};
use crate::journal::{Closing, Ending, IntentToken, Intention, JournalError, Operation, Settlement};
use crate::model::canonical::CanonicalJson;
use crate::model::report::{Outcome, Phase};

/// How the change itself went.
enum Applied {
    Converged {
        outputs: Option<Json>,
        observed: Option<CanonicalJson>,
        /// Whether it did what a refresh would do.
        handled_refresh: bool,
        output: Option<String>,
    },
    NotConverged(Vec<GuestChange>),
    /// A change was denied, and the module went on as if it had not been.
    Denied(Phase),
    Failed(Phase, AttemptError),
}

impl Turn<'_> {
    pub(super) async fn change(&mut self, attempt: &mut Attempt, mut reason: Reason) -> Result<(), JournalError> {
        if let Err(verdict) = self.inspect_again(attempt, &reason).await {
            self.fail(verdict);
            return Ok(());
        }
        let owed = self.owed().await?;
        let operation = Operation::Converge(journal_action(self.report.action));
        let token = self.run.journal().intend(self.intention(operation)).await?;
        reason.staging_name = Some(token.staging_name().to_string());
        open_gate(attempt.host(), &token);
        let applied = self.apply_and_verify(attempt, &reason).await;
        let handled = matches!(applied, Applied::Converged { handled_refresh: true, .. });
        let closes = if handled { owed.iter().map(|owed| (owed.obligation, Closing::Handled)).collect() } else { Vec::new() };
        self.settle(token, applied, closes, attempt)?;
        if self.report.outcome != Outcome::Changed || owed.is_empty() {
            return Ok(());
        }
        if handled {
            self.note_handled(&owed);
            return Ok(());
        }
        reason.staging_name = None;
        self.refresh_after_change(attempt, owed, reason).await
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
            Ok(Verification::Converged(observed)) => Applied::Converged {
                outputs: outcome.outputs,
                observed,
                handled_refresh: outcome.handled_refresh,
                output: outcome.output,
            },
            Ok(Verification::NotConverged(changes)) => Applied::NotConverged(changes),
            Err(error) => Applied::Failed(Phase::Verify, error),
        }
    }

    fn settle(
        &mut self,
        token: IntentToken,
        applied: Applied,
        closes: Vec<(i64, Closing)>,
        attempt: &mut Attempt,
    ) -> Result<(), JournalError> {
        let settlement = match applied {
            Applied::Converged { outputs, observed, output, .. } => {
                self.report.outcome = Outcome::Changed;
                self.report.log.extend(output);
                self.outputs.clone_from(&outputs);
                Settlement { ending: Ending::Done, record: Some(self.record(outputs, observed)), detail: None, closes }
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

    pub(super) fn failed_settlement(&self) -> Settlement {
        let failure = self.report.failure.as_ref().expect("a failed turn says why");
        let detail = Some(failure.message.clone());
        Settlement { ending: failure.effect.ending(), record: None, detail, closes: Vec::new() }
    }

    pub(super) fn intention(&self, operation: Operation) -> Intention {
        // A shared action changes no object of this resource, so nobody is to be refreshed after it.
        let changes = !matches!(operation, Operation::Perform(_));
        Intention {
            owner: self.run.owner.clone(),
            resource: self.ready.id().clone(),
            component: self.ready.module().digest(),
            schema_version: self.ready.module().description().schema_version,
            desired: self.ready.managed.text().to_owned(),
            operation,
            subscribers: if changes { self.run.subscriptions.subscribers(self.ready.id()) } else { Vec::new() },
            cgroup: self.group.as_ref().map(|group| group.path().to_owned()),
        }
    }
}
