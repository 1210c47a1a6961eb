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
    assert_snapshot!(drawn(&small(), GraphFormat::Dot), @"");
}

#[test]
fn for_markdown() {
    assert_snapshot!(drawn(&small(), GraphFormat::Mermaid), @"");
}

#[test]
fn as_a_picture() {
    assert_snapshot!(drawn(&small(), GraphFormat::Svg), @"");
}

#[test]
fn a_graph_without_arrows_or_resources_is_drawn_too() {
    assert_snapshot!(drawn(&catalog(&[], &[]), GraphFormat::Dot), @"");
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
    assert_snapshot!(drawn(&hostile, GraphFormat::Dot), @"");
    assert_snapshot!(drawn(&hostile, GraphFormat::Mermaid), @"");
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
