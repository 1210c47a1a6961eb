//! Programs of the node: commands with guards, what they leave behind, and files that a program looks at first.

use std::time::{Duration, Instant};

use insta::assert_snapshot;
use testkit::TestNode;

use crate::node;

/// A node with a shell and the usual small programs in its root, and `site.wasm.tar` from `manifest`.
pub(crate) fn compiled(manifest: &str) -> TestNode {
    let node = node();
    let busybox = std::fs::read("/bin/busybox")
        .expect("these tests need a static busybox at /bin/busybox: Debian's package `busybox-static`");
    for name in ["bin/sh", "bin/test", "bin/sleep", "bin/setsid", "bin/touch", "bin/grep", "bin/cat"] {
        node.write(&format!("root/{name}"), &busybox);
        let path = node.root().join(name);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    node.write("root/srv/keep", "");
    compile(&node, manifest);
    node
}

fn compile(node: &TestNode, manifest: &str) {
    node.write("site.hcl", manifest);
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
}

fn plan(node: &TestNode) -> testkit::CommandOutput {
    node.run(&["plan", "site.wasm.tar"])
}

pub(crate) fn apply(node: &TestNode) -> testkit::CommandOutput {
    node.run(&["apply", "site.wasm.tar"])
}

/// That the output has this text.
#[track_caller]
pub(crate) fn says(output: &testkit::CommandOutput, text: &str) {
    let all = output.to_string();
    assert!(all.contains(text), "`{text}` is not in\n{all}");
}

/// Whether a process lives that has `mark` as an argument.
pub(crate) fn lives(mark: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == mark.as_bytes())
    })
}

