//! `runtime inspect`.

use serde_json::json;

use crate::cli::args::InspectArgs;
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::render::catalog;
use crate::run;

pub(super) fn run(args: &InspectArgs) -> Result<Answer, CliError> {
    let (digest, catalog) = run::inspect_bundle(&args.bundle).map_err(CliError::with_bundle(&args.bundle))?;
    let text = catalog::render(&digest, &catalog);
    Ok(super::data(text, json!({ "bundle": digest, "catalog": catalog })))
}
