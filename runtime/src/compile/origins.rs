//! Which resources a declaration reads, and where.

use std::collections::BTreeMap;

use crate::language::value::Marks;
use crate::model::expression::{Expression, Kind, Place};
use crate::model::ids::ResourceId;

/// The resources that values came from, each with the first place in the text that reads it.
#[derive(Debug, Clone, Default)]
pub(super) struct Origins(BTreeMap<ResourceId, Place>);

impl Origins {
    /// Notes what a value at `place` came from.
    pub(super) fn note(&mut self, marks: &Marks, place: &Place) {
        marks.resources().for_each(|id| self.one(id, place));
    }

    /// Notes what an expression at `place` will read on the node: a node requires an edge for each.
    pub(super) fn note_deferred(&mut self, expression: &Expression, place: &Place) {
        expression.walk(&mut |part| {
            if let Kind::Export { resource, .. } = &part.kind {
                self.one(resource, place);
            }
        });
    }

    /// Adds what `other` has.
    pub(super) fn join(&mut self, other: &Origins) {
        other.iter().for_each(|(id, place)| self.one(id, place));
    }

    /// Each resource with its place, by address.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&ResourceId, &Place)> {
        self.0.iter()
    }

    fn one(&mut self, id: &ResourceId, place: &Place) {
        let first = self.0.entry(id.clone()).or_insert_with(|| place.clone());
        if place < first {
            *first = place.clone();
        }
    }
}
