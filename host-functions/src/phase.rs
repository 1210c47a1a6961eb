//! The phases of an attempt at a resource, and what kinds of host call each allows.

use std::fmt;

/// Where an attempt at a resource is. The engine sets it before each call into the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// All of `definition`. No host call works; those imports are not linked either.
    Definition,
    /// `inspect-safety` and `composition-conflicts`.
    Inspect,
    /// `check` and `read`.
    Check,
    /// `work.verify`.
    Verify,
    /// `perform`: a shared action, such as reloading a manager's configuration, and nothing else that changes.
    Perform,
    /// `work.apply`, `refresh` and `delete`.
    Apply,
    /// `recover-interrupted`.
    Recover,
    /// The host's own reading, to show what a plan would change. Allows what `Check` does.
    Display,
}

/// What kind of thing a host call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// A message for the operator; touches nothing.
    Message,
    /// Reads what an object is, but not what is in it; facts and accounts.
    Metadata,
    /// Reads what is in an object, or is derived from that.
    Content,
    /// Changes the node.
    Change,
    /// A shared action, which concerns no object of one resource.
    Maintenance,
    /// Cleans up after a lost run.
    Cleanup,
}

impl Phase {
    /// Every phase, in the order of an attempt.
    pub const ALL: [Phase; 8] = [
        Phase::Definition,
        Phase::Inspect,
        Phase::Check,
        Phase::Verify,
        Phase::Perform,
        Phase::Apply,
        Phase::Recover,
        Phase::Display,
    ];

    /// Whether host calls of this kind are allowed. A change needs an open intent as well.
    pub fn allows(self, reach: Reach) -> bool {
        match self {
            Phase::Definition => false,
            Phase::Inspect => matches!(reach, Reach::Message | Reach::Metadata),
            Phase::Check | Phase::Verify | Phase::Display => {
                matches!(reach, Reach::Message | Reach::Metadata | Reach::Content)
            }
            Phase::Perform => {
                matches!(reach, Reach::Message | Reach::Metadata | Reach::Content | Reach::Maintenance)
            }
            Phase::Apply => !matches!(reach, Reach::Cleanup | Reach::Maintenance),
            Phase::Recover => reach != Reach::Maintenance,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Phase::Definition => "definition",
            Phase::Inspect => "inspect",
            Phase::Check => "check",
            Phase::Verify => "verify",
            Phase::Perform => "perform",
            Phase::Apply => "apply",
            Phase::Recover => "recover",
            Phase::Display => "display",
        })
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reach::Message => "writing to the log",
            Reach::Metadata => "reading metadata",
            Reach::Content => "reading content",
            Reach::Change => "changing the node",
            Reach::Maintenance => "a shared action",
            Reach::Cleanup => "removing what was staged",
        })
    }
}
