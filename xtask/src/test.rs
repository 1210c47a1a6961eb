//! All tests.

use crate::command::{self, output, require_root, workspace};
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
    require_root("the tests change owners and enter other roots", "test")?;
    setup::wasm()?;
    if installs {
        install(FOR_TESTS)?
    } else {
        require(FOR_TESTS)?
    }
    all(runner)
}

fn all(runner: &[&str]) -> Result<(), Failure> {
    let modules = crates_in("modules")?;
    let native = native()?;
    let native: Vec<&str> = native.iter().map(String::as_str).collect();
    // Of a module only the unit tests are native: its library has export names that no native linker takes.
    let units: Vec<&str> = ["--lib"].into_iter().chain(modules.iter().flat_map(|name| ["--package", name])).collect();
    let nextest = output(&["cargo", "nextest", "--version"]).is_some();
    for packages in [native.as_slice(), units.as_slice()] {
        let mut command = if nextest { vec!["cargo", "nextest", "run"] } else { vec!["cargo", "test"] };
        // One run tells everything that is wrong.
        command.push("--no-fail-fast");
        command.extend(packages);
        if !runner.is_empty() && !nextest {
            command.push("--");
        }
        command.extend(runner);
        command::run(&command)?;
    }
    if nextest {
        // nextest leaves the documentation's examples out.
        let mut command = vec!["cargo", "test", "--doc"];
        command.extend(native.as_slice());
        return command::run(&command);
    }
    Ok(())
}

/// What selects all crates but those that are compiled for WebAssembly. Always the same ones, so that nothing is built twice.
pub(crate) fn native() -> Result<Vec<String>, Failure> {
    let (guests, modules) = (crates_in("tests/guests")?, crates_in("modules")?);
    let excluded = guests.into_iter().chain(modules).flat_map(|name| ["--exclude".to_owned(), name]);
    Ok(std::iter::once("--workspace".to_owned()).chain(excluded).collect())
}

/// The crates of a folder that are compiled for WebAssembly by build scripts.
fn crates_in(folder: &str) -> Result<Vec<String>, Failure> {
    let names = component_build::Names::of_folders(&workspace().join(folder));
    let names = names.map_err(|error| component_build::explain(&error, None))?;
    Ok(names.iter().filter_map(guest_package).map(str::to_owned).collect())
}

/// The package in a folder, if it is one of a guest: the build of components is a native one among the modules.
fn guest_package(folder: &str) -> Option<&str> {
    match folder {
        "build" => None,
        "sdk" => Some("runtime-sdk"),
        name => Some(name),
    }
}
