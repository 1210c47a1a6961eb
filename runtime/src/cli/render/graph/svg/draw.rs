//! The picture as SVG: text that is the same each time, and safe whatever a name holds.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::super::{Arrow, Graph, Kind, cut};
use super::NAME_CHARS;
use super::place::{Area, Places, Spot, WORDS_HALF, words_width};

/// Free space around the picture, and above it for the heading.
const MARGIN: f64 = 24.0;
const HEADING: f64 = 56.0;

/// The least width, for heading and legend.
const LEAST_WIDTH: f64 = 640.0;

/// The fill of boxes, one after the other for each resource type: light, so that black is read on each.
const FILLS: [&str; 8] = ["#ddf4ff", "#dafbe1", "#fff8c5", "#ffefe7", "#fbefff", "#e6eaef", "#d7f5f2", "#fde2ec"];

const STYLE: &str = "\
text { font-family: 'DejaVu Sans', Verdana, Arial, sans-serif; font-size: 11px; fill: #1f2328; }
.heading { font-size: 15px; font-weight: bold; }
.resource rect { stroke: #57606a; }
.arrow path { fill: none; stroke-width: 1.3; }
.arrow text { font-size: 10px; }
.arrow rect { fill: #ffffff; fill-opacity: 0.9; }
.declared path { stroke: #57606a; }
.declared text { fill: #57606a; }
.refresh path { stroke: #b45309; stroke-width: 2; }
.refresh text { fill: #b45309; }
.derived path { stroke: #8250df; stroke-dasharray: 5 3; }
.derived text { fill: #8250df; }
";

pub(super) fn picture(graph: &Graph, places: &Places) -> String {
    let (width, height) = (places.whole.width.max(LEAST_WIDTH) + 2.0 * MARGIN, places.whole.height + HEADING + 2.0 * MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\">\n"
    );
    let _ = writeln!(text, "<title>{}</title>", escaped(&heading(graph)));
    let _ = writeln!(text, "<style>\n{STYLE}</style>");
    text += &heads();
    text += "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
    let _ =
        writeln!(text, "<text class=\"heading\" x=\"{MARGIN}\" y=\"{:.0}\">{}</text>", MARGIN + 6.0, escaped(&heading(graph)));
    text += &legend();
    let (right, down) = (MARGIN - places.whole.x, MARGIN + HEADING - places.whole.y);
    let _ = writeln!(text, "<g transform=\"translate({right:.1} {down:.1})\">");
    for (arrow, curve) in graph.arrows.iter().zip(&places.curves) {
        let (told, line) = (escaped(&told(graph, arrow)), path(arrow.kind, curve));
        let _ = writeln!(text, "<g class=\"arrow {}\"><title>{told}</title>{line}</g>", class(arrow.kind));
    }
    // Names and reasons are written over lines, never under them.
    for (arrow, label) in graph.arrows.iter().zip(&places.labels) {
        let _ = writeln!(text, "<g class=\"arrow {}\">{}</g>", class(arrow.kind), words(&arrow.words, *label));
    }
    let fills = fills(graph);
    for (id, area) in graph.resources.iter().zip(&places.boxes) {
        text += &resource(id.type_name.as_str(), id.name.as_str(), *area, fills[id.type_name.as_str()]);
    }
    text + "</g>\n</svg>\n"
}

fn heading(graph: &Graph) -> String {
    format!("{}: {} resources, {} arrows", graph.owner, graph.resources.len(), graph.arrows.len())
}

/// What an arrow says where a pointer rests on it.
fn told(graph: &Graph, arrow: &Arrow) -> String {
    format!("{} before {}: {}", graph.resources[arrow.from], graph.resources[arrow.to], arrow.reasons)
}

/// The same fill for each resource of one type; types in order of their names.
fn fills(graph: &Graph) -> BTreeMap<&str, &'static str> {
    let types: BTreeSet<&str> = graph.resources.iter().map(|id| id.type_name.as_str()).collect();
    types.into_iter().zip(FILLS.into_iter().cycle()).collect()
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Declared => "declared",
        Kind::Refresh => "refresh",
        Kind::Derived => "derived",
    }
}

/// What each kind of arrow says.
fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Declared => "goes first",
        Kind::Refresh => "goes first, and its change refreshes",
        Kind::Derived => "goes first, as the resource type says",
    }
}

/// Arrow heads, one a kind, as not every viewer gives a head the colour of its line.
fn heads() -> String {
    let head = |kind: Kind| {
        let (class, colour) = (class(kind), colour(kind));
        format!(
            "<marker id=\"{class}\" markerUnits=\"userSpaceOnUse\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" \
             orient=\"auto\"><path d=\"M0 0L9 4L0 8z\" fill=\"{colour}\"/></marker>\n"
        )
    };
    format!("<defs>\n{}</defs>\n", Kind::ALL.map(head).concat())
}

fn colour(kind: Kind) -> &'static str {
    match kind {
        Kind::Declared => "#57606a",
        Kind::Refresh => "#b45309",
        Kind::Derived => "#8250df",
    }
}

fn legend() -> String {
    let (mut text, mut x) = (String::new(), MARGIN);
    for kind in Kind::ALL {
        let line = path(kind, &[(x, 52.0), (x, 52.0), (x + 34.0, 52.0), (x + 34.0, 52.0)]);
        let _ = writeln!(
            text,
            "<g class=\"arrow {}\">{line}</g><text x=\"{:.0}\" y=\"56\">{}</text>",
            class(kind),
            x + 42.0,
            meaning(kind)
        );
        let characters = u32::try_from(meaning(kind).len()).unwrap_or(u32::MAX);
        x += 66.0 + 6.4 * f64::from(characters);
    }
    text
}

/// A curve through the spots: where it begins, and then three at a time, or two where the first carries on as the last one ended.
fn path(kind: Kind, curve: &[Spot]) -> String {
    let mut data = String::new();
    for (number, (x, y)) in curve.iter().enumerate() {
        let command = match number {
            0 => "M",
            1 => "C",
            _ if number >= 4 && number % 2 == 0 => "S",
            _ => " ",
        };
        let _ = write!(data, "{command}{x:.1} {y:.1}");
    }
    format!("<path d=\"{data}\" marker-end=\"url(#{})\"/>", class(kind))
}

/// Words over a line, which ends before them and goes on behind.
fn words(label: &str, (x, y): Spot) -> String {
    let width = words_width(label);
    format!(
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"{:.0}\"/>\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        x - width / 2.0,
        y - WORDS_HALF,
        2.0 * WORDS_HALF,
        y + 3.5,
        escaped(label)
    )
}

fn resource(type_name: &str, name: &str, area: Area, fill: &str) -> String {
    let whole = format!("{type_name}.{name}");
    let shown = cut(&whole, NAME_CHARS);
    let Area { x, y, width, height } = area;
    format!(
        "<g class=\"resource\"><title>{}</title>\
         <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\" fill=\"{fill}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>\n",
        escaped(&whole),
        x + width / 2.0,
        y + height / 2.0 + 4.0,
        // In one piece: not every viewer centres several as one.
        escaped(&shown)
    )
}

/// For text and attributes alike. Control characters, which XML forbids, were escaped where the words came in.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // Not characters to XML, though they are to Unicode.
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            plain => safe.push(plain),
        }
    }
    safe
}
