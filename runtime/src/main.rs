//! The program `runtime`: see [`runtime::cli`]. With a hidden first argument it is the helper that runs one program of the node, or the compiler of one
//! component.

use std::process::ExitCode;

#[expect(clippy::disallowed_methods, reason = "the arguments of the command line")]
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let Some(code) = host_functions::processes::native::helper(&arguments) {
        return code;
    }
    if let Some(code) = runtime::engine::compiler(&arguments) {
        return code;
    }
    runtime::cli::main(&arguments).into()
}
