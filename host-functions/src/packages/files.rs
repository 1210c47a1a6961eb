//! The two kinds of file that packages have to do with: the manager's index, whose age is told, and a package file that came as an asset.

use std::io::Read as _;
use std::time::{Duration, Instant, SystemTime};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use sha2::{Digest as _, Sha256};

use crate::assets::AssetSource;
use crate::digest::Digest;
use crate::error::CallError;
use crate::node::Root;
use crate::node::resolve::{Target, open, open_directory};

/// The most entries of an index that are looked at; more say nothing new about its age.
const MAX_ENTRIES: usize = 20_000;

/// How deep an index may be.
const MAX_DEPTH: usize = 4;

/// The largest package file, in bytes.
const MAX_PACKAGE: u64 = 4 * 1024 * 1024 * 1024;

/// Where a package file waits for its manager. No one but root may write there.
const WAITING: &[u8] = b"/var/cache";

/// How long ago the newest thing in these folders changed; none if they hold no file but locks.
pub(super) fn index_age(root: &Root, folders: &[&str]) -> Result<Option<Duration>, CallError> {
    let mut newest = Newest::default();
    for folder in folders {
        if let Target::Opened { fd, .. } = open(root, folder.as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY)? {
            newest.look_into(fd, 0).map_err(|errno| CallError::system(errno, "looking at the index"))?;
        }
    }
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    Ok(newest.has_files.then(|| Duration::from_secs(now.saturating_sub(newest.seconds))))
}

/// Marks an index as fetched now: what has not changed at its source is otherwise as old as before.
pub(super) fn mark_fetched(root: &Root, folders: &[&str]) -> Result<(), CallError> {
    for folder in folders {
        if let Target::Opened { fd, .. } = open(root, folder.as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY)? {
            let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
            rustix::fs::futimens(&fd, &Timestamps { last_access: now, last_modification: now })
                .map_err(|errno| CallError::system(errno, "marking the index as fetched"))?;
        }
    }
    Ok(())
}

#[derive(Default)]
struct Newest {
    seconds: u64,
    has_files: bool,
    entries: usize,
}

impl Newest {
    fn look_into(&mut self, folder: OwnedFd, depth: usize) -> Result<(), rustix::io::Errno> {
        self.see(rustix::fs::fstat(&folder)?.st_mtime);
        for entry in rustix::fs::Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b".." | b"lock") {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Ok(());
            }
            let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => {
                    self.has_files = true;
                    self.see(stat.st_mtime);
                }
                FileType::Directory if depth < MAX_DEPTH => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let inner = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
                    self.look_into(inner, depth + 1)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn see(&mut self, seconds: i64) {
        self.seconds = self.seconds.max(seconds.try_into().unwrap_or(0));
    }
}

/// A package file in the node's file system; it is gone when this is dropped.
pub(super) struct WaitingFile {
    folder: OwnedFd,
    name: String,
}

impl WaitingFile {
    /// Writes an asset to where the manager can read it. `name` is one that nothing else has.
    pub(super) fn write(
        root: &Root,
        name: String,
        assets: &dyn AssetSource,
        digest: &Digest,
        deadline: Instant,
    ) -> Result<Self, CallError> {
        let Target::Opened { fd: folder, .. } = open_directory(root, WAITING)? else {
            return Err(CallError::NotFound);
        };
        let failed = |errno| CallError::system(errno, "writing a package file to `/var/cache`");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, name.as_str(), flags, Mode::from_raw_mode(0o644)).map_err(failed)?;
        let waiting = Self { folder, name };
        copy(file, assets, digest, deadline)?;
        Ok(waiting)
    }

    /// Its path on the node.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", String::from_utf8_lossy(WAITING), self.name)
    }
}

impl Drop for WaitingFile {
    fn drop(&mut self) {
        if let Err(errno) = rustix::fs::unlinkat(&self.folder, self.name.as_str(), AtFlags::empty()) {
            tracing::warn!(name = %self.name, %errno, "a package file could not be removed from /var/cache");
        }
    }
}

/// Copies an asset, whose bytes must have the digest by which it is named.
fn copy(file: OwnedFd, assets: &dyn AssetSource, digest: &Digest, deadline: Instant) -> Result<(), CallError> {
    let failed = |error: std::io::Error| CallError::Other(format!("copying a package file: {}", error.kind()));
    let mut content = assets.open(digest).map_err(failed)?.take(MAX_PACKAGE + 1);
    let mut file = std::fs::File::from(file);
    let (mut hasher, mut size, mut block) = (Sha256::new(), 0, vec![0; 256 * 1024]);
    loop {
        crate::context::check_deadline(deadline)?;
        let read = content.read(&mut block).map_err(failed)?;
        if read == 0 {
            break;
        }
        size += read as u64;
        if size > MAX_PACKAGE {
            return Err(CallError::TooLarge(format!("a package file has at most {MAX_PACKAGE} bytes")));
        }
        hasher.update(&block[..read]);
        std::io::Write::write_all(&mut file, &block[..read]).map_err(failed)?;
    }
    if Digest(hasher.finalize().into()) == *digest {
        Ok(())
    } else {
        Err(CallError::Other("the bundle's bytes of the package file are not those of its digest".into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_without_files_was_never_fetched() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let age = || index_age(&root, &["/var/lib/apt/lists"]).unwrap();
        assert_eq!(age(), None);
        std::fs::create_dir_all(folder.path().join("var/lib/apt/lists/partial")).unwrap();
        std::fs::write(folder.path().join("var/lib/apt/lists/lock"), "").unwrap();
        assert_eq!(age(), None);
        std::fs::write(folder.path().join("var/lib/apt/lists/x_Packages"), "").unwrap();
        assert!(age().unwrap() < Duration::from_secs(60));
    }

    #[test]
    fn a_fetch_that_brought_nothing_new_counts() {
        let folder = tempfile::tempdir().unwrap();
        let lists = folder.path().join("lists");
        std::fs::create_dir(&lists).unwrap();
        let path = lists.join("x_Packages");
        std::fs::write(&path, "").unwrap();
        let old = Timespec { tv_sec: 1_000_000, tv_nsec: 0 };
        for path in [&path, &lists] {
            rustix::fs::utimensat(
                rustix::fs::CWD,
                path,
                &Timestamps { last_access: old, last_modification: old },
                AtFlags::empty(),
            )
            .unwrap();
        }
        let root = Root::open(folder.path()).unwrap();
        assert!(index_age(&root, &["/lists"]).unwrap().unwrap() > Duration::from_secs(1_000_000));
        mark_fetched(&root, &["/lists"]).unwrap();
        assert!(index_age(&root, &["/lists"]).unwrap().unwrap() < Duration::from_secs(60));
    }
}
