//! Programs of this computer that the kit needs: run, or refused with what installs them.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

/// Runs a program that must succeed.
///
/// # Panics
/// If it is missing or fails: with what it said, and `needs`, which says what to do.
#[track_caller]
pub(crate) fn run<A: AsRef<OsStr>>(program: &str, arguments: impl IntoIterator<Item = A>, folder: &Path, needs: &str) {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("`{program}` cannot be run ({error}): {needs}"));
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last: Vec<&str> = said.lines().rev().take(20).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    assert!(output.status.success(), "`{program}` ended with {}: {needs}\n{}", output.status, last.join("\n"));
}
