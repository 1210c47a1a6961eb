//! Exit codes: the one table, and what decides between them.

use crate::model::report::Report;
use crate::run::ErrorKind;

/// How a command ended. docs/reference/exit-codes.md is rendered from here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Exit {
    /// What was asked for is done.
    Done = 0,
    /// A resource failed, or the command could not do its work.
    Failed = 1,
    /// Done, and something changed or would change: only where the caller asks for this code.
    Changed = 2,
    /// Nothing failed, and yet the node is not as declared.
    NotConverged = 3,
    /// The run was refused before anything was touched.
    Refused = 4,
    /// An earlier change is neither done nor undone.
    Unresolved = 5,
    /// The command line is wrong.
    Usage = 64,
    /// A file that was given is wrong.
    BadData = 65,
    /// Something could not be read or written.
    Io = 74,
    /// Another run is under way.
    Locked = 75,
}

impl Exit {
    /// All, in the order in which they are considered: the first that holds is the code.
    pub const ALL: [Self; 10] = [
        Self::Usage,
        Self::BadData,
        Self::Io,
        Self::Locked,
        Self::Refused,
        Self::Unresolved,
        Self::Failed,
        Self::NotConverged,
        Self::Changed,
        Self::Done,
    ];

    /// The number that the process ends with.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// One word for JSON records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Changed => "changed",
            Self::NotConverged => "not-converged",
            Self::Refused => "refused",
            Self::Unresolved => "unresolved",
            Self::Usage => "usage",
            Self::BadData => "bad-data",
            Self::Io => "io",
            Self::Locked => "locked",
        }
    }

    /// What it means, for the manual.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done: the plan is made, or the node is as declared",
            Self::Failed => "a resource failed or was refused, a rule does not hold, or the command could not do its work",
            Self::Changed => "with --detailed-exitcode only: all went well, and something changed or would change",
            Self::NotConverged => {
                "nothing failed, but not all is as declared: no provider, deferred, or cannot be planned; or a rule could not be tried"
            }
            Self::Refused => "the run was refused (policy, claim, target facts, receipt) and nothing was touched",
            Self::Unresolved => "a change of an earlier run is neither done nor undone: see `runtime recover`",
            Self::Usage => "the command line is wrong",
            Self::BadData => "a manifest, bundle, component or policy is wrong",
            Self::Io => "a file could not be read or written",
            Self::Locked => "another run holds the lock",
        }
    }

    /// The first that holds for a run that ended with a report. `detailed` asks for [`Exit::Changed`].
    pub fn of_report(report: &Report, detailed: bool) -> Self {
        let counts = report.summary();
        if counts.unresolved > 0 {
            return Self::Unresolved;
        }
        if counts.failed + counts.refused > 0 {
            return Self::Failed;
        }
        if counts.unmet + counts.no_provider + counts.cannot_plan + counts.not_reached > 0 {
            return Self::NotConverged;
        }
        if detailed && counts.changed + counts.would_change > 0 {
            return Self::Changed;
        }
        Self::Done
    }
}

impl From<ErrorKind> for Exit {
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage => Self::Usage,
            ErrorKind::BadData => Self::BadData,
            ErrorKind::Io => Self::Io,
            ErrorKind::Locked => Self::Locked,
            ErrorKind::Refused => Self::Refused,
            ErrorKind::Unresolved => Self::Unresolved,
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::report::{Action, Outcome};
    use crate::report::samples;

    fn exit(outcomes: &[Outcome], detailed: bool) -> u8 {
        let resources = outcomes.iter().map(|outcome| samples::resource("file.x", *outcome, Action::Update)).collect();
        Exit::of_report(&samples::report(resources), detailed).code()
    }

    #[test]
    fn the_first_that_holds() {
        use Outcome::*;
        assert_eq!(exit(&[WouldChange, NoProvider, Failed, Unresolved], true), 5);
        assert_eq!(exit(&[Changed, NoProvider, Unmet, Failed], true), 1);
        assert_eq!(exit(&[Changed, Refused], true), 1);
        for open in [NoProvider, CannotPlan, Unmet, NotReached] {
            assert_eq!(exit(&[Changed, open], true), 3, "{open:?}");
        }
        assert_eq!(exit(&[Changed, Unchanged], true), 2);
        assert_eq!(exit(&[WouldChange], true), 2);
        assert_eq!(exit(&[WouldChange, Changed], false), 0);
        assert_eq!(exit(&[Unchanged, Skipped], true), 0, "what its own control skips counts as converged");
        assert_eq!(exit(&[], true), 0);
    }

    #[test]
    fn codes_and_words_are_distinct() {
        let codes: std::collections::BTreeSet<u8> = Exit::ALL.iter().map(|exit| exit.code()).collect();
        let words: std::collections::BTreeSet<&str> = Exit::ALL.iter().map(|exit| exit.word()).collect();
        assert_eq!(codes.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 64, 65, 74, 75]);
        assert_eq!(words.len(), 10);
    }
}
