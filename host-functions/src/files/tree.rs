//! Emptying a directory, all that is beneath it, without following a link or leaving its mount.
//!
//! It is walked twice: first to find what forbids it (a mount, a protected object, too great a depth), so that nothing is removed in
//! vain, then to remove. Each directory is opened by name in its open parent, so a link put in its place is removed, not entered.

use std::ffi::CString;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::place::Place;
use crate::authorize::Rule;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;
use crate::node::identity::Identity;
use crate::node::protected::Touch;

/// The deepest directory that is removed; one descriptor is held for each level.
const MAX_DEPTH: usize = 128;

/// What a walk does with each entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    Judge,
    Remove,
}

/// A directory on the way down.
struct Level {
    folder: OwnedFd,
    /// Names still to do, last first.
    names: Vec<CString>,
    /// Its name in the level above; none for the top.
    name: Option<CString>,
}

/// Removes everything beneath the directory that `handle` holds.
pub(super) fn empty(context: &mut HostContext, call: &HostCall, place: &Place, handle: BorrowedFd<'_>) -> Result<(), CallError> {
    for pass in [Pass::Judge, Pass::Remove] {
        let top = rustix::fs::openat(handle, ".", FLAGS, Mode::empty()).map_err(|errno| place.failed("opening", errno))?;
        walk(context, call, place, top, pass)?;
    }
    Ok(())
}

const FLAGS: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn walk(context: &mut HostContext, call: &HostCall, place: &Place, top: OwnedFd, pass: Pass) -> Result<(), CallError> {
    let mut levels = vec![level(place, top, None)?];
    while let Some(current) = levels.last_mut() {
        context.check_deadline()?;
        let Some(name) = current.names.pop() else {
            finish(place, &mut levels, pass)?;
            continue;
        };
        let Some(folder) = visit(context, call, place, current.folder.as_fd(), &name, pass)? else { continue };
        if levels.len() == MAX_DEPTH {
            return Err(CallError::TooLarge(format!("`{}` is more than {MAX_DEPTH} directories deep", place.shown)));
        }
        levels.push(level(place, folder, Some(name))?);
    }
    Ok(())
}

fn level(place: &Place, folder: OwnedFd, name: Option<CString>) -> Result<Level, CallError> {
    let failed = |errno| place.failed("listing a directory beneath", errno);
    let mut names = Vec::new();
    for entry in Dir::read_from(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(Level { folder, names, name })
}

/// Leaves a directory whose entries are done.
fn finish(place: &Place, levels: &mut Vec<Level>, pass: Pass) -> Result<(), CallError> {
    let done = levels.pop().and_then(|level| level.name);
    if pass == Pass::Judge {
        return Ok(());
    }
    let (Some(name), Some(above)) = (done, levels.last()) else { return Ok(()) };
    match rustix::fs::unlinkat(&above.folder, &name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        // Another process is filling it as it is emptied.
        Err(Errno::EXIST | Errno::NOTEMPTY) => Err(CallError::NotEmpty),
        Err(errno) => Err(place.failed("removing a directory beneath", errno)),
    }
}

/// Does one entry, or gives the directory that it is, opened.
fn visit(
    context: &mut HostContext,
    call: &HostCall,
    place: &Place,
    folder: BorrowedFd<'_>,
    name: &CString,
    pass: Pass,
) -> Result<Option<OwnedFd>, CallError> {
    let stat = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(place.failed("looking at an object beneath", errno)),
    };
    if let Some(what) = context.node().protected().find_object(Identity::of(&stat), Touch::Displace) {
        return Err(context.deny(call, Rule::Protected { what }));
    }
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        return enter(place, folder, name).map(Some);
    }
    match pass {
        Pass::Judge => Ok(None),
        Pass::Remove => match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(place.failed("removing a file beneath", errno)),
        },
    }
}

/// Opens a directory for walking it, unless something is mounted on it.
fn enter(place: &Place, folder: BorrowedFd<'_>, name: &CString) -> Result<OwnedFd, CallError> {
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV;
    rustix::fs::openat2(folder, name, FLAGS, Mode::empty(), within).map_err(|errno| match errno {
        Errno::XDEV => CallError::UnsafePath(format!("something is mounted beneath `{}`", place.shown)),
        Errno::LOOP | Errno::NOTDIR | Errno::NOENT => CallError::Busy(format!("`{}` changes while it is removed", place.shown)),
        _ => place.failed("opening a directory beneath", errno),
    })
}
