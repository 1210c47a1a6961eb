//! Facts of the node's owner from programs: run as queries in the root of the node, and refused for whatever is wrong.

use std::error::Error as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use host_functions::Node;
use serde_json::{Value as Json, json};

use crate::support::{give_up_namespaces, put_busybox, runner};

const FOLDER: &str = "etc/runtime/facts.d";

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// A root with a shell, and these scripts as facts.
fn root(scripts: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir_in("/var/lib").unwrap();
    for name in ["bin", "proc", "dev", "tmp", FOLDER] {
        std::fs::create_dir_all(root.path().join(name)).unwrap();
    }
    put_busybox(root.path());
    for (name, script) in scripts {
        let path = root.path().join(FOLDER).join(name);
        std::fs::write(&path, format!("#!/bin/busybox sh\n{script}\n")).unwrap();
        set_mode(&path, 0o755);
    }
    root
}

fn custom(root: &Path) -> Result<Json, String> {
    let opened = Node::open_with(root, &[], runner());
    let node = opened.map_err(|error| {
        let mut text = String::new();
        let mut cause = error.source();
        while let Some(error) = cause {
            text += &format!("{error}; ");
            cause = error.source();
        }
        text
    })?;
    Ok(node.facts().get(["custom"]).unwrap_or_default())
}

/// Why a fact that this script is to print is refused.
fn refusal(script: &str) -> String {
    custom(root(&[("a", script)]).path()).expect_err(script)
}

#[test]
fn what_a_program_prints_is_a_fact() {
    let root = root(&[("rack", r#"echo '{"row": 4}'"#), ("site.sh", "busybox=/bin/busybox; $busybox cat /etc/site")]);
    std::fs::write(root.path().join("etc/site"), "\"north\"\n").unwrap();
    let data = root.path().join(FOLDER).join("zone.json");
    std::fs::write(&data, "[1]").unwrap();
    set_mode(&data, 0o755);
    assert_eq!(custom(root.path()), Ok(json!({"rack": {"row": 4}, "site": "north", "zone": [1]})), "data is never run");
}

#[test]
fn a_program_that_prints_a_fact_can_change_nothing() {
    let script = "for file in /etc/x /x /etc/runtime/facts.d/x; do { echo x > $file; } 2>/dev/null && exit 1; done; echo 1 > /tmp/x; echo true";
    let root = root(&[("a", script)]);
    assert_eq!(custom(root.path()), Ok(json!({"a": true})));
    for path in ["etc/x", "x", "tmp/x", "etc/runtime/facts.d/x"] {
        assert!(!root.path().join(path).exists(), "{path}");
    }
}

#[test]
fn a_program_that_prints_no_fact_is_named_and_not_quoted() {
    let path = "the custom fact `/etc/runtime/facts.d/a`";
    assert_eq!(refusal("exit 3"), format!("{path} is a program that ended with code 3; "));
    assert_eq!(refusal("kill -TERM $$"), format!("{path} is a program that was ended by signal 15; "));
    assert_eq!(refusal("echo hunter2"), format!("{path} prints what is not JSON: see line 1, column 1; "));
    let much = "i=0; while [ $i -lt 66 ]; do printf '%01024d' 1; i=$((i+1)); done";
    assert_eq!(refusal(much), format!("{path} prints more than 65536 bytes; "));
    assert!(refusal(r#"echo '"\u001b[0m"'"#).contains("control characters"));
    assert!(refusal("echo 1; echo 2").contains("prints what is not JSON: see line 2"));
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    assert!(refusal("while true; do :; done").contains("is a program that did not end in time: each has 5 s"));
}

#[test]
fn a_program_that_others_could_have_put_there_is_not_run() {
    let told = |path: &str, mode: u32| {
        let root = root(&[("a", "echo 1")]);
        set_mode(&root.path().join(path), mode);
        custom(root.path()).expect_err(path)
    };
    assert!(told("etc/runtime/facts.d/a", 0o775).contains("could have been written by others"));
    for folder in [FOLDER, "etc/runtime", "etc", ""] {
        assert!(told(folder, 0o777).contains("is a program in a folder that others can write"), "{folder}");
    }
    assert!(told("etc/runtime/facts.d/a", 0o644).contains("cannot be executed"));
}

#[test]
fn where_a_program_cannot_be_confined_its_fact_is_refused() {
    let root = root(&[("a", "echo 1 > /ran; echo 1")]);
    give_up_namespaces();
    let told = custom(root.path()).expect_err("it cannot be confined");
    assert!(told.contains("a program that cannot be run here as one that changes nothing"), "{told}");
    assert!(told.contains("making a process namespace"), "{told}");
    assert!(!root.path().join("ran").exists());
}
