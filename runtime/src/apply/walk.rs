//! The walk over the graph: starts what may start, several at a time, and collects how each ended.
//!
//! Guests and host functions block, so each of several threads takes a resource to its end before it looks for another one. What they share is
//! behind one lock, which nobody holds while a resource has its turn.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::runtime::Handle;

use super::Observer;
use super::run::Run;
use super::schedule::{Schedule, Unmet};
use super::turn::{self, Ended};
use crate::journal::JournalError;
use crate::model::catalog::Catalog;
use crate::model::report::{Action, Outcome, ResourceReport};
use crate::plan::{Plan, Planned, Ready, Waiting};

/// How a walk goes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How many resources are at work at once.
    pub parallelism: usize,
    /// Whether the first failure ends it.
    pub fail_fast: bool,
}

/// Takes every resource of `plan` at its turn, on threads of its own that use `runtime`. Gives one report each, in catalog order.
///
/// # Errors
/// If the journal cannot be written. What is at work is awaited first.
///
/// # Panics
/// If a turn does; the others are awaited first. An intent that it had stays open on disk, as after a crash.
pub fn walk(
    run: &Arc<Run>,
    catalog: &Catalog,
    plan: Plan,
    pace: Pace,
    observer: &dyn Observer,
    runtime: &Handle,
) -> Result<Vec<ResourceReport>, JournalError> {
    let count = plan.resources.len();
    let walk = Walk {
        run,
        schedule: Schedule::new(catalog),
        planned: plan.resources.into_iter().map(Some).collect(),
        reports: vec![None; count],
        at_work: 0,
        broken: None,
        stopping: false,
        fail_fast: pace.fail_fast,
        observer,
        catalog,
    };
    let shared = Shared { walk: Mutex::new(walk), moved: Condvar::new() };
    thread::scope(|scope| {
        for _ in 0..pace.parallelism.clamp(1, count.max(1)) {
            let worker = thread::Builder::new().name("resource".into());
            worker.spawn_scoped(scope, || shared.work(run, runtime)).expect("a thread can be made");
        }
    });
    shared.walk.into_inner().unwrap_or_else(PoisonError::into_inner).over()
}

/// What the threads share.
struct Shared<'a> {
    walk: Mutex<Walk<'a>>,
    /// Told when a resource has ended: others may start now, or all is over.
    moved: Condvar,
}

impl<'a> Shared<'a> {
    /// One thread's part: one resource after the other, until there are none.
    fn work(&self, run: &Arc<Run>, runtime: &Handle) {
        while let Some((index, task)) = self.next() {
            let mut at_work = AtWork { shared: self, index, ended: None };
            at_work.ended = Some(runtime.block_on(async {
                match task {
                    Task::Ready(ready) => turn::take(run, &ready).await,
                    Task::Waiting(waiting) => turn::take_waiting(run, &waiting).await,
                }
            }));
        }
    }

    /// The next resource that may have its turn, once there is one; none if there will be none.
    fn next(&self) -> Option<(usize, Task)> {
        let mut walk = self.lock();
        loop {
            if let Some(next) = walk.next() {
                return Some(next);
            }
            if walk.at_work == 0 {
                self.moved.notify_all();
                return None;
            }
            walk = self.moved.wait(walk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Walk<'a>> {
        self.walk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A resource that has its turn. Dropping this ends it for the walk, also where the turn panicked and there is no end to tell.
struct AtWork<'s, 'a> {
    shared: &'s Shared<'a>,
    index: usize,
    ended: Option<Result<Ended, JournalError>>,
}

impl Drop for AtWork<'_, '_> {
    fn drop(&mut self) {
        let mut walk = self.shared.lock();
        walk.at_work -= 1;
        match self.ended.take() {
            Some(ended) => walk.ended(self.index, ended),
            None => walk.stopping = true,
        }
        self.shared.moved.notify_all();
    }
}

/// What a thread does with a resource at its turn.
enum Task {
    Ready(Box<Ready>),
    Waiting(Waiting),
}

struct Walk<'a> {
    run: &'a Arc<Run>,
    catalog: &'a Catalog,
    schedule: Schedule,
    planned: Vec<Option<Planned>>,
    reports: Vec<Option<ResourceReport>>,
    /// How many have their turn.
    at_work: usize,
    broken: Option<JournalError>,
    stopping: bool,
    fail_fast: bool,
    observer: &'a dyn Observer,
}

impl Walk<'_> {
    /// The next resource that may have its turn now. What ended before its turn is told on the way.
    fn next(&mut self) -> Option<(usize, Task)> {
        while !self.stopping {
            let index = self.schedule.next()?;
            let task = match self.planned[index].take().expect("each resource starts once") {
                Planned::Ended(report) => {
                    // What is open is told whatever became of the resource before its turn.
                    let report = self.run.unresolved_report(&report.id).unwrap_or(report);
                    self.ended(index, Ok(Ended { report: *report, outputs: None }));
                    continue;
                }
                Planned::Ready(ready) => Task::Ready(ready),
                Planned::Waiting(waiting) => Task::Waiting(waiting),
            };
            self.observer.started(&self.catalog.resources[index].id);
            self.at_work += 1;
            return Some((index, task));
        }
        None
    }

    /// Every report, once nothing is at work.
    fn over(mut self) -> Result<Vec<ResourceReport>, JournalError> {
        for index in self.schedule.abandon() {
            let report = self.unstarted(index, Outcome::NotReached, "the run ended before its turn".into());
            self.keep(index, report);
        }
        match self.broken {
            Some(error) => Err(error),
            None => Ok(self.reports.into_iter().map(|report| report.expect("every resource has ended")).collect()),
        }
    }

    fn ended(&mut self, index: usize, ended: Result<Ended, JournalError>) {
        match ended {
            Ok(ended) => {
                let report = self.run.note_outputs(ended);
                let outcome = report.outcome;
                if outcome == Outcome::WouldChange {
                    self.run.subscriptions.note_would_change(&report.id);
                }
                self.stopping |= self.fail_fast && matches!(outcome, Outcome::Failed | Outcome::Refused);
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
        let prerequisite = &self.catalog.resources[unmet.prerequisite].id;
        let reason = format!("it requires `{prerequisite}`, which is {}", unmet.outcome.word());
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
