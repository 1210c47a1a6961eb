//! The journal: an intent on disk before a change, and a settlement after it.
//!
//! `status` is the order of events: one enum of events, one of statuses, one transition function. [`Journal`] is the actor
//! that writes them, many in one commit. What it deliberately does not do: open the database (that is `store`), decide what to
//! change, or order anything by a clock.

/// What is said of an intent and of a run: data.
mod entry;
/// Refresh obligations and their order.
mod obligation;
/// Names under which candidates are staged.
mod staging;
/// The order of events of an intent.
mod status;
/// Proof that an intent is on disk.
mod token;
/// The one thread that writes.
mod writer;

/// Handles for asynchronous and blocking callers.
mod actor;

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files and processes to look at")]
mod crash_tests;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files and processes to look at")]
mod tests;

pub use actor::{Journal, JournalError, JournalHandle};
pub use entry::{Action, Entry, Event, Intention, Moment, Observer, OpenObligation, Operation, Settlement};
pub use obligation::{Closing, ObligationEvent, ObligationStatus, next_obligation};
pub use staging::{StagingName, StagingNameError, random_name, random_run_id};
pub(crate) use status::words;
pub use status::{Ending, IllegalOrder, IntentEvent, IntentId, Resolution, Status, next};
pub use token::{IntentToken, IntentWitness};
pub use writer::RIDE;
