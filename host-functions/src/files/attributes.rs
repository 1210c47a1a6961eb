//! Owner, group and mode: set on an open object, never by a path that could have changed.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use super::object::{Kind, Object, Sameness, Seen};
use super::place::Place;
use super::policy::SET_ID_BITS;
use super::proc_link::ProcLink;
use crate::authorize::Rule;
use crate::call::{Attributes, HostCall};
use crate::context::HostContext;
use crate::error::CallError;
use crate::node::identity::{Fingerprint, Identity};
use crate::node::resolve::is_trusted_folder;

impl Attributes {
    /// Fails for values that have no meaning.
    pub(super) fn check(&self) -> Result<(), CallError> {
        if let Some(mode) = self.mode.filter(|mode| *mode > 0o7777) {
            return Err(CallError::invalid(format!("mode {mode:o} is above 7777")));
        }
        // The system takes this id to mean "leave it".
        if self.owner == Some(u32::MAX) || self.group == Some(u32::MAX) {
            return Err(CallError::invalid(format!("{} cannot be the id of an owner or group", u32::MAX)));
        }
        Ok(())
    }

    /// These, and where they are none those of `stat`.
    pub(super) fn or(self, stat: &Stat) -> Self {
        Self {
            owner: self.owner.or(Some(stat.st_uid)),
            group: self.group.or(Some(stat.st_gid)),
            mode: self.mode.or(Some(stat.st_mode & 0o7777)),
        }
    }
}

impl HostContext {
    /// `object.set-attributes`, already authorised.
    pub(super) fn set_object_attributes(
        &mut self,
        call: &HostCall,
        object: &Object,
        wanted: Attributes,
    ) -> Result<(), CallError> {
        let changed_before = self.let_change_through();
        let place = self.locate(call, &object.path)?.existing().ok_or(CallError::NotFound)?;
        let (handle, stat) = place.handle()?.ok_or(CallError::NotFound)?;
        object.seen.get().expect(Some(&stat), Sameness::Identity, &place.shown)?;
        self.guard(call, &stat)?;
        let kind = Kind::of(&stat)?;
        if kind != Kind::Symlink {
            self.allow_set_id(call, wanted.or(&stat).mode)?;
        }
        self.refuse_hard_links(&place, kind, &stat)?;
        let set = set_on_handle(&place, handle.as_fd(), &stat, wanted);
        if set.is_err() && rustix::fs::fstat(&handle).is_ok_and(|now| Fingerprint::of(&now) == Fingerprint::of(&stat)) {
            // Any change of an attribute moves its change time.
            self.take_back_change(changed_before);
        }
        set?;
        place.sync_folder()?;
        let now = rustix::fs::fstat(&handle).map_err(|errno| place.failed("looking at", errno))?;
        object.seen.set(Seen::from(Some(&now)));
        Ok(())
    }

    /// Fails if an object would have set-id bits after a change by a module that may not set them: it would choose what runs with them.
    pub(super) fn allow_set_id(&mut self, call: &HostCall, mode: Option<u32>) -> Result<(), CallError> {
        let allowed = self.rights().grant.files.setuid || mode.is_none_or(|mode| mode & SET_ID_BITS == 0);
        if allowed {
            return Ok(());
        }
        Err(self.deny(call, Rule::Word { word: "setuid", what: "changing a file that has set-user-ID or set-group-ID bits" }))
    }

    /// A file with several names is changed under all of them. Whoever can write the directory could have put a name of somebody
    /// else's file there; and a module that is not built in may not reach beyond its paths.
    fn refuse_hard_links(&self, place: &Place, kind: Kind, stat: &Stat) -> Result<(), CallError> {
        if kind != Kind::File || stat.st_nlink < 2 {
            return Ok(());
        }
        let folder = rustix::fs::fstat(&place.parent).map_err(|errno| place.failed("looking at the folder of", errno))?;
        if self.rights().grant.builtin && is_trusted_folder(self.node().root(), &folder) {
            return Ok(());
        }
        Err(CallError::UnsafePath(format!("`{}` has other hard links, which would change too", place.shown)))
    }
}

