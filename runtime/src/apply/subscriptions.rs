//! Who is refreshed after whom, and what is known before a turn of refreshes that are owed.
//!
//! In a run that changes the node the journal alone says what is owed. In noop nothing is written, so the walk notes here what would
//! change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::journal::OpenObligation;
use crate::model::catalog::Edge;
use crate::model::ids::ResourceId;

/// The subscriptions of one run.
#[derive(Debug, Default)]
pub struct Subscriptions {
    subscribers: BTreeMap<ResourceId, BTreeSet<ResourceId>>,
    sources: BTreeMap<ResourceId, BTreeSet<ResourceId>>,
    /// What earlier runs left owed, or may have: by subscriber, what changed.
    left: BTreeMap<ResourceId, BTreeSet<ResourceId>>,
    would_change: Mutex<BTreeSet<ResourceId>>,
}

impl Subscriptions {
    /// Those of a catalog's edges, with the obligations that are open before the run.
    pub fn new(edges: &[Edge], open: &[OpenObligation]) -> Self {
        let mut subscriptions = Self::default();
        for edge in edges.iter().filter(|edge| edge.reason.is_subscription()) {
            let (source, subscriber) = (edge.prerequisite.clone(), edge.dependent.clone());
            subscriptions.subscribers.entry(source.clone()).or_default().insert(subscriber.clone());
            subscriptions.sources.entry(subscriber).or_default().insert(source);
        }
        for obligation in open {
            let left = subscriptions.left.entry(obligation.subscriber.clone()).or_default();
            left.insert(obligation.because_of.clone());
        }
        subscriptions
    }

    /// Those who owe a refresh if `source` changes.
    pub(super) fn subscribers(&self, source: &ResourceId) -> Vec<ResourceId> {
        self.subscribers.get(source).into_iter().flatten().cloned().collect()
    }

    /// Whether `subscriber` may owe a refresh at its turn.
    pub(super) fn may_owe(&self, subscriber: &ResourceId) -> bool {
        self.sources.contains_key(subscriber) || self.left.contains_key(subscriber)
    }

    /// In noop: notes that `source` would change.
    pub(super) fn note_would_change(&self, source: &ResourceId) {
        if self.subscribers.contains_key(source) {
            self.would_change.lock().unwrap_or_else(PoisonError::into_inner).insert(source.clone());
        }
    }

    /// In noop: because of what `subscriber` would be refreshed, sorted.
    pub(super) fn would_owe(&self, subscriber: &ResourceId) -> Vec<ResourceId> {
        let would_change = self.would_change.lock().unwrap_or_else(PoisonError::into_inner);
        let sources = self.sources.get(subscriber).into_iter().flatten().filter(|source| would_change.contains(source));
        let all: BTreeSet<&ResourceId> = self.left.get(subscriber).into_iter().flatten().chain(sources).collect();
        all.into_iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::ObligationStatus;
    use crate::model::catalog::{EdgeReason, Source};

    fn id(text: &str) -> ResourceId {
        text.parse().unwrap()
    }

    fn edge(from: &str, to: &str, reason: EdgeReason) -> Edge {
        let source = Source { file: "m".into(), line: 1, column: 1 };
        Edge { prerequisite: id(from), dependent: id(to), reason, source }
    }

    #[test]
    fn both_ways_of_saying_it_are_one_subscription_and_other_edges_are_none() {
        let edges = [
            edge("file.a", "service.w", EdgeReason::Subscribe),
            edge("file.a", "service.w", EdgeReason::Notify),
            edge("file.b", "service.w", EdgeReason::Require),
        ];
        let subscriptions = Subscriptions::new(&edges, &[]);
        assert_eq!(subscriptions.subscribers(&id("file.a")), [id("service.w")]);
        assert_eq!(subscriptions.subscribers(&id("file.b")), []);
        assert!(subscriptions.may_owe(&id("service.w")) && !subscriptions.may_owe(&id("file.a")));
    }

    #[test]
    fn what_would_change_and_what_was_left_owed_count_together() {
        let left = OpenObligation {
            obligation: 1,
            because_of: id("file.z"),
            subscriber: id("service.w"),
            status: ObligationStatus::Owed,
        };
        let subscriptions = Subscriptions::new(&[edge("file.a", "service.w", EdgeReason::Notify)], &[left]);
        assert_eq!(subscriptions.would_owe(&id("service.w")), [id("file.z")]);
        subscriptions.note_would_change(&id("file.other"));
        subscriptions.note_would_change(&id("file.a"));
        assert_eq!(subscriptions.would_owe(&id("service.w")), [id("file.a"), id("file.z")]);
    }
}
