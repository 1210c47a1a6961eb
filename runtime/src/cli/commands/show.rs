//! `runtime show`.

use serde_json::json;

use crate::cli::args::ShowArgs;
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::output::{Answer, Output};
use crate::cli::render::run as render;
use crate::report::{self, View};
use crate::run;

pub(super) fn run(args: &ShowArgs, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    let request = context::state_request(&args.state, environment)?;
    let Some(found) = run::show(&request, args.run.as_deref())? else {
        return Ok(super::remark("no run is on record here\n".to_owned(), json!({ "run": null })));
    };
    for resource in found.report.iter().flat_map(|report| &report.resources) {
        output.record("resource", || [("resource", report::resource_record(resource))]);
    }
    let view = View { palette: output.palette(), list_unchanged: true, measures: true };
    Ok(super::data(render::render(&found, &view), render::fields(&found)))
}
