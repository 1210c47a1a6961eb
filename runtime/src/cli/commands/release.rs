//! `runtime release`.

use serde_json::{Value as Json, json};

use crate::cli::args::ReleaseArgs;
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::render::{count, run as render};
use crate::journal::OpenObligation;
use crate::report::line;
use crate::run::{self, ReleaseRequest, ReleaseSummary};
use crate::store::{Holding, Object};

pub(super) fn run(args: &ReleaseArgs, environment: &Environment) -> Result<Answer, CliError> {
    let request = ReleaseRequest {
        state: context::state_request(&args.state, environment)?,
        owner: args.owner.clone(),
        object: args.object.clone(),
        noop: args.noop,
    };
    Ok(answer(&request, &run::release(&request)?))
}

fn answer(request: &ReleaseRequest, summary: &ReleaseSummary) -> Answer {
    let (owner, released) = (&request.owner, &summary.released);
    let lapsed = |owed: &OpenObligation| json!({ "subscriber": owed.subscriber, "because_of": owed.because_of });
    let data = json!({
        "run": summary.run,
        "owner": owner,
        "noop": request.noop,
        "released": released.claims,
        "forgotten": released.forgotten,
        "lapsed": released.lapsed.iter().map(lapsed).collect::<Vec<Json>>(),
    });
    if released.is_empty() {
        return super::remark(nothing(request, &summary.held_by), data);
    }
    let mut lines: Vec<String> = released.claims.iter().map(render::claim).collect();
    let would = if request.noop { "would be " } else { "" };
    lines.push(format!("release: {} of `{owner}` {would}given up", count(released.claims.len(), "claim")));
    let lapse = if request.noop { "would lapse" } else { "lapsed" };
    match released.lapsed.len() {
        0 => {}
        1 => lines.push(format!("  1 refresh that it owed {lapse}")),
        many => lines.push(format!("  {many} refreshes that it owed {lapse}")),
    }
    super::data(lines.join("\n") + "\n", data)
}

/// That there is nothing, and who holds it instead.
fn nothing(request: &ReleaseRequest, held_by: &[Holding]) -> String {
    let owner = &request.owner;
    let Some(Object { domain, key }) = &request.object else {
        return format!("`{owner}` holds nothing here\n");
    };
    let mut text = format!("`{owner}` does not hold the {} `{key}`\n", line(domain));
    for holding in held_by {
        text += &format!("  it is held by `{}` of `{}`\n", holding.held.resource, holding.owner);
    }
    text
}
