//! `runtime plan`, which is `runtime apply --noop`.

use super::apply;
use crate::cli::args::PlanArgs;
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::output::{Answer, Output};
use crate::model::report::RunMode;

pub(super) fn run(args: &PlanArgs, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    let request = context::node_request(Some(&args.bundle), &args.node, RunMode::Noop, Some(&args.run), environment)?;
    apply::report(&args.bundle, &request, "plan", args.run.detailed_exitcode, output)
}
