//! The lock is the system's own (`flock`), so that it ends with the process, however that ends.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::error::StoreError;
use super::folder::{failed, own_file};

pub(super) const FILE_NAME: &str = "lock";

/// A held lock. Processes that we start do not inherit it.
#[derive(Debug)]
pub(super) struct RunLock {
    _file: OwnedFd,
}

impl RunLock {
    /// For a run that may change something. The file is created if it does not exist.
    pub(super) fn exclusive(folder: &Path) -> Result<Self, StoreError> {
        let flags = OFlags::RDWR | OFlags::CREATE;
        Self::take(folder, flags, FlockOperation::NonBlockingLockExclusive)?
            .ok_or_else(|| failed("open the lock", &folder.join(FILE_NAME), Errno::NOENT))
    }

    /// For a run that only looks; none if no run ever made the file.
    pub(super) fn shared(folder: &Path) -> Result<Option<Self>, StoreError> {
        Self::take(folder, OFlags::RDONLY, FlockOperation::NonBlockingLockShared)
    }

    fn take(folder: &Path, flags: OFlags, operation: FlockOperation) -> Result<Option<Self>, StoreError> {
        let path = folder.join(FILE_NAME);
        loop {
            own_file(folder, &path)?;
            let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = match rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => file,
                Err(Errno::NOENT) => return Ok(None),
                Err(error) => return Err(failed("open the lock", &path, error)),
            };
            let stat = rustix::fs::fstat(&file).map_err(|error| failed("examine", &path, error))?;
            match rustix::fs::flock(&file, operation) {
                Ok(()) if is_still(&path, &stat) => return Ok(Some(Self { _file: file })),
                // Someone removed the file between opening and locking: what we locked is no longer what others will lock.
                Ok(()) | Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return Err(StoreError::Locked { folder: folder.into(), pid: holder(&stat) }),
                Err(error) => return Err(failed("lock", &path, error)),
            }
        }
    }
}

fn is_still(path: &PathBuf, locked: &Stat) -> bool {
    rustix::fs::lstat(path).is_ok_and(|now| (now.st_dev, now.st_ino) == (locked.st_dev, locked.st_ino))
}

/// Who holds a lock on the file, if the kernel says so.
fn holder(stat: &Stat) -> Option<u32> {
    parse_holder(&std::fs::read_to_string("/proc/locks").ok()?, stat.st_dev, stat.st_ino)
}

/// Lines are like `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`: process, then device in hex and inode.
fn parse_holder(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let file = format!("{:02x}:{:02x}:{inode}", rustix::fs::major(device), rustix::fs::minor(device));
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, _, pid, held, ..] if held == file => pid.parse().ok().filter(|&pid| pid > 0),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_read_from_the_kernels_table() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:00:99 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 0 fe:00:99 0 EOF\n\
                     3: -> FLOCK ADVISORY WRITE 8 fe:00:99 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 1234 fe:00:99 0 EOF\n";
        let device = rustix::fs::makedev(0xfe, 0);
        assert_eq!(parse_holder(locks, device, 99), Some(1234));
        assert_eq!(parse_holder(locks, device, 98), None);
        assert_eq!(parse_holder("rubbish\n", device, 99), None);
    }
}
