//! The order of resources: what must go before what, as declared first among equals. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::model::catalog::Edge;
use crate::model::ids::ResourceId;

/// Resources that wait for each other, in the order of the circle; the last waits for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cycle {
    /// Each with the edge by which the next one waits for it.
    pub(super) steps: Vec<(ResourceId, Edge)>,
}

/// Places of `ids` in an order that respects `edges`, and keeps the order of `ids` where they leave a choice.
///
/// Edges must name resources of `ids`.
///
/// # Errors
/// Each circle, in full, if there is no such order.
pub(super) fn order(ids: &[ResourceId], edges: &[Edge]) -> Result<Vec<usize>, Vec<Cycle>> {
    let places: BTreeMap<&ResourceId, usize> = ids.iter().enumerate().map(|(place, id)| (id, place)).collect();
    let mut after: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); ids.len()];
    let mut waiting = vec![0_usize; ids.len()];
    for edge in edges {
        let (from, to) = (places[&edge.prerequisite], places[&edge.dependent]);
        if after[from].insert(to) {
            waiting[to] += 1;
        }
    }
    let mut ready: BinaryHeap<Reverse<usize>> = (0..ids.len()).filter(|place| waiting[*place] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(ids.len());
    while let Some(Reverse(place)) = ready.pop() {
        order.push(place);
        for next in &after[place] {
            waiting[*next] -= 1;
            if waiting[*next] == 0 {
                ready.push(Reverse(*next));
            }
        }
    }
    if order.len() == ids.len() { Ok(order) } else { Err(cycles(ids, edges)) }
}

fn cycles(ids: &[ResourceId], edges: &[Edge]) -> Vec<Cycle> {
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: BTreeMap<&ResourceId, NodeIndex> = ids.iter().map(|id| (id, graph.add_node(()))).collect();
    for edge in edges {
        graph.add_edge(nodes[&edge.prerequisite], nodes[&edge.dependent], ());
    }
    let knots = tarjan_scc(&graph).into_iter().map(|knot| knot.iter().map(|node| &ids[node.index()]).collect::<BTreeSet<_>>());
    let mut found: Vec<Cycle> = knots.filter_map(|knot| circle_in(&knot, edges)).collect();
    found.sort_by(|left, right| left.steps[0].0.cmp(&right.steps[0].0));
    found
}

/// One circle through resources that all reach each other; none if it is a single one that does not wait for itself.
fn circle_in(knot: &BTreeSet<&ResourceId>, edges: &[Edge]) -> Option<Cycle> {
    let inner: Vec<&Edge> = edges.iter().filter(|e| knot.contains(&e.prerequisite) && knot.contains(&e.dependent)).collect();
    let mut path: Vec<&Edge> = Vec::new();
    let mut at: &ResourceId = knot.first()?;
    loop {
        let edge = inner.iter().find(|edge| edge.prerequisite == *at)?;
        if let Some(start) = path.iter().position(|earlier| earlier.prerequisite == *at) {
            let steps = path[start..].iter().map(|edge| (edge.prerequisite.clone(), Edge::clone(edge)));
            return Some(Cycle { steps: steps.collect() });
        }
        path.push(edge);
        at = &edge.dependent;
    }
}

impl Cycle {
    /// The circle in full: `file.a -> file.b -> file.a`.
    pub(super) fn display(&self) -> String {
        let names: Vec<String> = self.steps.iter().map(|(id, _)| id.to_string()).collect();
        format!("{} -> {}", names.join(" -> "), names[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::catalog::{EdgeReason, Source};

    fn id(name: &str) -> ResourceId {
        format!("file.{name}").parse().unwrap()
    }

    fn ids(names: &[&str]) -> Vec<ResourceId> {
        names.iter().map(|name| id(name)).collect()
    }

    fn edges(pairs: &[(&str, &str)]) -> Vec<Edge> {
        let source = Source { file: "m".into(), line: 1, column: 1 };
        let edge = |(a, b): &(&str, &str)| Edge {
            prerequisite: id(a),
            dependent: id(b),
            reason: EdgeReason::Require,
            source: source.clone(),
        };
        pairs.iter().map(edge).collect()
    }

    #[test]
    fn the_order_of_the_manifest_holds_where_edges_leave_a_choice() {
        assert_eq!(order(&ids(&["c", "b", "a"]), &edges(&[])), Ok(vec![0, 1, 2]));
        assert_eq!(order(&ids(&["c", "b", "a"]), &edges(&[("a", "c")])), Ok(vec![1, 2, 0]));
    }

    #[test]
    fn each_circle_is_told_in_full() {
        let found =
            order(&ids(&["a", "b", "c", "d", "e"]), &edges(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"), ("a", "e")]));
        let told: Vec<String> = found.unwrap_err().iter().map(Cycle::display).collect();
        assert_eq!(told, ["file.a -> file.b -> file.c -> file.a", "file.d -> file.d"]);
    }
}
