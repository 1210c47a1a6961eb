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
    assert_snapshot!(node.run(&["plan", "site.wasm.tar"]), @r#"
    exit 0
    --- stdout
    plan of `site`, serial 0, bundle [short]

      + file.folder: would create [file [short]]
        ensure: "absent" -> "directory" (nothing is there yet)
        mode: (none) -> "0755" (set as it is made)

      + file.note: would create [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
          @@ -0,0 +1,2 @@
          +one
          +two
        ensure: "absent" -> "file" (nothing is there yet)
        mode: (none) -> "0640" (set as it is made)

      > file.gated: skipped [file [short]]
        reason: `control { if }` is false on this node

    plan: 2 would change, 0 unchanged, 1 skipped
    "#);
    assert_eq!(node.run(&["plan", "site.wasm.tar", "--detailed-exitcode"]).code, Some(2));
    assert_eq!(node.run(&["apply", "site.wasm.tar", "--noop", "--detailed-exitcode"]).code, Some(2));
    assert_eq!(snapshot(&node), before);
}

#[test]
fn apply_converges_and_the_second_finds_nothing_to_do() {
    let node = compiled(SITE);
    assert_snapshot!(node.run(&["apply", "site.wasm.tar"]), @r#"
    exit 0
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      + file.folder: created [file [short]]
        ensure: "absent" -> "directory" (nothing is there yet)
        mode: (none) -> "0755" (set as it is made)

      + file.note: created [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)
        mode: (none) -> "0640" (set as it is made)

      > file.gated: skipped [file [short]]
        reason: `control { if }` is false on this node

    apply: 2 changed, 0 unchanged, 1 skipped
    "#);
    assert_eq!(node.read("root/srv/note"), "one\ntwo\n");
    assert!(!node.path("root/srv/gated").exists());
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--detailed-exitcode"]), @r"
    exit 0
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      > file.gated: skipped [file [short]]
        reason: `control { if }` is false on this node

    apply: nothing to do, 2 unchanged, 1 skipped
    ");
    assert_snapshot!(node.run(&["plan", "site.wasm.tar", "-v"]).stdout, @r#"
    plan of `site`, serial 0, bundle [short]

      = file.folder: unchanged [file [short]]
        used: [duration] of 5 min, [size] of [size]

      = file.note: unchanged [file [short]]
        used: [duration] of 5 min, [size] of [size]

      > file.gated: skipped [file [short]]
        reason: `control { if }` is false on this node

    plan: nothing to do, 2 unchanged, 1 skipped
    "#);
}

#[test]
fn drift_is_named_and_repaired() {
    let node = compiled(SITE);
    node.run(&["apply", "site.wasm.tar"]).success();
    node.write("root/srv/note", "one\nthree\n");
    let before = snapshot(&node);
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--noop", "--detailed-exitcode"]), @r#"
    exit 2
    --- stdout
    plan of `site`, serial 0, bundle [short]

      ~ file.note: would update [file [short]]
        drift: the last run left it as declared, and it was changed since
        content: "sha256:[digest]" -> "sha256:[digest]" (the content differs)
          @@ -1,2 +1,2 @@
           one
          -three
          +two

      > file.gated: skipped [file [short]]
        reason: `control { if }` is false on this node

    plan: 1 would change, 1 unchanged, 1 skipped, 1 drifted
    "#);
    assert_eq!(snapshot(&node), before);
    assert_snapshot!(node.run(&["apply", "site.wasm.tar"]), @r#"
    exit 0
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      ~ file.note: updated [file [short]]
        drift: the last run left it as declared, and it was changed since
        content: "sha256:[digest]" -> "sha256:[digest]" (the content differs)
          @@ -1,2 +1,2 @@
           one
          -three
          +two

      > file.gated: skipped [file [short]]
        reason: `control { if }` is false on this node

    apply: 1 changed, 1 unchanged, 1 skipped, 1 drifted
    "#);
    assert_eq!(node.read("root/srv/note"), "one\ntwo\n");
}

#[test]
fn records_stream_and_end_with_one_result() {
    let node = compiled(SITE);
    assert_snapshot!(node.run(&["plan", "site.wasm.tar", "--json", "--parallelism", "1"]), @r#"
    exit 0
    --- stdout
    {"record":"begun","version":1,"seq":0,"command":"plan","total":3}
    {"record":"resource","version":1,"seq":1,"resource":{"action":"create","changes":[{"after":"directory","attribute":"ensure","before":"absent","diff":null,"reason":"nothing is there yet"},{"after":"0755","attribute":"mode","before":null,"diff":null,"reason":"set as it is made"}],"drift":false,"duration_us":"[duration]","failure":null,"id":"file.folder","incomplete_preview":null,"limits":{"deadline_ms":300000,"memory_bytes":67108864,"memory_used_bytes":"[size]"},"log":[],"outcome":"would-change","prerequisites":[],"reason":null,"refresh":null}}
    {"record":"resource","version":1,"seq":2,"resource":{"action":"create","changes":[{"after":"sha256:[digest]","attribute":"content","before":null,"diff":"@@ -0,0 +1,2 @@\n+one\n+two\n","reason":"set as it is made"},{"after":"file","attribute":"ensure","before":"absent","diff":null,"reason":"nothing is there yet"},{"after":"0640","attribute":"mode","before":null,"diff":null,"reason":"set as it is made"}],"drift":false,"duration_us":"[duration]","failure":null,"id":"file.note","incomplete_preview":null,"limits":{"deadline_ms":300000,"memory_bytes":67108864,"memory_used_bytes":"[size]"},"log":[],"outcome":"would-change","prerequisites":[],"reason":null,"refresh":null}}
    {"record":"resource","version":1,"seq":3,"resource":{"action":"skip","changes":[],"drift":false,"duration_us":"[duration]","failure":null,"id":"file.gated","incomplete_preview":null,"limits":null,"log":[],"outcome":"skipped","prerequisites":[],"reason":"`control { if }` is false on this node","refresh":null}}
    {"record":"result","version":1,"seq":4,"command":"plan","exit":0,"outcome":"done","data":{"bundle":"sha256:[digest]","ended":"[time]","mode":"noop","modules":{"file":"sha256:[digest]"},"notes":[],"owner":"site","report_version":2,"run":null,"serial":0,"started":"[time]","summary":{"cannot_plan":0,"changed":0,"drifted":0,"failed":0,"no_provider":0,"not_reached":0,"refused":0,"skipped":1,"total":3,"unchanged":0,"unmet":0,"unresolved":0,"would_change":2}}}
    "#);
}

#[test]
fn another_manifest_that_claims_the_same_file_is_refused() {
    let node = compiled(SITE);
    node.run(&["apply", "site.wasm.tar"]).success();
    compile(&node, "other", "resource \"file\" \"note\" {\n  path    = \"/srv/note\"\n  content = \"mine\\n\"\n}\n");
    assert_snapshot!(node.run(&["apply", "other.wasm.tar"]), @r#"
    exit 4
    --- stderr
    refused: path `/srv/note`, claimed by `file.note` of `other`, is held by `file.note` of `site`
    hint: let one manifest manage the object, make both declare it alike, or `runtime release` it from its holder
    "#);
    assert_snapshot!(node.run(&["apply", "other.wasm.tar", "--json"]), @r#"
    exit 4
    --- stdout
    {"record":"error","version":1,"seq":0,"command":"apply","exit":4,"outcome":"refused","error":{"causes":[],"hint":"let one manifest manage the object, make both declare it alike, or `runtime release` it from its holder","message":"path `/srv/note`, claimed by `file.note` of `other`, is held by `file.note` of `site`"}}
    --- stderr
    refused: path `/srv/note`, claimed by `file.note` of `other`, is held by `file.note` of `site`
    hint: let one manifest manage the object, make both declare it alike, or `runtime release` it from its holder
    "#);
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
    assert_snapshot!(node.run(&["apply", "site.wasm.tar"]), @r#"
    exit 1
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      ! file.lost: failed in apply [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)
        error: the directory that is to hold it does not exist
        where: module `file`, phase `apply`, attribute `path`
        left: nothing had changed yet
        hint: declare that directory too: it then goes first; or set `parents = true`

      ? file.later: unmet [file [short]]
        reason: it requires `file.lost`, which is failed

      + file.free: created [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)

    apply: 1 changed, 1 failed, 1 unmet, 0 unchanged, 0 skipped
    "#);
    assert_eq!(node.read("root/etc/free"), "free\n");
    assert!(!node.path("root/etc/later").exists());
}

#[test]
fn recover_with_nothing_open() {
    let node = compiled(SITE);
    node.run(&["apply", "site.wasm.tar"]).success();
    assert_snapshot!(node.run(&["recover"]), @r"
    exit 0
    --- stdout
    recover: 0 recovered, 0 unresolved
    ");
    assert_snapshot!(node.run(&["recover", "site.wasm.tar", "--json"]), @r#"
    exit 0
    --- stdout
    {"record":"result","version":1,"seq":0,"command":"recover","exit":0,"outcome":"done","data":{"recovered":[],"unresolved":[]}}
    "#);
}

#[test]
fn a_policy_that_cannot_be_used() {
    let node = compiled(SITE);
    assert_snapshot!(node.run(&["plan", "site.wasm.tar", "--policy", "none.hcl"]), @r"
    exit 74
    --- stderr
    error: cannot read the policy `none.hcl`
      caused by: No such file or directory (os error 2)
    ");
    node.write("policy.hcl", "modul \"x\" {}\n");
    assert_snapshot!(node.run(&["plan", "site.wasm.tar", "--policy", "policy.hcl"]), @r"
    exit 65
    --- stderr
    error: the policy `policy.hcl` is wrong in 1 place
      1:1: unknown row `modul`
        hint: known here: `module`, `secret`, `provider`, `health`, `builtins`, `deny`
    ");
}

#[test]
fn facts_whole_and_in_part() {
    let node = node();
    assert_snapshot!(node.run(&["facts", "os"]), @r#"
    exit 0
    --- stdout
    {
      "family": "debian",
      "id": "testos",
      "id_like": [
        "debian"
      ],
      "pretty_name": "Test OS 12",
      "version_id": "12"
    }
    "#);
    assert_snapshot!(node.run(&["facts", "os.id"]), @r"
    exit 0
    --- stdout
    testos
    ");
    assert_snapshot!(node.run(&["facts", "os.famly", "--json"]), @r#"
    exit 64
    --- stdout
    {"record":"error","version":1,"seq":0,"command":"facts","exit":64,"outcome":"usage","error":{"causes":[],"hint":"did you mean `family`?","message":"there is no fact `os.famly`"}}
    --- stderr
    usage error: there is no fact `os.famly`
    hint: did you mean `family`?
    "#);
    let whole: serde_json::Value = serde_json::from_str(&node.run(&["facts"]).success().stdout).unwrap();
    assert_eq!(whole["os"]["id"], "testos");
}

#[test]
fn a_program_of_the_nodes_owner_prints_a_fact() {
    let node = node();
    let busybox = std::fs::read("/bin/busybox").expect("this test needs Debian's package `busybox-static`");
    let script = "root/etc/runtime/facts.d/rack.sh";
    node.write("root/bin/sh", busybox);
    node.write(script, "#!/bin/sh\necho '{\"row\": 4}'\n");
    for name in ["root/bin/sh", script] {
        std::fs::set_permissions(node.path(name), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    node.write(
        "site.hcl",
        "resource \"file\" \"a\" {\n  path    = \"/etc/row\"\n  content = \"row ${facts.custom.rack.row}\"\n}\n",
    );
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    node.run(&["apply", "site.wasm.tar"]).success();
    assert_eq!(node.read("root/etc/row"), "row 4");
    assert_eq!(node.run(&["facts", "custom.rack.row"]).success().stdout, "4\n");
    node.write(script, "#!/bin/sh\nexit 3\n");
    let refused = node.run(&["apply", "site.wasm.tar"]).to_string();
    assert!(refused.contains("`/etc/runtime/facts.d/rack.sh` is a program that ended with code 3"), "{refused}");
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
    assert_snapshot!(node.run(&["apply", "site.wasm.tar"]), @r#"
    exit 4
    --- stderr
    refused: the bundle was compiled for another node: `facts.os.id` is "another" here, not "testos"
    hint: compile the manifest with `--target` and the facts of this node
    "#);
}
