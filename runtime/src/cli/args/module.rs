//! Commands for authors of resource types, and for owners of nodes who want to know what they are given.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::parse;
use crate::conformance::Rule;
use crate::model::ids::TypeName;

/// What can be done with modules.
#[derive(Debug, Subcommand)]
#[expect(missing_docs, reason = "the manual of a command is on its arguments; a line here would replace it")]
pub enum ModuleCommand {
    New(ModuleNewArgs),
    Build(ModuleBuildArgs),
    Inspect(ModuleInspectArgs),
    Check(ModuleCheckArgs),
    Schema(ModuleSchemaArgs),
    List(ModuleListArgs),
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

/// Hold a component against the contract, rule by rule
///
/// Calls its definition in the sandbox with your declarations, and with some made from its descriptors; spoils what it compiles to, and
/// compares what it answers again, in another order and in another process. Nothing of it meets this machine. A rule that could not be
/// tried is told, and makes the exit code 3: most need a declaration that the module accepts, since what text means cannot be guessed.
/// docs/reference/conformance.md explains each rule. A built-in module comes with declarations of its own.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime module check file
  runtime module check nginx_vhost.wasm --declaration samples.hcl
  runtime module check nginx_vhost.wasm --declaration samples.hcl --rule validate-strict")]
pub struct ModuleCheckArgs {
    /// A component file, or the name of a built-in module
    #[arg(value_name = "FILE.wasm|NAME")]
    pub subject: PathBuf,
    /// A manifest with declarations of the type, each with its values written out; may be given again
    #[arg(short, long = "declaration", value_name = "FILE.hcl")]
    pub declarations: Vec<PathBuf>,
    /// Tell only how it went with this rule; may be given again
    #[arg(long = "rule", value_name = "RULE", value_parser = parse::rule)]
    pub rules: Vec<Rule>,
    /// Where compiled code is kept
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
    /// Print the digests of what the component answers, for the process that compares them
    #[arg(long, hide = true)]
    pub transcript: bool,
}

/// Print the JSON Schema of a declaration of the type
///
/// It is made from the descriptors, for editors, forms and programs that write manifests. The dialect is 2020-12. What the module itself
/// checks beyond types (ranges, paths, what goes with what) is not in it.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime module schema file
  runtime module schema nginx_vhost.wasm > nginx_vhost.schema.json")]
pub struct ModuleSchemaArgs {
    /// A component file, or the name of a built-in module
    #[arg(value_name = "FILE.wasm|NAME")]
    pub subject: PathBuf,
}

/// List the built-in modules
///
/// These need no `--module` where a manifest is compiled, and no policy row on a node.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime module list
  runtime module list --json")]
pub struct ModuleListArgs {}
