//! `runtime module schema`.

use super::subject;
use crate::cli::args::ModuleSchemaArgs;
use crate::cli::commands::data;
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::descriptors;
use crate::run::{self, Described};

pub(in crate::cli) fn run(args: &ModuleSchemaArgs) -> Result<Answer, CliError> {
    let (_, described) = run::describe_component(&subject::component(&args.subject)?)?;
    let schema = match described {
        Described::Type(description) => descriptors::schema(&description),
        Described::Provider(provider) => descriptors::options_schema(&provider),
    };
    Ok(data(format!("{schema:#}\n"), schema))
}
