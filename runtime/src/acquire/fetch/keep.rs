//! A folder of fetched bytes, each file named by its digest. What is read from it is hashed first, so nobody who can write there can put in
//! other bytes; the folder is private all the same, since what was fetched may not be for everyone.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::{NamedTempFile, TempDir};

use super::super::{Places, hash};
use super::AcquireError;
use crate::model::digest::AssetDigest;
use crate::store::folder::create_private;

/// The folder within the cache.
const FOLDER: &str = "sources";

/// How the name of a file begins that is not whole yet.
const PART: &str = ".part-";

/// What a killed process left is taken away after this time, by when no download can still be going on.
const STALE: Duration = Duration::from_secs(48 * 3_600);

/// The folder.
pub(super) struct Keep {
    folder: PathBuf,
    /// Goes with this value, if it is for this process alone.
    _own: Option<TempDir>,
}

impl Keep {
    /// In the cache, or apart from it if that cannot be used, which is logged.
    pub(super) fn open(places: &Places) -> io::Result<Self> {
        if let Some(cache) = &places.cache {
            match create_private(&cache.join(FOLDER)) {
                Ok(folder) => {
                    remove_stale(&folder);
                    return Ok(Self { folder, _own: None });
                }
                Err(error) => tracing::warn!(folder = %cache.display(), %error, "fetched sources are not kept"),
            }
        }
        let own = tempfile::Builder::new().prefix("runtime-sources-").tempdir_in(&places.scratch)?;
        Ok(Self { folder: own.path().to_owned(), _own: Some(own) })
    }

    /// Where the bytes of a digest are, or would be.
    pub(super) fn path(&self, digest: AssetDigest) -> PathBuf {
        self.folder.join(digest.hex())
    }

    /// The size of what is kept, hashed again; none if nothing is, or something else is under that name.
    ///
    /// # Errors
    /// If it is larger than it may be.
    pub(super) fn size(&self, digest: AssetDigest, max_size: u64) -> Result<Option<u64>, AcquireError> {
        let Ok(content) = self.open_file(digest) else { return Ok(None) };
        match hash(content, max_size) {
            Ok((found, size)) if found == digest => Ok(Some(size)),
            Err(error @ AcquireError::TooLarge { .. }) => Err(error),
            _ => {
                tracing::warn!(%digest, "a kept source is damaged and is fetched again");
                Ok(None)
            }
        }
    }

    /// The kept bytes.
    #[expect(clippy::disallowed_methods, reason = "a file of our own folder of sources")]
    pub(super) fn open_file(&self, digest: AssetDigest) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(self.path(digest))?))
    }

    /// A file to download to; gone when it is dropped.
    pub(super) fn part(&self) -> io::Result<NamedTempFile> {
        tempfile::Builder::new().prefix(PART).tempfile_in(&self.folder)
    }

    /// Keeps a downloaded file.
    pub(super) fn put(&self, part: NamedTempFile, digest: AssetDigest) -> io::Result<()> {
        part.persist(self.path(digest)).map(|_| ()).map_err(|error| error.error)
    }
}

/// Takes away parts that a process left when it was killed. That this fails only costs space.
#[expect(clippy::disallowed_methods, reason = "our own folder of sources")]
fn remove_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_part = entry.file_name().to_str().is_some_and(|name| name.starts_with(PART));
        let age = entry.metadata().and_then(|found| found.modified()).ok().and_then(|time| time.elapsed().ok());
        if is_part && age.is_some_and(|age| age > STALE) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn kept_bytes_are_verified_on_use_and_stale_parts_go() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places { cache: Some(folder.path().join("cache")), scratch: folder.path().to_owned() };
        let keep = Keep::open(&places).unwrap();
        let digest = AssetDigest::of(b"bytes");
        assert_eq!(keep.size(digest, 10).unwrap(), None);
        let mut part = keep.part().unwrap();
        part.write_all(b"bytes").unwrap();
        keep.put(part, digest).unwrap();
        assert_eq!(keep.size(digest, 10).unwrap(), Some(5));
        assert!(matches!(keep.size(digest, 4), Err(AcquireError::TooLarge { limit: 4 })));
        fs::write(keep.path(digest), "other").unwrap();
        assert_eq!(keep.size(digest, 10).unwrap(), None, "damaged");

        let (old, new) = (keep.folder.join(".part-old"), keep.folder.join(".part-new"));
        for path in [&old, &new] {
            fs::write(path, "x").unwrap();
        }
        let long_ago = std::time::SystemTime::now() - 2 * STALE;
        File::options().write(true).open(&old).unwrap().set_modified(long_ago).unwrap();
        Keep::open(&places).unwrap();
        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn without_a_cache_the_folder_goes_with_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let keep = Keep::open(&Places { cache: None, scratch: folder.path().to_owned() }).unwrap();
        drop(keep.part().unwrap());
        let path = keep.folder.clone();
        assert!(path.exists());
        drop(keep);
        assert!(!path.exists());
    }
}
