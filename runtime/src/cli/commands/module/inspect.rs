//! `runtime module inspect`.

use serde_json::json;

use crate::cli::args::ModuleInspectArgs;
use crate::cli::commands::{data, files};
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::render::description;
use crate::run;

pub(in crate::cli) fn run(args: &ModuleInspectArgs) -> Result<Answer, CliError> {
    let bytes = files::read_component(&args.subject)?;
    let (digest, description) = run::inspect_module(&bytes)?;
    let text = description::render(&digest, &description, false);
    let row = description::policy_row(&digest, &description);
    Ok(data(text, json!({ "digest": digest, "description": description, "builtin": false, "policy_row": row })))
}
