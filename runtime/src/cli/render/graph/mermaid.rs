//! For Markdown that knows Mermaid.
//!
//! Mermaid reads Markdown, HTML, entities and directives in its labels. So each character that is not plainly text is written as an entity of
//! Mermaid's own, `#35;`.

use std::fmt::Write as _;

use super::{Graph, Kind};

/// What may stand in a label as it is, beside letters and digits.
const PLAIN: &str = " _-.:/,()";

pub(super) fn render(graph: &Graph) -> String {
    let mut text = "flowchart LR\n".to_owned();
    for (place, id) in graph.resources.iter().enumerate() {
        let _ = writeln!(text, "  r{place}[\"{}\"]", escaped(&id.to_string()));
    }
    for arrow in &graph.arrows {
        let (from, to, label) = (arrow.from, arrow.to, escaped(&arrow.reasons));
        let _ = match arrow.kind {
            Kind::Declared => writeln!(text, "  r{from} -- \"{label}\" --> r{to}"),
            Kind::Refresh => writeln!(text, "  r{from} == \"{label}\" ==> r{to}"),
            Kind::Derived => writeln!(text, "  r{from} -. \"{label}\" .-> r{to}"),
        };
    }
    text
}

fn escaped(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || PLAIN.contains(c);
    text.chars().map(|c| if plain(c) { c.to_string() } else { format!("#{};", u32::from(c)) }).collect()
}
