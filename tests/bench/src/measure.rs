//! The measuring itself: rounds in which everything has its turn once, so that what disturbs the machine disturbs all alike.
//!
//! It is done where the tasks are: in this process, or in one that this program is started as within a machine. Only the task is timed, not the way
//! into the machine.

use std::io::Write as _;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::task::Task;

/// Something whose time is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Timed {
    /// What it is, for people.
    pub(crate) name: String,
    /// What goes before it each time, untimed.
    pub(crate) before: Vec<Task>,
    pub(crate) task: Task,
}

impl Timed {
    pub(crate) fn new(name: impl Into<String>, task: Task) -> Self {
        Self { name: name.into(), before: Vec::new(), task }
    }

    /// With something before it that is not timed.
    pub(crate) fn after(mut self, before: Task) -> Self {
        self.before.push(before);
        self
    }

    fn cost(&self) -> Result<Cost, Failure> {
        self.before.iter().try_for_each(|task| task.perform().map(drop))?;
        let begun = (Instant::now(), ProcessTime::now());
        let used = self.task.perform()?;
        let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let (wall, own) = (begun.0.elapsed(), begun.1.elapsed());
        Ok(Cost { wall_ns: nanoseconds(wall), cpu_ns: nanoseconds(own + used.cpu), peak_kib: used.peak_kib })
    }
}

/// What something took, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) wall_ns: u64,
    /// Of all processors together, in programs and in us.
    pub(crate) cpu_ns: u64,
    /// The most memory that a program of it had at once; 0 where there was none.
    pub(crate) peak_kib: u64,
}

/// What is measured together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) rounds: usize,
    pub(crate) timed: Vec<Timed>,
}

/// For each round the cost of everything that was timed, in the order of the job.
pub(crate) type Rounds = Vec<Vec<Cost>>;

impl Job {
    /// Does it. A first round is thrown away: it fills caches. Each round begins with another one, so that nothing always goes first.
    pub(crate) fn measure(&self) -> Result<Rounds, Failure> {
        self.round(0)?;
        (0..self.rounds).map(|round| self.round(round)).collect()
    }

    fn round(&self, number: usize) -> Result<Vec<Cost>, Failure> {
        let count = self.timed.len();
        let mut took = vec![Cost::default(); count];
        for turn in 0..count {
            let at = (turn + number) % count;
            took[at] = self.timed[at].cost().map_err(|failure| format!("{}: {failure}", self.timed[at].name))?;
        }
        Ok(took)
    }
}

/// Does the job that is on standard input, and writes what it took to standard output.
pub(crate) fn from_standard_input() -> Result<(), Failure> {
    let job: Job = serde_json::from_reader(std::io::stdin().lock()).map_err(|error| format!("no job: {error}"))?;
    let rounds = serde_json::to_vec(&job.measure()?).map_err(|error| error.to_string())?;
    std::io::stdout().lock().write_all(&rounds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_has_a_time_for_each() {
        let job = Job {
            rounds: 3,
            timed: vec![Timed::new("fast", Task::run(["true"])), Timed::new("slow", Task::run(["sleep", "0.05"]))],
        };
        let rounds = job.measure().unwrap();
        assert_eq!(rounds.len(), 3);
        assert!(rounds.iter().flatten().all(|cost| cost.cpu_ns > 0 && cost.peak_kib > 100), "{rounds:?}");
        assert!(rounds.iter().all(|round| round.len() == 2 && round[1].wall_ns >= 50_000_000), "{rounds:?}");
    }

    #[test]
    fn what_goes_before_is_not_timed_and_a_failure_is_told_with_its_name() {
        let slow = Timed::new("one", Task::All(Vec::new())).after(Task::run(["sleep", "0.05"]));
        assert!(Job { rounds: 1, timed: vec![slow] }.measure().unwrap()[0][0].wall_ns < 50_000_000);
        let broken = Job { rounds: 1, timed: vec![Timed::new("two", Task::run(["false"]))] };
        assert!(broken.measure().unwrap_err().starts_with("two: `false` ended"));
    }
}
