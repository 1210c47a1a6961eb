//! Makes the machine ready.

use component_build::{Environment, Target, explain, prepare};

use crate::Failure;
use crate::tools::{FOR_CHECKS, FOR_TESTS, install};

/// Makes the machine able to compile for WebAssembly.
pub(crate) fn wasm() -> Result<(), Failure> {
    let environment = Environment::new(std::env::vars_os());
    let toolchain = prepare(&environment, Target::Bare, &mut |command| eprintln!("\n$ {command}"))
        .map_err(|error| explain(&error, error.hint().as_deref()))?;
    eprintln!("xtask: compiling for {} with {}", toolchain.target(), toolchain.rustc().display());
    Ok(())
}

/// Installs all that the tests and checks use.
pub(crate) fn all() -> Result<(), Failure> {
    wasm()?;
    install(FOR_TESTS)?;
    install(FOR_CHECKS)
}
