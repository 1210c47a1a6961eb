//! One file a command: from its arguments to its answer.

use serde_json::Value as Json;

use super::args::{Command, ModuleCommand};
use super::context::Environment;
use super::error::CliError;
use super::exit::Exit;
use super::output::{Answer, Output};

mod apply;
mod compile;
mod completions;
mod facts;
mod files;
mod graph;
mod history;
mod inspect;
mod man;
mod module;
mod plan;
mod recover;
mod release;
mod show;
mod validate;

/// Runs `command`. What it says before its end goes to `output`; the caller writes the answer.
///
/// # Errors
/// Whatever kept the command from giving an answer.
pub fn run(command: &Command, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    match command {
        Command::Compile(args) => compile::run(args, environment, output),
        Command::Validate(args) => validate::run(args, environment, output),
        Command::Inspect(args) => inspect::run(args),
        Command::Graph(args) => graph::run(args),
        Command::Plan(args) => plan::run(args, environment, output),
        Command::Apply(args) => apply::run(args, environment, output),
        Command::Recover(args) => recover::run(args, environment),
        Command::History(args) => history::run(args, environment, output),
        Command::Show(args) => show::run(args, environment, output),
        Command::Release(args) => release::run(args, environment),
        Command::Facts(args) => facts::run(args),
        Command::Module(ModuleCommand::New(args)) => module::new::run(args),
        Command::Module(ModuleCommand::Build(args)) => module::build::run(args, environment),
        Command::Module(ModuleCommand::Inspect(args)) => module::inspect::run(args),
        Command::Module(ModuleCommand::Check(args)) => module::check::run(args, environment, output),
        Command::Module(ModuleCommand::Schema(args)) => module::schema::run(args),
        Command::Module(ModuleCommand::List(_)) => module::list::run(),
        Command::Completions(args) => Ok(completions::run(args)),
        Command::Man(args) => man::run(args),
    }
}

/// An answer with data on stdout and nothing to remark.
fn data(text: String, data: Json) -> Answer {
    Answer { exit: Exit::Done, text, remark: String::new(), data }
}

/// An answer whose text is a remark to the person, as nothing else would read it.
fn remark(remark: String, data: Json) -> Answer {
    Answer { exit: Exit::Done, text: String::new(), remark, data }
}
