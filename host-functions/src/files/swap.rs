//! The one step in which something new appears at a place, or something old leaves it.
//!
//! Done by `renameat2` so that it is one step, and so that what leaves is held and compared before it is gone: if another process was
//! faster, both are put back. On a file system without these renames (NFS, some FUSE) a change fails, and nothing is touched.

use rustix::fs::{AtFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::object::{Sameness, Seen};
use super::place::Place;
use crate::error::CallError;
use crate::node::identity::{Fingerprint, Identity};

/// How often an exchange is undone while another process keeps replacing what is there.
const MAX_PUT_BACK: u32 = 100;

/// Something made beside its place, under the staging name. Removed when it is dropped before it was put in place, if it is still what
/// was made.
#[derive(Debug)]
pub(super) struct Staging {
    pub place: Place,
    name: Vec<u8>,
    made: Identity,
    is_directory: bool,
    in_place: bool,
}

impl Staging {
    /// Takes charge of what was just made under `name` beside `place`.
    pub(super) fn new(place: Place, name: &str, stat: &Stat) -> Self {
        let is_directory = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory;
        Self { place, name: name.as_bytes().to_vec(), made: Identity::of(stat), is_directory, in_place: false }
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.in_place
    }

    /// Puts it where nothing is.
    pub(super) fn create(&mut self) -> Result<(), CallError> {
        let place = &self.place;
        let renamed = rename(place, &self.name, &place.name, RenameFlags::NOREPLACE);
        renamed.map_err(|errno| match errno {
            Errno::EXIST => CallError::AlreadyExists,
            _ => unsupported(place, errno),
        })?;
        self.in_place = true;
        place.sync_folder()
    }

    /// Puts it where `seen` says: where nothing was, or in exchange for what was.
    pub(super) fn replace(&mut self, seen: Seen) -> Result<(), CallError> {
        let now = self.place.stat()?;
        seen.expect(now.as_ref(), Sameness::State, &self.place.shown)?;
        let Seen::There(seen) = seen else {
            return self.create().map_err(|error| match error {
                CallError::AlreadyExists => appeared(&self.place),
                error => error,
            });
        };
        let place = &self.place;
        rename(place, &self.name, &place.name, RenameFlags::EXCHANGE).map_err(|errno| match errno {
            Errno::NOENT => changed(place),
            _ => unsupported(place, errno),
        })?;
        let came_out = self.held()?;
        if !seen.same_but_renamed(&came_out) {
            self.put_back(came_out)?;
            return Err(changed(&self.place));
        }
        self.in_place = true;
        remove_name(place, &self.name)?;
        place.sync_folder()
    }

    /// Undoes an exchange that brought out `held`, which is not what was seen. The other process may go on putting things there
    /// meanwhile; its last one stays.
    fn put_back(&self, mut held: Fingerprint) -> Result<(), CallError> {
        let place = &self.place;
        let mut placed: Option<Fingerprint> = None;
        for _ in 0..MAX_PUT_BACK {
            match rename(place, &self.name, &place.name, RenameFlags::EXCHANGE) {
                Ok(()) => {}
                // What was placed has been removed meanwhile, so the place is free.
                Err(Errno::NOENT) => {
                    let back = rename(place, &self.name, &place.name, RenameFlags::NOREPLACE);
                    return back.map_err(|errno| stranded(place, &self.name, errno));
                }
                Err(errno) => return Err(stranded(place, &self.name, errno)),
            }
            let out = self.held()?;
            match placed {
                // Nobody was there since the last exchange: what is held is what was staged, or what has been superseded.
                None if out.identity == self.made => return place.sync_folder(),
                Some(placed) if placed.same_but_renamed(&out) => {
                    remove_name(place, &self.name)?;
                    return place.sync_folder();
                }
                // What was placed has been replaced, and what is held now is newer than what it was exchanged for.
                _ => {
                    placed = Some(held);
                    held = out;
                }
            }
        }
        Err(stranded(place, &self.name, Errno::BUSY))
    }

    /// What is under the staging name.
    fn held(&self) -> Result<Fingerprint, CallError> {
        let stat = self.place.stat_name(&self.name)?;
        stat.map(|stat| Fingerprint::of(&stat)).ok_or_else(|| changed(&self.place))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if self.in_place {
            return;
        }
        let Ok(Some(stat)) = self.place.stat_name(&self.name) else { return };
        if Identity::of(&stat) != self.made {
            return;
        }
        let flags = if self.is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        if let Err(errno) = rustix::fs::unlinkat(&self.place.parent, &self.name, flags) {
            tracing::warn!(place = %self.place.shown, %errno, "what was staged beside it could not be removed");
        }
    }
}

/// Takes out the object at `place`, which is not a directory, and removes it if it is what was seen; else puts it back.
pub(super) fn take_out(place: &Place, staging: &str, seen: Seen) -> Result<(), CallError> {
    let name = staging.as_bytes();
    rename(place, &place.name, name, RenameFlags::NOREPLACE).map_err(|errno| match errno {
        Errno::NOENT => changed(place),
        Errno::EXIST => occupied(place),
        _ => unsupported(place, errno),
    })?;
    let came_out = place.stat_name(name)?.map(|stat| Fingerprint::of(&stat));
    let same = match (seen, came_out) {
        (Seen::There(seen), Some(came_out)) => seen.same_but_renamed(&came_out),
        _ => false,
    };
    if !same {
        match rename(place, name, &place.name, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            // The other process has put its next one there, which supersedes what came out.
            Err(Errno::EXIST) => remove_name(place, name)?,
            Err(errno) => return Err(stranded(place, name, errno)),
        }
        place.sync_folder()?;
        return Err(changed(place));
    }
    remove_name(place, name)?;
    place.sync_folder()
}

fn remove_name(place: &Place, name: &[u8]) -> Result<(), CallError> {
    rustix::fs::unlinkat(&place.parent, name, AtFlags::empty()).map_err(|errno| place.failed("removing what was at", errno))
}

fn rename(place: &Place, from: &[u8], to: &[u8], flags: RenameFlags) -> Result<(), Errno> {
    rustix::fs::renameat_with(&place.parent, from, &place.parent, to, flags)
}

/// The error when the name for staging is taken.
pub(super) fn occupied(place: &Place) -> CallError {
    CallError::Busy(format!("something is staged beside `{}` already: commit or drop it first", place.shown))
}

fn unsupported(place: &Place, errno: Errno) -> CallError {
    match errno {
        Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP => CallError::Other(format!(
            "the file system of `{}` has no renames that keep or exchange what is there, so nothing was changed",
            place.shown
        )),
        _ => place.failed("putting in place", errno),
    }
}

fn changed(place: &Place) -> CallError {
    CallError::Changed(format!("something has changed at `{}` since it was observed", place.shown))
}

fn appeared(place: &Place) -> CallError {
    CallError::Changed(format!("something has appeared at `{}` since it was observed", place.shown))
}

/// What came out could not be put back: it is safe, but under another name.
fn stranded(place: &Place, name: &[u8], errno: Errno) -> CallError {
    let name = crate::text::escape_bytes(name);
    let kept = format!("putting back what another process had put, now kept beside it as `{name}`, at");
    match place.failed(&kept, errno) {
        CallError::AlreadyExists | CallError::NotFound => CallError::Other(format!("{kept} `{}` failed", place.shown)),
        error => error,
    }
}
