//! Nobody but us may be able to change what lies in the state folder or the code cache, or to put another in its place, nor another policy file. So
//! every folder from `/` down must belong to root or to us, and be writable by no other; a folder with the sticky bit (as `/tmp`) is let
//! pass on the way, since there others cannot touch what is ours, but cannot be such a folder itself. Links are followed one at a time,
//! and each must belong to root or to us as well. After that, no other user can change what the checked path means.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::error::StoreError;

/// The most symbolic links on the way, as many as Linux itself follows.
const MAX_LINKS: usize = 40;

const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Folder,
    /// Its own rights are for the caller to judge.
    File,
}

struct Walk {
    /// As given, for messages.
    folder: PathBuf,
    /// Checked, without links.
    resolved: PathBuf,
    /// What does not exist yet.
    missing: Vec<OsString>,
}

/// Checks a folder of ours, from `/` down to itself.
///
/// # Errors
/// [`StoreError::Unsafe`] with what is not safe; [`StoreError::File`] if it does not exist or cannot be examined.
pub fn check_private(folder: &Path) -> Result<(), StoreError> {
    existing(folder)?.map(drop).ok_or_else(|| failed("find the folder", folder, Errno::NOENT))
}

/// Checks every folder from `/` down to a file, so that nobody else can put another in its place, and gives its path without links.
/// Whose the file is, and who can write it, is for the caller to judge.
///
/// # Errors
/// [`StoreError::Unsafe`] with what is not safe; [`StoreError::File`] if it does not exist or cannot be examined.
pub fn check_way(file: &Path) -> Result<PathBuf, StoreError> {
    let walk = walk(file, End::File)?;
    if walk.missing.is_empty() { Ok(walk.resolved) } else { Err(failed("find the file", file, Errno::NOENT)) }
}

/// The folder's path without links, if it exists.
pub(super) fn existing(folder: &Path) -> Result<Option<PathBuf>, StoreError> {
    let walk = walk(folder, End::Folder)?;
    if walk.missing.is_empty() { walk.check_last().map(|()| Some(walk.resolved)) } else { Ok(None) }
}

/// Checks a folder of ours, and gives its path without links. What is missing of it is created, with mode 0700, and is on disk when
/// this returns.
///
/// # Errors
/// As [`check_private`], and if it cannot be created.
pub fn create_private(folder: &Path) -> Result<PathBuf, StoreError> {
    let mut walk = walk(folder, End::Folder)?;
    for name in std::mem::take(&mut walk.missing) {
        let parent = walk.resolved.clone();
        walk.resolved.push(name);
        match rustix::fs::mkdir(&walk.resolved, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => sync(&parent)?,
            Err(error) => return Err(failed("create the folder", &walk.resolved, error)),
        }
        let stat = walk.stat(&walk.resolved)?;
        walk.check_folder(&walk.resolved, &stat)?;
    }
    walk.check_last()?;
    Ok(walk.resolved)
}

/// Has the entries of a folder on disk.
pub(super) fn sync(folder: &Path) -> Result<(), StoreError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(folder, flags, Mode::empty())
        .and_then(rustix::fs::fsync)
        .map_err(|error| failed("write to disk the folder", folder, error))
}

/// The state of a file of ours in the folder; none if there is no such file.
///
/// # Errors
/// If it is not a plain file that belongs to root or to us and that no other can write.
pub(super) fn own_file(folder: &Path, path: &Path) -> Result<Option<Stat>, StoreError> {
    let stat = match rustix::fs::lstat(path) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(failed("examine", path, error)),
    };
    let refuse = |problem: &str| StoreError::Unsafe { folder: folder.into(), path: path.into(), problem: problem.into() };
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(refuse("is not a plain file"));
    }
    if !is_trusted(stat.st_uid) {
        return Err(refuse(&format!("belongs to user id {}", stat.st_uid)));
    }
    if stat.st_mode & WRITABLE_BY_OTHERS != 0 {
        return Err(refuse("can be written by other users"));
    }
    if stat.st_nlink != 1 {
        return Err(refuse("has more than one name"));
    }
    Ok(Some(stat))
}

