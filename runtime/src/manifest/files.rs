//! Files beside the manifest. Nothing outside its folder can be read, whatever the path or the links on it.

use std::io::{self, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

/// The largest file that `file()` and `templatefile()` read: 4 MiB. Larger ones travel as assets.
pub const MAX_FILE: u64 = 4 << 20;

/// Why a file beside the manifest cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// There is none.
    #[error("there is no such file beneath the manifest's folder")]
    NotFound,
    /// The path leads elsewhere.
    #[error("the path leads outside the manifest's folder")]
    Outside,
    /// It is a directory, a device or the like.
    #[error("it is not a regular file")]
    NotAFile,
    /// It is larger than the limit.
    #[error("it is larger than {} MiB", MAX_FILE >> 20)]
    TooLarge,
    /// It could not be read.
    #[error("it cannot be read")]
    Io(#[source] io::Error),
}

impl FileError {
    /// The message with what the system said.
    pub fn describe(&self) -> String {
        match self {
            Self::Io(error) => format!("{self}: {}", error.kind()),
            _ => self.to_string(),
        }
    }
}

/// Where `file()`, `fileexists()` and `templatefile()` find files.
pub trait Files: Send + Sync {
    /// The content of a file, at most [`MAX_FILE`] bytes.
    ///
    /// # Errors
    /// If there is none, or it may not be read.
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError>;

    /// The bytes of a file of any size, from the start.
    ///
    /// # Errors
    /// As [`Files::read`], but for the size.
    fn open(&self, path: &str) -> Result<Box<dyn io::Read + Send>, FileError>;

    /// Whether there is such a regular file.
    ///
    /// # Errors
    /// If the path leads outside, or cannot be looked at.
    fn exists(&self, path: &str) -> Result<bool, FileError> {
        match self.read(path) {
            Ok(_) => Ok(true),
            Err(FileError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// No files at all, for manifests that are text alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _path: &str) -> Result<Vec<u8>, FileError> {
        Err(FileError::NotFound)
    }

    fn open(&self, _path: &str) -> Result<Box<dyn io::Read + Send>, FileError> {
        Err(FileError::NotFound)
    }
}

/// The folder of a manifest, opened once.
#[derive(Debug)]
pub struct Folder(Dir);

impl Folder {
    /// Opens the folder.
    ///
    /// # Errors
    /// If it is not a folder that can be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        Dir::open_ambient_dir(path, ambient_authority()).map(Self)
    }

    fn refuse(path: &str) -> Result<(), FileError> {
        let outside = Path::new(path).is_absolute() || path.starts_with(['/', '\\']);
        if outside { Err(FileError::Outside) } else { Ok(()) }
    }

    fn metadata(&self, path: &str) -> Result<cap_std::fs::Metadata, FileError> {
        Self::refuse(path)?;
        self.0.metadata(path).map_err(from_io)
    }
}

impl Files for Folder {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        let mut content = Vec::new();
        self.open(path)?.take(MAX_FILE + 1).read_to_end(&mut content).map_err(FileError::Io)?;
        if content.len() as u64 > MAX_FILE {
            return Err(FileError::TooLarge);
        }
        Ok(content)
    }

    fn open(&self, path: &str) -> Result<Box<dyn io::Read + Send>, FileError> {
        // Looked at before opening: opening a named pipe would wait for its other end.
        if !self.metadata(path)?.is_file() {
            return Err(FileError::NotAFile);
        }
        let file = self.0.open_with(path, OpenOptions::new().read(true)).map_err(from_io)?;
        Ok(Box::new(file))
    }

    fn exists(&self, path: &str) -> Result<bool, FileError> {
        match self.metadata(path) {
            Ok(metadata) => Ok(metadata.is_file()),
            Err(FileError::NotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn from_io(error: io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::NotFound => FileError::NotFound,
        // How cap-std answers a path that would leave the folder; an unreadable file carries a code of the system.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => FileError::Outside,
        _ => FileError::Io(error),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test needs a folder of its own")]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Folder) {
        let temp = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient_dir(temp.path(), ambient_authority()).unwrap();
        dir.write("secret", b"outside").unwrap();
        dir.create_dir_all("site/files").unwrap();
        dir.write("site/files/motd", b"hello").unwrap();
        dir.write("site/large", vec![b'x'; (MAX_FILE + 1) as usize]).unwrap();
        dir.symlink("files/motd", "site/inner").unwrap();
        dir.symlink("../secret", "site/outer").unwrap();
        let folder = Folder::open(&temp.path().join("site")).unwrap();
        (temp, folder)
    }

    #[test]
    fn files_beneath_are_read() {
        let (_temp, folder) = folder();
        assert_eq!(folder.read("files/motd").unwrap(), b"hello");
        assert_eq!(folder.read("./files/../inner").unwrap(), b"hello");
        assert!(folder.exists("inner").unwrap());
        assert!(!folder.exists("files").unwrap());
        assert!(!folder.exists("none").unwrap());
    }

    #[test]
    fn nothing_outside_can_be_read() {
        let (temp, folder) = folder();
        let absolute = temp.path().join("secret");
        for path in ["../secret", "outer", "files/../../secret", "/etc/passwd", absolute.to_str().unwrap()] {
            assert!(matches!(folder.read(path), Err(FileError::Outside)), "{path}: {:?}", folder.read(path));
            assert!(folder.exists(path).is_err(), "{path}");
        }
        assert!(matches!(folder.read("files"), Err(FileError::NotAFile)));
        assert!(matches!(folder.read("none"), Err(FileError::NotFound)));
        assert!(matches!(folder.read("large"), Err(FileError::TooLarge)));
    }
}
