//! The walk over the graph: starts what may start, several at a time, and collects how each ended.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::task::JoinSet;

use super::Observer;
use super::run::Run;
use super::schedule::{Schedule, Unmet};
use super::turn::{self, Ended};
use crate::journal::JournalError;
use crate::model::catalog::Catalog;
use crate::model::report::{Action, Outcome, ResourceReport};
use crate::plan::{Plan, Planned};

/// How a walk goes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How many resources are at work at once.
    pub parallelism: usize,
    /// Whether the first failure ends it.
    pub fail_fast: bool,
}

/// Takes every resource of `plan` at its turn. Gives one report each, in catalog order.
///
/// # Errors
/// If the journal cannot be written. What is at work is awaited first.
pub async fn walk(
    run: &Arc<Run>,
    catalog: &Catalog,
    plan: Plan,
    pace: Pace,
    observer: &dyn Observer,
) -> Result<Vec<ResourceReport>, JournalError> {
    let count = plan.resources.len();
    let mut walk = Walk {
        run,
        schedule: Schedule::new(catalog),
        planned: plan.resources.into_iter().map(Some).collect(),
        reports: vec![None; count],
        at_work: JoinSet::new(),
        broken: None,
        stopping: false,
        pace,
        observer,
        catalog,
    };
    walk.go().await;
    match walk.broken {
        Some(error) => Err(error),
        None => Ok(walk.reports.into_iter().map(|report| report.expect("every resource has ended")).collect()),
    }
}

struct Walk<'a> {
    run: &'a Arc<Run>,
    catalog: &'a Catalog,
    schedule: Schedule,
    planned: Vec<Option<Planned>>,
    reports: Vec<Option<ResourceReport>>,
    at_work: JoinSet<(usize, Result<Ended, JournalError>)>,
    broken: Option<JournalError>,
    stopping: bool,
    pace: Pace,
    observer: &'a dyn Observer,
}

impl Walk<'_> {
    async fn go(&mut self) {
        loop {
            while !self.stopping && self.at_work.len() < self.pace.parallelism.max(1) {
                let Some(index) = self.schedule.next() else { break };
                self.start(index);
            }
            match self.at_work.join_next().await {
                Some(Ok((index, ended))) => self.ended(index, ended),
                // A panic in a turn is a defect of ours; its intent stays open on disk, as after a crash.
                Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
                None => break,
            }
        }
        for index in self.schedule.abandon() {
            let report = self.unstarted(index, Outcome::NotReached, "the run ended before its turn".into());
            self.keep(index, report);
        }
    }

    fn start(&mut self, index: usize) {
        match self.planned[index].take().expect("each resource starts once") {
            Planned::Ended(report) => {
                // What is open is told whatever became of the resource before its turn.
                let report = self.run.unresolved_report(&report.id).unwrap_or(report);
                self.ended(index, Ok(Ended { report: *report, outputs: None }));
            }
            Planned::Ready(ready) => self.at_work(index, async move |run| turn::take(&run, &ready).await),
            Planned::Waiting(waiting) => self.at_work(index, async move |run| turn::take_waiting(&run, &waiting).await),
        }
    }

    /// Gives a turn a thread of its own, because guests and host functions block.
    fn at_work(&mut self, index: usize, turn: impl AsyncFnOnce(Arc<Run>) -> Result<Ended, JournalError> + Send + 'static) {
        self.observer.started(&self.catalog.resources[index].id);
        let (run, handle) = (Arc::clone(self.run), Handle::current());
        self.at_work.spawn_blocking(move || (index, handle.block_on(turn(run))));
    }

    fn ended(&mut self, index: usize, ended: Result<Ended, JournalError>) {
        match ended {
            Ok(ended) => {
                let report = self.run.note_outputs(ended);
                let outcome = report.outcome;
                if outcome == Outcome::WouldChange {
                    self.run.subscriptions.note_would_change(&report.id);
                }
                self.stopping |= self.pace.fail_fast && matches!(outcome, Outcome::Failed | Outcome::Refused);
                self.keep(index, report);
                for unmet in self.schedule.end(index, outcome) {
                    self.unmet(&unmet);
                }
            }
            Err(error) => {
                self.stopping = true;
                self.broken.get_or_insert(error);
            }
        }
    }

    fn unmet(&mut self, unmet: &Unmet) {
        let reason = format!("it requires `{}`, which is {}", unmet.prerequisite, unmet.outcome.word());
        let report = self.unstarted(unmet.index, Outcome::Unmet, reason);
        self.keep(unmet.index, report);
    }

    fn unstarted(&self, index: usize, outcome: Outcome, reason: String) -> ResourceReport {
        let id = self.catalog.resources[index].id.clone();
        ResourceReport { outcome, action: Action::Skip, reason: Some(reason), ..ResourceReport::untouched(id) }
    }

    fn keep(&mut self, index: usize, report: ResourceReport) {
        self.observer.resource(&report);
        self.reports[index] = Some(report);
    }
}
