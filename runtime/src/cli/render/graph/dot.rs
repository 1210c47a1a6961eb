//! For Graphviz, which lays it out.
//!
//! Within quotes, a quote and a backslash are escaped, since labels may hold escapes; so is `&`, which begins an entity.

use std::fmt::Write as _;

use super::{Graph, Kind};

pub(super) fn render(graph: &Graph) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&graph.owner));
    text += "  rankdir=LR;\n";
    text += "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", fontname=\"sans-serif\"];\n";
    text += "  edge [fontname=\"sans-serif\", fontsize=10];\n";
    for id in &graph.resources {
        let _ = writeln!(text, "  {};", quoted(&id.to_string()));
    }
    for arrow in &graph.arrows {
        let (from, to) = (&graph.resources[arrow.from], &graph.resources[arrow.to]);
        let (from, to) = (quoted(&from.to_string()), quoted(&to.to_string()));
        let _ = writeln!(text, "  {from} -> {to} [label={}{}];", quoted(&arrow.reasons), style(arrow.kind));
    }
    text + "}\n"
}

fn style(kind: Kind) -> &'static str {
    match kind {
        Kind::Declared => "",
        Kind::Refresh => ", color=\"#b45309\", fontcolor=\"#b45309\"",
        Kind::Derived => ", style=dashed, color=\"#57606a\", fontcolor=\"#57606a\"",
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;"))
}
