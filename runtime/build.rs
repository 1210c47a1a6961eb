//! Builds the components of `modules/builtin.list` and embeds them; with `RUNTIME_COMPONENTS=DIR`, embeds `DIR/NAME.wasm` instead
//! (for cross-builds, and machines that cannot compile for WebAssembly).
//!
//! Also lists the files of the contract and the SDK, which `runtime module new` copies into a new module.
#![allow(clippy::disallowed_methods, reason = "a build script: it reads the source tree and cargo's variables")]

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use component_build::{Environment, Names, Script, ScriptError, explain};

/// Names a folder of components to embed in place of building them.
const GIVEN_VARIABLE: &str = "RUNTIME_COMPONENTS";

/// What a new module gets copies of, beneath the workspace's folder.
const COPIED_INTO_MODULES: &[&str] = &["wit", "modules/sdk"];

fn main() -> ExitCode {
    let embedded = embed_components().map_err(|error| explain(&error, error.hint().as_deref()));
    let listed = embedded.and_then(|script| list_copied_files(&script).map_err(|error| explain(&error, None)));
    let Err(message) = listed else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{message}");
    ExitCode::FAILURE
}

fn embed_components() -> Result<Script, ScriptError> {
    let script = Script::new(Environment::new(std::env::vars_os()), 1)?;
    for line in script.watch() {
        println!("{line}");
    }
    println!("cargo::rerun-if-env-changed={GIVEN_VARIABLE}");
    let names = Names::read(&script.workspace().join("modules/builtin.list"))?;
    script.embed(&names, Some(GIVEN_VARIABLE))?;
    Ok(script)
}

/// Writes `module_files.rs`: an expression of type `&[(&str, &str)]`, path beneath the workspace and text of each file.
fn list_copied_files(script: &Script) -> io::Result<()> {
    let mut code = String::from("&[\n");
    for folder in COPIED_INTO_MODULES {
        list_files(script.workspace(), Path::new(folder), &mut code)?;
    }
    code.push_str("]\n");
    std::fs::write(script.out_folder().join("module_files.rs"), code)
}

fn list_files(workspace: &Path, folder: &Path, code: &mut String) -> io::Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(workspace.join(folder))?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            list_files(workspace, &path, code)?;
            continue;
        }
        let name = path.to_string_lossy().replace('\\', "/");
        // Writing to a string cannot fail.
        let _ = writeln!(code, "    ({name:?}, include_str!({:?})),", workspace.join(&path));
    }
    Ok(())
}
