use insta::assert_snapshot;
use proptest::prelude::*;

use super::samples::{catalog, small};
use super::*;

fn drawn(catalog: &Catalog, format: GraphFormat) -> String {
    Graph::of(catalog, None).unwrap().render(format).unwrap()
}

/// The text of all elements and attributes of an SVG document, which must be one.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    assert!(document.root_element().has_tag_name(("http://www.w3.org/2000/svg", "svg")));
    let texts = document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    texts.map(|text| text.descendants().filter_map(|node| node.is_text().then(|| node.text()).flatten()).collect()).collect()
}

#[test]
fn for_graphviz() {
    assert_snapshot!(drawn(&small(), GraphFormat::Dot), @r##"
    digraph "site" {
      rankdir=LR;
      node [shape=box, style="rounded,filled", fillcolor="#f6f8fa", fontname="sans-serif"];
      edge [fontname="sans-serif", fontsize=10];
      "file.folder";
      "file.one";
      "file.two";
      "exec.reload";
      "file.motd";
      "file.folder" -> "file.one" [label="a folder goes before what lies in it, reference"];
      "file.folder" -> "file.two" [label="a folder goes before what lies in it", style=dashed, color="#57606a", fontcolor="#57606a"];
      "file.one" -> "file.two" [label="before"];
      "file.two" -> "exec.reload" [label="notify, require", color="#b45309", fontcolor="#b45309"];
    }
    "##);
}

#[test]
fn for_markdown() {
    assert_snapshot!(drawn(&small(), GraphFormat::Mermaid), @r#"
    flowchart LR
      r0["file.folder"]
      r1["file.one"]
      r2["file.two"]
      r3["exec.reload"]
      r4["file.motd"]
      r0 -- "a folder goes before what lies in it, reference" --> r1
      r0 -. "a folder goes before what lies in it" .-> r2
      r1 -- "before" --> r2
      r2 == "notify, require" ==> r3
    "#);
}

#[test]
fn as_a_picture() {
    assert_snapshot!(drawn(&small(), GraphFormat::Svg), @r##"
    <svg xmlns="http://www.w3.org/2000/svg" width="799" height="250" viewBox="0 0 799 250">
    <title>site: 5 resources, 4 arrows</title>
    <style>
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
    </style>
    <defs>
    <marker id="declared" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto"><path d="M0 0L9 4L0 8z" fill="#57606a"/></marker>
    <marker id="refresh" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto"><path d="M0 0L9 4L0 8z" fill="#b45309"/></marker>
    <marker id="derived" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto"><path d="M0 0L9 4L0 8z" fill="#8250df"/></marker>
    </defs>
    <rect width="100%" height="100%" fill="#ffffff"/>
    <text class="heading" x="24" y="30">site: 5 resources, 4 arrows</text>
    <g class="arrow declared"><path d="M24.0 52.0C24.0 52.0 58.0 52.0 58.0 52.0" marker-end="url(#declared)"/></g><text x="66" y="56">goes first</text>
    <g class="arrow refresh"><path d="M154.0 52.0C154.0 52.0 188.0 52.0 188.0 52.0" marker-end="url(#refresh)"/></g><text x="196" y="56">goes first, and its change refreshes</text>
    <g class="arrow derived"><path d="M450.4 52.0C450.4 52.0 484.4 52.0 484.4 52.0" marker-end="url(#derived)"/></g><text x="492" y="56">goes first, as the resource type says</text>
    <g transform="translate(24.0 80.0)">
    <g class="arrow declared"><title>file.folder before file.one: a folder goes before what lies in it, reference</title><path d="M109.0 35.1C138.8 32.1 228.0 20.0 258.0 20.0S247.0 20.0 277.0 20.0" marker-end="url(#declared)"/></g>
    <g class="arrow derived"><title>file.folder before file.two: a folder goes before what lies in it</title><path d="M109.0 41.3C138.6 46.1 163.5 55.0 193.5 55.0S284.5 55.0 314.5 55.0S395.0 55.0 425.0 55.0S414.0 55.0 444.0 55.0" marker-end="url(#derived)"/></g>
    <g class="arrow declared"><title>file.one before file.two: before</title><path d="M351.0 20.0C381.0 20.0 395.0 20.0 425.0 20.0S426.6 21.5 448.6 42.0" marker-end="url(#declared)"/></g>
    <g class="arrow refresh"><title>file.two before exec.reload: notify, require</title><path d="M518.0 55.0C548.0 55.0 607.0 55.0 637.0 55.0S626.0 55.0 656.0 55.0" marker-end="url(#refresh)"/></g>
    <g class="arrow declared"><rect x="139.6" y="13.5" width="106.8" height="13"/><text x="193.0" y="23.5" text-anchor="middle">derived, reference</text></g>
    <g class="arrow derived"><rect x="374.9" y="48.5" width="45.2" height="13"/><text x="397.5" y="58.5" text-anchor="middle">derived</text></g>
    <g class="arrow declared"><rect x="377.7" y="13.5" width="39.6" height="13"/><text x="397.5" y="23.5" text-anchor="middle">before</text></g>
    <g class="arrow refresh"><rect x="542.0" y="48.5" width="90.0" height="13"/><text x="587.0" y="58.5" text-anchor="middle">notify, require</text></g>
    <g class="resource"><title>file.folder</title><rect x="14.0" y="24.5" width="95.0" height="26.0" rx="5" fill="#dafbe1"/><text x="61.5" y="41.5" text-anchor="middle">file.folder</text></g>
    <g class="resource"><title>file.one</title><rect x="277.0" y="7.0" width="74.0" height="26.0" rx="5" fill="#dafbe1"/><text x="314.0" y="24.0" text-anchor="middle">file.one</text></g>
    <g class="resource"><title>file.two</title><rect x="444.0" y="42.0" width="74.0" height="26.0" rx="5" fill="#dafbe1"/><text x="481.0" y="59.0" text-anchor="middle">file.two</text></g>
    <g class="resource"><title>exec.reload</title><rect x="656.0" y="42.0" width="95.0" height="26.0" rx="5" fill="#ddf4ff"/><text x="703.5" y="59.0" text-anchor="middle">exec.reload</text></g>
    <g class="resource"><title>file.motd</title><rect x="0.0" y="120.0" width="81.0" height="26.0" rx="5" fill="#dafbe1"/><text x="40.5" y="137.0" text-anchor="middle">file.motd</text></g>
    </g>
    </svg>
    "##);
}

#[test]
fn a_graph_without_arrows_or_resources_is_drawn_too() {
    assert_snapshot!(drawn(&catalog(&[], &[]), GraphFormat::Dot), @r##"
    digraph "site" {
      rankdir=LR;
      node [shape=box, style="rounded,filled", fillcolor="#f6f8fa", fontname="sans-serif"];
      edge [fontname="sans-serif", fontsize=10];
    }
    "##);
    assert_eq!(texts(&drawn(&catalog(&[], &[]), GraphFormat::Svg))[0], "site: 0 resources, 0 arrows");
    assert!(texts(&drawn(&catalog(&["file.a"], &[]), GraphFormat::Svg)).contains(&"file.a".to_owned()));
}

#[test]
fn around_a_resource_are_those_before_and_after_it_alone() {
    let around = |id: &str| {
        let graph = Graph::of(&small(), Some(&id.parse().unwrap()))?;
        Some((graph.resources.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "), graph.arrows.len()))
    };
    assert_eq!(around("file.one"), Some(("file.folder file.one file.two exec.reload".to_owned(), 4)));
    assert_eq!(around("exec.reload").unwrap().0, "file.folder file.one file.two exec.reload");
    assert_eq!(around("file.motd"), Some(("file.motd".to_owned(), 0)));
    assert_eq!(around("file.none"), None);
}

/// The names of so many files.
fn files(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("file.f{number}")).collect()
}

#[test]
fn a_picture_has_an_end_and_text_has_none() {
    let (many, few) = (files(1_501), files(60));
    let graph = Graph::of(&catalog(&many.iter().map(String::as_str).collect::<Vec<_>>(), &[]), None).unwrap();
    assert_eq!((graph.render(GraphFormat::Svg), graph.counts()), (None, (1_501, 0)));
    assert_eq!(graph.render(GraphFormat::Dot).unwrap().lines().count(), 1_506);
    // Each with each: few boxes, and lines everywhere.
    let few: Vec<&str> = few.iter().map(String::as_str).collect();
    let pairs = (0..60).flat_map(|to| (0..to).map(move |from| (from, to)));
    let edges: Vec<_> = pairs.map(|(from, to)| (few[from], few[to], EdgeReason::Require)).collect();
    let graph = Graph::of(&catalog(&few, &edges), None).unwrap();
    assert_eq!((graph.render(GraphFormat::Svg), graph.counts()), (None, (60, 1_770)));
}

#[test]
fn many_ways_to_one_resource_take_no_longer_than_few() {
    // Two to the power of 60 ways from the first to the last.
    let names: Vec<String> = (0..60).flat_map(|step| ["a", "b"].map(|side| format!("file.{side}{step}"))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let steps = (1..60).flat_map(|step| [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(from, to)| (2 * step - 2 + from, 2 * step + to)));
    let edges: Vec<_> = steps.map(|(from, to)| (names[from], names[to], EdgeReason::Require)).collect();
    let svg = drawn(&catalog(&names, &edges), GraphFormat::Svg);
    assert!(texts(&svg).contains(&"file.b59".to_owned()));
}

/// Words that mean something to a form, or to whoever shows it.
const HOSTILE: &str = "\"]; } -->|x| `\\n#quot; %%{init: {}}%% <img src=x onerror=alert(1)> &amp; </text></svg> ]]> \u{1b}[31m \u{202e}\u{ffff} end";

#[test]
fn hostile_words_are_words_in_each_form() {
    let hostile = catalog(
        &["file.end", "file.\u{61}:-._", "exec.graph"],
        &[
            ("file.end", "file.a:-._", EdgeReason::Derived(HOSTILE.to_owned())),
            ("file.a:-._", "exec.graph", EdgeReason::Action(HOSTILE.to_owned())),
        ],
    );
    for format in [GraphFormat::Dot, GraphFormat::Mermaid, GraphFormat::Svg] {
        let text = drawn(&hostile, format);
        let bad: Vec<char> = text.chars().filter(|c| crate::model::key::needs_escape(*c) && *c != '\n').collect();
        assert!(bad.is_empty(), "{bad:?} in {text}");
    }
    assert_snapshot!(drawn(&hostile, GraphFormat::Dot), @r##"
    digraph "site" {
      rankdir=LR;
      node [shape=box, style="rounded,filled", fillcolor="#f6f8fa", fontname="sans-serif"];
      edge [fontname="sans-serif", fontsize=10];
      "file.end";
      "file.a:-._";
      "exec.graph";
      "file.end" -> "file.a:-._" [label="\"]; } -->|x| `\\n#quot; %%{init: {}}%% <img src=x onerror=alert(1)> &amp;amp; </te...", style=dashed, color="#57606a", fontcolor="#57606a"];
      "file.a:-._" -> "exec.graph" [label="action \"]; } -->|x| `\\n#quot; %%{init: {}}%% <img src=x onerror=alert(1)> &amp;am...", style=dashed, color="#57606a", fontcolor="#57606a"];
    }
    "##);
    assert_snapshot!(drawn(&hostile, GraphFormat::Mermaid), @r##"
    flowchart LR
      r0["file.end"]
      r1["file.a:-._"]
      r2["exec.graph"]
      r0 -. "#34;#93;#59; #125; --#62;#124;x#124; #96;#92;n#35;quot#59; #37;#37;#123;init: #123;#125;#125;#37;#37; #60;img src#61;x onerror#61;alert(1)#62; #38;amp#59; #60;/te..." .-> r1
      r1 -. "action #34;#93;#59; #125; --#62;#124;x#124; #96;#92;n#35;quot#59; #37;#37;#123;init: #123;#125;#125;#37;#37; #60;img src#61;x onerror#61;alert(1)#62; #38;am..." .-> r2
    "##);
    let svg = drawn(&hostile, GraphFormat::Svg);
    assert!(texts(&svg).contains(&"derived".to_owned()), "{svg}");
    assert!(svg.contains("&lt;img src=x onerror=alert(1)&gt; &amp;amp;"), "{svg}");
}

fn any_catalog() -> impl Strategy<Value = Catalog> {
    let reason = prop::sample::select(vec![
        EdgeReason::Require,
        EdgeReason::Notify,
        EdgeReason::Reference,
        EdgeReason::Derived("in the words of a resource type".to_owned()),
    ]);
    let edges = prop::collection::btree_set((0_usize..40, 1_usize..12), 0..60);
    (1_usize..40, edges, prop::collection::vec(reason, 60)).prop_map(|(count, edges, reasons)| {
        let names: Vec<String> =
            (0..count).map(|number| format!("file.{}", "n".repeat(number % 30 + 1) + &number.to_string())).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let within = edges.into_iter().filter(|(from, step)| from + step < count);
        let edges: Vec<_> = within.zip(reasons).map(|((from, step), reason)| (names[from], names[from + step], reason)).collect();
        catalog(&names, &edges)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_graph_is_drawn_whole_with_every_name_and_reason(catalog in any_catalog()) {
        let graph = Graph::of(&catalog, None).unwrap();
        let Some(svg) = graph.render(GraphFormat::Svg) else { return Err(TestCaseError::reject("too much to draw")) };
        prop_assert_eq!(&svg, &drawn(&catalog, GraphFormat::Svg), "the same each time");
        let texts = texts(&svg);
        for resource in &catalog.resources {
            prop_assert!(texts.contains(&resource.id.to_string()), "{} is missing", resource.id);
        }
        let arrows = svg.matches("marker-end").count() - Kind::ALL.len();
        prop_assert_eq!(arrows, graph.arrows.len());
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"), "every place is a number");
    }
}
