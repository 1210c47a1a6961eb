//! What ends the loop is found, told, and kept as small as it can be made; what does not, is not.
#![allow(clippy::disallowed_methods, reason = "runs the program and looks at the files that it makes")]

use std::path::Path;
use std::process::Command;

/// How a run of a target ends: whether well, and what it says.
fn run(target: &str, seconds: &str, folder: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fuzz"));
    command.args(["run", target, "--seconds", seconds, "--seed", "1", "--folder"]).arg(folder);
    let output = command.output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

/// The input that a run of a faulty target keeps, and what it says.
fn finding(target: &str) -> (Vec<u8>, String) {
    let folder = tempfile::tempdir().unwrap();
    let (is_well, said) = run(target, "10", folder.path());
    assert!(!is_well, "{said}");
    let kept: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert!(said.contains(&format!("`{target}` was ended by the input in {}", kept[0].display())), "{said}");
    assert!(said.contains(&format!("tests/fuzz/cases/{target}/")), "{said}");
    (std::fs::read(&kept[0]).unwrap(), said)
}

#[test]
fn a_panic_is_found_and_made_small() {
    let (input, said) = finding("faulty-panic");
    assert_eq!(input, b"!");
    assert!(said.contains("an exclamation mark"), "{said}");
}

#[test]
fn too_much_memory_is_found() {
    let (input, said) = finding("faulty-memory");
    assert!((64..=66).contains(&input.len()), "{} bytes", input.len());
    assert!(said.contains("memory allocation of"), "{said}");
}

#[test]
fn too_much_time_is_found() {
    let (input, said) = finding("faulty-time");
    assert!(input.len() > 40);
    assert!(said.contains("an input takes longer than 1s"), "{said}");
}

#[test]
fn an_overflown_stack_is_found() {
    let (_, said) = finding("faulty-stack");
    assert!(said.contains("overflowed its stack"), "{said}");
}

#[test]
fn a_target_without_a_flaw_ends_well_and_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (is_well, said) = run("names", "1", folder.path());
    assert!(is_well, "{said}");
    assert!(said.contains("no finding"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
