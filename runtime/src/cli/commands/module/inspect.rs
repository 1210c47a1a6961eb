//! `runtime module inspect`.

use std::borrow::Cow;
use std::path::Path;

use serde_json::json;

use crate::builtins::{self, Builtin};
use crate::cli::args::ModuleInspectArgs;
use crate::cli::commands::{data, files};
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::render::description;
use crate::run;

pub(in crate::cli) fn run(args: &ModuleInspectArgs) -> Result<Answer, CliError> {
    let bytes = component(&args.subject)?;
    let (digest, description) = run::inspect_module(&bytes)?;
    let builtin = builtins::with_digest(&digest).is_some();
    let text = description::render(&digest, &description, builtin);
    let row = description::policy_row(&digest, &description);
    Ok(data(text, json!({ "digest": digest, "description": description, "builtin": builtin, "policy_row": row })))
}

/// A built-in module by its name; anything else is a file, also `./file`.
fn component(subject: &Path) -> Result<Cow<'static, [u8]>, CliError> {
    match subject.to_str().and_then(named) {
        Some(builtin) => Ok(Cow::Borrowed(builtin.bytes)),
        None => files::read_component(subject).map(Cow::Owned),
    }
}

fn named(name: &str) -> Option<&'static Builtin> {
    builtins::all().iter().find(|builtin| builtin.name == name)
}
