//! The examples in the help of each command, run as they stand there.
//!
//! They meet a folder with what they name, and a node of its own: commands about a node are told of its root, and absolute paths are taken below
//! the folder. What follows a `|` is another program's matter.

use std::path::Path;
use std::process::{Command, Output};

use runtime::builtins;
use runtime::cli::args::Arguments;
use testkit::{TestNode, guests};

use crate::node;

const SITE: &str = r#"
variable "role" {
  type    = string
  default = "web"
}

resource "file" "motd" {
  path    = "/etc/motd"
  content = "${var.role} on ${facts.os.id}\n"
}
"#;

/// Gives commands about a node its root and its state, where they name none.
const WRAPPER: &str = r#"#!/bin/sh
case "$1 $*" in
*--root*) ;;
plan\ *|apply\ *|recover\ *|history\ *|show\ *|release\ *) set -- "$@" --root root --state-dir state ;;
facts\ *) set -- "$@" --root root ;;
esac
exec PROGRAM "$@"
"#;

/// These compile a crate, which tests/cli/module.rs does with the same words.
const BUILT_ELSEWHERE: [&str; 2] = ["runtime module build", "runtime module build nginx_vhost -o nginx_vhost.wasm"];

/// Every example with the code that it ends with: 0, or the number at the beginning of its comment.
fn examples(command: &clap::Command) -> Vec<(String, i32)> {
    let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let lines = help.lines().filter_map(|line| line.strip_prefix("  ")).filter(|line| line.starts_with("runtime "));
    let own = lines.map(|line| {
        let (line, comment) = line.split_once(" # ").unwrap_or((line, ""));
        let code = comment.split_whitespace().next().and_then(|word| word.parse().ok()).unwrap_or(0);
        (line.trim().to_owned(), code)
    });
    own.chain(command.get_subcommands().flat_map(examples)).collect()
}

/// A node with all that the examples name.
fn prepared() -> TestNode {
    let node = node();
    node.write("site.hcl", SITE);
    node.write("db1-facts.json", node.run(&["facts"]).success().stdout);
    node.write("image/etc/os-release", "ID=image\n");
    node.write("image-policy.hcl", "");
    for folder in ["etc/bash_completion.d", "usr/local/share/man"] {
        std::fs::create_dir_all(node.path(folder)).unwrap();
    }
    // Of a module of one's own it matters here that it is one, and that it has the name that it is given under.
    let module = builtins::all().iter().find(|builtin| !builtin.samples.is_empty()).unwrap();
    node.write("nginx_vhost.wasm", module.bytes);
    node.write("samples.hcl", module.samples);
    node.write("sampler.wasm", guests::SAMPLER);
    let wrapper = WRAPPER.replace("PROGRAM", env!("CARGO_BIN_EXE_runtime"));
    node.write("bin/runtime", wrapper);
    std::fs::set_permissions(node.path("bin/runtime"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    node
}

fn run(node: &TestNode, line: &str) -> Output {
    let folder = node.path("");
    let line = line.split(" | ").next().unwrap_or(line).replace("nginx_vhost=nginx_vhost.wasm", "sampler=sampler.wasm");
    let line = line.replace("/mnt/image", "image").replace(" /", &format!(" {}", folder.display()));
    let path = format!("{}:/usr/bin:/bin", node.path("bin").display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(&folder).env_clear().env("PATH", path).env("HOME", node.path("home"));
    shell.env("RUNTIME_CACHE_DIR", Path::new(env!("CARGO_BIN_EXE_runtime")).with_file_name("test-code-cache"));
    shell.output().unwrap()
}

/// The id of the newest run.
fn newest(node: &TestNode) -> String {
    let output = node.command(&["show", "--json"]).output().unwrap();
    let last = String::from_utf8(output.stdout).unwrap().lines().last().unwrap_or_default().to_owned();
    let record: serde_json::Value = serde_json::from_str(&last).unwrap();
    record["data"]["run"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn every_example_in_the_help_ends_as_it_says() {
    let node = prepared();
    let examples = examples(&Arguments::described());
    assert!(examples.len() > 40, "{examples:?}");
    for (line, code) in &examples {
        if BUILT_ELSEWHERE.contains(&line.as_str()) {
            continue;
        }
        let line = if line.contains(" RUN") { line.replace(" RUN", &format!(" {}", newest(&node))) } else { line.clone() };
        let output = run(&node, &line);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(*code), "`{line}`:\n{said}");
    }
    for built in BUILT_ELSEWHERE {
        assert!(examples.iter().any(|(line, _)| line == built), "`{built}` is no example any more");
    }
}

#[test]
fn every_command_has_an_example() {
    fn without(command: &clap::Command, found: &mut Vec<String>) {
        let has_children = command.get_subcommands().next().is_some();
        if !has_children && examples(command).is_empty() {
            found.push(command.get_name().to_owned());
        }
        command.get_subcommands().for_each(|child| without(child, found));
    }
    let mut found = Vec::new();
    without(&Arguments::described(), &mut found);
    assert_eq!(found, Vec::<String>::new());
}
