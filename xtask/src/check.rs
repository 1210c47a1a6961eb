//! All that can be checked without running the program, and what runs of it cannot be told beforehand: fuzzing.

use component_build::{Environment, Names, Target, Toolchain, Way, explain};

use crate::command::{expect, output, run as run_command, workspace};
use crate::tools::{FOR_CHECKS, require};
use crate::{Failure, fuzz, setup};

/// Format, lints of native and guest crates, dependencies, documentation; then a while of fuzzing.
pub(crate) fn run() -> Result<(), Failure> {
    setup::wasm()?;
    require(FOR_CHECKS)?;
    run_command(&["cargo", "fmt", "--all", "--check"])?;
    run_command(&["cargo", "clippy", "--locked", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    lint_guests()?;
    run_command(&["cargo", "deny", "--log-level", "error", "check", "bans", "licenses", "sources"])?;
    check_advisories()?;
    document()?;
    // The same beginning each time: whether a change passes is not left to chance. `cargo xtask fuzz` takes another each time.
    fuzz::run(&["--seconds", "60", "--seed", "1796132221"])
}

/// Guest crates have code that is only compiled for WebAssembly.
fn lint_guests() -> Result<(), Failure> {
    let environment = Environment::new(std::env::vars_os());
    let toolchain = Toolchain::find(&environment, Target::Bare).map_err(|error| explain(&error, error.hint().as_deref()))?;
    if toolchain.way() == Way::Debian {
        eprintln!(
            "\nxtask: guests are not linted for WebAssembly: the toolchain in use has no such target, and Debian's has no clippy"
        );
        return Ok(());
    }
    let mut command = vec!["cargo", "clippy", "--locked", "--target", Target::Bare.triple()];
    let builtin = Names::read(&workspace().join("modules/builtin.list"));
    let tests = Names::of_folders(&workspace().join("tests/guests"));
    let explained = |error: component_build::NamesError| explain(&error, None);
    let (builtin, tests) = (builtin.map_err(explained)?, tests.map_err(explained)?);
    command.extend(builtin.iter().chain(tests.iter()).flat_map(|name| ["-p", name]));
    command.extend(["--", "-D", "warnings"]);
    run_command(&command)
}

/// The list of known flaws is fetched anew each time. Without the network it cannot be, and that is said, not passed over.
fn check_advisories() -> Result<(), Failure> {
    if output(&["cargo", "deny", "fetch", "db"]).is_none() {
        eprintln!("\nxtask: NOT CHECKED: advisories (`cargo deny fetch db` cannot reach the database)");
        return Ok(());
    }
    expect(&["cargo", "deny", "--log-level", "error", "check", "--disable-fetch", "advisories"], 0)
}

/// Documentation of our own crates, where a warning (a link that leads nowhere) is a failure.
fn document() -> Result<(), Failure> {
    let flags = "build.rustdocflags=[\"-D\", \"warnings\"]";
    run_command(&["cargo", "doc", "--locked", "--no-deps", "--workspace", "--document-private-items", "--config", flags])
}
