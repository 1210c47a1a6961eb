//! A picture. `layout` decides where everything goes, and `draw` writes it down.
//!
//! Resources that nothing orders are not laid out: they stand in rows of their own below the others.

mod draw;
mod place;

use super::Graph;

/// The most pieces that are drawn: resources, and lines from one column to the next. Beyond that a picture is a wall, and laying it out takes
/// long.
const MAX_PIECES: usize = 1_500;

/// The longest name that is written in a box, in characters; the whole name shows where a pointer rests on it.
const NAME_CHARS: usize = 48;

/// The picture; none if there is too much to draw.
pub(super) fn render(graph: &Graph) -> Option<String> {
    (pieces(graph) <= MAX_PIECES).then(|| draw::picture(graph, &place::place(graph)))
}

/// How much there is to draw. Words have a column of their own between two of resources.
fn pieces(graph: &Graph) -> usize {
    let mut columns = vec![0_usize; graph.resources.len()];
    // Arrows are sorted by their source, and a source stands after all that goes before it, so its own column is settled.
    for arrow in &graph.arrows {
        columns[arrow.to] = columns[arrow.to].max(columns[arrow.from] + 1);
    }
    let lines = graph.arrows.iter().map(|arrow| 2 * (columns[arrow.to] - columns[arrow.from]));
    lines.sum::<usize>() + graph.resources.len()
}
