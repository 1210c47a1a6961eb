//! What must go before what, and what cannot be held twice, over the whole catalog.

use std::collections::BTreeSet;

use super::Compiler;
use super::graph;
use super::overlaps;
use super::resource::Built;
use crate::language::diagnostic::Diagnostic;
use crate::manifest::Declaration;
use crate::model::catalog::{Claim, Edge, EdgeReason, Source, State};
use crate::model::expression::Place;
use crate::model::ids::ResourceId;
use crate::model::key::escape;
use crate::relations::{Edges, RelationError, Relations, WaysOut};

impl Compiler {
    /// Every edge, sorted: declared, by reference, and derived by modules; and how the manifest does without some of the last.
    pub(super) fn edges(&self, built: &[Built]) -> (Vec<Edge>, WaysOut) {
        let mut edges = self.derived(built);
        let mut add = |prerequisite: &ResourceId, dependent: &ResourceId, reason, place| {
            let (prerequisite, dependent) = (prerequisite.clone(), dependent.clone());
            edges.add(Edge { prerequisite, dependent, reason, source: Source::from(place) });
        };
        for (built, declaration) in built.iter().zip(&self.manifest().resources) {
            let id = &built.resource.id;
            let others = built.origins.iter().filter(|(read, _)| *read != id);
            others.for_each(|(read, place)| add(read, id, EdgeReason::Reference, place));
            declaration.meta.require.iter().for_each(|(other, place)| add(other, id, EdgeReason::Require, place));
            declaration.meta.subscribe.iter().for_each(|(other, place)| add(other, id, EdgeReason::Subscribe, place));
            declaration.meta.notify.iter().for_each(|(other, place)| add(id, other, EdgeReason::Notify, place));
            declaration.meta.before.iter().for_each(|(other, place)| add(id, other, EdgeReason::Before, place));
        }
        let ways_out = edges.ways_out().clone();
        (edges.into_sorted(), ways_out)
    }

    /// Tells of resources that do something only when they are refreshed, and that nothing refreshes. Those that wait for the node are not known.
    pub(super) fn check_refreshed(&self, built: &[Built], edges: &[Edge]) {
        for built in built.iter().filter(|built| built.only_refreshed) {
            let id = &built.resource.id;
            if !edges.iter().any(|edge| edge.dependent == *id && edge.reason.is_subscription()) {
                let message = format!("`{id}` does something only when it is refreshed, and nothing refreshes it");
                let hint =
                    "write `subscribe` in its `meta` block, or `notify` in that of what it is to be refreshed after".to_owned();
                self.evaluation.add(Diagnostic::error(&self.declaration(id).place, message).hint(hint));
            }
        }
    }

    /// Tells of subscribers that take no refresh. Those that wait for the node are asked there.
    pub(super) fn check_subscriptions(&self, built: &[Built]) {
        let is_deaf = |state: &State| matches!(state, State::Compiled { semantics, .. } if !semantics.accepts_refresh);
        let deaf = built.iter().map(|built| &built.resource).filter(|resource| is_deaf(&resource.state));
        let deaf: BTreeSet<&ResourceId> = deaf.map(|resource| &resource.id).collect();
        let tell = |subscriber: &ResourceId, place: &Place| {
            let error = Diagnostic::error(place, format!("`{subscriber}` takes no refresh"));
            let error = error.label("it would have to be refreshed when the other one changes");
            let hint = "to order the two without a refresh, write `require` or `before`".to_owned();
            self.evaluation.add(error.hint(hint));
        };
        for declaration in &self.manifest().resources {
            if let Some((_, place)) = declaration.meta.subscribe.first().filter(|_| deaf.contains(&declaration.id)) {
                tell(&declaration.id, place);
            }
            declaration
                .meta
                .notify
                .iter()
                .filter(|(other, _)| deaf.contains(other))
                .for_each(|(other, place)| tell(other, place));
        }
    }

