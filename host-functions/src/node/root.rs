//! The directory that is the node's `/`, opened once.

use std::io::Read as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::identity::Identity;
use super::resolve::{self, Target};
use crate::error::CallError;
use crate::text::escape_bytes;

/// The node's `/`. Everything is resolved beneath it by the kernel (`openat2`), and there is no other way.
#[derive(Debug)]
pub struct Root {
    fd: OwnedFd,
    path: PathBuf,
    identity: Identity,
    is_system: bool,
    run_as: (u32, u32),
}

/// Why a root cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RootError {
    /// It cannot be opened as a directory.
    #[error("directory `{}` cannot be opened", path.display())]
    Open {
        /// As it was given.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Paths cannot be resolved safely on this kernel.
    #[error("the system call `openat2` does not work here, and paths are resolved in no other way: Linux 5.6 or later is needed")]
    Openat2(#[source] std::io::Error),
}

impl Root {
    /// Opens the directory at `path`, following symbolic links: the operator names it.
    ///
    /// # Errors
    /// If it is not a directory that can be opened, or if the kernel has no `openat2`.
    pub fn open(path: &Path) -> Result<Self, RootError> {
        let failed = |errno: Errno| RootError::Open { path: path.to_owned(), source: errno.into() };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty()).map_err(failed)?;
        let identity = Identity::of_fd(&fd).map_err(failed)?;
        let system = rustix::fs::stat("/").map_err(failed)?;
        rustix::fs::openat2(&fd, ".", flags, Mode::empty(), ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS)
            .map_err(|errno| RootError::Openat2(errno.into()))?;
        let run_as = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        Ok(Self { fd, path: path.to_owned(), identity, is_system: identity == Identity::of(&system), run_as })
    }

    /// Whether it is the root of the running system, so that the system's own look-ups are about this node.
    pub fn is_system(&self) -> bool {
        self.is_system
    }

    /// The path by which it was opened, for messages and for objects of the host beneath it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// User and group that this process has.
    pub fn run_as(&self) -> (u32, u32) {
        self.run_as
    }

    /// Where the directory is now, for another process that is to enter it: absolute, whatever it was opened by.
    ///
    /// # Errors
    /// If the kernel does not say, or the directory is gone.
    pub(crate) fn real_path(&self) -> Result<PathBuf, CallError> {
        let failed = |errno| CallError::system(errno, "finding the root of the node");
        let link = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        let target = rustix::fs::readlink(link.as_str(), Vec::new()).map_err(failed)?;
        let path = PathBuf::from(std::ffi::OsString::from_vec(target.into_bytes()));
        let same = rustix::fs::stat(&path).is_ok_and(|stat| Identity::of(&stat) == self.identity);
        if same { Ok(path) } else { Err(CallError::Changed("the root of the node was moved or removed".to_owned())) }
    }

    pub(crate) fn identity(&self) -> Identity {
        self.identity
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The content of a regular file of the node that the host itself reads, following trusted symbolic links; none if it does not
    /// exist.
    ///
    /// # Errors
    /// If it cannot be read, is not a regular file, or has more than `cap` bytes.
    pub fn read_file(&self, path: &[u8], cap: u64) -> Result<Option<Vec<u8>>, CallError> {
        let doing = format!("reading `{}`", escape_bytes(path));
        let target = resolve::open(self, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)?;
        let Target::Opened { fd, .. } = target else { return Ok(None) };
        let stat = rustix::fs::fstat(&fd).map_err(|errno| CallError::system(errno, &doing))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(CallError::WrongKind(format!("{doing}: it is not a regular file")));
        }
        let mut content = Vec::new();
        std::fs::File::from(fd)
            .take(cap + 1)
            .read_to_end(&mut content)
            .map_err(|error| CallError::Other(format!("{doing}: {}", error.kind())))?;
        if content.len() as u64 > cap {
            return Err(CallError::TooLarge(format!("{doing}: it has more than {cap} bytes")));
        }
        Ok(Some(content))
    }
}
