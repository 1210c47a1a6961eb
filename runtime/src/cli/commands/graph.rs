//! `runtime graph`.

use clap::ValueEnum as _;
use serde_json::json;

use crate::cli::args::{GraphArgs, GraphFormat};
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::render::count;
use crate::cli::render::graph::Graph;
use crate::language::suggest;
use crate::run;

pub(super) fn run(args: &GraphArgs) -> Result<Answer, CliError> {
    let (digest, catalog) = run::inspect_bundle(&args.bundle).map_err(CliError::with_bundle(&args.bundle))?;
    let graph = Graph::of(&catalog, args.around.as_ref()).ok_or_else(|| {
        let wanted = args.around.as_ref().map(ToString::to_string).unwrap_or_default();
        let known: Vec<String> = catalog.resources.iter().map(|resource| resource.id.to_string()).collect();
        let hint = suggest::one_of_addresses(&wanted, '.', known.iter().map(String::as_str))
            .unwrap_or_else(|| "it has no resources".to_owned());
        CliError::Usage { message: format!("the bundle has no resource `{wanted}`"), hint }
    })?;
    let text = graph.render(args.format).ok_or_else(|| {
        let (resources, arrows) = graph.counts();
        CliError::Usage {
            message: format!("{} and {} are too much for a picture", count(resources, "resource"), count(arrows, "arrow")),
            hint: "draw what is `--around` one of them, or have Graphviz lay out `--format dot`".to_owned(),
        }
    })?;
    Ok(super::data(text.clone(), json!({ "bundle": digest, "owner": catalog.owner, "format": word(args.format), "graph": text })))
}

/// The word that was typed for it.
fn word(format: GraphFormat) -> String {
    format.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}
