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
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]), @r"
    exit 0
    --- stdout
    sha256:[digest]
    --- stderr
    compiled `site` to `site.wasm.tar`: 3 resources, 1 of them settled on the node, 1 asset, 1 module, [size]
    ");
    let again = node.run(&["compile", "site.hcl", "-o", "again.wasm.tar"]).success();
    assert_eq!(again.stdout, "sha256:[digest]\n");
    let bytes = |name| std::fs::read(node.path(name)).unwrap();
    assert!(bytes("site.wasm.tar") == bytes("again.wasm.tar"), "the same manifest gives the same bytes");
}

#[test]
fn compile_as_a_record() {
    let node = node();
    node.write("site.hcl", SITE);
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "b.wasm.tar", "--json", "--var", "team=storage"]), @r#"
    exit 0
    --- stdout
    {"record":"result","version":1,"seq":0,"command":"compile","exit":0,"outcome":"done","data":{"assets":1,"bundle":"sha256:[digest]","deferred":1,"modules":{"file":"sha256:[digest]"},"output":"b.wasm.tar","owner":"site","resources":3,"secrets":0,"size":"[size]"}}
    --- stderr
    compiled `site` to `b.wasm.tar`: 3 resources, 1 of them settled on the node, 1 asset, 1 module, [size]
    "#);
}

#[test]
fn validate_writes_nothing() {
    let node = node();
    node.write("site.hcl", SITE);
    assert_snapshot!(node.run(&["validate", "site.hcl"]), @r"
    exit 0
    --- stderr
    `site.hcl` is valid: 3 resources, 1 of them settled on the node, 1 asset, 1 module, [size]
    ");
    assert!(!node.path("site.wasm.tar").exists());
}

#[test]
fn validate_and_inspect_a_bundle() {
    let node = node();
    node.write("site.hcl", SITE);
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    assert_snapshot!(node.run(&["validate", "site.wasm.tar"]), @r"
    exit 0
    --- stderr
    `site.wasm.tar` is a sound bundle: owner `site`, 3 resources
    ");
    assert_snapshot!(node.run(&["inspect", "site.wasm.tar"]), @r#"
    exit 0
    --- stdout
    bundle  sha256:[digest]
    owner   site
    serial  0
    for     any node
    assets  1 asset, [size]

    modules
      file  sha256:[digest]  schema 1

    resources, in order
      file.folder  site.hcl:7:1
        desired  ensure = "directory"
        desired  force = false
        desired  path = "/srv"
        needs    files.read, files.write
        claims   path /srv
        may      read, write path /srv
      file.note  site.hcl:12:1
        desired  content = "sha256:[digest]"
        desired  ensure = "file"
        desired  force = false
        desired  mode = "0640"
        desired  path = "/srv/note"
        needs    files.read, files.write
        claims   path /srv/note
        may      read, write path /srv/note
        after    file.folder (reference)
      file.os  site.hcl:18:1
        deferred  settled on the node from content, path
        claims    path /srv/os
        may       read, write path /srv/os
        timeout   10000 ms
        control   managed unless a condition holds
    "#);
    assert_snapshot!(node.run(&["validate", "site.wasm.tar", "--var", "a=b"]), @r"
    exit 64
    --- stderr
    usage error: `site.wasm.tar` is taken as a bundle, which is compiled already: it has no inputs
    hint: leave out `--var`, `--var-file`, `--target` and `--module`, or name a manifest that ends in `.hcl`
    ");
}

#[test]
fn a_wrong_manifest_shows_every_error_at_its_place() {
    let node = node();
    node.write("site.hcl", "resource \"file\" \"a\" {\n  path = \"/srv/a\"\n  modee = \"0644\"\n  content = var.nothing\n}\n");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]), @r#"
    exit 65
    --- stderr
    error: unknown variable `nothing`
     --> site.hcl:4:13
      |
    4 |   content = var.nothing
      |             ^^^^^^^^^^^ not declared in this manifest
      |
      = help: declare it: `variable "nothing" {}`
    "#);
    assert_snapshot!(node.run(&["validate", "site.hcl", "--json"]), @r#"
    exit 65
    --- stdout
    {"record":"error","version":1,"seq":0,"command":"validate","exit":65,"outcome":"bad-data","error":{"causes":[],"diagnostics":[{"hint":"declare it: `variable \"nothing\" {}`","label":"not declared in this manifest","message":"unknown variable `nothing`","notes":[],"place":{"column":13,"file":"site.hcl","length":11,"line":4},"severity":"error"}],"hint":null,"message":"the manifest is wrong"}}
    --- stderr
    error: unknown variable `nothing`
     --> site.hcl:4:13
      |
    4 |   content = var.nothing
      |             ^^^^^^^^^^^ not declared in this manifest
      |
      = help: declare it: `variable "nothing" {}`
    "#);
    assert!(!node.path("site.wasm.tar").exists(), "nothing is half written");
}

#[test]
fn files_that_are_not_there() {
    let node = node();
    node.write("site.hcl", SITE);
    assert_snapshot!(node.run(&["compile", "none.hcl", "-o", "b"]), @r"
    exit 74
    --- stderr
    error: cannot read `none.hcl`
      caused by: No such file or directory (os error 2)
    ");
    assert_snapshot!(node.run(&["inspect", "none.wasm.tar"]), @r"
    exit 74
    --- stderr
    error: the bundle `none.wasm.tar` cannot be used
      caused by: cannot open the bundle
      caused by: No such file or directory (os error 2)
    ");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "no/such/folder/b"]), @r#"
    exit 74
    --- stderr
    error: cannot create a file beside `no/such/folder/b`
      caused by: No such file or directory (os error 2) at path "$TEST/no/such/folder/.bundle-[random].tmp"
    "#);
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "b", "--var-file", "none"]), @r"
    exit 74
    --- stderr
    error: cannot read `none`
      caused by: No such file or directory (os error 2)
    ");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "b", "--target", "none"]), @r"
    exit 74
    --- stderr
    error: cannot read `none`
      caused by: No such file or directory (os error 2)
    ");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "b", "--module", "x=none"]), @r"
    exit 74
    --- stderr
    error: cannot read `none`
      caused by: No such file or directory (os error 2)
    ");
}

#[test]
fn what_is_no_bundle() {
    let node = node();
    node.write("text.wasm.tar", "not a tar");
    assert_snapshot!(node.run(&["inspect", "text.wasm.tar"]), @r"
    exit 65
    --- stderr
    error: the bundle `text.wasm.tar` cannot be used
      caused by: the archive breaks the bundle format at byte 0
      caused by: the file ends too early: the end of the archive is missing
    hint: the file was damaged or changed: fetch it again, or compile the manifest again
    ");
    assert_snapshot!(node.run(&["plan", "text.wasm.tar"]), @r"
    exit 65
    --- stderr
    error: the bundle `text.wasm.tar` cannot be used
      caused by: the archive breaks the bundle format at byte 0
      caused by: the file ends too early: the end of the archive is missing
    hint: the file was damaged or changed: fetch it again, or compile the manifest again
    ");
}
