//! What the journal holds, as data.

use std::sync::Arc;

use super::obligation::{Closing, ObligationStatus};
use super::status::{Ending, IntentEvent, words};
use crate::model::digest::ComponentDigest;
use crate::model::ids::{OwnerName, ResourceId, RunId};
use crate::store::Recorded;

words! {
    /// What converging does to an object.
    Action {
        /// Makes what is not there.
        Create = "create",
        /// Changes it in place.
        Update = "update",
        /// Makes a new one in its stead.
        Replace = "replace",
        /// Takes it away.
        Delete = "delete",
    }
}

/// What a change is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// To bring about the desired state.
    Converge(Action),
    /// A subscription changed.
    Refresh,
    /// A shared action that it asked for, by its key.
    Perform(String),
}

/// What is about to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Intention {
    /// Whose resource it is.
    pub owner: OwnerName,
    /// The resource.
    pub resource: ResourceId,
    /// The component that will do it.
    pub component: ComponentDigest,
    /// The schema version of `desired`.
    pub schema_version: u32,
    /// Desired state, canonical JSON.
    pub desired: String,
    /// What it is for.
    pub operation: Operation,
    /// Those who will owe a refresh if it changes; without duplicates.
    pub subscribers: Vec<ResourceId>,
    /// The control group that its processes will run in, where there is one.
    pub cgroup: Option<String>,
}

/// How an intent ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// How.
    pub ending: Ending,
    /// What to keep for the next run; none leaves what was recorded before.
    pub record: Option<Recorded>,
    /// Why, for people, where it did not go as intended. No values of attributes.
    pub detail: Option<String>,
    /// Refresh obligations that are met by it, in the same transaction.
    pub closes: Vec<(i64, Closing)>,
}

/// What happens in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The run is on record.
    RunBegan,
    /// Its bundle is accepted and its claims are taken.
    Admitted,
    /// Something happened to an intent.
    Intent(IntentEvent),
    /// A claim is given up; the detail says which.
    Released,
    /// Its report is stored.
    Reported,
    /// It is over.
    RunEnded,
}

impl Event {
    /// Its word in the database and in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RunBegan => "run_began",
            Self::Admitted => "admitted",
            Self::Intent(event) => event.as_str(),
            Self::Released => "released",
            Self::Reported => "reported",
            Self::RunEnded => "run_ended",
        }
    }

    /// The event that `word` stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::RunBegan, Self::Admitted, Self::Released, Self::Reported, Self::RunEnded]
            .into_iter()
            .find(|event| event.as_str() == word)
            .or_else(|| IntentEvent::from_word(word).map(Self::Intent))
    }
}

/// An entry of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its place in the order of all entries of the state folder.
    pub sequence: i64,
    /// The run that wrote it.
    pub run: RunId,
    /// The resource it is about, for an intent's events.
    pub resource: Option<ResourceId>,
    /// What happened.
    pub event: Event,
    /// Why, for people.
    pub detail: Option<String>,
}

/// When an [`Observer`] is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// The entry is written, and its commit comes next: a crash now loses it.
    BeforeDurable,
    /// The entry is on disk, and nobody has been told: a crash now keeps it.
    AfterDurable,
}

/// Told of every entry, on the thread that writes, before and after it becomes durable. For tests that stop the process there.
pub type Observer = Arc<dyn Fn(Moment, &Entry) + Send + Sync>;

/// An obligation that is still open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenObligation {
    /// Its number.
    pub obligation: i64,
    /// The resource whose change brought it about.
    pub because_of: ResourceId,
    /// Who owes the refresh.
    pub subscriber: ResourceId,
    /// Pending or owed.
    pub status: ObligationStatus,
}
