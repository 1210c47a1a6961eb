//! Builds the components of `modules/builtin.list` and embeds them; with `RUNTIME_COMPONENTS=DIR`, embeds `DIR/NAME.wasm` instead
//! (for cross-builds, and machines that cannot compile for WebAssembly).
#![allow(clippy::disallowed_methods, reason = "a build script: it reads the source tree and cargo's variables")]

use std::process::ExitCode;

use component_build::{Environment, Names, Script, ScriptError, explain};

/// Names a folder of components to embed in place of building them.
const GIVEN_VARIABLE: &str = "RUNTIME_COMPONENTS";

fn main() -> ExitCode {
    let Err(error) = embed_components() else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{}", explain(&error, error.hint().as_deref()));
    ExitCode::FAILURE
}

fn embed_components() -> Result<(), ScriptError> {
    let script = Script::new(Environment::new(std::env::vars_os()), 1)?;
    for line in script.watch(Some(GIVEN_VARIABLE)) {
        println!("{line}");
    }
    let names = Names::read(&script.workspace().join("modules/builtin.list"))?;
    script.embed_texts(&names, "samples.hcl", "samples.rs")?;
    script.embed(&names, Some(GIVEN_VARIABLE))
}
