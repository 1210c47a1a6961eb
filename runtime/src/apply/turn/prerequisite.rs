//! A shared action that goes before a change: done once for all who asked for it, and on record before it is done.
//!
//! It is not recovered after a crash like a change is: it has no object, and may be done again. The check that follows tells whether it is
//! still needed.

use super::{Next, Turn};
use crate::apply::gate::open_gate;
use crate::apply::{seen, verdict};
use crate::engine::{Attempt, Reason};
use crate::journal::{Ending, JournalError, Operation, Settlement};
use crate::model::report::{Outcome, Phase, RunMode};

impl Turn<'_> {
    pub(super) async fn prerequisite(
        &mut self,
        attempt: &mut Attempt,
        action: String,
        mode: RunMode,
        reason: Reason,
    ) -> Result<Next, JournalError> {
        if let Some(why) = self.may_not_ask(&action) {
            self.fail(verdict::no_such_action(self.module(), &action, why));
            return Ok(Next::Over);
        }
        self.report.prerequisites.push(action.clone());
        if mode == RunMode::Noop {
            self.report.outcome = Outcome::WouldChange;
            self.would_refresh(false);
            return Ok(Next::Over);
        }
        self.delivered.push(action.clone());
        let run = self.run;
        let Some(mut delivery) = run.deliveries.take(&action, self.checked).await else {
            return Ok(Next::CheckAgain);
        };
        if let Err(verdict) = self.inspect_again(attempt, &reason).await {
            self.fail(verdict);
            return Ok(Next::Over);
        }
        let token = run.journal().intend(self.intention(Operation::Perform(action.clone()))).await?;
        delivery.begin();
        open_gate(attempt.host(), &token);
        let performed = attempt.perform(&action, &self.ready.desired, &reason).await;
        let denied = attempt.host().denied_change().is_some();
        let settlement = match performed {
            Ok(outcome) if !denied => {
                self.report.log.extend(outcome.output);
                Settlement { ending: Ending::Done, record: None, detail: None, closes: Vec::new() }
            }
            Ok(_) => {
                let seen = seen::of(attempt);
                self.fail(verdict::of_denial(self.module(), Phase::Perform, &seen));
                self.failed_settlement()
            }
            Err(error) => {
                self.fail_call(Phase::Perform, error, attempt);
                self.failed_settlement()
            }
        };
        run.journal().settle(token, settlement)?;
        Ok(if self.report.failure.is_some() { Next::Over } else { Next::CheckAgain })
    }

    /// Why it may not ask for `action`, if it may not.
    fn may_not_ask(&self, action: &str) -> Option<&'static str> {
        if !self.ready.prerequisites().iter().any(|declared| declared == action) {
            return Some("which is not among the prerequisites that its `validate` lists");
        }
        let again = self.delivered.iter().any(|delivered| delivered == action);
        again.then_some("which has just been done")
    }
}
