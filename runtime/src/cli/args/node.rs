//! Commands that look at a node or change it.

use std::path::PathBuf;

use clap::Args;

use crate::engine::MAX_ATTEMPTS;

/// Show what apply would change, and change nothing
///
/// Reads the node, under the same policy as apply. Nothing is written, neither on the node nor in the state folder.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime plan site.wasm.tar
  runtime plan site.wasm.tar --detailed-exitcode    # 2 if something would change
  runtime plan site.wasm.tar --root /mnt/image")]
pub struct PlanArgs {
    /// The bundle
    pub bundle: PathBuf,
    /// How to run.
    #[command(flatten)]
    pub run: RunOptions,
    /// Where to run.
    #[command(flatten)]
    pub node: NodeOptions,
}

/// Bring the node to what a bundle declares
///
/// Checks the bundle and the policy before anything changes. Then checks each resource in order, changes it if it differs, and
/// checks it again. A failure stops only what needs the failed resource. What is about to change is written to a journal first, so
/// that a run that is killed can be continued: apply again.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime apply site.wasm.tar
  runtime apply site.wasm.tar --noop                # the same as plan
  runtime apply site.wasm.tar --root /mnt/image --policy image-policy.hcl")]
pub struct ApplyArgs {
    /// The bundle
    pub bundle: PathBuf,
    /// Change nothing: report what would change, as plan does
    #[arg(long, help_heading = "Run")]
    pub noop: bool,
    /// Run the health checks of all resources, and do nothing else
    ///
    /// Nothing is compared and nothing is changed. A resource whose check is critical or gives no answer has failed.
    #[arg(long, help_heading = "Run", conflicts_with = "noop")]
    pub health_only: bool,
    /// Begin no further resource once one has failed
    #[arg(long, help_heading = "Run")]
    pub fail_fast: bool,
    /// How to run.
    #[command(flatten)]
    pub run: RunOptions,
    /// Where to run.
    #[command(flatten)]
    pub node: NodeOptions,
}

/// How plan and apply run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Run")]
pub struct RunOptions {
    /// Exit with 2, not 0, if all went well and something changed or would change
    #[arg(long)]
    pub detailed_exitcode: bool,
    /// How many resources to work on at once [default: 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MAX_ATTEMPTS)))]
    pub parallelism: Option<u16>,
    /// Where the secrets of the node are [default: /etc/runtime/secrets]
    ///
    /// One file each, readable by its owner alone, in a folder that is too. It is looked at only for bundles that read secrets. With `--root` the
    /// default is still this machine's own folder, as with the policy.
    #[arg(long, value_name = "DIR", help_heading = "Node")]
    pub secrets_dir: Option<PathBuf>,
}

/// Which node, and what is kept for it.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Node")]
pub struct NodeOptions {
    /// Which node, and where its state is.
    #[command(flatten)]
    pub state: StateOptions,
    /// The policy to hold modules to [default: /etc/runtime/policy.hcl, if it is there]
    ///
    /// With `--root` the default is still this machine's own file: what is below the folder must not say what may be done to it.
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// Keep compiled code here
    ///
    /// Default, also with `--root`: $RUNTIME_CACHE_DIR; else /var/cache/runtime for root, $XDG_CACHE_HOME/runtime or
    /// ~/.cache/runtime for other users. A folder that others could write to is not used.
    #[arg(long, value_name = "DIR")]
    pub cache_dir: Option<PathBuf>,
}

/// Which node, and where its state is.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Node")]
pub struct StateOptions {
    /// Treat this folder as the node's `/`
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Keep journal, claims and receipts here
    ///
    /// Default: `var/lib/runtime` below `--root`; else /var/lib/runtime for root, and $XDG_STATE_HOME/runtime or
    /// ~/.local/state/runtime for other users.
    #[arg(long, value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

/// Settle changes that an earlier run began and did not end
///
/// A run that is killed or loses its module leaves a journal entry for what it was about to change. Apply does this by itself before
/// anything else; recover does only this. What a module cannot continue safely stays unresolved and is listed with what to do.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime recover
  runtime recover site.wasm.tar")]
pub struct RecoverArgs {
    /// The bundle of the interrupted run, whose modules know how to go on; built-in modules are always at hand
    pub bundle: Option<PathBuf>,
    /// Where to run.
    #[command(flatten)]
    pub node: NodeOptions,
}

/// Show the facts of this node
///
/// As JSON, in the form that `compile --target` reads. With a query, only that part: text without quotes, anything else as JSON.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime facts > db1-facts.json
  runtime facts os.family")]
pub struct FactsArgs {
    /// The path of a fact, as `os.family`
    pub query: Option<String>,
    /// Treat this folder as the node's `/`
    #[arg(long, value_name = "DIR", help_heading = "Node")]
    pub root: Option<PathBuf>,
}
