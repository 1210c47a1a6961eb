//! What a node has on record: its runs, what each found and did, and what an owner gives up.

use insta::assert_snapshot;
use regex::Regex;
use serde_json::Value as Json;
use testkit::{CommandOutput, TestNode};

use crate::node;

const SITE: &str = r#"
resource "file" "folder" {
  path   = "/srv"
  ensure = "directory"
}

resource "file" "note" {
  path    = "${file.folder.path}/note"
  content = "one\n"
  mode    = "0640"
}
"#;

const BROKEN: &str = r#"
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
"#;

const OTHER: &str = "resource \"file\" \"note\" {\n  path    = \"/srv/note\"\n  content = \"mine\\n\"\n}\n";

fn compile(node: &TestNode, name: &str, manifest: &str) {
    node.write(&format!("{name}.hcl"), manifest);
    node.run(&["compile", &format!("{name}.hcl"), "-o", &format!("{name}.wasm.tar")]).success();
}

/// A node with a run that ended well, one that failed, and one that was refused.
fn with_runs() -> TestNode {
    let node = node();
    compile(&node, "site", SITE);
    compile(&node, "broken", BROKEN);
    compile(&node, "other", OTHER);
    node.run(&["apply", "site.wasm.tar"]).success();
    node.run(&["apply", "broken.wasm.tar"]).exits_with(1);
    node.run(&["apply", "other.wasm.tar"]).exits_with(4);
    node
}

