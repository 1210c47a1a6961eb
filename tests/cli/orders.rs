//! What goes before what and who holds what, as the program tells it: at compile, in `inspect`, in a plan, and of bundles that somebody
//! has changed.

use insta::assert_snapshot;
use serde_json::{Value as Json, json};
use testkit::{TestNode, guests, tamper};

use crate::node;

fn hostile(name: &str, path: &str, other: &str, more: &str) -> String {
    format!("resource \"hostile\" \"{name}\" {{\n  path  = \"{path}\"\n  other = \"{other}\"\n{more}}}\n\n")
}

fn behaving(behaviour: &str) -> String {
    format!("  behaviour = \"{behaviour}\"\n")
}

/// A node with the hostile module, and `site.hcl`.
fn with(manifest: &str) -> TestNode {
    let node = node();
    node.write("hostile.wasm", guests::HOSTILE);
    node.write("site.hcl", manifest);
    node.write("root/srv/.keep", "");
    node
}

const COMPILE: [&str; 6] = ["compile", "site.hcl", "-o", "site.wasm.tar", "--module", "hostile=hostile.wasm"];

/// The same with `site.wasm.tar`, and a policy that lets the module do what it asks for.
fn compiled(manifest: &str) -> TestNode {
    let node = with(manifest);
    node.run(&COMPILE).success();
    let digest = runtime::model::digest::ComponentDigest::of(guests::HOSTILE);
    let files = "files {\n  read = [\"/srv/**\"]\n  write = [\"/srv/**\"]\n  }";
    node.write("policy.hcl", format!("module \"hostile\" {{\n  digest = \"{digest}\"\n  {files}\n}}\n"));
    node
}

