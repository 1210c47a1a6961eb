//! `runtime module inspect`.

use serde_json::json;

use super::subject;
use crate::builtins;
use crate::cli::args::ModuleInspectArgs;
use crate::cli::commands::data;
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::render::description;
use crate::run;

pub(in crate::cli) fn run(args: &ModuleInspectArgs) -> Result<Answer, CliError> {
    let bytes = subject::component(&args.subject)?;
    let (digest, description) = run::inspect_module(&bytes)?;
    let builtin = builtins::with_digest(&digest).is_some();
    let text = description::render(&digest, &description, builtin);
    let row = description::policy_row(&digest, &description);
    Ok(data(text, json!({ "digest": digest, "description": description, "builtin": builtin, "policy_row": row })))
}
