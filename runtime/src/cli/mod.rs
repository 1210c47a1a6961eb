//! The command line: what was typed, which step that calls, and how the outcome is told.
//!
//! In the order in which a command goes: [`args`] is what may be typed, [`context`] makes of it what a run uses, a file in
//! `commands/` calls [`crate::run`], [`output`] writes the answer and [`exit`] has the codes. Nothing else in the library prints, exits
//! or reads the environment.

pub mod args;

pub mod context;

pub mod commands;

pub mod error;

pub mod exit;

pub mod output;

pub mod reference;

mod observe;
mod printer;
mod render;
mod scaffold;
mod trace;

use std::ffi::OsString;

use clap::FromArgMatches as _;

use args::{Arguments, Everywhere};
use context::{Environment, Speech};
use exit::Exit;
use output::Output;

/// Runs the command line `arguments`, the program's name first, and gives the exit code.
pub fn main(arguments: &[OsString]) -> Exit {
    let environment = Environment::read();
    let parsed = Arguments::described()
        .color(clap::ColorChoice::Never)
        .try_get_matches_from(arguments)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    match parsed {
        Ok(parsed) => run(&parsed, &environment),
        Err(message) => output::usage(&message, Speech::new(&everywhere_of(arguments), &environment)),
    }
}

fn run(arguments: &Arguments, environment: &Environment) -> Exit {
    let speech = Speech::new(&arguments.everywhere, environment);
    trace::start(speech);
    let output = Output::of_process(speech);
    let result = commands::run(&arguments.command, environment, &output);
    output.finish(arguments.command.name(), result)
}

/// How to speak about arguments that could not be parsed.
fn everywhere_of(arguments: &[OsString]) -> Everywhere {
    let json = arguments.iter().skip(1).take_while(|argument| *argument != "--").any(|argument| argument == "--json");
    Everywhere { json, ..Everywhere::default() }
}