pub(super) fn failed(doing: &'static str, path: &Path, error: impl Into<io::Error>) -> StoreError {
    StoreError::File { doing, path: path.into(), source: error.into() }
}

fn is_trusted(uid: u32) -> bool {
    uid == 0 || uid == rustix::process::geteuid().as_raw()
}

#[expect(clippy::disallowed_methods, reason = "a relative path is relative to where the program was started")]
fn walk(given: &Path, end: End) -> Result<Walk, StoreError> {
    let absolute = std::path::absolute(given).map_err(|error| failed("make absolute", given, error))?;
    let folder = if end == End::File { absolute.parent().unwrap_or(&absolute) } else { given };
    let mut walk = Walk { folder: folder.into(), resolved: PathBuf::from("/"), missing: Vec::new() };
    let root = walk.stat(&walk.resolved)?;
    walk.check_folder(&walk.resolved, &root)?;
    let mut pending: VecDeque<OsString> = names(&absolute).collect();
    let mut links = 0;
    while let Some(name) = pending.pop_front() {
        if name == ".." {
            walk.resolved.pop();
            continue;
        }
        let path = walk.resolved.join(&name);
        match rustix::fs::lstat(&path) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
                links += 1;
                let target = walk.read_link(&path, &stat, links)?;
                if target.is_absolute() {
                    walk.resolved = PathBuf::from("/");
                }
                names(&target).rev().for_each(|name| pending.push_front(name));
            }
            Ok(_) if end == End::File && pending.is_empty() => walk.resolved = path,
            Ok(stat) => {
                walk.check_folder(&path, &stat)?;
                walk.resolved = path;
            }
            Err(Errno::NOENT) => return walk.end_with_missing(name, pending),
            Err(error) => return Err(failed("examine", &path, error)),
        }
    }
    Ok(walk)
}

/// The names of a path; `.` and `/` say nothing.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    })
}

impl Walk {
    fn refuse(&self, path: &Path, problem: impl Into<String>) -> StoreError {
        StoreError::Unsafe { folder: self.folder.clone(), path: path.into(), problem: problem.into() }
    }

    fn stat(&self, path: &Path) -> Result<Stat, StoreError> {
        rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW).map_err(|error| failed("examine", path, error))
    }

    fn read_link(&self, path: &Path, stat: &Stat, links: usize) -> Result<PathBuf, StoreError> {
        if !is_trusted(stat.st_uid) {
            return Err(self.refuse(path, format!("is a link that belongs to user id {}", stat.st_uid)));
        }
        if links > MAX_LINKS {
            return Err(self.refuse(path, "is one symbolic link too many"));
        }
        let target = rustix::fs::readlink(path, Vec::new()).map_err(|error| failed("read the link", path, error))?;
        Ok(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    fn check_folder(&self, path: &Path, stat: &Stat) -> Result<(), StoreError> {
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Err(self.refuse(path, "is not a folder"));
        }
        if !is_trusted(stat.st_uid) {
            return Err(self.refuse(path, format!("belongs to user id {}", stat.st_uid)));
        }
        if stat.st_mode & WRITABLE_BY_OTHERS != 0 && stat.st_mode & STICKY == 0 {
            return Err(self.refuse(path, "can be written by other users"));
        }
        Ok(())
    }

    fn check_last(&self) -> Result<(), StoreError> {
        let stat = self.stat(&self.resolved)?;
        if stat.st_mode & WRITABLE_BY_OTHERS != 0 {
            return Err(self.refuse(&self.resolved, "can be written by other users"));
        }
        Ok(())
    }

    fn end_with_missing(mut self, first: OsString, rest: VecDeque<OsString>) -> Result<Self, StoreError> {
        self.missing = std::iter::once(first).chain(rest).collect();
        if self.missing.iter().any(|name| name == "..") {
            return Err(self.refuse(&self.folder, "does not exist, and `..` in it cannot be followed"));
        }
        Ok(self)
    }
}
