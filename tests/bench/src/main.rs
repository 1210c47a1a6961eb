//! What a run costs, as ratios to what the node's own tools take for the same: pairs that are measured one after the other.
//!
//! `cargo xtask bench` builds the program and this, and starts this; docs/performance.md says what is measured and how to read it. Nothing here is held
//! against a limit: figures are for people. What is held is that a measured run did what it is there for: a converged one must change nothing.
#![allow(
    clippy::disallowed_methods,
    reason = "a developer's tool: it makes files and runs programs, in folders and machines of its own"
)]

mod arguments;
mod benches;
mod conditions;
mod figure;
mod measure;
mod output;
mod setting;
mod site;
mod task;

use std::process::ExitCode;

use arguments::Arguments;
use benches::Bench;
use conditions::Conditions;
use output::Output;
use setting::Setting;

/// Why it did not succeed: text for people.
type Failure = String;

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let given: Vec<&str> = given.iter().map(String::as_str).collect();
    let result = match given.as_slice() {
        // What this program starts itself as in a machine.
        ["measure"] => measure::from_standard_input(),
        ["-h" | "--help"] => {
            println!("{}", arguments::usage());
            Ok(())
        }
        given => match Arguments::parse(given) {
            Ok(arguments) => run(&arguments),
            Err(wrong) => {
                eprintln!("bench: {wrong}\n\n{}", arguments::usage());
                return ExitCode::from(64);
            }
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("\nbench: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let setting = Setting::new(arguments)?;
    let mut output = Output::new(arguments.json);
    output.begin(&Conditions::of(&setting)?);
    let all = arguments.benches.iter().copied().try_for_each(|bench| {
        eprintln!("bench: {}: {}", bench.name(), bench.about());
        measured(bench, &setting, &mut output)
    });
    // What was measured before a failure is told all the same.
    output.end(&all);
    all
}

fn measured(bench: Bench, setting: &Setting, output: &mut Output) -> Result<(), Failure> {
    match bench.missing(setting) {
        Some(reason) => output.skipped(bench, &reason),
        None => output.figures(&bench.run(setting)?),
    }
    Ok(())
}
