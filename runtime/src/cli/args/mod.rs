//! What may be typed. The doc comments are the manual: `--help`, the man pages and docs/reference/cli.md are made from them.
//!
//! Nothing here reads the environment or decides anything: [`super::context`] turns what was typed into what a run uses.

use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};

pub use inputs::{CompileArgs, GraphArgs, GraphFormat, InputOptions, InspectArgs, SourceOptions, ValidateArgs};
pub use module::{
    ModuleBuildArgs, ModuleCheckArgs, ModuleCommand, ModuleInspectArgs, ModuleListArgs, ModuleNewArgs, ModuleSchemaArgs,
};
pub use node::{ApplyArgs, FactsArgs, NodeOptions, PlanArgs, RecoverArgs, RunOptions, StateOptions};
pub use record::{HistoryArgs, ReleaseArgs, ShowArgs};

use super::exit::Exit;

mod inputs;
mod module;
mod node;
mod parse;
mod record;

/// Manage a machine by declared state, with resource types that cannot do more than you allow
///
/// A manifest says what a machine should be like. `compile` turns it into one file, a bundle, on any computer. `plan` and
/// `apply` take the bundle to a node: the one shows what differs, the other brings the node to what is declared and changes
/// nothing else. Each resource type is a WebAssembly component that the node holds to a policy.
///
/// Anywhere: compile, validate, inspect, graph. On the node: plan, apply, recover, history, show, release, facts. For authors of resource
/// types: module.
#[derive(Debug, Parser)]
#[command(name = "runtime", version, max_term_width = 100, disable_help_subcommand = true, propagate_version = false)]
#[command(after_help = "See `runtime COMMAND --help` for examples of each command.")]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// How to say it.
    #[command(flatten)]
    pub everywhere: Everywhere,
}

impl Arguments {
    /// The command line with the table of exit codes in its help.
    pub fn described() -> clap::Command {
        let codes: String = Exit::ALL.iter().map(|exit| format!("\n  {:>2}  {}", exit.code(), exit.meaning())).collect();
        let example = "runtime compile site.hcl -o site.wasm.tar && runtime plan site.wasm.tar";
        let command = Self::command();
        command.after_long_help(format!("Example:\n  {example}\n\nExit codes, the first that holds:{codes}"))
    }
}

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct Everywhere {
    /// Print versioned JSON records on stdout, one a line, in place of text
    ///
    /// Each has `record`, `version` and `seq`. The last is `result` or `error`, has the exit code, and occurs exactly once.
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colour
    ///
    /// `auto` means on a terminal, unless NO_COLOR is set.
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Say more on stderr; twice for debugging
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Color {
    /// On a terminal.
    #[default]
    Auto,
    /// Even into a file or pipe.
    Always,
    /// Never.
    Never,
}

/// Every command.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the manual of a command is on its arguments; a line here would replace it")]
pub enum Command {
    Compile(CompileArgs),
    Validate(ValidateArgs),
    Inspect(InspectArgs),
    Graph(GraphArgs),
    Plan(PlanArgs),
    Apply(ApplyArgs),
    Recover(RecoverArgs),
    History(HistoryArgs),
    Show(ShowArgs),
    Release(ReleaseArgs),
    Facts(FactsArgs),
    /// Make, build and look into modules, the WebAssembly components behind resource types
    #[command(subcommand)]
    Module(ModuleCommand),
    #[command(hide = true)]
    Completions(CompletionsArgs),
    #[command(hide = true)]
    Man(ManArgs),
}

impl Command {
    /// The words that were typed for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Compile(_) => "compile",
            Self::Validate(_) => "validate",
            Self::Inspect(_) => "inspect",
            Self::Graph(_) => "graph",
            Self::Plan(_) => "plan",
            Self::Apply(_) => "apply",
            Self::Recover(_) => "recover",
            Self::History(_) => "history",
            Self::Show(_) => "show",
            Self::Release(_) => "release",
            Self::Facts(_) => "facts",
            Self::Module(ModuleCommand::New(_)) => "module new",
            Self::Module(ModuleCommand::Build(_)) => "module build",
            Self::Module(ModuleCommand::Inspect(_)) => "module inspect",
            Self::Module(ModuleCommand::Check(_)) => "module check",
            Self::Module(ModuleCommand::Schema(_)) => "module schema",
            Self::Module(ModuleCommand::List(_)) => "module list",
            Self::Completions(_) => "completions",
            Self::Man(_) => "man",
        }
    }
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_long_help = "Example:\n  runtime completions bash > /etc/bash_completion.d/runtime")]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Write a man page for each command
#[derive(Debug, Args)]
#[command(after_long_help = "Example:\n  runtime man /usr/local/share/man/man1")]
pub struct ManArgs {
    /// Where they go; made if it is not there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}
