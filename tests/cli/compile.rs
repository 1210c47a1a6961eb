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
        after    file.folder (reference, site.hcl:13:3)
        after    file.folder (a folder goes before what lies in it, site.hcl:12:1)
      file.os  site.hcl:18:1
        deferred  settled on the node from content, path
        claims    path /srv/os
        may       read, write path /srv/os
        after     file.folder (a folder goes before what lies in it, site.hcl:18:1)
        timeout   10000 ms
        control   managed unless a condition holds
    "#);
    assert_snapshot!(node.run(&["validate", "site.wasm.tar", "--var", "a=b"]), @r"
    exit 64
    --- stderr
    usage error: `site.wasm.tar` is taken as a bundle, which is compiled already: it has no inputs
    hint: leave out `--var`, `--module` and the like, or name a manifest that ends in `.hcl`
    ");
}

#[test]
fn a_wrong_manifest_shows_every_error_at_its_place() {
    let node = node();
    node.write("site.hcl", "resource \"file\" \"a\" {\n  path = \"/srv/a\"\n  modee = \"0644\"\n  content = var.nothing\n}\n");
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]), @r#"
    exit 65
    --- stderr
    error: the resource type `file` has no attribute `modee`
     --> site.hcl:3:3
      |
    3 |   modee = "0644"
      |   ^^^^^
      |
      = help: did you mean `mode`?

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
    {"record":"error","version":1,"seq":0,"command":"validate","exit":65,"outcome":"bad-data","error":{"causes":[],"diagnostics":[{"hint":"did you mean `mode`?","label":"","message":"the resource type `file` has no attribute `modee`","notes":[],"place":{"column":3,"file":"site.hcl","length":5,"line":3},"severity":"error"},{"hint":"declare it: `variable \"nothing\" {}`","label":"not declared in this manifest","message":"unknown variable `nothing`","notes":[],"place":{"column":13,"file":"site.hcl","length":11,"line":4},"severity":"error"}],"hint":null,"message":"the manifest is wrong"}}
    --- stderr
    error: the resource type `file` has no attribute `modee`
     --> site.hcl:3:3
      |
    3 |   modee = "0644"
      |   ^^^^^
      |
      = help: did you mean `mode`?

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

/// Mistakes of every stage, none of which hangs on another.
const WRONG: &str = r#"
variable "size" { type = integer }
variable "team" { type = string }

resource "file" "a" {
  path    = "/srv/a"
  modee   = "0644"
  content = var.nothing
  owner   = ["root"]
  target  = "${var.size}"
}

resource "file" "b" {
  path = file.a.path
  link {}
  content {
    text = "x"
  }
  mode = 1 / 0
}

resource "fil" "c" {
  path = "/srv/c"
}

resource "file" "d" {
  meta {
    require = [file.e]
    control { if = [][0] }
  }
}

resource "file" "e" {
  path    = "/srv/${facts.hostname}"
  content = 3
  mode    = "rwx"
  meta { timeout = "soon" }
}
"#;

