//! The program `runtime`: see [`runtime::cli`].

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    runtime::cli::main(&arguments).into()
}