/// Sets the attributes of what `handle` holds, and has them on disk.
fn set_on_handle(place: &Place, handle: BorrowedFd<'_>, stat: &Stat, wanted: Attributes) -> Result<(), CallError> {
    let kind = Kind::of(stat)?;
    match (kind, reopen(place, kind, stat)?) {
        (Kind::Symlink, _) => chown_handle(place, handle, stat, wanted),
        (_, Some(open)) => {
            set_on_open(place, open.as_fd(), wanted)?;
            rustix::fs::fsync(&open).map_err(|errno| place.failed("making durable", errno))
        }
        (_, None) => {
            chown_handle(place, handle, stat, wanted)?;
            chmod_handle(place, handle, wanted.or(stat).mode)?;
            place.sync_file_system()
        }
    }
}

/// Opens a regular file or directory for setting its attributes; none for other kinds, which are never opened, and where this user may
/// not read it.
fn reopen(place: &Place, kind: Kind, stat: &Stat) -> Result<Option<OwnedFd>, CallError> {
    let more = match kind {
        Kind::File => OFlags::empty(),
        Kind::Directory => OFlags::DIRECTORY,
        _ => return Ok(None),
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC | more;
    let replaced = || CallError::Changed(format!("something has changed at `{}` since it was observed", place.shown));
    match rustix::fs::openat(&place.parent, &place.name, flags, Mode::empty()) {
        Ok(open) => {
            let same = Identity::of_fd(&open).map_err(|errno| place.failed("opening", errno))? == Identity::of(stat);
            if same { Ok(Some(open)) } else { Err(replaced()) }
        }
        Err(Errno::ACCESS) => Ok(None),
        Err(Errno::NOENT | Errno::LOOP | Errno::NOTDIR | Errno::NXIO) => Err(replaced()),
        Err(errno) => Err(place.failed("opening", errno)),
    }
}

/// Sets the attributes of what `open` is open on. The owner goes first, since that clears set-id bits; a mode that is none is kept.
pub(super) fn set_on_open(place: &Place, open: BorrowedFd<'_>, wanted: Attributes) -> Result<(), CallError> {
    let before = rustix::fs::fstat(open).map_err(|errno| place.failed("looking at", errno))?;
    if let Some((owner, group)) = ownership(&before, wanted) {
        rustix::fs::fchown(open, owner, group).map_err(|errno| place.failed("changing the owner of", errno))?;
    }
    let after = rustix::fs::fstat(open).map_err(|errno| place.failed("looking at", errno))?;
    match wanted.or(&before).mode {
        Some(mode) if mode != after.st_mode & 0o7777 => {
            rustix::fs::fchmod(open, Mode::from_raw_mode(mode)).map_err(|errno| place.failed("changing the mode of", errno))
        }
        _ => Ok(()),
    }
}

/// The ids to set, if they are not as wanted.
pub(super) fn ownership(stat: &Stat, wanted: Attributes) -> Option<(Option<Uid>, Option<Gid>)> {
    let owner = wanted.owner.filter(|owner| *owner != stat.st_uid).map(Uid::from_raw);
    let group = wanted.group.filter(|group| *group != stat.st_gid).map(Gid::from_raw);
    (owner.is_some() || group.is_some()).then_some((owner, group))
}

fn chown_handle(place: &Place, handle: BorrowedFd<'_>, stat: &Stat, wanted: Attributes) -> Result<(), CallError> {
    let Some((owner, group)) = ownership(stat, wanted) else { return Ok(()) };
    rustix::fs::chownat(handle, "", owner, group, AtFlags::EMPTY_PATH)
        .map_err(|errno| place.failed("changing the owner of", errno))
}

/// Sets the mode of an object that is held but not opened, through the kernel's own link to it.
fn chmod_handle(place: &Place, handle: BorrowedFd<'_>, mode: Option<u32>) -> Result<(), CallError> {
    let Some(mode) = mode else { return Ok(()) };
    let link = ProcLink::to(place, handle)?;
    rustix::fs::chmod(link.path(), Mode::from_raw_mode(mode)).map_err(|errno| place.failed("changing the mode of", errno))
}
