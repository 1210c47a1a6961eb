//! Which components a program embeds, and how they get into it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::encode::{EncodeError, to_component};
use crate::guests::Component;

/// The file beside generated code that says what is in it.
const GENERATED: &str = "components.rs";

/// Names of components, each the name of a folder and of its package. Unique, in the order in which they were listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names(Vec<String>);

/// Why a list of components cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NamesError {
    /// The list cannot be read.
    #[error("the list `{}` cannot be read", path.display())]
    Read {
        /// The list.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A line is not a name.
    #[error("line {line} of the list is `{}`: a name is lower-case letters, digits, `-` and `_`", found.escape_debug())]
    NotAName {
        /// Its number, from 1.
        line: usize,
        /// What it says.
        found: String,
    },
    /// A name stands twice.
    #[error("line {line} of the list names `{name}` again")]
    Twice {
        /// The number of the second line, from 1.
        line: usize,
        /// The name.
        name: String,
    },
}

impl Names {
    /// Parses a list: a name a line; blank lines, and what follows `#`, do not count.
    ///
    /// # Errors
    /// If a line is no name, or a name stands twice.
    pub fn parse(text: &str) -> Result<Self, NamesError> {
        let mut names: Vec<String> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let name = line.split('#').next().unwrap_or_default().trim();
            if name.is_empty() {
                continue;
            }
            if !name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_')) {
                return Err(NamesError::NotAName { line: index + 1, found: name.to_owned() });
            }
            if names.iter().any(|known| known == name) {
                return Err(NamesError::Twice { line: index + 1, name: name.to_owned() });
            }
            names.push(name.to_owned());
        }
        Ok(Self(names))
    }

    /// Reads a list from its file.
    ///
    /// # Errors
    /// If it cannot be read, a line is no name, or a name stands twice.
    pub fn read(path: &Path) -> Result<Self, NamesError> {
        let text = std::fs::read_to_string(path).map_err(|source| NamesError::Read { path: path.to_owned(), source })?;
        Self::parse(&text)
    }

    /// The folders with a `Cargo.toml` in `folder`, sorted.
    ///
    /// # Errors
    /// If the folder cannot be read, or a folder's name is no name of a component.
    pub fn of_folders(folder: &Path) -> Result<Self, NamesError> {
        let read = |source| NamesError::Read { path: folder.to_owned(), source };
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(folder).map_err(read)? {
            let entry = entry.map_err(read)?;
            if entry.path().join("Cargo.toml").is_file() {
                names.insert(entry.file_name().to_string_lossy().into_owned());
            }
        }
        Self::parse(&names.into_iter().collect::<Vec<_>>().join("\n"))
    }

    /// The names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The names, to hand to [`Guests`](crate::Guests).
    pub fn to_vec(&self) -> Vec<&str> {
        self.iter().collect()
    }
}

/// Why components could not be taken from a folder, or put into generated code.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// The folder of given components is relative, and a build script does not run where its user stands.
    #[error("`{}` is not an absolute path", folder.display())]
    Relative {
        /// The folder.
        folder: PathBuf,
    },
    /// A given component cannot be read.
    #[error("the given component `{}` cannot be read", path.display())]
    Read {
        /// Its file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A given file is no component.
    #[error("`{}` is not a component", path.display())]
    NotAComponent {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: EncodeError,
    },
    /// A generated file cannot be written.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// Takes `FOLDER/NAME.wasm` for each name, as it is, in place of building it.
///
/// # Errors
/// If the folder is relative, or a file is missing or is no component.
pub fn given(folder: &Path, names: &Names) -> Result<Vec<Component>, EmbedError> {
    if folder.is_relative() {
        return Err(EmbedError::Relative { folder: folder.to_owned() });
    }
    let take = |name: &str| {
        let path = folder.join(format!("{name}.wasm"));
        let bytes = std::fs::read(&path).map_err(|source| EmbedError::Read { path: path.clone(), source })?;
        let bytes = to_component(&bytes).map_err(|source| EmbedError::NotAComponent { path, source })?;
        let digest = Sha256::digest(&bytes).into();
        Ok(Component { name: name.to_owned(), bytes, digest, compiled: false })
    };
    names.iter().map(take).collect()
}

/// Writes the components into a build script's output folder, and beside them `components.rs`: an expression of type
/// `&[(&str, &[u8], [u8; 32])]` with name, bytes and SHA-256 digest of each, for `include!`.
///
/// # Errors
/// If a file cannot be written.
pub fn embed(out_folder: &Path, components: &[Component]) -> Result<(), EmbedError> {
    let mut code = String::from("&[\n");
    for component in components {
        let path = out_folder.join(format!("{}.wasm", component.name));
        write_if_changed(&path, &component.bytes)?;
        let Component { name, digest, .. } = component;
        // Writing to a string cannot fail.
        let _ = writeln!(code, "    ({name:?}, include_bytes!({path:?}), {digest:?}),");
    }
    code.push_str("]\n");
    write_if_changed(&out_folder.join(GENERATED), code.as_bytes())
}

/// A file that did not change keeps its time, so that nothing that includes it is compiled again.
fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<(), EmbedError> {
    if std::fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(());
    }
    std::fs::write(path, bytes).map_err(|source| EmbedError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_names_comments_and_blank_lines() {
        let names = Names::parse("# built in\nfile\n\n  user-account # later\r\n").unwrap();
        assert_eq!(names.to_vec(), ["file", "user-account"]);
    }

    #[test]
    fn a_list_with_a_path_or_a_repeated_name_is_refused() {
        let path = Names::parse("file\n../etc").unwrap_err();
        assert_eq!(path.to_string(), "line 2 of the list is `../etc`: a name is lower-case letters, digits, `-` and `_`");
        assert!(matches!(Names::parse("file\nfile"), Err(NamesError::Twice { line: 2, .. })));
    }

    #[test]
    fn given_components_must_be_there_and_be_components() {
        let folder = tempfile::tempdir().unwrap();
        let names = Names::parse("file").unwrap();
        assert!(matches!(given(Path::new("out"), &names), Err(EmbedError::Relative { .. })));
        assert!(matches!(given(folder.path(), &names), Err(EmbedError::Read { .. })));
        std::fs::write(folder.path().join("file.wasm"), "text").unwrap();
        assert!(matches!(given(folder.path(), &names), Err(EmbedError::NotAComponent { .. })));
        // The smallest component: a header and nothing else.
        std::fs::write(folder.path().join("file.wasm"), b"\0asm\x0d\0\x01\0").unwrap();
        assert_eq!(given(folder.path(), &names).unwrap()[0].bytes, b"\0asm\x0d\0\x01\0");
    }

    #[test]
    fn embedded_code_names_each_component_with_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let component = Component { name: "file".to_owned(), bytes: vec![1, 2], digest: [7; 32], compiled: true };
        embed(folder.path(), &[component]).unwrap();
        let code = std::fs::read_to_string(folder.path().join("components.rs")).unwrap();
        let path = folder.path().join("file.wasm");
        assert_eq!(code, format!("&[\n    (\"file\", include_bytes!({path:?}), {:?}),\n]\n", [7; 32]));
        assert_eq!(std::fs::read(path).unwrap(), [1, 2]);
    }
}
