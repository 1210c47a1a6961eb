//! `runtime module list`.

use serde_json::json;

use crate::builtins;
use crate::cli::commands::data;
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::render::table;
use crate::report::line;
use crate::run::{self, Described};

pub(in crate::cli) fn run() -> Result<Answer, CliError> {
    let (mut rows, mut modules) = (Vec::new(), Vec::new());
    for builtin in builtins::all() {
        let (digest, described) = run::describe_component(builtin.bytes)?;
        let description = match described {
            Described::Type(description) => description,
            Described::Provider(provider) => provider.options_as_type(),
        };
        rows.push(vec![builtin.name.to_owned(), line(&description.summary)]);
        modules.push(json!({
            "name": builtin.name,
            "summary": description.summary,
            "schema_version": description.schema_version,
            "digest": digest,
        }));
    }
    let text: String = table(&rows, "").iter().map(|row| format!("{row}\n")).collect();
    Ok(data(text, json!({ "modules": modules })))
}
