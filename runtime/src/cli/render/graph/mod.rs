//! What goes before what, as a graph: for Graphviz, for Markdown, as a picture.
//!
//! Here is the graph itself; a file for each form writes it. An arrow goes from what is done first to what is done after it. Words of
//! manifests and modules are escaped by each form in its own way, after control characters are gone.

mod dot;
mod mermaid;
mod svg;

use std::collections::{BTreeMap, BTreeSet};

use super::reason;
use crate::cli::args::GraphFormat;
use crate::model::catalog::{Catalog, Edge, EdgeReason};
use crate::model::ids::ResourceId;

/// How much of one reason is written at an arrow, in characters.
const REASON_CHARS: usize = 80;

/// The resources of a bundle and their order.
pub(in crate::cli) struct Graph {
    /// The manifest's name, for a heading.
    owner: String,
    /// In catalog order, so each stands after all that goes before it.
    resources: Vec<ResourceId>,
    /// Sorted; at most one for each pair.
    arrows: Vec<Arrow>,
}

/// That one resource goes before another.
struct Arrow {
    /// The place of what is done first among the resources.
    from: usize,
    /// The place of what is done after it.
    to: usize,
    kind: Kind,
    /// Every reason, those of resource types in their words.
    reasons: String,
    /// The same in a word each.
    words: String,
}

/// What an arrow means to its reader; of several reasons the first here counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A change of the one refreshes the other.
    Refresh,
    /// The manifest says so, or an attribute reads the other.
    Declared,
    /// A resource type derived it.
    Derived,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Declared, Self::Refresh, Self::Derived];

    fn of(reason: &EdgeReason) -> Self {
        if reason.is_subscription() {
            Self::Refresh
        } else if reason.is_derived() {
            Self::Derived
        } else {
            Self::Declared
        }
    }
}

impl Graph {
    /// The graph of `catalog`; with `around`, of that resource, all that goes before it, and all that goes after it. None if there
    /// is no such resource.
    pub(in crate::cli) fn of(catalog: &Catalog, around: Option<&ResourceId>) -> Option<Self> {
        let kept = around.map(|id| connected(catalog, id));
        if kept.as_ref().is_some_and(BTreeSet::is_empty) {
            return None;
        }
        let is_kept = |id: &ResourceId| kept.as_ref().is_none_or(|kept| kept.contains(id));
        let resources: Vec<ResourceId> = catalog.resources.iter().map(|resource| resource.id.clone()).filter(is_kept).collect();
        let places: BTreeMap<&ResourceId, usize> = resources.iter().enumerate().map(|(place, id)| (id, place)).collect();
        let mut pairs: BTreeMap<(usize, usize), Vec<&EdgeReason>> = BTreeMap::new();
        for Edge { prerequisite, dependent, reason, .. } in &catalog.edges {
            if let (Some(&from), Some(&to)) = (places.get(prerequisite), places.get(dependent)) {
                pairs.entry((from, to)).or_default().push(reason);
            }
        }
        let arrows = pairs.into_iter().map(|((from, to), reasons)| arrow(from, to, &reasons)).collect();
        Some(Self { owner: catalog.owner.to_string(), resources, arrows })
    }

    /// The graph in `format`; none if there is too much of it for a picture.
    pub(in crate::cli) fn render(&self, format: GraphFormat) -> Option<String> {
        match format {
            GraphFormat::Dot => Some(dot::render(self)),
            GraphFormat::Mermaid => Some(mermaid::render(self)),
            GraphFormat::Svg => svg::render(self),
        }
    }

    /// How many resources and arrows it has.
    pub(in crate::cli) fn counts(&self) -> (usize, usize) {
        (self.resources.len(), self.arrows.len())
    }
}

fn arrow(from: usize, to: usize, edges: &[&EdgeReason]) -> Arrow {
    let kind = edges.iter().map(|edge| Kind::of(edge)).min().unwrap_or(Kind::Declared);
    let listed = |told: &dyn Fn(&EdgeReason) -> String| {
        let words: BTreeSet<String> = edges.iter().map(|edge| told(edge)).collect();
        words.into_iter().collect::<Vec<_>>().join(", ")
    };
    Arrow { from, to, kind, reasons: listed(&|edge| cut(&reason(edge), REASON_CHARS)), words: listed(&word) }
}

/// Why, where there is no room for the words of a resource type.
fn word(edge: &EdgeReason) -> String {
    match edge {
        EdgeReason::Derived(_) => "derived".to_owned(),
        EdgeReason::Action(_) => "action".to_owned(),
        known => reason(known),
    }
}

/// `text`, or its beginning and three dots, in at most `limit` characters.
fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some(_) => text.chars().take(limit - 3).chain("...".chars()).collect(),
    }
}

/// `id`, all that goes before it, and all that goes after it; empty if there is no such resource.
fn connected(catalog: &Catalog, id: &ResourceId) -> BTreeSet<ResourceId> {
    if !catalog.resources.iter().any(|resource| resource.id == *id) {
        return BTreeSet::new();
    }
    let before = reached(id, catalog.edges.iter().map(|edge| (&edge.dependent, &edge.prerequisite)));
    let after = reached(id, catalog.edges.iter().map(|edge| (&edge.prerequisite, &edge.dependent)));
    before.union(&after).cloned().collect()
}

/// `start` and all that its steps lead to.
fn reached<'c>(start: &ResourceId, steps: impl Iterator<Item = (&'c ResourceId, &'c ResourceId)>) -> BTreeSet<ResourceId> {
    let mut next: BTreeMap<&ResourceId, Vec<&ResourceId>> = BTreeMap::new();
    steps.for_each(|(from, to)| next.entry(from).or_default().push(to));
    let (mut found, mut open) = (BTreeSet::from([start.clone()]), vec![start]);
    while let Some(id) = open.pop() {
        for &to in next.get(id).into_iter().flatten() {
            if found.insert(to.clone()) {
                open.push(to);
            }
        }
    }
    found
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
