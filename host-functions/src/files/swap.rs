//! The one step in which something new appears at a place, or something old leaves it.
//!
//! Done by `renameat2` so that it is one step, and so that what leaves is held and compared before it is gone: if another process was
//! faster, both are put back. On a file system without these renames (NFS, some FUSE) a change fails, and nothing is touched.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
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
    /// Held so that its inode number is not given to another object meanwhile.
    object: Option<OwnedFd>,
    is_directory: bool,
    in_place: bool,
}

impl Staging {
    /// Takes charge of what was just made under `name` beside `place`.
    pub(super) fn new(place: Place, name: &str, stat: &Stat) -> Result<Self, CallError> {
        let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let made = Identity::of(stat);
        let mut staging = Self { place, name: name.as_bytes().to_vec(), made, object: None, is_directory, in_place: false };
        let place = &staging.place;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&place.parent, name, flags, Mode::empty());
        let object = opened.map_err(|errno| place.failed("holding what was made beside", errno))?;
        if !staging.is(&object) {
            return Err(CallError::Changed(format!("what was made beside `{}` was replaced", place.shown)));
        }
        staging.object = Some(object);
        Ok(staging)
    }

    /// Whether `object` is open on what was made.
    pub(super) fn is(&self, object: impl AsFd) -> bool {
        Identity::of_fd(object).is_ok_and(|identity| identity == self.made)
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
        match seen {
            Seen::There(seen) => self.exchange(seen),
            Seen::Nothing | Seen::Never => self.create().map_err(|error| match error {
                CallError::AlreadyExists => appeared(&self.place),
                error => error,
            }),
        }
    }

    /// Puts it in place in exchange for what was seen.
    fn exchange(&mut self, seen: Fingerprint) -> Result<(), CallError> {
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

impl Staging {
    /// Removes what was staged and not put in place; whether it is certainly gone.
    pub(super) fn undo(mut self) -> bool {
        !self.in_place && self.remove()
    }

    fn remove(&mut self) -> bool {
        let Ok(Some(stat)) = self.place.stat_name(&self.name) else { return false };
        if Identity::of(&stat) != self.made {
            return false;
        }
        let flags = if self.is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        if let Err(errno) = rustix::fs::unlinkat(&self.place.parent, &self.name, flags) {
            tracing::warn!(place = %self.place.shown, %errno, "what was staged beside it could not be removed");
            return false;
        }
        // There is nothing left to remove.
        self.in_place = true;
        true
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.in_place {
            self.remove();
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

pub(super) fn remove_name(place: &Place, name: &[u8]) -> Result<(), CallError> {
    rustix::fs::unlinkat(&place.parent, name, AtFlags::empty()).map_err(|errno| place.failed("removing what was at", errno))
}

pub(super) fn rename(place: &Place, from: &[u8], to: &[u8], flags: RenameFlags) -> Result<(), Errno> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    use crate::testing::{STAGING, assert_error};

    fn place(folder: &Path) -> Place {
        let parent = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        Place { parent, name: b"f".to_vec(), shown: "/f".into() }
    }

    fn seen(folder: &Path, name: &str) -> Fingerprint {
        Fingerprint::of(&rustix::fs::lstat(folder.join(name)).unwrap())
    }

    /// Something of ours under the staging name.
    fn staged(folder: &Path) -> Staging {
        fs::write(folder.join(STAGING), "ours").unwrap();
        Staging::new(place(folder), STAGING, &rustix::fs::lstat(folder.join(STAGING)).unwrap()).unwrap()
    }

    /// What is in the folder: names and contents.
    fn content(folder: &Path) -> Vec<(String, String)> {
        let mut all: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap()))
            .collect();
        all.sort();
        all
    }

    fn only(text: &str) -> Vec<(String, String)> {
        vec![("f".to_owned(), text.to_owned())]
    }

    #[test]
    fn what_came_out_is_compared_after_the_exchange() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("f"), "old").unwrap();
        let old = seen(folder, "f");
        // Between the look and the exchange.
        fs::write(folder.join("g"), "theirs").unwrap();
        fs::rename(folder.join("g"), folder.join("f")).unwrap();
        let mut staging = staged(folder);
        assert_error!(staging.exchange(old), CallError::Changed(_));
        drop(staging);
        assert_eq!(content(folder), only("theirs"));
    }

    #[test]
    fn an_exchange_undone_too_late_leaves_what_is_newest() {
        for (now, expected) in [(Some("newer"), "newer"), (None, "theirs")] {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            fs::write(folder.join("f"), "theirs").unwrap();
            let staging = staged(folder);
            rename(&staging.place, STAGING.as_bytes(), b"f", RenameFlags::EXCHANGE).unwrap();
            // What was put in place of theirs is replaced, or removed, before it is taken back.
            fs::remove_file(folder.join("f")).unwrap();
            now.inspect(|text| fs::write(folder.join("f"), text).unwrap());
            staging.put_back(staging.held().unwrap()).unwrap();
            drop(staging);
            assert_eq!(content(folder), only(expected));
        }
    }

    #[test]
    fn what_is_taken_out_is_compared_before_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::write(folder.join("f"), "old").unwrap();
        let old = Seen::There(seen(folder, "f"));
        fs::write(folder.join("f"), "theirs").unwrap();
        assert_error!(take_out(&place(folder), STAGING, old), CallError::Changed(_));
        assert_eq!(content(folder), only("theirs"));
        take_out(&place(folder), STAGING, Seen::There(seen(folder, "f"))).unwrap();
        assert!(content(folder).is_empty());
    }
}
