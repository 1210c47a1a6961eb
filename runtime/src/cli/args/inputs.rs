//! Commands that work anywhere: they read manifests and bundles and never the node.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::parse;
use crate::acquire::Prefix;
use crate::model::ids::ResourceId;

/// Compile a manifest to a bundle, one file with all that a node needs
///
/// Evaluates the manifest, runs the definition of each resource type in its sandbox and writes one `.wasm.tar`: the catalog, the
/// components and the assets. The same input gives the same bytes, on any machine. Prints the bundle's digest.
///
/// All independent errors are shown in one go, each with its place in the file.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime compile site.hcl -o site.wasm.tar
  runtime compile site.hcl -o db1.wasm.tar --var role=db --target db1-facts.json
  runtime compile site.hcl -o site.wasm.tar --module nginx_vhost=nginx_vhost.wasm")]
pub struct CompileArgs {
    /// The manifest
    #[arg(value_name = "SITE.hcl")]
    pub manifest: PathBuf,
    /// Where the bundle goes; replaced as a whole or left as it is
    #[arg(short, long, value_name = "BUNDLE")]
    pub output: PathBuf,
    /// What goes into it.
    #[command(flatten)]
    pub inputs: InputOptions,
}

/// What a manifest is compiled with.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Inputs")]
pub struct InputOptions {
    /// Set a variable of the manifest; may be given more than once, the last one holds
    #[arg(long = "var", value_name = "KEY=VALUE", value_parser = parse::variable)]
    pub variables: Vec<(String, String)>,
    /// Read variables from an HCL or JSON file; `--var` holds over it
    #[arg(long = "var-file", value_name = "FILE")]
    pub variable_files: Vec<PathBuf>,
    /// Settle facts now, with the output of `runtime facts` on the node
    ///
    /// Without it, what reads `facts` is settled on the node. A node where a fact that was read differs refuses the bundle.
    #[arg(long, value_name = "FACTS.json")]
    pub target: Option<PathBuf>,
    /// Use a component that is not built in for a resource type; may be given more than once
    #[arg(long = "module", value_name = "NAME=PATH", value_parser = parse::module)]
    pub modules: Vec<(String, PathBuf)>,
    /// Keep compiled code and fetched sources here
    ///
    /// Default: $RUNTIME_CACHE_DIR; else /var/cache/runtime for root, $XDG_CACHE_HOME/runtime or ~/.cache/runtime for other users. A
    /// folder that others could write to is not used.
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
    /// What of files and addresses may go along.
    #[command(flatten)]
    pub sources: SourceOptions,
}

impl InputOptions {
    /// Whether anything is given that only a manifest can take.
    pub fn has_any(&self) -> bool {
        let Self { variables, variable_files, target, modules, cache_dir: _, sources } = self;
        let has_inputs = !(variables.is_empty() && variable_files.is_empty() && target.is_none() && modules.is_empty());
        has_inputs || *sources != SourceOptions::default()
    }
}

/// What of the files and addresses that a manifest names may go along.
#[derive(Debug, Clone, Default, PartialEq, Args)]
#[command(next_help_heading = "Sources")]
pub struct SourceOptions {
    /// Let sources lie beneath this folder too; may be given more than once
    ///
    /// Without it, they lie beneath the manifest's own folder. A link that leads out of a folder is not followed.
    #[arg(long = "allow-source", value_name = "DIR")]
    pub allowed_folders: Vec<PathBuf>,
    /// Let sources be fetched from this `https` address and all beneath it; may be given more than once
    ///
    /// Without it, none is fetched. A server may send us on, at most 5 times, to addresses that are allowed too. A proxy is taken from
    /// https_proxy, else all_proxy; no_proxy lists hosts to reach without.
    #[arg(long = "allow-url", value_name = "PREFIX")]
    pub allowed_addresses: Vec<Prefix>,
    /// The largest source, as a number and `KiB`, `MiB` or `GiB`
    ///
    /// Default: 1GiB.
    #[arg(long, value_name = "SIZE", value_parser = parse::size)]
    pub max_source_size: Option<u64>,
    /// The longest that fetching one source may take, as a number and `s`, `m` or `h`
    ///
    /// Default: 15m.
    #[arg(long, value_name = "TIME", value_parser = parse::time)]
    pub source_timeout: Option<Duration>,
    /// Trust the certificates in this file when fetching, beside the system's
    ///
    /// SSL_CERT_FILE and SSL_CERT_DIR name others in place of the system's.
    #[arg(long, value_name = "FILE.pem")]
    pub ca_file: Option<PathBuf>,
}

/// Check a manifest or a bundle and write nothing
///
/// A file that ends in `.hcl` is compiled like `compile` does, and the bundle is thrown away. Any other file is checked as a bundle:
/// its structure, its digests and its catalog.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime validate site.hcl --var role=db
  runtime validate site.wasm.tar")]
pub struct ValidateArgs {
    /// A manifest (`.hcl`) or a bundle
    #[arg(value_name = "SITE.hcl|BUNDLE")]
    pub subject: PathBuf,
    /// What a manifest is compiled with.
    #[command(flatten)]
    pub inputs: InputOptions,
}

/// Show what is in a bundle
///
/// The bundle is checked first, as on a node, but nothing in it is run.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime inspect site.wasm.tar
  runtime inspect site.wasm.tar --json | jq .data.catalog.resources")]
pub struct InspectArgs {
    /// The bundle
    pub bundle: PathBuf,
}

/// Draw what goes before what in a bundle, and why
///
/// Each arrow goes from what is done first to what is done after it, and says why: `require` and `before`, `subscribe` and `notify`,
/// `reference` where an attribute reads another resource, and in the words of the resource type what it derived. The bundle is checked
/// first, as on a node, but nothing in it is run.
///
/// `dot` is for Graphviz, `mermaid` for Markdown, `svg` is a picture for a browser. A picture of many hundreds of resources says nothing to anybody, and is
/// refused: draw what is around one of them, or have Graphviz lay out the whole.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime graph site.wasm.tar > site.dot
  runtime graph site.wasm.tar --format svg > site.svg
  runtime graph site.wasm.tar --format mermaid --around file.motd")]
pub struct GraphArgs {
    /// The bundle
    pub bundle: PathBuf,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = GraphFormat::Dot)]
    pub format: GraphFormat,
    /// Only this resource, all that goes before it, and all that goes after it
    #[arg(long, value_name = "ADDRESS")]
    pub around: Option<ResourceId>,
}

/// How a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// For Graphviz.
    Dot,
    /// For Markdown.
    Mermaid,
    /// A picture.
    Svg,
}
