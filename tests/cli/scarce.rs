//! A machine that gives the program less than it asks for: it does without, and says so to who looks.

use std::process::Command;

use testkit::{CommandOutput, TestNode};

use crate::node;

const SITE: &str = "resource \"file\" \"note\" {\n  path    = \"/srv/note\"\n  content = \"one\\n\"\n}\n";

/// Enough addresses for everything but slots, which take more even for one attempt: 64 GiB, as `ulimit` counts.
const FEW_ADDRESSES: &str = "67108864";

/// What is said where instances have no slots.
const WITHOUT_SLOTS: &str = "instances have no slots";

fn compiled() -> TestNode {
    let node = node();
    node.write("root/srv/.keep", "");
    node.write("site.hcl", SITE);
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar"]).success();
    node
}

/// Runs the program where it may have few addresses.
fn run_with_few_addresses(node: &TestNode, arguments: &[&str]) -> CommandOutput {
    let whole = node.command(arguments);
    let mut limited = Command::new("/bin/sh");
    limited.args(["-c", &format!("ulimit -v {FEW_ADDRESSES} && exec \"$0\" \"$@\"")]).arg(whole.get_program());
    limited.args(whole.get_args()).current_dir(node.path("")).env_clear();
    limited.envs(whole.get_envs().filter_map(|(name, value)| Some((name, value?))));
    CommandOutput::new(&limited.output().unwrap(), &node.path("").display().to_string())
}

#[test]
fn a_run_has_slots_at_any_parallelism_and_no_more_can_be_asked_for() {
    let node = compiled();
    for parallelism in ["1", "256"] {
        let output = node.run(&["plan", "site.wasm.tar", "-v", "--parallelism", parallelism]).success();
        assert!(!output.stderr.contains(WITHOUT_SLOTS), "{parallelism}: {output}");
    }
    let refused = node.run(&["plan", "site.wasm.tar", "--parallelism", "257"]).exits_with(64);
    assert!(refused.stderr.contains("257 is not in 1..=256"), "{refused}");
}

#[test]
fn without_addresses_for_slots_a_run_does_the_same_and_says_so() {
    let node = compiled();
    for parallelism in ["1", "256"] {
        let output = run_with_few_addresses(&node, &["plan", "site.wasm.tar", "-v", "--parallelism", parallelism]).success();
        let line = output.stderr.lines().find(|line| line.contains(WITHOUT_SLOTS));
        assert!(line.is_some_and(|line| line.contains("WARN")), "{parallelism}: {output}");
        assert_eq!(output.stdout, node.run(&["plan", "site.wasm.tar", "-v"]).success().stdout);
    }
    run_with_few_addresses(&node, &["apply", "site.wasm.tar"]).success();
    assert_eq!(node.read("root/srv/note"), "one\n");
}
