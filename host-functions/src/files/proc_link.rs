//! The kernel's own link to an object that is held but not opened, for the few calls that take a path and no such handle.

use rustix::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use rustix::fs::{Mode, OFlags};

use super::place::Place;
use crate::error::CallError;
use crate::node::resolve::PROC_MAGIC;

/// Leads to the object for as long as the handle is held.
pub(super) struct ProcLink<'h> {
    path: String,
    _handle: BorrowedFd<'h>,
}

impl<'h> ProcLink<'h> {
    /// The link to what `handle` holds, which is at `place`.
    pub(super) fn to(place: &Place, handle: BorrowedFd<'h>) -> Result<Self, CallError> {
        let failed = |errno| place.failed("looking at", errno);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let links = rustix::fs::open("/proc/self/fd", flags, Mode::empty()).map_err(failed)?;
        if rustix::fs::fstatfs(links.as_fd()).map_err(failed)?.f_type as u64 != PROC_MAGIC {
            return Err(CallError::Other(format!("looking at `{}`: `/proc` is not the kernel's here", place.shown)));
        }
        Ok(Self { path: format!("/proc/self/fd/{}", handle.as_raw_fd()), _handle: handle })
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }
}
