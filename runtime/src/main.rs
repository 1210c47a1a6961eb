//! The program `runtime`: see [`runtime::cli`].

use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "the arguments of the command line")]
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    runtime::cli::main(&arguments).into()
}
