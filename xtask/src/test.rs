//! All tests.

use crate::command::{self, output, workspace};
use crate::tools::{FOR_TESTS, install, require};
use crate::{Failure, setup};

/// Sets up and runs all tests: with nextest where it is installed, else with cargo's own runner.
pub(crate) fn run(arguments: &[&str]) -> Result<(), Failure> {
    let (ours, runner) = match arguments.iter().position(|&argument| argument == "--") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (arguments, &[][..]),
    };
    let installs = match ours {
        [] => true,
        ["--no-install"] => false,
        _ => return Err(format!("`test` does not take `{}`", ours.join(" "))),
    };
    if output(&["id", "-u"]).as_deref().map(str::trim) != Some("0") {
        return Err(
            "the tests change owners and enter other roots: run them as root (`sudo -E env PATH=\"$PATH\" cargo xtask test`)"
                .to_owned(),
        );
    }
    setup::wasm()?;
    if installs {
        install(FOR_TESTS)?
    } else {
        require(FOR_TESTS)?
    }
    all(runner)
}

fn all(runner: &[&str]) -> Result<(), Failure> {
    let excluded = test_guests()?;
    let packages = || ["--workspace"].into_iter().chain(excluded.iter().flat_map(|name| ["--exclude", name]));
    if output(&["cargo", "nextest", "--version"]).is_some() {
        let mut command = vec!["cargo", "nextest", "run"];
        command.extend(packages());
        command.extend(runner);
        command::run(&command)?;
        let mut command = vec!["cargo", "test", "--doc"];
        command.extend(packages());
        return command::run(&command);
    }
    // One call: cargo's own runner runs the documentation's examples too.
    let mut command = vec!["cargo", "test", "--no-fail-fast"];
    command.extend(packages());
    if !runner.is_empty() {
        command.push("--");
        command.extend(runner);
    }
    command::run(&command)
}

/// The guests of the tests: only ever compiled for WebAssembly, by a build script.
fn test_guests() -> Result<Vec<String>, Failure> {
    let names = component_build::Names::of_folders(&workspace().join("tests/guests"));
    let names = names.map_err(|error| component_build::explain(&error, None))?;
    Ok(names.iter().map(str::to_owned).collect())
}
