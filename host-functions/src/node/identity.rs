//! Which object a file descriptor is of, apart from its name.

use rustix::fd::AsFd;
use rustix::fs::{AtFlags, FileType, Stat, StatxFlags};
use rustix::io::Errno;

/// An object of a file system, while it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The device that holds it.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

impl Identity {
    /// Of what `stat` describes.
    pub fn of(stat: &Stat) -> Self {
        Self { device: stat.st_dev, inode: stat.st_ino }
    }

    /// Of what `fd` is open on.
    pub(crate) fn of_fd(fd: impl AsFd) -> Result<Self, Errno> {
        rustix::fs::fstat(fd).map(|stat| Self::of(&stat))
    }
}

/// What tells one state of an object from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    pub identity: Identity,
    pub kind: FileType,
    pub owner: u32,
    pub group: u32,
    /// Permission bits with set-id and sticky.
    pub mode: u32,
    pub size: i64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Fingerprint {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            identity: Identity::of(stat),
            kind: FileType::from_raw_mode(stat.st_mode),
            owner: stat.st_uid,
            group: stat.st_gid,
            mode: stat.st_mode & 0o7777,
            size: stat.st_size,
            modified: (stat.st_mtime, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime, stat.st_ctime_nsec as i64),
        }
    }

    /// The same state, where a rename in between does not count: renaming an object moves its change time.
    pub(crate) fn same_but_renamed(&self, other: &Self) -> bool {
        Self { changed: other.changed, ..*self } == *other
    }
}

/// A folder for as long as the run lasts: inode numbers are used again, so the time of its making is part of it where the file system
/// keeps one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FolderIdentity {
    identity: Identity,
    born: Option<(i64, u32)>,
}

impl FolderIdentity {
    pub(crate) fn of_fd(fd: impl AsFd) -> Result<Self, Errno> {
        let identity = Identity::of_fd(&fd)?;
        let statx = rustix::fs::statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::BTIME)?;
        let known = StatxFlags::from_bits_retain(statx.stx_mask).contains(StatxFlags::BTIME);
        Ok(Self { identity, born: known.then_some((statx.stx_btime.tv_sec, statx.stx_btime.tv_nsec)) })
    }
}
