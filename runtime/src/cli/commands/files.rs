//! Files that the command line itself reads and writes: an author's components and crates, man pages. Never a node's.
#![allow(clippy::disallowed_methods, reason = "reads and writes what its caller names on a developer's machine")]

use std::fs;
use std::io::Read as _;
use std::path::Path;

use crate::cli::error::{CliError, MAX_COMPONENT_BYTES};

/// The bytes of a component file.
///
/// # Errors
/// If it cannot be read or is larger than any component may be.
pub(in crate::cli) fn read_component(path: &Path) -> Result<Vec<u8>, CliError> {
    let read_error = |source| CliError::Read { path: path.to_owned(), source };
    let file = fs::File::open(path).map_err(read_error)?;
    let mut bytes = Vec::new();
    file.take(MAX_COMPONENT_BYTES + 1).read_to_end(&mut bytes).map_err(read_error)?;
    if bytes.len() as u64 > MAX_COMPONENT_BYTES {
        return Err(CliError::TooLarge { path: path.to_owned() });
    }
    Ok(bytes)
}

/// Writes `bytes` beside `path` and puts the file in its place, so that it is never half there.
///
/// # Errors
/// If that fails; what was there before is still there.
pub(in crate::cli) fn write(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let write_error = |source| CliError::Write { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".runtime-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    let mut staged = builder.tempfile_in(folder).map_err(write_error)?;
    std::io::Write::write_all(&mut staged, bytes).map_err(write_error)?;
    staged.persist(path).map_err(|error| write_error(error.error))?;
    Ok(())
}

/// Makes a folder and those above it.
///
/// # Errors
/// If one cannot be made.
pub(in crate::cli) fn make_folder(path: &Path) -> Result<(), CliError> {
    fs::create_dir_all(path).map_err(|source| CliError::Write { path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_read_up_to_the_cap() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.wasm");
        assert_eq!(read_component(&path).unwrap_err().exit().code(), 74);
        write(&path, b"\0asm").unwrap();
        assert_eq!(read_component(&path).unwrap(), b"\0asm");
        fs::File::create(&path).unwrap().set_len(MAX_COMPONENT_BYTES + 1).unwrap();
        assert_eq!(read_component(&path).unwrap_err().exit().code(), 65);
    }

    #[test]
    fn a_failed_write_leaves_no_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("taken");
        fs::create_dir(&path).unwrap();
        assert_eq!(write(&path, b"x").unwrap_err().exit().code(), 74);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the staged file is gone");
    }
}
