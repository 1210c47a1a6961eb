//! What goes before what, drawn.

use std::path::Path;

use insta::assert_snapshot;
use testkit::TestNode;

use crate::node;

/// A node with `shop.wasm.tar`, from the example of forty resources.
fn shop() -> TestNode {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/shop/site.hcl");
    let node = node();
    node.write("site.hcl", std::fs::read_to_string(manifest).unwrap());
    node.run(&["compile", "site.hcl", "-o", "shop.wasm.tar"]).success();
    node
}

/// The addresses of the resources in the example.
fn declared(node: &TestNode) -> Vec<String> {
    let text = node.read("site.hcl");
    let blocks = text.lines().filter_map(|line| line.strip_prefix("resource \""));
    blocks.map(|rest| rest.split('"').collect::<Vec<_>>()).map(|parts| format!("{}.{}", parts[0], parts[2])).collect()
}

/// The text of each `text` element of an SVG document.
fn texts(svg: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(svg).unwrap_or_else(|error| panic!("{error}: {svg}"));
    assert!(document.root_element().has_tag_name(("http://www.w3.org/2000/svg", "svg")));
    let texts = document.descendants().filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "text")));
    texts.map(|text| text.descendants().filter_map(|node| node.is_text().then(|| node.text()).flatten()).collect()).collect()
}

#[test]
fn forty_resources_are_a_picture_with_every_name_and_every_kind_of_reason() {
    let node = shop();
    let names = declared(&node);
    assert_eq!(names.len(), 40);
    let svg = node.run(&["graph", "shop.wasm.tar", "--format", "svg"]).success().stdout;
    if let Some(path) = std::env::var_os("RUNTIME_TEST_PICTURE") {
        std::fs::write(path, &svg).unwrap();
    }
    let texts = texts(&svg);
    for name in &names {
        assert_eq!(texts.iter().filter(|text| *text == name).count(), 1, "{name}");
    }
    for reason in ["require", "notify", "subscribe", "reference", "derived", "derived, reference"] {
        assert!(texts.iter().any(|text| text == reason), "{reason}");
    }
    assert_eq!(svg, node.run(&["graph", "shop.wasm.tar", "--format", "svg"]).success().stdout, "the same each time");
}

#[test]
fn other_forms_have_the_same_resources_and_arrows() {
    let node = shop();
    let dot = node.run(&["graph", "shop.wasm.tar"]).success().stdout;
    let mermaid = node.run(&["graph", "shop.wasm.tar", "--format", "mermaid"]).success().stdout;
    for name in declared(&node) {
        assert!(dot.contains(&format!("  \"{name}\";\n")) && mermaid.contains(&format!("[\"{name}\"]\n")), "{name}");
    }
    let arrows = dot.matches(" -> ").count();
    assert!(arrows > 40, "{dot}");
    assert_eq!(mermaid.lines().filter(|line| line.contains("\" ")).count(), arrows, "{mermaid}");
    assert!(dot.contains("\"user.shop\" -> \"file.home\" [label=\"reference\"];"), "{dot}");
}

#[test]
fn around_one_resource() {
    let node = shop();
    assert_snapshot!(node.run(&["graph", "shop.wasm.tar", "--around", "file.site_enabled"]), @r##"
    exit 0
    --- stdout
    digraph "shop" {
      rankdir=LR;
      node [shape=box, style="rounded,filled", fillcolor="#f6f8fa", fontname="sans-serif"];
      edge [fontname="sans-serif", fontsize=10];
      "package.nginx";
      "group.shop";
      "group.deploy";
      "user.shop";
      "user.deploy";
      "file.home";
      "file.releases";
      "file.current";
      "file.site";
      "file.site_enabled";
      "exec.reload_nginx";
      "exec.warm_up";
      "package.nginx" -> "file.site" [label="require"];
      "group.shop" -> "user.shop" [label="a group goes before the users that are to be in it, reference"];
      "group.shop" -> "user.deploy" [label="a group goes before the users that are to be in it, reference"];
      "group.shop" -> "file.home" [label="reference"];
      "group.deploy" -> "user.deploy" [label="a group goes before the users that are to be in it, reference"];
      "user.shop" -> "file.home" [label="reference"];
      "user.deploy" -> "file.releases" [label="reference"];
      "file.home" -> "file.releases" [label="a folder goes before what lies in it, reference"];
      "file.home" -> "file.current" [label="a folder goes before what lies in it, reference"];
      "file.releases" -> "file.current" [label="reference"];
      "file.current" -> "file.site" [label="reference"];
      "file.site" -> "file.site_enabled" [label="reference"];
      "file.site" -> "exec.reload_nginx" [label="subscribe", color="#b45309", fontcolor="#b45309"];
      "file.site_enabled" -> "exec.reload_nginx" [label="subscribe", color="#b45309", fontcolor="#b45309"];
      "exec.reload_nginx" -> "exec.warm_up" [label="subscribe", color="#b45309", fontcolor="#b45309"];
    }
    "##);
    assert_snapshot!(node.run(&["graph", "shop.wasm.tar", "--format", "mermaid", "--around", "file.gzip"]), @r#"
    exit 0
    --- stdout
    flowchart LR
      r0["package.nginx"]
      r1["file.gzip"]
      r2["exec.reload_nginx"]
      r3["exec.warm_up"]
      r0 -- "require" --> r1
      r1 == "subscribe" ==> r2
      r2 == "subscribe" ==> r3
    "#);
    assert_snapshot!(node.run(&["graph", "shop.wasm.tar", "--around", "file.site_enable"]), @r#"
    exit 64
    --- stderr
    usage error: the bundle has no resource `file.site_enable`
    hint: did you mean `file.site_enabled`?
    "#);
    assert_snapshot!(node.run(&["graph", "shop.wasm.tar", "--around", "file.motd", "--json"]), @r##"
    exit 0
    --- stdout
    {"record":"result","version":1,"seq":0,"command":"graph","exit":0,"outcome":"done","data":{"bundle":"sha256:[digest]","format":"dot","graph":"digraph \"shop\" {\n  rankdir=LR;\n  node [shape=box, style=\"rounded,filled\", fillcolor=\"#f6f8fa\", fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n  \"file.motd\";\n}\n","owner":"shop"}}
    "##);
}

#[test]
fn what_is_no_bundle_is_not_drawn() {
    let node = node();
    node.write("site.wasm.tar", "no bundle");
    assert_eq!(node.run(&["graph", "site.wasm.tar"]).code, Some(65));
    assert_eq!(node.run(&["graph", "none.wasm.tar"]).code, Some(74));
    assert_snapshot!(node.run(&["graph", "site.wasm.tar", "--format", "png"]), @r#"
    exit 64
    --- stderr
    error: invalid value 'png' for '--format <FORMAT>'
      [possible values: dot, mermaid, svg]

    For more information, try '--help'.
    "#);
}
