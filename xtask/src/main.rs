//! The project's own commands: `cargo xtask setup | demo | test | check | fuzz | bench | soak`.
//!
//! Each prints the commands that it runs, so that any of them can be run by hand, and stops at the first that does not
//! end as it must.
#![allow(clippy::disallowed_methods, reason = "a developer's tool: it runs cargo and reads the source tree, never on a node")]

use std::process::ExitCode;

mod bench;
mod check;
mod command;
mod demo;
mod fuzz;
mod setup;
mod soak;
mod test;
mod tools;

const USAGE: &str = "\
Usage: cargo xtask COMMAND

Commands:
  setup   make this machine able to compile for WebAssembly
          --all: and install all that the tests and checks need
  demo    set up, build, and show a manifest become a bundle, a plan and a converged folder
  test    set up, and run all tests (as root; installs what they need)
          --no-install: refuse instead where something is missing
          arguments after `--` go to the test runner
  check   format, lints, dependencies, documentation, and a minute of `fuzz` for each target
  fuzz    set up, build, and feed what takes input from strangers with what no one would write, a minute each
          TARGET: only that; --seconds N: for so long; --seed N: the same choices again; TARGET --replay FILE: one input
  bench   set up, build for release, and measure runs against what is native (as root; docs/performance.md)
          names of benches: only those; --rounds N; --json: records instead of a table
  soak    kill applies at random moments, and at random steps, 2000 times each, and look for anything lost, doubled or left over
          --kills N: as often as that";

/// Why a command did not succeed: text for people, of one or more lines.
type Failure = String;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let Some(done) = fuzz::stand_in(&arguments) {
        return if done.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let result = match arguments.as_slice() {
        ["setup"] => setup::wasm(),
        ["setup", "--all"] => setup::all(),
        ["demo"] => demo::run(),
        ["test", rest @ ..] => test::run(rest),
        ["check"] => check::run(),
        ["fuzz", rest @ ..] => fuzz::run(rest),
        ["bench", rest @ ..] => bench::run(rest),
        ["soak"] => soak::run("2000"),
        ["soak", "--kills", kills] => soak::run(kills),
        ["help" | "-h" | "--help"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(64);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nxtask: {failure}");
            ExitCode::FAILURE
        }
    }
}