#[test]
fn errors_of_every_stage_are_shown_in_one_run_and_none_that_hangs_on_another() {
    let node = node();
    node.write("site.hcl", WRONG);
    assert_snapshot!(node.run(&["compile", "site.hcl", "-o", "site.wasm.tar", "--var", "size=large", "--var", "tem=x"]), @r#"
    exit 65
    --- stderr
    error: the value from `--var` for `size` does not fit its type `integer`
     --> site.hcl:2:1
      |
    2 | variable "size" { type = integer }
      | ^^^^^^^^^^^^^^^ its text does not spell such a value
      |

    error: no value is given for the variable `team`
     --> site.hcl:3:1
      |
    3 | variable "team" { type = string }
      | ^^^^^^^^^^^^^^^ has no default
      |
      = help: pass `--var team=…` or a `--var-file`

    error: the resource type `file` has no attribute `modee`
     --> site.hcl:7:3
      |
    7 |   modee   = "0644"
      |   ^^^^^
      |
      = help: did you mean `mode`?

    error: unknown variable `nothing`
     --> site.hcl:8:13
      |
    8 |   content = var.nothing
      |             ^^^^^^^^^^^ not declared in this manifest
      |
      = help: known here: `size`, `team`

    error: `owner` must be string or integer, not a list
     --> site.hcl:9:13
      |
    9 |   owner   = ["root"]
      |             ^^^^^^^^
      |

    error: the resource type `file` has no block `link`
      --> site.hcl:15:3
       |
    15 |   link {}
       |   ^^^^
       |
       = help: an attribute that is an object is written `link = { … }`

    error: the resource type `file` has no block `content`
      --> site.hcl:16:3
       |
    16 |   content {
       |   ^^^^^^^
       |
       = help: `content` is an attribute: write `content = { … }`

    error: division by zero
      --> site.hcl:19:10
       |
    19 |   mode = 1 / 0
       |          ^^^^^
       |

    error: unknown resource type `fil`
      --> site.hcl:22:10
       |
    22 | resource "fil" "c" {
       |          ^^^^^ no module serves it
       |
       = help: did you mean `file`?

    error: `file.d` needs the attribute `path`
      --> site.hcl:26:1
       |
    26 | resource "file" "d" {
       | ^^^^^^^^^^^^^^^^^^^ it is not given
       |
       = help: The absolute path on the node, without `.`, `..`, double or trailing slashes

    error: the list has no element at this index
      --> site.hcl:29:23
       |
    29 |     control { if = [][0] }
       |                       ^
       |

    error: `path` cannot wait for the node: it names what the resource manages
      --> site.hcl:34:13
       |
    34 |   path    = "/srv/${facts.hostname}"
       |             ^^^^^^^^^^^^^^^^^^^^^^^^ known on the node only
       |
       = help: pass the facts of the node: `--target FACTS.json`, as `runtime facts --json` prints them

    error: `content` must be string, not a number
      --> site.hcl:35:13
       |
    35 |   content = 3
       |             ^
       |

    error: `timeout` must be a duration from 1 ms to 24 h
      --> site.hcl:37:20
       |
    37 |   meta { timeout = "soon" }
       |                    ^^^^^^
       |
       = help: write a whole number and a unit, `ms`, `s`, `m` or `h`: `"90s"`

    error: `--var` gives a value for `tem`, which the manifest does not declare
      = help: did you mean `team`?
    "#);
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
    hint: make the folder `no/such/folder` first
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
    assert_snapshot!(node.run(&["inspect", "text.wasm.tar"]), @"
    exit 65
    --- stderr
    error: the bundle `text.wasm.tar` cannot be used
      caused by: the archive breaks the bundle format at byte 0
      caused by: this is text, and no tar archive
    hint: if it is a manifest, `runtime compile MANIFEST -o BUNDLE` makes a bundle of it
    ");
    assert_snapshot!(node.run(&["plan", "text.wasm.tar"]), @"
    exit 65
    --- stderr
    error: the bundle `text.wasm.tar` cannot be used
      caused by: the archive breaks the bundle format at byte 0
      caused by: this is text, and no tar archive
    hint: if it is a manifest, `runtime compile MANIFEST -o BUNDLE` makes a bundle of it
    ");
}

#[test]
fn two_processes_with_other_environments_give_equal_bundles() {
    let (here, there) = (node(), node());
    let site = "resource \"file\" \"motd\" {\n  path = \"/etc/motd\"\n  content = \"Hello\\n\"\n  mode = \"644\"\n}\n\
                resource \"file\" \"later\" {\n  path = \"/etc/later\"\n  content = facts.hostname\n}\n";
    for node in [&here, &there] {
        node.write("site.hcl", site);
    }
    here.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    let mut command = there.command(&["compile", "site.hcl", "-o", "site.wasm.tar"]);
    // Compiled anew, hours away, with numbers written otherwise, and with other things in the environment.
    command.env("RUNTIME_CACHE_DIR", there.path("cache")).env("TZ", "Pacific/Kiritimati").env("LC_ALL", "de_DE.UTF-8");
    command.env("SOURCE_DATE_EPOCH", "1").env("RUST_MIN_STACK", "8388608");
    assert!(command.status().unwrap().success());
    let bundle = |node: &testkit::TestNode| std::fs::read(node.path("site.wasm.tar")).unwrap();
    assert!(bundle(&here) == bundle(&there));
}
