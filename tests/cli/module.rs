//! For authors: module new, build, inspect, and a stranger's module on a node.

use insta::assert_snapshot;
use testkit::TestNode;

use crate::node;

/// Compilers need more of the machine than a node does.
fn build(node: &TestNode, arguments: &[&str]) -> std::process::Output {
    let mut command = node.command(arguments);
    for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUNTIME_WASM_TOOLCHAIN", "CARGO_NET_OFFLINE"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.output().unwrap()
}

#[test]
fn inspect_a_built_in_module() {
    assert_snapshot!(node().run(&["module", "inspect", "file"]), @"");
}

#[test]
fn what_is_no_module() {
    let node = node();
    node.write("text.wasm", "not wasm");
    assert_snapshot!(node.run(&["module", "inspect", "text.wasm"]), @"");
    assert_snapshot!(node.run(&["module", "inspect", "./file"]), @"");
}

#[test]
fn new_writes_a_crate_once() {
    let node = node();
    assert_snapshot!(node.run(&["module", "new", "greeting"]), @"");
    assert_snapshot!(node.run(&["module", "new", "greeting"]), @"");
    assert_snapshot!(node.run(&["module", "new", "Greeting"]), @"");
}

#[test]
fn a_new_module_is_built_inspected_granted_and_held_to_its_grant() {
    let node = node();
    node.run(&["module", "new", "greeting"]).success();
    let built = build(&node, &["module", "build", "greeting", "-o", "greeting.wasm"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let digest = String::from_utf8(built.stdout).unwrap();
    assert_snapshot!(node.run(&["module", "inspect", "greeting.wasm"]), @"");

    node.write("site.hcl", "resource \"greeting\" \"hello\" {\n  path = \"/srv/hello\"\n  text = \"Hello\"\n}\n");
    node.write("root/srv/.keep", "");
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar", "--module", "greeting=greeting.wasm"]).success();
    node.write("empty.hcl", "");
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--policy", "empty.hcl"]), @"");

    let row = |scope: &str| {
        format!(
            "module \"greeting\" {{\n  digest = \"{}\"\n  files {{\n    read  = [\"{scope}\"]\n    write = [\"{scope}\"]\n  }}\n}}\n",
            digest.trim()
        )
    };
    node.write("narrow.hcl", row("/srv/greetings/**"));
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--policy", "narrow.hcl"]), @"");
    assert!(!node.path("root/srv/hello").exists());

    node.write("policy.hcl", row("/srv/**"));
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--policy", "policy.hcl"]), @"");
    assert_eq!(node.read("root/srv/hello"), "Hello\n");
}