/// The records of a command, as they are.
fn records(node: &TestNode, arguments: &[&str]) -> Vec<Json> {
    let output = node.command(arguments).arg("--json").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The ids of all runs, oldest first.
fn ids(node: &TestNode) -> Vec<String> {
    let runs = records(node, &["history"]);
    runs.iter().filter_map(|record| record["run"]["id"].as_str()).map(str::to_owned).collect()
}

/// A table without the widths of its columns and the times in it.
fn cells(output: &CommandOutput) -> String {
    let (gap, time) = (Regex::new(" {2,}").unwrap(), Regex::new(r"\| [\d.]+ (ms|s) \|").unwrap());
    let lines = output.stdout.lines().map(|line| time.replace(&gap.replace_all(line, " | "), "| [duration] |").into_owned());
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn no_run_on_record_is_said_and_makes_no_state() {
    let node = node();
    assert_snapshot!(node.run(&["history"]), @r#"
    exit 0
    --- stderr
    no run is on record here
    "#);
    assert_snapshot!(node.run(&["history", "--owner", "site", "--json"]), @r#"
    exit 0
    --- stdout
    {"record":"result","version":1,"seq":0,"command":"history","exit":0,"outcome":"done","data":{"has_older":false,"runs":0}}
    --- stderr
    no run of `site` is on record here
    "#);
    assert_snapshot!(node.run(&["show"]), @r#"
    exit 0
    --- stderr
    no run is on record here
    "#);
    assert_snapshot!(node.run(&["show", "--json"]), @r#"
    exit 0
    --- stdout
    {"record":"result","version":1,"seq":0,"command":"show","exit":0,"outcome":"done","data":{"run":null}}
    --- stderr
    no run is on record here
    "#);
    node.run(&["show", "0"]).exits_with(64);
    assert_snapshot!(node.run(&["release", "site"]), @r#"
    exit 64
    --- stderr
    usage error: nothing of `site` is on record here
    "#);
    assert!(!node.state_dir().exists(), "to look is not to make");
}

#[test]
fn history_lists_runs_with_the_newest_last() {
    let node = with_runs();
    node.run(&["plan", "site.wasm.tar"]).success();
    assert_snapshot!(cells(&node.run(&["history"]).success()), @r#"
    run | began | took | mode | owner | outcome | resources
    [short] | [time] | [duration] | apply | site | converged | 2 changed, 0 unchanged, 0 skipped
    [short] | [time] | [duration] | apply | broken | failed | 1 failed, 1 unmet, 0 unchanged, 0 skipped
    [short] | [time] | [duration] | apply | other | refused | -
    "#);
    assert_snapshot!(cells(&node.run(&["history", "--owner", "site"]).success()), @r#"
    run | began | took | mode | owner | outcome | resources
    [short] | [time] | [duration] | apply | site | converged | 2 changed, 0 unchanged, 0 skipped
    "#);
    let newest = node.run(&["history", "--limit", "1"]).success();
    assert_snapshot!(cells(&newest), @r#"
    run | began | took | mode | owner | outcome | resources
    [short] | [time] | [duration] | apply | other | refused | -
    "#);
    assert_snapshot!(newest.stderr, @"older runs are on record: see `--limit`");
    let all = records(&node, &["history"]);
    assert_eq!(all.iter().map(|record| record["seq"].as_u64().unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert_eq!(all[1]["run"]["counts"]["failed"], 1);
    assert_eq!(all[3]["data"], serde_json::json!({ "runs": 3, "has_older": false }));
}

#[test]
fn a_failed_run_is_shown_with_its_cause_in_the_first_three_lines() {
    let node = with_runs();
    let shown = node.run(&["show", &ids(&node)[1][..8]]).success();
    let first: Vec<&str> = shown.stdout.lines().take(3).collect();
    assert!(first.join("\n").contains("`file.lost` failed in apply: the directory that is to hold it does not exist"), "{shown}");
    assert_snapshot!(shown, @r#"
    exit 0
    --- stdout
    run [run]: apply of `broken`, failed
    cause: `file.lost` failed in apply: the directory that is to hold it does not exist
    hint: declare that directory too: it then goes first; or set `parents = true`
    serial 0, bundle [short], began [time], took [duration]

      ! file.lost: failed in apply [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)
        error: the directory that is to hold it does not exist
        where: module `file`, phase `apply`, attribute `path`
        left: nothing had changed yet
        hint: declare that directory too: it then goes first; or set `parents = true`
        used: [duration] of 5 min, [size] of [size]

      ? file.later: unmet [file [short]]
        reason: it requires `file.lost`, which is failed

    apply: 1 failed, 1 unmet, 0 unchanged, 0 skipped
    "#);
}

#[test]
fn a_run_that_ended_well_is_shown_with_every_resource() {
    let node = with_runs();
    let ids = ids(&node);
    assert_snapshot!(node.run(&["show", &ids[0]]).success(), @r#"
    exit 0
    --- stdout
    run [run]: apply of `site`, converged
    serial 0, bundle [short], began [time], took [duration]

      + file.folder: created [file [short]]
        ensure: "absent" -> "directory" (nothing is there yet)
        used: [duration] of 5 min, [size] of [size]

      + file.note: created [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)
        mode: (none) -> "0640" (set as it is made)
        used: [duration] of 5 min, [size] of [size]

    apply: 2 changed, 0 unchanged, 0 skipped
    "#);
    node.run(&["apply", "site.wasm.tar"]).success();
    let newest = node.run(&["show"]).success();
    assert!(newest.stdout.contains("= file.note: unchanged") && newest.stdout.contains("used: [duration] of"), "{newest}");
    let shown = records(&node, &["show", &ids[0]]);
    assert_eq!((shown[0]["resource"]["id"].as_str(), shown.len()), (Some("file.folder"), 3));
    let limits = &shown[1]["resource"]["limits"];
    assert!(limits["deadline_ms"].as_u64() > Some(0) && limits["memory_used_bytes"].as_u64() > Some(0), "{limits}");
    assert!(limits["memory_used_bytes"].as_u64() <= limits["memory_bytes"].as_u64(), "{limits}");
    assert_eq!((&shown[2]["data"]["cause"], &shown[2]["data"]["report"]["report_version"]), (&Json::Null, &Json::from(2)));
}

#[test]
fn a_refused_run_is_shown_with_what_was_refused() {
    let node = with_runs();
    assert_snapshot!(node.run(&["show"]).success(), @r#"
    exit 0
    --- stdout
    run [run]: apply of `other`, refused
    cause: path `/srv/note`, claimed by `file.note` of `other`, is held by `file.note` of `site`
    began [time], took [duration]
    "#);
}

#[test]
fn a_run_that_is_not_on_record_is_a_usage_error() {
    let node = with_runs();
    let unknown = if ids(&node).iter().any(|id| id.starts_with("0000")) { "ffff" } else { "0000" };
    let output = node.run(&["show", unknown]).exits_with(64);
    assert!(output.stderr.contains("no run on record begins with") && output.stderr.contains("runtime history"), "{output}");
    assert_snapshot!(node.run(&["show", "newest"]), @r#"
    exit 64
    --- stderr
    error: invalid value 'newest' for '[RUN]': it must be 1 to 32 lower-case hex digits

    For more information, try '--help'.
    "#);
    // Seventeen runs cannot all begin with another digit.
    for _ in 0..14 {
        node.run(&["apply", "site.wasm.tar"]).success();
    }
    let ids = ids(&node);
    let doubled = ids.iter().find(|id| ids.iter().filter(|other| other[..1] == id[..1]).count() > 1).unwrap();
    let output = node.run(&["show", &doubled[..1]]).exits_with(64);
    assert!(output.stderr.contains("more than one run begins with") && output.stderr.contains("give more of its id"), "{output}");
}

#[test]
fn an_owner_gives_up_one_object_and_then_all() {
    let node = with_runs();
    assert_snapshot!(node.run(&["release", "site", "--noop"]), @r#"
    exit 0
    --- stdout
    file.folder: path /srv
    file.note: path /srv/note
    release: 2 claims of `site` would be given up
    "#);
    assert_snapshot!(node.run(&["release", "site", "path:/srv/note", "--json"]), @r#"
    exit 0
    --- stdout
    {"record":"result","version":1,"seq":0,"command":"release","exit":0,"outcome":"done","data":{"forgotten":["file.note"],"lapsed":[],"noop":false,"owner":"site","released":[{"claim":{"domain":"path","key":"/srv/note","qualifier":""},"resource":"file.note"}],"run":"[run]"}}
    "#);
    node.run(&["apply", "other.wasm.tar"]).success();
    assert_eq!(node.read("root/srv/note"), "mine\n", "the object is free for another owner");
    node.run(&["apply", "site.wasm.tar"]).exits_with(4);
    assert_snapshot!(node.run(&["release", "site"]), @r#"
    exit 0
    --- stdout
    file.folder: path /srv
    release: 1 claim of `site` given up
    "#);
    assert!(node.root().join("srv").is_dir(), "what is there stays");
    assert_snapshot!(node.run(&["show"]).success(), @r#"
    exit 0
    --- stdout
    run [run]: release of `site`, released
    began [time], took [duration]

      file.folder: path /srv

    release: 1 claim given up
    "#);
    assert_snapshot!(node.run(&["release", "site"]), @r#"
    exit 0
    --- stderr
    `site` holds nothing here
    "#);
    assert_snapshot!(node.run(&["release", "site", "path:/srv/note"]), @r#"
    exit 0
    --- stderr
    `site` does not hold the path `/srv/note`
      it is held by `file.note` of `other`
    "#);
    let history = node.run(&["history", "--limit", "1"]).success();
    assert!(history.stdout.contains("release  site   released"), "{history}");
}

#[test]
fn an_owner_that_nobody_knows_is_a_usage_error_with_those_that_are_known() {
    let node = with_runs();
    assert_snapshot!(node.run(&["release", "sitee"]), @r#"
    exit 64
    --- stderr
    usage error: nothing of `sitee` is on record here
    hint: did you mean `site`?
    "#);
    assert_snapshot!(node.run(&["release", "site", "/srv/note"]), @r#"
    exit 64
    --- stderr
    error: invalid value '/srv/note' for '[DOMAIN:KEY]': it must be DOMAIN:KEY, as in `path:/etc/motd`

    For more information, try '--help'.
    "#);
}

#[test]
fn an_object_that_its_owner_never_held_is_a_usage_error_with_those_that_it_holds() {
    let node = with_runs();
    assert_snapshot!(node.run(&["release", "site", "path:/srv/notes"]), @r#"
    exit 64
    --- stderr
    usage error: `site` does not hold the path `/srv/notes`
    hint: did you mean `path:/srv/note`?
    "#);
    assert_snapshot!(node.run(&["release", "site", "unit:nginx.service", "--noop"]), @r#"
    exit 64
    --- stderr
    usage error: `site` does not hold the unit `nginx.service`
    hint: known here: `path:/srv`, `path:/srv/note`
    "#);
    assert_snapshot!(node.run(&["release", "broken", "path:/srv/note"]), @"
    exit 64
    --- stderr
    usage error: `broken` does not hold the path `/srv/note`: it is held by `file.note` of `site`
    hint: known here: `path:/etc/later`, `path:/no/such/folder/lost`
    ");
}

#[test]
fn nothing_is_given_up_while_a_run_holds_the_lock() {
    let node = with_runs();
    let lock = std::fs::File::open(node.state_dir().join("lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    for arguments in [&["release", "site"][..], &["release", "site", "--noop"], &["history"], &["show"]] {
        let output = node.run(arguments).exits_with(75);
        assert!(output.stderr.contains("holds the lock of the state folder"), "{output}");
    }
    drop(lock);
    assert!(node.run(&["release", "site", "--noop"]).success().stdout.contains("release: 2 claims of `site` would be given up"));
}
