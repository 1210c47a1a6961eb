//! What a command about one module is given: a built-in module by its name, or a component file.

use std::borrow::Cow;
use std::path::Path;

use crate::builtins::{self, Builtin};
use crate::cli::commands::files;
use crate::cli::error::CliError;

/// The built-in module of this name. Anything else is a file, also `./file`.
pub(super) fn builtin(subject: &Path) -> Option<&'static Builtin> {
    let name = subject.to_str()?;
    builtins::all().iter().find(|builtin| builtin.name == name)
}

/// The bytes of a component.
///
/// # Errors
/// If it is a file that cannot be read.
pub(super) fn component(subject: &Path) -> Result<Cow<'static, [u8]>, CliError> {
    match builtin(subject) {
        Some(builtin) => Ok(Cow::Borrowed(builtin.bytes)),
        None => files::read_component(subject).map(Cow::Owned),
    }
}
