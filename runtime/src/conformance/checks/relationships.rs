//! Rules about derived orders.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value as Json;

use super::super::probe::{Case, Probe};
use super::super::rule::Rule;
use super::super::subject::{Subject, words};
use crate::engine::{DerivedEdge, Peer, Peers, canonical_json};
use crate::model::catalog::{Claim, EdgeReason, Effect};
use crate::model::ids::ResourceId;
use crate::model::key::Key;

/// How many resources the catalog has at most.
const MAX_PEERS: usize = 16;

/// Each resource with the actions that it may ask for.
type Prerequisites<'a> = BTreeMap<ResourceId, &'a [String]>;

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    let known: Vec<&Subject> = subjects.iter().filter(|subject| subject.validated.is_some()).take(MAX_PEERS).collect();
    let mut peers: Vec<Peer> = known.iter().filter_map(|subject| peer(probe, subject)).collect();
    peers.push(stranger());
    let peers = Arc::new(Peers::new(peers));
    let prerequisites: Prerequisites<'_> = known
        .iter()
        .filter_map(|s| Some((s.sample.id(probe.description()), s.validated.as_ref()?.semantics.prerequisites.as_slice())))
        .collect();
    let mut found = 0;
    for subject in known {
        for desired in [subject.desired.as_ref(), None] {
            found += edges(probe, subject, desired, &peers, &prerequisites);
        }
    }
    if found == 0 {
        probe.ledger.not_applicable(Rule::RelationshipsActions, "no order was derived for an action");
    }
}

fn peer(probe: &Probe<'_>, subject: &Subject) -> Option<Peer> {
    let footprint = &subject.validated.as_ref()?.footprint;
    Some(Peer {
        id: subject.sample.id(probe.description()),
        desired: subject.desired.as_ref().and_then(|desired| canonical_json(desired).ok()),
        claims: footprint.claims.clone(),
        effects: footprint.effects.clone(),
        affected_paths: footprint.affected_paths.clone(),
    })
}

/// A resource of another type, whose state is not the module's to read.
fn stranger() -> Peer {
    let path = Key::from("/srv/sample/stranger");
    Peer {
        id: "stranger.other".parse().expect("a type and a name with a dot between are an address"),
        desired: None,
        claims: vec![Claim { domain: "path".into(), key: path.clone(), qualifier: String::new() }],
        effects: vec![Effect { domain: "path".into(), key: path.clone(), actions: vec!["write".into()], qualifier: None }],
        affected_paths: vec![path],
    }
}

/// Looks at the orders that one resource derives; how many of them are for an action.
fn edges(
    probe: &Probe<'_>,
    subject: &Subject,
    desired: Option<&Json>,
    peers: &Arc<Peers>,
    prerequisites: &Prerequisites<'_>,
) -> usize {
    let id = subject.sample.id(probe.description());
    let derive = || probe.module.relationships(&id, desired, Arc::clone(peers));
    let edges = match probe.call("relationships", Some(&subject.sample), derive) {
        None => return 0,
        Some(Err(refusal)) => {
            // A contradiction between resources is for a type to name; one whose state is not known is in none.
            if desired.is_none() || refusal.case != Case::Invalid {
                let what = format!("`relationships` refuses it: {}", words(&refusal));
                probe.fail(Rule::RelationshipsOwn, Some(&subject.sample), what);
            }
            return 0;
        }
        Some(Ok(edges)) => edges,
    };
    probe.ledger.tried(Rule::RelationshipsOwn);
    for edge in &edges {
        ends(probe, subject, edge, peers);
    }
    edges.iter().filter(|edge| action(probe, subject, edge, prerequisites)).count()
}

fn ends(probe: &Probe<'_>, subject: &Subject, edge: &DerivedEdge, peers: &[Peer]) {
    for end in [&edge.prerequisite, &edge.dependent] {
        if !peers.iter().any(|peer| peer.id == *end) {
            let what = format!("an order with `{end}`, which is not in the catalog");
            probe.fail(Rule::RelationshipsOwn, Some(&subject.sample), what);
        }
    }
    if edge.prerequisite == edge.dependent {
        probe.fail(Rule::RelationshipsOwn, Some(&subject.sample), "an order of a resource with itself");
    }
}

/// Whether the edge is for an action; if so, its dependent must have listed that.
fn action(probe: &Probe<'_>, subject: &Subject, edge: &DerivedEdge, prerequisites: &Prerequisites<'_>) -> bool {
    let EdgeReason::Action(key) = &edge.reason else { return false };
    probe.ledger.tried(Rule::RelationshipsActions);
    if !prerequisites.get(&edge.dependent).is_some_and(|listed| listed.contains(key)) {
        let what = format!("an order for the action `{key}`, which `{}` does not list as a prerequisite", edge.dependent);
        probe.fail(Rule::RelationshipsActions, Some(&subject.sample), what);
    }
    true
}
