//! The crate that `module new` writes: a working type, the SDK and the contract, so that it builds without anything else of ours.

use std::path::{Path, PathBuf};

use super::exit::Exit;
use crate::model::ids::TypeName;

mod embedded;

/// A file of the crate: its path in the folder, and its text.
type File = (&'static str, &'static str);

/// What the templates call the type.
const NAME_MARK: &str = "@NAME@";

/// What the templates call the Rust type.
const STRUCT_MARK: &str = "@STRUCT@";

/// Why a crate cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    /// There is something in its place.
    #[error("`{}` is not an empty folder", folder.display())]
    NotEmpty {
        /// The folder.
        folder: PathBuf,
    },
    /// A file or folder cannot be read or written.
    #[error("the crate cannot be written at `{}`", path.display())]
    Io {
        /// Which file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

impl ScaffoldError {
    /// The exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Self::NotEmpty { .. } => Exit::Usage,
            Self::Io { .. } => Exit::Io,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NotEmpty { .. } => Some("name another folder after the module's name".to_owned()),
            Self::Io { .. } => None,
        }
    }
}

/// The files of a crate for the type `name`, by path in its folder.
pub fn files(name: &TypeName) -> Vec<(&'static str, String)> {
    let struct_name = struct_name(name);
    let fill = |text: &str| text.replace(NAME_MARK, name.as_str()).replace(STRUCT_MARK, &struct_name);
    let templates = embedded::TEMPLATES.iter().map(|(path, text)| (*path, fill(text)));
    templates.chain(embedded::COPIES.iter().map(|(path, text)| (*path, (*text).to_owned()))).collect()
}

/// Writes the crate into `folder`, which must be empty or not be there.
///
/// # Errors
/// If anything is in the folder, or a file cannot be written; then what is written already stays.
pub fn write(name: &TypeName, folder: &Path) -> Result<usize, ScaffoldError> {
    check_empty(folder)?;
    let files = files(name);
    for (path, text) in &files {
        write_file(&folder.join(path), text)?;
    }
    Ok(files.len())
}

#[allow(clippy::disallowed_methods, reason = "writes a crate where its author asked for it, never on a node")]
fn write_file(path: &Path, text: &str) -> Result<(), ScaffoldError> {
    let error = |source| ScaffoldError::Io { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(error)?;
    }
    let mut file = std::fs::File::create_new(path).map_err(error)?;
    std::io::Write::write_all(&mut file, text.as_bytes()).map_err(error)
}

#[allow(clippy::disallowed_methods, reason = "as above: it looks before it writes")]
fn check_empty(folder: &Path) -> Result<(), ScaffoldError> {
    let error = |source| ScaffoldError::Io { path: folder.to_owned(), source };
    match std::fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(ScaffoldError::NotEmpty { folder: folder.to_owned() }),
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(source) if source.kind() == std::io::ErrorKind::NotADirectory => {
            Err(ScaffoldError::NotEmpty { folder: folder.to_owned() })
        }
        Err(source) => Err(error(source)),
    }
}

/// `nginx_vhost` as `NginxVhost`.
fn struct_name(name: &TypeName) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
    };
    name.as_str().split('_').map(capital).collect()
}

#[cfg(test)]
mod tests;
