//! `runtime module new`.

use std::path::PathBuf;

use serde_json::json;

use crate::cli::args::ModuleNewArgs;
use crate::cli::commands::remark;
use crate::cli::error::CliError;
use crate::cli::output::Answer;
use crate::cli::scaffold;
use crate::report::line;

pub(in crate::cli) fn run(args: &ModuleNewArgs) -> Result<Answer, CliError> {
    let folder = args.folder.clone().unwrap_or_else(|| PathBuf::from(args.name.as_str()));
    let count = scaffold::write(&args.name, &folder)?;
    let shown = line(&folder.display().to_string());
    let name = &args.name;
    let text = format!(
        "wrote a crate for `{name}` to `{shown}`, {count} files\n\
         next: change `src/lib.rs`, then\n  cargo test --lib --manifest-path {shown}/Cargo.toml\n  runtime module build {shown} -o {name}.wasm\n"
    );
    Ok(remark(text, json!({ "name": args.name, "folder": shown, "files": count })))
}
