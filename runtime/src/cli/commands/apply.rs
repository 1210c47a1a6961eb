//! `runtime apply`.

use std::path::Path;

use crate::cli::args::ApplyArgs;
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::observe::Progress;
use crate::cli::output::{Answer, Output};
use crate::model::report::RunMode;
use crate::report::{self, View};
use crate::run::{self, NodeRequest};

pub(super) fn run(args: &ApplyArgs, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    let mode = if args.noop || args.health_only { RunMode::Noop } else { RunMode::Apply };
    let mut request = context::node_request(Some(&args.bundle), &args.node, mode, Some(&args.run), environment)?;
    request.fail_fast = args.fail_fast;
    request.health_only = args.health_only;
    report(&args.bundle, &request, "apply", args.run.detailed_exitcode, output)
}

/// Runs `request`, for the bundle at `bundle`, and answers with its report.
pub(super) fn report(
    bundle: &Path,
    request: &NodeRequest,
    command: &str,
    detailed: bool,
    output: &Output,
) -> Result<Answer, CliError> {
    let report = run::apply(request, &Progress::new(output, command)).map_err(CliError::with_bundle(bundle))?;
    let says_more = output.speech().verbosity > 0;
    let view = View { palette: output.palette(), list_unchanged: says_more, measures: says_more };
    let exit = Exit::of_report(&report, detailed);
    Ok(Answer { exit, ..super::data(report::render(&report, &view), report::conclusion(&report)) })
}
