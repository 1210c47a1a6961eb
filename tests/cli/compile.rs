//! From a manifest to a bundle: compile, validate, inspect.

use insta::assert_snapshot;

use crate::node;

const SITE: &str = r#"
variable "team" {
  type    = string
  default = "platform"
}

resource "file" "folder" {
  path   = "/srv"
  ensure = "directory"
}

resource "file" "note" {
  path    = "${file.folder.path}/note"
  content = "Kept by ${var.team}.\n"
  mode    = "0640"
}

resource "file" "os" {
  path    = "/srv/os"
  content = "${facts.os.id}\n"

  meta {
    timeout = "10s"
    control { unless = facts.os.id == "none" }
  }
}
"#;

#[test]
fn compile_gives_the_digest_and_says_what_is_in_it() {
    let node = node();
    node.write("site.hcl", SITE);
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]), @"");
    let again = node.run(&["compile", "site.hcl", "-o", "again.wasm.tar"]).success();
    assert_eq!(again.stdout, "sha256:[digest]\n");
    let bytes = |name| std::fs::read(node.path(name)).unwrap();
    assert!(bytes("site.wasm.tar") == bytes("again.wasm.tar"), "the same manifest gives the same bytes");
}

#[test]
fn compile_as_a_record() {
    let node = node();
    node.write("site.hcl", SITE);
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "b.wasm.tar", "--json", "--var", "team=storage"]), @"");
}

#[test]
fn validate_writes_nothing() {
    let node = node();
    node.write("site.hcl", SITE);
    assert_snapshot!(node.run(&["validate", "site.hcl"]), @"");
    assert!(!node.path("site.wasm.tar").exists());
}

#[test]
fn validate_and_inspect_a_bundle() {
    let node = node();
    node.write("site.hcl", SITE);
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    assert_snapshot!(node.run(&["validate", "site.wasm.tar"]), @"");
    assert_snapshot!(node.run(&["inspect", "site.wasm.tar"]), @"");
    assert_snapshot!(node.run(&["validate", "site.wasm.tar", "--var", "a=b"]), @"");
}

#[test]
fn a_wrong_manifest_shows_every_error_at_its_place() {
    let node = node();
    node.write("site.hcl", "resource \"file\" \"a\" {\n  path = \"/srv/a\"\n  modee = \"0644\"\n  content = var.nothing\n}\n");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]), @"");
    assert_snapshot!(node.run(&["validate", "site.hcl", "--json"]), @"");
    assert!(!node.path("site.wasm.tar").exists(), "nothing is half written");
}

#[test]
fn files_that_are_not_there() {
    let node = node();
    node.write("site.hcl", SITE);
    assert_snapshot!(node.run(&["compile", "none.hcl", "-o", "b"]), @"");
    assert_snapshot!(node.run(&["inspect", "none.wasm.tar"]), @"");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "no/such/folder/b"]), @"");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "b", "--var-file", "none"]), @"");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "b", "--target", "none"]), @"");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "b", "--module", "x=none"]), @"");
}

#[test]
fn what_is_no_bundle() {
    let node = node();
    node.write("text.wasm.tar", "not a tar");
    assert_snapshot!(node.run(&["inspect", "text.wasm.tar"]), @"");
    assert_snapshot!(node.run(&["plan", "text.wasm.tar"]), @"");
}
