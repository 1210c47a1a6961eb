//! Builds the guests of the tests (`tests/guests/*`) as components and embeds them.
#![allow(clippy::disallowed_methods, reason = "a build script: it reads the source tree and cargo's variables")]

use std::process::ExitCode;

use component_build::{Environment, Names, Script, ScriptError, explain};

fn main() -> ExitCode {
    let Err(error) = run() else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{}", explain(&error, error.hint().as_deref()));
    ExitCode::FAILURE
}

fn run() -> Result<(), ScriptError> {
    let script = Script::new(Environment::new(std::env::vars_os()), 2)?;
    let guests = script.workspace().join("tests/guests");
    println!("cargo::rerun-if-changed={}", guests.display());
    for line in script.watch(None) {
        println!("{line}");
    }
    script.embed(&Names::of_folders(&guests)?, None)
}
