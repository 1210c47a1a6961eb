//! `runtime module schema`.

use super::subject;
use crate::cli::args::ModuleSchemaArgs;
use crate::cli::commands::data;
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::descriptors;
use crate::run;

pub(in crate::cli) fn run(args: &ModuleSchemaArgs) -> Result<Answer, CliError> {
    let (_, description) = run::inspect_module(&subject::component(&args.subject)?)?;
    let schema = descriptors::schema(&description);
    Ok(data(format!("{schema:#}\n"), schema))
}
