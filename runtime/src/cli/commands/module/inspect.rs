//! `runtime module inspect`.

use serde_json::json;

use super::subject;
use crate::builtins;
use crate::cli::args::ModuleInspectArgs;
use crate::cli::commands::data;
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::render::{description, provider};
use crate::run::{self, Described};

pub(in crate::cli) fn run(args: &ModuleInspectArgs) -> Result<Answer, CliError> {
    let bytes = subject::component(&args.subject)?;
    let (digest, described) = run::describe_component(&bytes)?;
    let builtin = builtins::with_digest(&digest).is_some();
    let (text, said, row) = match described {
        Described::Type(said) => {
            (description::render(&digest, &said, builtin), json!(said), description::policy_row(&digest, &said))
        }
        Described::Provider(said) => {
            let row = description::policy_row(&digest, &said.options_as_type());
            (provider::render(&digest, &said, builtin), json!(said), row)
        }
    };
    Ok(data(text, json!({ "digest": digest, "description": said, "builtin": builtin, "policy_row": row })))
}