pub(crate) fn wait_until(mark: &str, living: bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while lives(mark) != living {
        assert!(
            Instant::now() < until,
            "a process with the argument `{mark}` {}",
            if living { "never began" } else { "still lives" }
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Seconds to sleep that no other process sleeps.
pub(crate) fn mark(test: u32) -> String {
    format!("7{test}{}", std::process::id())
}

#[test]
fn a_command_runs_when_its_guards_say_so_and_once() {
    let node = compiled(
        r#"
resource "exec" "made" {
  shell   = "echo made > /srv/made; echo told"
  creates = "/srv/made"
}

resource "exec" "marked" {
  command = ["/bin/touch", "/srv/marked"]
  unless  = ["/bin/test", "-e", "/srv/marked"]
  only_if = ["/bin/test", "-e", "/srv/keep"]
}

resource "exec" "idle" {
  command = ["/bin/touch", "/srv/idle"]
  only_if = ["/bin/test", "-e", "/srv/absent"]
}
"#,
    );
    assert_snapshot!(plan(&node), @r#"
    exit 0
    --- stdout
    plan of `site`, serial 0, bundle [short]

      ~ exec.made: would update [exec [short]]
        shell: (none) -> "echo made > /srv/made; echo told" (nothing is at `/srv/made`)

      ~ exec.marked: would update [exec [short]]
        command: (none) -> "/bin/touch /srv/marked" (`unless` does not hold: it ended with code 1, and `only_if` holds)

    plan: 2 would change, 1 unchanged, 0 skipped
    "#);
    assert!(!node.root().join("srv/made").exists());
    assert_snapshot!(apply(&node), @r#"
    exit 0
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      ~ exec.made: updated [exec [short]]
        shell: (none) -> "echo made > /srv/made; echo told" (nothing is at `/srv/made`)

      ~ exec.marked: updated [exec [short]]
        command: (none) -> "/bin/touch /srv/marked" (`unless` does not hold: it ended with code 1, and `only_if` holds)

    apply: 2 changed, 1 unchanged, 0 skipped
    "#);
    assert_eq!(node.read("root/srv/made"), "made\n");
    assert!(node.root().join("srv/marked").exists() && !node.root().join("srv/idle").exists());
    says(&plan(&node).success(), "plan: nothing to do, 3 unchanged");
}

#[test]
fn a_guard_that_writes_is_denied_in_a_plan_and_the_file_absent() {
    let node = compiled(
        r#"
resource "exec" "sly" {
  command = ["/bin/touch", "/srv/ran"]
  unless  = ["/bin/sh", "-c", "echo x > /srv/written"]
}
"#,
    );
    says(&plan(&node).success(), "`unless` does not hold: it ended with code 1");
    assert!(!node.root().join("srv/written").exists() && !node.root().join("srv/ran").exists());
}

#[test]
fn a_daemon_of_a_command_is_dead_at_the_deadline() {
    let mark = mark(1);
    let node = compiled(&format!(
        r#"
resource "exec" "daemon" {{
  shell   = "setsid sh -c 'setsid sleep {mark} </dev/null >/dev/null 2>&1 &' ; sleep 600"
  always  = true
  timeout = 1
}}
"#
    ));
    says(&apply(&node).exits_with(1), "the command failed: its time was over");
    assert!(!lives(&mark));
}

#[test]
fn a_command_whose_run_is_killed_dies_with_it_and_the_next_run_decides_again() {
    let mark = mark(2);
    let node = compiled(&format!(
        r#"
resource "exec" "slow" {{
  shell   = "test -e /srv/second || {{ touch /srv/second; setsid sh -c 'setsid sleep {mark} &'; sleep {mark}; }}; touch /srv/done"
  creates = "/srv/done"
}}
"#
    ));
    let mut run = node.command(&["apply", "site.wasm.tar"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_until(&mark, true);
    run.kill().unwrap();
    run.wait().unwrap();
    wait_until(&mark, false);
    assert!(!node.root().join("srv/done").exists());
    apply(&node).success();
    assert!(node.root().join("srv/done").exists());
    says(&plan(&node).success(), "plan: nothing to do, 1 unchanged");
}

#[test]
fn a_command_of_a_user_that_is_not_there_yet_can_be_planned_and_fails_in_its_turn() {
    let manifest = "resource \"exec\" \"migrate\" {\n  command = [\"/bin/touch\", \"/srv/done\"]\n  creates = \"/srv/done\"\n  user = \"app\"\n}\n";
    let node = compiled(manifest);
    let plan = plan(&node);
    says(&plan, "exit 0");
    says(&plan, "nobody has the name of its user or group on the node yet");
    let failed = apply(&node);
    says(&failed, "exit 1");
    says(&failed, "this node has no user of the name in `user`");
    assert!(!node.root().join("srv/done").exists());
}

#[test]
fn a_failure_says_what_the_command_said_and_tries_are_counted() {
    let node = compiled(
        r#"
resource "exec" "failing" {
  shell  = "echo x >> /srv/tries; echo 'no luck' >&2; exit 3"
  always = true
  tries  = 3
}
"#,
    );
    assert_snapshot!(apply(&node), @r#"
    exit 1
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      ! exec.failing: failed in apply [exec [short]]
        shell: (none) -> "echo x >> /srv/tries; echo 'no luck' >&2; exit 3" (it runs in every run)
        error: the command failed, tried 3 times: it ended with code 3, and it succeeds with 0
        where: module `exec`, phase `apply`
        left: it is not known whether it has changed
        hint: it said: no luck
        log: try 1 of 3: it ended with code 3
        log: try 2 of 3: it ended with code 3

    apply: 1 failed, 0 unchanged, 0 skipped
    "#);
    assert_eq!(node.read("root/srv/tries"), "x\nx\nx\n");
}

#[test]
fn a_sensitive_argument_is_shown_nowhere() {
    let node = compiled(
        r#"
variable "password" {
  default   = "hunter2"
  sensitive = true
}

resource "exec" "login" {
  command = ["/bin/sh", "-c", "echo \"$1\" > /srv/told; echo \"$1\"; exit 4", "sh", var.password]
  always  = true
}
"#,
    );
    let output = apply(&node).exits_with(1);
    assert_eq!(node.read("root/srv/told"), "hunter2\n");
    says(&output, "its output is sensitive, so it is not shown");
    says(&output, "(sensitive)");
    assert!(!format!("{output}").contains("hunter2"));
}

#[test]
fn a_command_that_only_a_refresh_runs_runs_once_for_a_change() {
    let node = compiled(
        r#"
resource "file" "config" {
  path    = "/srv/config"
  content = "one\n"
}

resource "exec" "reload" {
  shell        = "echo x >> /srv/reloads"
  refresh_only = true
  meta {
    subscribe = [file.config]
  }
}
"#,
    );
    apply(&node).success();
    assert_eq!(node.read("root/srv/reloads"), "x\n");
    apply(&node).success();
    assert_eq!(node.read("root/srv/reloads"), "x\n", "nothing changed");
}

#[test]
fn a_file_that_its_validation_refuses_leaves_the_old_one() {
    let manifest = |content: &str| {
        format!(
            r#"
resource "file" "config" {{
  path     = "/srv/config"
  content  = "{content}\n"
  validate = ["/bin/sh", "-c", "grep -q good \"$1\" || {{ echo 'not good' >&2; exit 2; }}", "sh", "{{}}"]
}}
"#
        )
    };
    let node = compiled(&manifest("good"));
    apply(&node).success();
    compile(&node, &manifest("bad"));
    assert_snapshot!(apply(&node), @r#"
    exit 1
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      ! file.config: failed in apply [file [short]]
        content: "sha256:[digest]" -> "sha256:[digest]" (the content differs)
          @@ -1 +1 @@
          -good
          +bad
        error: `validate` refuses the new file, and what was there stays: it ended with code 2
        where: module `file`, phase `apply`, attribute `validate`
        left: nothing had changed yet
        hint: it said: not good

    apply: 1 failed, 0 unchanged, 0 skipped
    "#);
    assert_eq!(node.read("root/srv/config"), "good\n");
    let leftovers = std::fs::read_dir(node.root().join("srv"))
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(".runtime-"));
    assert_eq!(leftovers.count(), 0);
}

#[test]
fn a_health_check_is_tried_until_it_is_well_and_fails_the_resource_if_it_never_is() {
    let manifest = |script: &str| {
        format!(
            r#"
resource "file" "page" {{
  path    = "/srv/page"
  content = "hello\n"
  meta {{
    health {{
      command = ["/bin/sh", "-c", "{script}"]
      format  = "nagios"
      tries   = 3
      sleep   = "10ms"
    }}
  }}
}}

resource "file" "after" {{
  path = "/srv/after"
  meta {{
    require = [file.page]
  }}
}}
"#
        )
    };
    let node = compiled(&manifest("echo x >> /srv/asked; test $(grep -c x /srv/asked) -ge 2 && echo PAGE OK '| a=1' || exit 2"));
    assert_snapshot!(plan(&node), @r#"
    exit 0
    --- stdout
    plan of `site`, serial 0, bundle [short]

      + file.page: would create [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
          @@ -0,0 +1 @@
          +hello
        ensure: "absent" -> "file" (nothing is there yet)
        health: would be checked

      + file.after: would create [file [short]]
        ensure: "absent" -> "file" (nothing is there yet)

    plan: 2 would change, 0 unchanged, 0 skipped
    "#);
    assert!(!node.root().join("srv/asked").exists(), "a plan asks nothing");
    assert_snapshot!(apply(&node), @r#"
    exit 0
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      + file.page: created [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)
        health: ok after 2 tries: PAGE OK

      + file.after: created [file [short]]
        ensure: "absent" -> "file" (nothing is there yet)

    apply: 2 changed, 0 unchanged, 0 skipped
    "#);
    compile(&node, &manifest("echo PAGE CRITICAL; exit 2"));
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--health-only"]), @r#"
    exit 1
    --- stdout
    plan of `site`, serial 0, bundle [short]

      ! file.page: failed [file [short]]
        reason: its health check is critical
        health: critical after 3 tries: PAGE CRITICAL

      ? file.after: unmet [file [short]]
        reason: it requires `file.page`, which is failed

    plan: 1 failed, 1 unmet, 0 unchanged, 0 skipped
    "#);
}
