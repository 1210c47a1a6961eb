//! `runtime module build`.

use std::path::PathBuf;

use component_build::{Target, Toolchain};
use serde_json::json;

use crate::cli::args::ModuleBuildArgs;
use crate::cli::commands::{data, files};
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::model::digest::ComponentDigest;
use crate::report::{line, size};

pub(in crate::cli) fn run(args: &ModuleBuildArgs, environment: &Environment) -> Result<Answer, CliError> {
    let variables = component_build::Environment::new(environment.variables.iter().cloned());
    let toolchain = Toolchain::find(&variables, Target::Bare)?;
    let folder = context::absolute(&args.folder)?;
    let target = variables.path("CARGO_TARGET_DIR").unwrap_or_else(|| folder.join("target"));
    // Apart from what else is in the target folder: another cargo that works there would make this one wait.
    let component = component_build::build_crate(&toolchain, &folder, &context::absolute(&target)?.join("runtime"))?;
    let output = args.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.wasm", component.name)));
    files::write(&output, &component.bytes)?;
    let digest = ComponentDigest::from_bytes(component.digest);
    let (bytes, shown) = (component.bytes.len() as u64, line(&output.display().to_string()));
    let fields = json!({ "package": component.name, "output": shown, "digest": digest, "size": bytes });
    let remark = format!("built `{}` to `{shown}`, {}\n", line(&component.name), size(bytes));
    Ok(Answer { remark, ..data(format!("{digest}\n"), fields) })
}
