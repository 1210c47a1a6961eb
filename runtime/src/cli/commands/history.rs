//! `runtime history`.

use serde_json::json;

use crate::cli::args::HistoryArgs;
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::output::{Answer, Output};
use crate::cli::render::history;
use crate::run;

pub(super) fn run(args: &HistoryArgs, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    let request = context::state_request(&args.state, environment)?;
    let found = run::history(&request, args.owner.as_ref(), args.limit)?;
    for record in &found.runs {
        output.record("run", || [("run", history::fields(record))]);
    }
    let data = json!({ "runs": found.runs.len(), "has_older": found.has_older });
    if found.runs.is_empty() {
        let of = args.owner.as_ref().map(|owner| format!(" of `{owner}`")).unwrap_or_default();
        return Ok(super::remark(format!("no run{of} is on record here\n"), data));
    }
    let remark = if found.has_older { "older runs are on record: see `--limit`\n" } else { "" };
    Ok(Answer { remark: remark.to_owned(), ..super::data(history::render(&found.runs, &output.palette()), data) })
}
