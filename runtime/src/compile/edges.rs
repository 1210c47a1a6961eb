//! What must go before what, and what cannot be held twice, over the whole catalog.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::Compiler;
use super::graph;
use super::overlaps;
use super::resource::Built;
use crate::engine::{DerivedEdge, Peer};
use crate::language::diagnostic::Diagnostic;
use crate::model::catalog::{Edge, EdgeReason, State};
use crate::model::ids::ResourceId;

impl Compiler {
    /// Every edge: declared, by reference, and derived by modules.
    pub(super) fn edges(&self, built: &[Built]) -> BTreeSet<Edge> {
        let mut edges = BTreeSet::new();
        let mut add = |prerequisite: &ResourceId, dependent: &ResourceId, reason| {
            edges.insert(Edge { prerequisite: prerequisite.clone(), dependent: dependent.clone(), reason });
        };
        for (built, declaration) in built.iter().zip(&self.manifest().resources) {
            let id = &built.resource.id;
            built.reads.iter().for_each(|read| add(read, id, EdgeReason::Reference));
            declaration.meta.require.iter().for_each(|(other, _)| add(other, id, EdgeReason::Require));
            declaration.meta.before.iter().for_each(|(other, _)| add(id, other, EdgeReason::Before));
        }
        edges.extend(self.derived(built));
        edges
    }

    /// Holds the orders that modules derive from final states against those that they derived from drafts.
    pub(super) fn check_final_edges(&self, built: &[Built], edges: &BTreeSet<Edge>) {
        let is_derived = |edge: &&Edge| matches!(edge.reason, EdgeReason::Derived(_) | EdgeReason::Action(_));
        let drafted: BTreeSet<Edge> = edges.iter().filter(is_derived).cloned().collect();
        let settled: BTreeSet<Edge> = self.derived(built).into_iter().collect();
        if let Some(edge) = drafted.symmetric_difference(&settled).next() {
            let what = format!("orders `{}` and `{}` by the bytes of an asset", edge.prerequisite, edge.dependent);
            self.broken(self.declaration(&edge.dependent), what);
        }
    }

    fn derived(&self, built: &[Built]) -> Vec<Edge> {
        let mut peers: Vec<Peer> = built.iter().map(peer).collect();
        // As at the receipt: an order that does not depend on the edges that are to be found.
        peers.sort_by(|left, right| left.id.cmp(&right.id));
        let peers = Rc::new(peers);
        let known: BTreeSet<&ResourceId> = built.iter().map(|built| &built.resource.id).collect();
        let mut edges = Vec::new();
        for peer in peers.iter() {
            let declaration = self.declaration(&peer.id);
            let module = &self.modules[&peer.id.type_name];
            match module.relationships(&peer.id, peer.desired.as_ref(), Rc::clone(&peers)) {
                Ok(derived) => {
                    for edge in derived {
                        if known.contains(&edge.prerequisite) && known.contains(&edge.dependent) {
                            let DerivedEdge { prerequisite, dependent, reason } = edge;
                            edges.push(Edge { prerequisite, dependent, reason });
                        } else {
                            self.broken(declaration, "derives an order with a resource that does not exist".into());
                        }
                    }
                }
                Err(error) => self.tell(declaration, None, error),
            }
        }
        edges
    }

    /// Places in an order that respects `edges`; none if there is a circle, which has been told.
    pub(super) fn order(&self, built: &[Built], edges: &BTreeSet<Edge>) -> Option<Vec<usize>> {
        let ids: Vec<ResourceId> = built.iter().map(|built| built.resource.id.clone()).collect();
        match graph::order(&ids, edges) {
            Ok(order) => Some(order),
            Err(cycles) => {
                cycles.iter().for_each(|cycle| self.evaluation.add(self.circle(cycle)));
                None
            }
        }
    }

    fn circle(&self, cycle: &graph::Cycle) -> Diagnostic {
        let (first, _) = &cycle.steps[0];
        let mut message =
            Diagnostic::error(&self.declaration(first).place, "these resources wait for each other").note(cycle.display());
        let ends = cycle.steps.iter().zip(cycle.steps.iter().cycle().skip(1));
        for ((before, reason), (after, _)) in ends {
            message = message.note(format!("`{before}` goes before `{after}`: {}", words(reason)));
        }
        message
    }

    /// Tells of resources that claim one object.
    pub(super) fn check_overlaps(&self, built: &[Built]) {
        let claims = built.iter().enumerate().flat_map(|(place, built)| built.resource.claims.iter().map(move |c| (place, c)));
        for (first, second, claim) in overlaps::find(claims) {
            let (first, second) = (&self.manifest().resources[first], &self.manifest().resources[second]);
            let summary = format!("`{}` and `{}` both manage the {} `{}`", first.id, second.id, claim.domain, claim.key);
            let message = Diagnostic::error(&second.place, summary).label("declared again");
            self.evaluation.add(message.related(&first.place, "first declared here"));
        }
    }
}

fn peer(built: &Built) -> Peer {
    let resource = &built.resource;
    Peer {
        id: resource.id.clone(),
        desired: match &resource.state {
            State::Compiled { desired, .. } => Some(desired.clone()),
            State::Deferred { .. } => None,
        },
        claims: resource.claims.clone(),
        effects: resource.effects.clone(),
        affected_paths: resource.affected_paths.clone(),
    }
}

fn words(reason: &EdgeReason) -> String {
    match reason {
        EdgeReason::Require => "`require`".into(),
        EdgeReason::Before => "`before`".into(),
        EdgeReason::Reference => "it is read there".into(),
        EdgeReason::Derived(reason) => reason.clone(),
        EdgeReason::Action(key) => format!("it needs the action `{key}` after it"),
    }
}
