//! A record of every host call and whether it was allowed, for the whole run.
//!
//! In memory, of bounded size, and written to `tracing` as it grows. It holds names and paths, never content.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::phase::Phase;

/// The most records kept; older ones are dropped and counted.
pub const MAX_RECORDS: usize = 10_000;

/// One host call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The resource whose attempt made it.
    pub resource: String,
    /// The module that made it: of its resource type, or of the provider that was selected.
    pub module: String,
    /// Where the attempt was.
    pub phase: Phase,
    /// The function, `files.object.stage`.
    pub call: String,
    /// The object, as the guest named it, escaped.
    pub subject: String,
    /// What became of it.
    pub verdict: Verdict,
}

/// Whether a call was allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was.
    Allowed,
    /// A rule forbade it, in words.
    Denied(String),
    /// The deadline had passed.
    TooLate,
}

/// The records of a run.
#[derive(Debug, Default)]
pub struct AuditTrail {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    records: VecDeque<Record>,
    dropped: u64,
}

impl AuditTrail {
    /// Adds a record.
    pub fn add(&self, record: Record) {
        let Record { resource, module, phase, call, subject, verdict } = &record;
        match verdict {
            Verdict::Allowed => tracing::trace!(%resource, %module, %phase, %call, %subject, "host call"),
            Verdict::Denied(rule) => tracing::warn!(%resource, %module, %phase, %call, %subject, %rule, "host call denied"),
            Verdict::TooLate => tracing::warn!(%resource, %module, %phase, %call, %subject, "host call after the deadline"),
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if inner.records.len() == MAX_RECORDS {
            inner.records.pop_front();
            inner.dropped += 1;
        }
        inner.records.push_back(record);
    }

    /// The newest records, oldest first, and how many older ones were dropped.
    pub fn snapshot(&self) -> (Vec<Record>, u64) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.records.iter().cloned().collect(), inner.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_trail_is_bounded_and_says_what_it_dropped() {
        let trail = AuditTrail::default();
        for index in 0..MAX_RECORDS + 3 {
            trail.add(Record {
                resource: "t.a".into(),
                module: "t".into(),
                phase: Phase::Check,
                call: "facts.get".into(),
                subject: index.to_string(),
                verdict: Verdict::Allowed,
            });
        }
        let (records, dropped) = trail.snapshot();
        assert_eq!((records.len(), dropped), (MAX_RECORDS, 3));
        assert_eq!(records[0].subject, "3");
    }
}
