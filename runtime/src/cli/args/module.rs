//! Commands for authors of resource types, and for owners of nodes who want to know what they are given.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::model::ids::TypeName;

/// What can be done with modules.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the manual of a command is on its arguments; a line here would replace it")]
pub enum ModuleCommand {
    New(ModuleNewArgs),
    Build(ModuleBuildArgs),
    Inspect(ModuleInspectArgs),
}

/// Write a crate for a new resource type
///
/// It holds a working type with its tests, the SDK and the contract (WIT), and needs nothing else. Build it with
/// `runtime module build`, with `cargo component build`, or with any toolchain that makes components.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime module new nginx_vhost
  runtime module new nginx_vhost crates/nginx-vhost")]
pub struct ModuleNewArgs {
    /// The resource type: lower-case letters, digits and `_`
    #[arg(value_name = "NAME")]
    pub name: TypeName,
    /// Where the crate goes; must be empty or not be there [default: NAME]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Build a crate to a component
///
/// Runs cargo for a WebAssembly target and turns the result into a component. Prints the component's digest, which a policy names.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime module build
  runtime module build nginx_vhost -o nginx_vhost.wasm")]
pub struct ModuleBuildArgs {
    /// The folder of the crate
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Where the component goes [default: PACKAGE.wasm in this folder]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Show what a component says about itself: attributes, vocabulary, and the rights that it asks for
///
/// Runs nothing but its description, in the sandbox. Prints the policy row that would give it what it asks for.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime module inspect file
  runtime module inspect ./nginx_vhost.wasm")]
pub struct ModuleInspectArgs {
    /// A component file, or the name of a built-in module
    #[arg(value_name = "FILE.wasm|NAME")]
    pub subject: PathBuf,
}