    /// Holds the orders that modules derive from final states against those that they derived from drafts.
    pub(super) fn check_final_edges(&self, built: &[Built], edges: &[Edge]) {
        let drafted: BTreeSet<Edge> = edges.iter().filter(|edge| edge.reason.is_derived()).cloned().collect();
        let settled: BTreeSet<Edge> = self.derived(built).into_sorted().into_iter().collect();
        if let Some(edge) = drafted.symmetric_difference(&settled).next() {
            let what = format!("orders `{}` and `{}` by the bytes of an asset", edge.prerequisite, edge.dependent);
            self.broken(self.declaration(&edge.dependent), what);
        }
    }

    fn derived(&self, built: &[Built]) -> Edges {
        let relations = Relations::new(built.iter().map(|built| &built.resource));
        let modules = &self.modules;
        let (edges, errors) = relations.derive(|id| &modules[&id.type_name]);
        for error in errors {
            let declaration = self.declaration(error.deriving());
            match error {
                RelationError::Definition { source, .. } => self.tell(declaration, None, source),
                error => self.evaluation.add(self.fabricated(declaration, &error)),
            }
        }
        edges
    }

    /// Tells of an order that a module may not derive, with the places of both ends.
    fn fabricated(&self, declaration: &Declaration, error: &RelationError) -> Diagnostic {
        let message = Diagnostic::error(&declaration.place, error.to_string()).label("derived for this one");
        let ends = match error {
            RelationError::UnknownEnd { prerequisite, dependent, .. } | RelationError::Action { prerequisite, dependent, .. } => {
                [Some(prerequisite), Some(dependent)]
            }
            RelationError::Definition { .. } => [None, None],
        };
        let others = ends.into_iter().flatten().filter(|end| **end != declaration.id);
        let others = others.filter_map(|end| self.manifest().resource(end));
        let message = others.fold(message, |message, other| message.related(&other.place, "the other one"));
        message.note("this is a defect of the module, not of the manifest")
    }

    /// Places in an order that respects `edges`; none if there is a circle, which has been told.
    pub(super) fn order(&self, built: &[Built], edges: &[Edge], ways_out: &WaysOut) -> Option<Vec<usize>> {
        let ids: Vec<ResourceId> = built.iter().map(|built| built.resource.id.clone()).collect();
        match graph::order(&ids, edges) {
            Ok(order) => Some(order),
            Err(cycles) => {
                cycles.iter().for_each(|cycle| self.evaluation.add(self.circle(cycle, ways_out)));
                None
            }
        }
    }

    fn circle(&self, cycle: &graph::Cycle, ways_out: &WaysOut) -> Diagnostic {
        let (first, _) = &cycle.steps[0];
        let mut message =
            Diagnostic::error(&self.declaration(first).place, "these resources wait for each other").note(cycle.display());
        let ends = cycle.steps.iter().zip(cycle.steps.iter().cycle().skip(1));
        for (edge, (after, _)) in ends.map(|((_, edge), next)| (edge, next)) {
            let Edge { prerequisite, reason, source, .. } = edge;
            message = message.note(format!("`{prerequisite}` goes before `{after}`: {reason} ({source})"));
        }
        let key = |edge: &Edge| (edge.prerequisite.clone(), edge.dependent.clone(), edge.reason.clone());
        let mut ways: Vec<&str> =
            cycle.steps.iter().filter_map(|(_, edge)| ways_out.get(&key(edge))).map(String::as_str).collect();
        ways.dedup();
        message.hint((!ways.is_empty()).then(|| ways.join("; or ")))
    }

    /// Tells of resources that claim one object.
    pub(super) fn check_overlaps(&self, built: &[Built]) {
        let claims = built.iter().enumerate().flat_map(|(place, built)| built.resource.all_claims().map(move |c| (place, c)));
        for (first, second, claim) in overlaps::find(claims) {
            let (first, second) = (&self.manifest().resources[first], &self.manifest().resources[second]);
            let summary = format!("`{}` and `{}` both manage the {}", first.id, second.id, object(claim));
            let message = Diagnostic::error(&second.place, summary).label("declared again");
            self.evaluation.add(message.related(&first.place, "first declared here"));
        }
    }
}

/// `path `/etc/motd``, and which part of it where that is not the whole.
fn object(Claim { domain, key, qualifier }: &Claim) -> String {
    let (domain, qualifier) = (escape(domain), escape(qualifier));
    if qualifier.is_empty() { format!("{domain} `{key}`") } else { format!("{domain} `{key}` ({qualifier})") }
}
