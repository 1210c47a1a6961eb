//! Commands about what a node has on record.

use clap::Args;

use super::node::StateOptions;
use super::parse;
use crate::model::ids::OwnerName;
use crate::store::Object;

/// The runs that are listed if no number is given.
const RUNS_LISTED: u32 = 20;

/// List the runs that this node has on record
///
/// The newest is last. Runs that looked only (plan, apply --noop) leave no trace, so they are not listed. The newest 100 runs of each
/// manifest are kept, and so is any older run with something open.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime history
  runtime history --owner site --limit 5
  runtime history --json")]
pub struct HistoryArgs {
    /// Only the runs of this manifest
    #[arg(long, value_name = "NAME")]
    pub owner: Option<OwnerName>,
    /// How many at most, the newest
    #[arg(long, value_name = "N", default_value_t = RUNS_LISTED, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Whose record.
    #[command(flatten)]
    pub state: StateOptions,
}

/// Show what a run found and did
///
/// For a run that did not end well, the cause comes first. Then each resource: how it ended, what differed and why, how long it took, and the
/// limits that it was held to with what it used of them.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime show                                      # the newest run
  runtime show RUN                                  # the id from `runtime history`, or its beginning
  runtime show --json")]
pub struct ShowArgs {
    /// The run: its id, or as much of its beginning as no other has [default: the newest]
    #[arg(value_name = "RUN", value_parser = parse::run)]
    pub run: Option<String>,
    /// Whose record.
    #[command(flatten)]
    pub state: StateOptions,
}

/// Give up what a manifest holds on this node
///
/// A manifest holds what it claims until its next version no longer does. This is for one that has no next version, and for an object
/// that another manifest is to manage. Nothing on the node is changed: what is there stays as it is, and is nobody's. A manifest that
/// still declares it takes it again when it is next applied.
///
/// It is refused while a run is at work, and while a change is neither done nor undone. The release is on record as a run of its own.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  runtime release site --noop                       # say what it holds, and give up nothing
  runtime release site path:/etc/motd               # one object
  runtime release site                              # all that it holds")]
pub struct ReleaseArgs {
    /// The manifest's name
    #[arg(value_name = "OWNER")]
    pub owner: OwnerName,
    /// One object, as its claim names it: `path:/etc/motd`, `package:nginx`, `unit:nginx.service` [default: all]
    #[arg(value_name = "DOMAIN:KEY", value_parser = parse::object())]
    pub object: Option<Object>,
    /// Give up nothing: say what would be given up
    #[arg(long)]
    pub noop: bool,
    /// Whose record.
    #[command(flatten)]
    pub state: StateOptions,
}
