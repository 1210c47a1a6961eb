//! What a person at a terminal sees while a run goes on: a bar that names what is at work, and nothing of it afterwards.

use std::process::Command;

use testkit::TestNode;

use crate::node;

const SLOW: &str = r#"
resource "exec" "slow" {
  command = ["/bin/sleep", "1"]
  always  = true
}
"#;

fn slow() -> TestNode {
    let node = node();
    let busybox = std::fs::read("/bin/busybox").expect("this test needs a static busybox: Debian's package `busybox-static`");
    node.write("root/bin/sleep", busybox);
    std::fs::set_permissions(node.root().join("bin/sleep"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    node.write("site.hcl", SLOW);
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    node
}

/// What the program writes when a terminal is on all of its ends.
fn at_terminal(node: &TestNode, arguments: &[&str]) -> String {
    let command = node.command(arguments);
    let words: Vec<String> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(|word| format!("'{}'", word.display())).collect();
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &words.join(" "), "/dev/null"]).env_clear();
    script.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("TERM", "xterm").env("PATH", "/usr/bin:/bin").current_dir(node.path("."));
    let output = script.output().expect("this test needs `script`: Debian's package `bsdutils`");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_long_run_at_a_terminal_names_what_is_at_work() {
    let node = slow();
    let shown = at_terminal(&node, &["apply", "site.wasm.tar"]);
    assert!(shown.contains("apply [") && shown.contains("0/1") && shown.contains("exec.slow"), "{shown:?}");
    let report = shown.rfind("run ").unwrap();
    assert!(!shown[report..].contains("apply ["), "the bar is gone before the report: {shown:?}");
}

#[test]
fn nothing_of_it_is_written_to_files_or_beside_records() {
    let node = slow();
    let output = node.run(&["apply", "site.wasm.tar"]).success();
    assert_eq!(output.stderr, "");
    let shown = at_terminal(&node, &["apply", "site.wasm.tar", "--json"]);
    assert!(!shown.contains("apply [") && !shown.contains('\u{1b}'), "{shown:?}");
}
