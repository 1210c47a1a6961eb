//! `runtime validate`.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::compile;
use crate::cli::args::{InputOptions, ValidateArgs};
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::observe::Downloads;
use crate::cli::output::{Answer, Output};
use crate::cli::render::count;
use crate::report::line;
use crate::run;

pub(super) fn run(args: &ValidateArgs, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    if args.subject.extension().is_some_and(|extension| extension == "hcl") {
        manifest(&args.subject, &args.inputs, environment, output)
    } else {
        bundle(&args.subject, &args.inputs)
    }
}

fn manifest(path: &Path, inputs: &InputOptions, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    let request = context::validate_request(path, inputs, environment)?;
    let summary = run::validate_watched(&request, Arc::new(Downloads::new(output.speech())))?;
    let text = format!("`{}` is valid: {}\n", line(&path.display().to_string()), compile::contents(&summary))
        + &compile::of_nothing(&summary);
    Ok(super::remark(text, json!({ "manifest": compile::fields(&summary) })))
}

fn bundle(path: &Path, inputs: &InputOptions) -> Result<Answer, CliError> {
    if inputs.has_any() {
        return Err(CliError::Usage {
            message: format!("`{}` is taken as a bundle, which is compiled already: it has no inputs", path.display()),
            hint: "leave out `--var`, `--module` and the like, or name a manifest that ends in `.hcl`".to_owned(),
        });
    }
    let (digest, catalog) = run::inspect_bundle(path).map_err(CliError::with_bundle(path))?;
    let contents = format!("owner `{}`, {}", catalog.owner, count(catalog.resources.len(), "resource"));
    let text = format!("`{}` is a sound bundle: {contents}\n", line(&path.display().to_string()));
    let fields =
        json!({ "digest": digest, "owner": catalog.owner, "serial": catalog.serial, "resources": catalog.resources.len() });
    Ok(super::remark(text, json!({ "bundle": fields })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::context::Speech;

    #[test]
    fn inputs_for_a_bundle_are_a_usage_error() {
        let inputs = InputOptions { variables: vec![("a".to_owned(), "b".to_owned())], ..InputOptions::default() };
        let args = ValidateArgs { subject: "site.wasm.tar".into(), inputs };
        let output = Output::of_process(Speech::default());
        let error = run(&args, &Environment::default(), &output).unwrap_err();
        assert_eq!(error.exit().code(), 64);
        assert!(error.to_string().contains("site.wasm.tar"), "{error}");
    }
}
