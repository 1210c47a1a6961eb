//! What is run again: health checks that could not start, and commands that were interrupted.

use crate::programs::{apply, compiled, lives, mark, says, wait_until};

#[test]
fn a_health_check_that_cannot_start_is_tried_again_too() {
    let node = compiled(
        r#"
resource "file" "page" {
  path    = "/srv/page"
  content = "hello\n"
  meta {
    health {
      command = ["/bin/absent"]
      tries   = 3
      sleep   = "10ms"
    }
  }
}
"#,
    );
    let output = apply(&node).exits_with(1);
    says(&output, "health: unknown after 3 tries: starting `/bin/absent`");
}

/// A line for each time that it runs, in `file`; the first time it then goes on until it is killed.
fn script(file: &str, mark: &str) -> String {
    format!("echo x >> {file}; test -e /srv/second || {{ touch /srv/second; sleep {mark}; }}")
}

/// Applies, and kills the run while the command with this mark runs.
fn killed(node: &testkit::TestNode, mark: &str) {
    let mut run = node.command(&["apply", "site.wasm.tar"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    wait_until(mark, true);
    run.kill().unwrap();
    run.wait().unwrap();
    wait_until(mark, false);
    assert!(!lives(mark));
}

#[test]
fn an_interrupted_command_that_always_runs_runs_in_the_next_run() {
    let mark = mark(3);
    let command = script("/srv/runs", &mark);
    let node = compiled(&format!("resource \"exec\" \"it\" {{\n  shell  = \"{command}\"\n  always = true\n}}\n"));
    killed(&node, &mark);
    apply(&node).success();
    assert_eq!(node.read("root/srv/runs"), "x\nx\n");
}

#[test]
fn an_interrupted_command_that_only_a_refresh_runs_is_still_owed_and_runs_once() {
    let mark = mark(4);
    let command = script("/srv/reloads", &mark);
    let node = compiled(&format!(
        r#"
resource "file" "config" {{
  path    = "/srv/config"
  content = "one\n"
}}

resource "exec" "reload" {{
  shell        = "{command}"
  refresh_only = true
  meta {{
    subscribe = [file.config]
  }}
}}
"#
    ));
    killed(&node, &mark);
    apply(&node).success();
    assert_eq!(node.read("root/srv/reloads"), "x\nx\n", "the file is as it should be, and the refresh is owed");
    apply(&node).success();
    assert_eq!(node.read("root/srv/reloads"), "x\nx\n", "and no more");
}
