//! The one open file that a bundle is read from, by position.
//!
//! The only place of this module that reads the file system: it works on Linux, macOS and Windows alike.

use std::fs::File;
use std::io;
use std::path::Path;

use super::error::BundleError;

/// Bytes that can be read at any position, by several readers at once.
pub(super) trait ReadAt: Send + Sync {
    /// How many bytes there are.
    fn len(&self) -> u64;

    /// Fills `buffer` from `offset`. Fails with `UnexpectedEof` beyond the end.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

/// A regular file, with the length it had when it was opened.
pub(super) struct FileSource {
    file: File,
    len: u64,
}

impl FileSource {
    /// Opens `path` once; links in it are followed, as for any file that a person names.
    #[expect(clippy::disallowed_methods, reason = "the one place where a bundle is opened")]
    pub(super) fn open(path: &Path) -> Result<Self, BundleError> {
        let failed = |source| BundleError::Io { action: "open the bundle", source };
        // Opening a pipe would wait for its writer, so look first; what was opened is looked at again below.
        if !path.metadata().map_err(failed)?.is_file() {
            return Err(BundleError::NotAFile);
        }
        let file = File::open(path).map_err(failed)?;
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(BundleError::NotAFile);
        }
        Ok(Self { file, len: metadata.len() })
    }
}

impl ReadAt for FileSource {
    fn len(&self) -> u64 {
        self.len
    }

    #[cfg(unix)]
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(windows)]
    fn read_exact_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buffer.is_empty() {
            match std::os::windows::fs::FileExt::seek_read(&self.file, buffer, offset)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => {
                    buffer = &mut buffer[count..];
                    offset += count as u64;
                }
            }
        }
        Ok(())
    }
}

impl ReadAt for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        let end = start.checked_add(buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        let from = self.get(start..end).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(from);
        Ok(())
    }
}
