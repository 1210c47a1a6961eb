//! A picture. `layout` decides where everything goes, and `draw` writes it down.
//!
//! Resources that nothing orders are not laid out: they stand in rows of their own below the others.

mod draw;
mod place;

use super::Graph;

/// The most resources that are drawn: beyond that a picture is a wall, and laying it out takes long.
pub(in crate::cli) const MAX_DRAWN: usize = 400;

/// The longest name that is written in a box, in characters; the whole name shows where a pointer rests on it.
const NAME_CHARS: usize = 48;

pub(super) fn render(graph: &Graph) -> String {
    draw::picture(graph, &place::place(graph))
}