#[test]
fn two_types_that_claim_one_object_are_refused_with_both_places() {
    let file = "resource \"file\" \"motd\" {\n  path    = \"/srv/motd\"\n  content = \"\"\n}\n\n";
    let node = with(&(file.to_owned() + &hostile("it", "/srv/motd", "/srv/other", "")));
    assert_snapshot!(node.run(&COMPILE), @r#"
    exit 65
    --- stderr
    error: `file.motd` and `hostile.it` both manage the path `/srv/motd`
     --> site.hcl:6:1
      |
    6 | resource "hostile" "it" {
      | ^^^^^^^^^^^^^^^^^^^^^^^ declared again
      |
     --> site.hcl:1:1
      |
    1 | resource "file" "motd" {
      | ---------------------- first declared here
      |
    "#);
    let tree = "resource \"file\" \"tree\" {\n  path   = \"/srv/old\"\n  ensure = \"absent\"\n  force  = true\n}\n\n";
    node.write("site.hcl", tree.to_owned() + &hostile("it", "/srv/old/inside", "/srv/other", ""));
    let output = node.run(&COMPILE).exits_with(65);
    assert!(output.stderr.contains("`file.tree` and `hostile.it` both manage the path"), "{output}");
    assert!(!node.path("site.wasm.tar").exists());
}

#[test]
fn parts_of_one_object_are_held_apart_and_the_whole_of_it_overlaps_each() {
    let part = |name: &str| hostile(name, &format!("/srv/{name}"), "disk", &behaving("claim-part@identity"));
    let node = with(&(part("a") + &part("b")));
    node.run(&COMPILE).success();
    node.write("site.hcl", part("a") + &part("b") + &hostile("all", "/srv/all", "disk", &behaving("claim-whole@identity")));
    assert_snapshot!(node.run(&COMPILE), @r#"
    exit 65
    --- stderr
    error: `hostile.a` and `hostile.all` both manage the hostile/object `disk` (*)
      --> site.hcl:13:1
       |
    13 | resource "hostile" "all" {
       | ^^^^^^^^^^^^^^^^^^^^^^^^ declared again
       |
      --> site.hcl:1:1
       |
     1 | resource "hostile" "a" {
       | ---------------------- first declared here
       |

    error: `hostile.b` and `hostile.all` both manage the hostile/object `disk` (*)
      --> site.hcl:13:1
       |
    13 | resource "hostile" "all" {
       | ^^^^^^^^^^^^^^^^^^^^^^^^ declared again
       |
      --> site.hcl:7:1
       |
     7 | resource "hostile" "b" {
       | ---------------------- first declared here
       |
    "#);
    // Another object of the same domain is no matter.
    node.write("site.hcl", part("a") + &hostile("all", "/srv/all", "tape", &behaving("claim-whole@identity")));
    node.run(&COMPILE).success();
}

#[test]
fn a_circle_through_a_derived_order_is_shown_whole_with_the_place_of_each_step() {
    let file =
        "resource \"file\" \"a\" {\n  path    = \"/srv/a\"\n  content = \"a\"\n  meta {\n    require = [hostile.it]\n  }\n}\n\n";
    let node = with(&(file.to_owned() + &hostile("it", "/srv/it", "/srv/other", &behaving("order-first@relationships"))));
    assert_snapshot!(node.run(&COMPILE), @r#"
    exit 65
    --- stderr
    error: these resources wait for each other
     --> site.hcl:1:1
      |
    1 | resource "file" "a" {
      | ^^^^^^^^^^^^^^^^^^^
      |
      = note: file.a -> hostile.it -> file.a
      = note: `file.a` goes before `hostile.it`: because (site.hcl:9:1)
      = note: `hostile.it` goes before `file.a`: `require` (site.hcl:5:16)
    "#);
}

#[test]
fn a_circle_through_an_order_that_a_declaration_can_do_without_says_how() {
    let node = with(
        "resource \"file\" \"unit\" {\n  path    = \"/etc/systemd/system/extra.service\"\n  content = \"[Service]\"\n  meta {\n    require = [service.web]\n  }\n}\n\n\
         resource \"service\" \"web\" {\n  name   = \"web\"\n  ensure = \"running\"\n}\n",
    );
    assert_snapshot!(node.run(&COMPILE), @r#"
    exit 65
    --- stderr
    error: these resources wait for each other
     --> site.hcl:1:1
      |
    1 | resource "file" "unit" {
      | ^^^^^^^^^^^^^^^^^^^^^^
      |
      = note: file.unit -> service.web -> file.unit
      = note: `file.unit` goes before `service.web`: it needs the action `systemd.daemon_reload.v1` after it (site.hcl:9:1)
      = note: `service.web` goes before `file.unit`: `require` (site.hcl:5:16)
      = help: write `daemon_reload = false` in `service.web`, if it does not need what `file.unit` writes
    "#);
    node.write("site.hcl", node.read("site.hcl").replace("\"running\"\n", "\"running\"\n  daemon_reload = false\n"));
    node.run(&COMPILE).success();
}

/// One edge of every kind: required, before, by an output, derived in words, derived for an action.
fn every_edge() -> String {
    let first = "resource \"file\" \"a\" {\n  path    = \"/srv/a\"\n  content = \"a\\n\"\n}\n\n";
    let reader = "resource \"file\" \"reader\" {\n  path    = \"/srv/reader\"\n  content = \"${facts.hostname}: ${hostile.it.stamp}\\n\"\n}\n\n";
    let last = "resource \"file\" \"z\" {\n  path    = \"/srv/z\"\n  content = \"z\\n\"\n  meta {\n    require = [file.reader]\n  }\n}\n\n";
    let before = behaving("order-action@relationships") + "  meta {\n    before = [file.z]\n  }\n";
    let it = hostile("it", "/srv/it", "/srv/other", &behaving("order-first@relationships"));
    [first, reader, last, &it, &hostile("other", "/srv/it2", "/srv/other2", &before)].concat()
}

#[test]
fn inspect_shows_every_edge_with_its_place() {
    let node = compiled(&every_edge());
    let shown = node.run(&["inspect", "site.wasm.tar"]).success().stdout;
    let edges: Vec<&str> =
        shown.lines().filter(|line| line.starts_with("  ") && (line.contains(" after ") || !line.starts_with("    "))).collect();
    assert_snapshot!(edges.join("\n"), @r"
    file     sha256:[digest]  schema 1
    hostile  sha256:[digest]  schema 1
    file.a  site.hcl:1:1
    hostile.it  site.hcl:19:1
      after    file.a (because, site.hcl:19:1)
    file.reader  site.hcl:6:1
      after     hostile.it (reference, site.hcl:8:3)
    hostile.other  site.hcl:25:1
      after    file.a (action hostile.tidy, site.hcl:25:1)
    file.z  site.hcl:11:1
      after    file.reader (require, site.hcl:15:16)
      after    hostile.other (before, site.hcl:30:15)
    ");
}

#[test]
fn a_plan_shows_what_waits_for_a_change() {
    let node = compiled(&every_edge());
    let plan = ["plan", "site.wasm.tar", "--policy", "policy.hcl"];
    assert_snapshot!(node.run(&plan), @r#"
    exit 3
    --- stdout
    plan of `site`, serial 0, bundle [short]

      + file.a: would create [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
          @@ -0,0 +1 @@
          +a
        ensure: "absent" -> "file" (nothing is there yet)

      + hostile.it: would create [hostile [short]]
        path: (nothing is there yet)

      ? file.reader: cannot plan [file [short]]
        reason: waits for `hostile.it.stamp`, which this plan would change

      + hostile.other: would create [hostile [short]]
        path: (nothing is there yet)

      ? file.z: unmet [file [short]]
        reason: it requires `file.reader`, which is cannot-plan

    plan: 3 would change, 1 unmet, 1 not plannable, 0 unchanged, 0 skipped
    "#);
    node.run(&["apply", "site.wasm.tar", "--policy", "policy.hcl"]).success();
    assert_eq!(node.read("root/srv/reader"), "db1: written by the hostile guest\n");
    node.run(&plan).success();
}

fn edge<'c>(catalog: &'c mut Json, kind: &str) -> &'c mut Json {
    let edges = catalog["edges"].as_array_mut().unwrap();
    edges.iter_mut().find(|edge| edge["reason"] == kind || edge["reason"].get(kind).is_some()).unwrap()
}

fn remove(catalog: &mut Json, kind: &str) {
    let edges = catalog["edges"].as_array_mut().unwrap();
    edges.retain(|edge| edge["reason"] != kind && edge["reason"].get(kind).is_none());
}

fn resource<'c>(catalog: &'c mut Json, id: &str) -> &'c mut Json {
    catalog["resources"].as_array_mut().unwrap().iter_mut().find(|resource| resource["id"] == id).unwrap()
}

fn semantics<'c>(catalog: &'c mut Json, id: &str) -> &'c mut Json {
    &mut resource(catalog, id)["state"]["compiled"]["semantics"]
}

#[test]
fn a_changed_bundle_is_refused_by_name_and_nothing_is_touched() {
    type Change = fn(&mut Json);
    let node = compiled(&every_edge());
    let changes: [(&str, Change); 18] = [
        ("`file.a` goes before `hostile.it`, which a module derives", |c| remove(c, "derived")),
        ("`file.a` goes before `hostile.other`, which a module derives", |c| remove(c, "action")),
        ("`hostile.it` goes before `file.reader`, which reads `hostile.it.stamp`", |c| remove(c, "reference")),
        ("another reason why `file.a` goes before `hostile.it`", |c| {
            edge(c, "derived")["reason"] = json!({"derived": "of late"})
        }),
        ("another reason why `file.a` goes before `hostile.it`", |c| edge(c, "derived")["source"]["line"] = json!(77)),
        ("`file.a` goes before `file.z`, which no module derives", |c| {
            let edge = json!({
                "prerequisite": "file.a", "dependent": "file.z", "reason": {"derived": "x"},
                "source": {"file": "site.hcl", "line": 1, "column": 1}
            });
            c["edges"].as_array_mut().unwrap().insert(0, edge);
        }),
        ("`file.z` (site.hcl:1:1): a resource cannot go before itself", |c| {
            let edge = json!({
                "prerequisite": "file.z", "dependent": "file.z", "reason": "require",
                "source": {"file": "site.hcl", "line": 1, "column": 1}
            });
            c["edges"].as_array_mut().unwrap().insert(3, edge);
        }),
        ("`hostile.zebra` to `file.z`", |c| edge(c, "before")["prerequisite"] = json!("hostile.zebra")),
        ("other claims for `hostile.it`", |c| resource(c, "hostile.it")["claims"][0]["key"] = json!("/srv/elsewhere")),
        ("other claims for `file.reader`", |c| resource(c, "file.reader")["claims"] = json!([])),
        ("other effects for `hostile.it`", |c| resource(c, "hostile.it")["effects"][0]["actions"] = json!(["write"])),
        ("other affected paths for `hostile.it`", |c| resource(c, "hostile.it")["affected_paths"] = json!([])),
        ("other capabilities for `file.a`", |c| semantics(c, "file.a")["capabilities"] = json!(["files.read"])),
        ("other sensitivity for `file.a`", |c| semantics(c, "file.a")["sensitive"] = json!(true)),
        ("other acceptance of refreshes for `file.a`", |c| semantics(c, "file.a")["accepts_refresh"] = json!(true)),
        ("other timeout for `file.a`", |c| semantics(c, "file.a")["timeout_ms"] = json!(1)),
        ("other prerequisites for `hostile.other`", |c| semantics(c, "hostile.other")["prerequisites"] = json!([])),
        ("other assets for `file.a`", |c| {
            let mut both = [semantics(c, "file.a")["assets"][0].clone(), semantics(c, "file.z")["assets"][0].clone()];
            both.sort_by_key(ToString::to_string);
            semantics(c, "file.a")["assets"] = json!(both);
        }),
    ];
    for (words, change) in changes {
        tamper(&node.path("site.wasm.tar"), &node.path("changed.wasm.tar"), change);
        for verb in ["plan", "apply"] {
            let output = node.run(&[verb, "changed.wasm.tar", "--policy", "policy.hcl"]).exits_with(65);
            assert!(output.stderr.contains(words), "{words}: {output}");
        }
        let left: Vec<_> = std::fs::read_dir(node.path("root/srv")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".keep"], "{words}");
    }
}

#[test]
fn a_removed_order_is_told_with_what_to_do() {
    let node = compiled(&every_edge());
    tamper(&node.path("site.wasm.tar"), &node.path("changed.wasm.tar"), |catalog| remove(catalog, "derived"));
    assert_snapshot!(node.run(&["apply", "changed.wasm.tar", "--policy", "policy.hcl"]), @r"
    exit 65
    --- stderr
    error: the catalog lacks that `file.a` goes before `hostile.it`, which a module derives: because (site.hcl:19:1)
    hint: compile the manifest again
    ");
}
