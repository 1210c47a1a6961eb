//! On a node: plan, apply, apply again, drift, refusals, facts.

use insta::assert_snapshot;
use testkit::TestNode;

use crate::node;

const SITE: &str = r#"
resource "file" "folder" {
  path   = "/srv"
  ensure = "directory"
  mode   = "0755"
}

resource "file" "note" {
  path    = "${file.folder.path}/note"
  content = "one\ntwo\n"
  mode    = "0640"
}

resource "file" "gated" {
  path = "/srv/gated"
  meta {
    control { if = facts.os.id == "another" }
  }
}
"#;

/// A node with `site.wasm.tar` from `manifest`.
fn compiled(manifest: &str) -> TestNode {
    let node = node();
    compile(&node, "site", manifest);
    node
}

fn compile(node: &TestNode, name: &str, manifest: &str) {
    node.write(&format!("{name}.hcl"), manifest);
    node.run(&["compile", &format!("{name}.hcl"), "-o", &format!("{name}.wasm.tar")]).success();
}

/// Every path below the root and the state folder with kind, mode and content.
fn snapshot(node: &TestNode) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    let mut open = vec![node.root(), node.state_dir()];
    while let Some(path) = open.pop() {
        let Ok(meta) = std::fs::symlink_metadata(&path) else { continue };
        let content = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
        found.push(format!("{} {:o} {content:?}", path.display(), meta.permissions().mode()));
        if meta.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

#[test]
fn plan_shows_what_would_change_and_changes_nothing() {
    let node = compiled(SITE);
    let before = snapshot(&node);
    assert_snapshot!(node.run(&["plan", "site.wasm.tar"]), @"");
    assert_eq!(node.run(&["plan", "site.wasm.tar", "--detailed-exitcode"]).code, Some(2));
    assert_eq!(node.run(&["apply", "site.wasm.tar", "--noop", "--detailed-exitcode"]).code, Some(2));
    assert_eq!(snapshot(&node), before);
}

#[test]
fn apply_converges_and_the_second_finds_nothing_to_do() {
    let node = compiled(SITE);
    assert_snapshot!(node.run(&["apply", "site.wasm.tar"]), @"");
    assert_eq!(node.read("root/srv/note"), "one\ntwo\n");
    assert!(!node.path("root/srv/gated").exists());
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--detailed-exitcode"]), @"");
    assert_snapshot!(node.run(&["plan", "site.wasm.tar", "-v"]).stdout, @"");
}

#[test]
fn drift_is_named_and_repaired() {
    let node = compiled(SITE);
    node.run(&["apply", "site.wasm.tar"]).success();
    node.write("root/srv/note", "one\nthree\n");
    let before = snapshot(&node);
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--noop", "--detailed-exitcode"]), @"");
    assert_eq!(snapshot(&node), before);
    assert_snapshot!(node.run(&["apply", "site.wasm.tar"]), @"");
    assert_eq!(node.read("root/srv/note"), "one\ntwo\n");
}

#[test]
fn records_stream_and_end_with_one_result() {
    let node = compiled(SITE);
    assert_snapshot!(node.run(&["plan", "site.wasm.tar", "--json", "--parallelism", "1"]), @"");
}

#[test]
fn another_manifest_that_claims_the_same_file_is_refused() {
    let node = compiled(SITE);
    node.run(&["apply", "site.wasm.tar"]).success();
    compile(&node, "other", "resource \"file\" \"note\" {\n  path    = \"/srv/note\"\n  content = \"mine\\n\"\n}\n");
    assert_snapshot!(node.run(&["apply", "other.wasm.tar"]), @"");
    assert_snapshot!(node.run(&["apply", "other.wasm.tar", "--json"]), @"");
    assert_eq!(node.read("root/srv/note"), "one\ntwo\n");
}

#[test]
fn a_failure_stops_only_what_needs_it() {
    let node = compiled(
        r#"
resource "file" "lost" {
  path    = "/no/such/folder/lost"
  content = "x"
}

resource "file" "later" {
  path    = "/etc/later"
  content = "x"
  meta {
    require = [file.lost]
  }
}

resource "file" "free" {
  path    = "/etc/free"
  content = "free\n"
}
"#,
    );
    assert_snapshot!(node.run(&["apply", "site.wasm.tar"]), @"");
    assert_eq!(node.read("root/etc/free"), "free\n");
    assert!(!node.path("root/etc/later").exists());
}

#[test]
fn recover_with_nothing_open() {
    let node = compiled(SITE);
    node.run(&["apply", "site.wasm.tar"]).success();
    assert_snapshot!(node.run(&["recover"]), @"");
    assert_snapshot!(node.run(&["recover", "site.wasm.tar", "--json"]), @"");
}

#[test]
fn a_policy_that_cannot_be_used() {
    let node = compiled(SITE);
    assert_snapshot!(node.run(&["plan", "site.wasm.tar", "--policy", "none.hcl"]), @"");
    node.write("policy.hcl", "modul \"x\" {}\n");
    assert_snapshot!(node.run(&["plan", "site.wasm.tar", "--policy", "policy.hcl"]), @"");
}

#[test]
fn facts_whole_and_in_part() {
    let node = node();
    assert_snapshot!(node.run(&["facts", "os"]), @"");
    assert_snapshot!(node.run(&["facts", "os.id"]), @"");
    assert_snapshot!(node.run(&["facts", "os.famly", "--json"]), @"");
    let whole: serde_json::Value = serde_json::from_str(&node.run(&["facts"]).success().stdout).unwrap();
    assert_eq!(whole["os"]["id"], "testos");
}

#[test]
fn facts_of_this_node_compile_for_it() {
    let node = node();
    let facts = node.run(&["facts"]).success();
    node.write("facts.json", facts.stdout);
    node.write("site.hcl", "resource \"file\" \"a\" {\n  path    = \"/etc/${facts.os.id}\"\n  content = \"x\"\n}\n");
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar", "--target", "facts.json"]).success();
    node.run(&["apply", "site.wasm.tar"]).success();
    assert_eq!(node.read("root/etc/testos"), "x");
    node.write("root/etc/os-release", "ID=another\n");
    assert_snapshot!(node.run(&["apply", "site.wasm.tar"]), @"");
}
