//! What a definition may call, called with what nobody should say: one call for each run of a function, as `FUNCTION KIND`.
//!
//! FUNCTION is the name in the WIT (`parameters#[method]parameters.read`); KIND says what is wrong with what the call is given, in the words of README.md.
//! A definition has no log, so what came of the call is told in an error: ``answered `CASE`: TEXT``. What ends the guest is not told by it.

mod catalog;
mod parameters;

/// Makes the call that `line` says, on the handle of that number where a function was given one, and tells what came of it.
pub fn ask(line: &str, handle: Option<u32>) -> String {
    parameters::told(line, |function, kind| match function.split('#').next() {
        Some("parameters") => parameters::call(function, kind, handle),
        _ => catalog::call(function, kind, handle),
    })
}
