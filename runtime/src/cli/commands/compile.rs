//! `runtime compile`.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::cli::args::CompileArgs;
use crate::cli::context::{self, Environment};
use crate::cli::error::CliError;
use crate::cli::observe::Downloads;
use crate::cli::output::{Answer, Output};
use crate::cli::render::count;
use crate::report::{line, size};
use crate::run::{self, CompileSummary};

pub(super) fn run(args: &CompileArgs, environment: &Environment, output: &Output) -> Result<Answer, CliError> {
    let request = context::compile_request(args, environment)?;
    let summary = run::compile_watched(&request, Arc::new(Downloads::new(output.speech())))?;
    let output = line(&args.output.display().to_string());
    let remark = format!("compiled `{}` to `{output}`: {}\n{}", summary.owner, contents(&summary), of_nothing(&summary));
    let mut data = fields(&summary);
    data["output"] = json!(args.output.display().to_string());
    Ok(Answer { remark, ..super::data(format!("{}\n", summary.bundle), data) })
}

/// What is in the bundle, in one line.
pub(super) fn contents(summary: &CompileSummary) -> String {
    let mut parts = vec![count(summary.resources, "resource")];
    if summary.deferred > 0 {
        parts.push(format!("{} of them settled on the node", summary.deferred));
    }
    parts.push(count(summary.assets, "asset"));
    if summary.secrets > 0 {
        parts.push(count(summary.secrets, "secret"));
    }
    parts.push(count(summary.modules.len(), "module"));
    parts.push(size(summary.size));
    parts.join(", ")
}

/// What a manifest without resources means: seldom what was wanted, and the way to end one.
pub(super) fn of_nothing(summary: &CompileSummary) -> String {
    let owner = &summary.owner;
    match summary.resources {
        0 => format!("  it declares no resource: to apply it is to give up what an earlier version of `{owner}` holds\n"),
        _ => String::new(),
    }
}

/// The summary as data.
pub(super) fn fields(summary: &CompileSummary) -> Json {
    json!({
        "owner": summary.owner,
        "bundle": summary.bundle,
        "size": summary.size,
        "resources": summary.resources,
        "deferred": summary.deferred,
        "assets": summary.assets,
        "secrets": summary.secrets,
        "modules": summary.modules,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::digest::{BundleDigest, ComponentDigest};

    #[test]
    fn contents_name_what_is_deferred_only_if_anything_is() {
        let mut summary = CompileSummary {
            bundle: BundleDigest::from_bytes([1; 32]),
            size: 204_800,
            owner: "site".parse().unwrap(),
            resources: 1,
            deferred: 0,
            assets: 2,
            secrets: 0,
            modules: BTreeMap::from([("file".parse().unwrap(), ComponentDigest::from_bytes([2; 32]))]),
        };
        assert_eq!(contents(&summary), "1 resource, 2 assets, 1 module, 200 KiB");
        summary.deferred = 1;
        assert_eq!(contents(&summary), "1 resource, 1 of them settled on the node, 2 assets, 1 module, 200 KiB");
        summary.secrets = 1;
        assert_eq!(contents(&summary), "1 resource, 1 of them settled on the node, 2 assets, 1 secret, 1 module, 200 KiB");
    }
}
