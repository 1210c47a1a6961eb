//! Keeping what a new file replaces, under numbered names beside it: `NAME.~1~` is the newest.
//!
//! The file that is to be replaced gets a second name, `NAME.~0~`, before the exchange, so that at no moment it is without one. When the new
//! file is in place, those that are kept move up by one, the oldest of as many as the effects name goes, and `NAME.~0~` becomes `NAME.~1~`. So
//! what a lost run left under `NAME.~0~` is either what still is at the place, and one name too many, or it was replaced and has no number yet.
//! Deliberately absent: copying. What is kept is the old file itself, with all that it has but rights to run as somebody else.

use rustix::fd::AsFd as _;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::extended::CAPABILITY;
use super::object::{Sameness, Seen};
use super::path::NodePath;
use super::place::Place;
use super::policy::SET_ID_BITS;
use super::proc_link::ProcLink;
use super::stage::Staged;
use super::swap::{remove_name, rename};
use crate::call::HostCall;
use crate::context::HostContext;
use crate::effects::Effect;
use crate::error::CallError;
use crate::grant::Access;
use crate::node::identity::{Fingerprint, Identity};

/// The most that are kept of one file.
const MAX_KEPT: u32 = 100;

/// The name of the kept file with this number, of a path or a name.
pub(super) fn kept_name(path: &[u8], number: u32) -> Vec<u8> {
    [path, format!(".~{number}~").as_bytes()].concat()
}

/// How many are kept of what is replaced at `path`: as many as the effects name, each by itself, from 0.
pub(super) fn kept_count(effects: &[Effect], path: &[u8]) -> u32 {
    let is_named = |number: u32| {
        let name = kept_name(path, number);
        effects.iter().any(|effect| effect.key == name && effect.permits(Access::Write, &name))
    };
    if is_named(0) { (1..=MAX_KEPT).take_while(|number| is_named(*number)).last().unwrap_or(0) } else { 0 }
}

impl HostContext {
    /// `staged.commit-keeping`, already authorised.
    pub(super) fn commit_staged_keeping(&mut self, call: &HostCall, staged: &mut Staged) -> Result<(), CallError> {
        let place = self.ready_to_commit(call, staged)?;
        let kept = self.second_name(place, staged)?;
        let replaced = staged.replace(kept.as_ref().map(|kept| kept.seen));
        match kept {
            Some(kept) if staged.is_in_place() => replaced.and(kept.number()),
            _ => replaced,
        }
    }

    /// Gives what is to be replaced a second name; none where nothing is to be kept: no file was seen there, or it may hold a sensitive value.
    fn second_name(&mut self, place: Place, staged: &Staged) -> Result<Option<Kept>, CallError> {
        if self.rights().conceals_content() {
            tracing::info!(path = %place.shown, "what is replaced may hold a sensitive value, so it is not kept");
            return Ok(None);
        }
        let Seen::There(seen) = staged.seen() else { return Ok(None) };
        if seen.kind != FileType::RegularFile {
            return Ok(None);
        }
        let count = self.allow_kept(&staged.path, &place)?;
        settle(&place, count)?;
        Kept::new(place, count, seen).map(Some)
    }

    /// Settles what a lost run left under the name that has no number yet; whether there was anything.
    pub(super) fn settle_kept(&mut self, path: &NodePath, place: &Place) -> Result<bool, CallError> {
        let none = kept_count(&self.rights().effects, path.as_bytes()) == 0;
        if none || place.stat_name(&kept_name(&place.name, 0))?.is_none() {
            return Ok(false);
        }
        let count = self.allow_kept(path, place)?;
        settle(place, count)
    }

    /// Allows each of the names of what is kept, which must be free or have a file; gives how many there are.
    fn allow_kept(&mut self, path: &NodePath, place: &Place) -> Result<u32, CallError> {
        let count = kept_count(&self.rights().effects, path.as_bytes());
        let folder =
            |place: &Place| Identity::of_fd(&place.parent).map_err(|errno| place.failed("looking at the folder of", errno));
        for number in 0..=count {
            let path = NodePath::parse(kept_name(path.as_bytes(), number))?;
            let call = HostCall::FilesStagedCommit { path: path.clone() };
            let kept = self.locate(&call, &path)?.needed()?;
            if folder(&kept)? != folder(place)? {
                return Err(CallError::Changed(format!(
                    "the folder of `{}` was replaced since the file was staged",
                    place.shown
                )));
            }
            if kept.stat()?.is_some_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile) {
                return Err(CallError::WrongKind(format!("`{}` is not a file, so nothing can be kept there", kept.shown)));
            }
        }
        Ok(count)
    }
}

/// A file that is about to be replaced, and has a second name. It loses that again unless it is replaced.
#[derive(Debug)]
struct Kept {
    place: Place,
    count: u32,
    /// As it is since it has the second name.
    seen: Fingerprint,
    replaced: bool,
}

impl Kept {
    fn new(place: Place, count: u32, seen: Fingerprint) -> Result<Self, CallError> {
        Seen::There(seen).expect(place.stat()?.as_ref(), Sameness::State, &place.shown)?;
        let second = kept_name(&place.name, 0);
        rustix::fs::linkat(&place.parent, &place.name, &place.parent, &second, AtFlags::empty())
            .map_err(|errno| place.failed("giving a second name to what is replaced at", errno))?;
        let changed =
            |place: &Place| CallError::Changed(format!("something has changed at `{}` since it was observed", place.shown));
        let stat = place.stat_name(&second)?.ok_or_else(|| changed(&place))?;
        let kept = Self { place, count, seen: Fingerprint::of(&stat), replaced: false };
        if seen.same_but_renamed(&kept.seen) { Ok(kept) } else { Err(changed(&kept.place)) }
    }

    /// Numbers it, once it is replaced.
    fn number(mut self) -> Result<(), CallError> {
        self.replaced = true;
        number(&self.place, self.count).map_err(|error| {
            let shown = &self.place.shown;
            CallError::Other(format!(
                "the new file is in place, and the old one is kept as `{shown}.~0~` without a number: {error}"
            ))
        })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let second = kept_name(&self.place.name, 0);
        let is_it = |stat: &rustix::fs::Stat| Identity::of(stat) == self.seen.identity;
        if !self.replaced
            && self.place.stat_name(&second).is_ok_and(|stat| stat.as_ref().is_some_and(is_it))
            && let Err(error) = remove_name(&self.place, &second)
        {
            tracing::warn!(place = %self.place.shown, %error, "the second name of what was to be replaced could not be removed");
        }
    }
}

/// Settles what is under the name that has no number yet: one name too many of what is at the place, or what was replaced there. Whether there
/// was anything.
fn settle(place: &Place, count: u32) -> Result<bool, CallError> {
    let second = kept_name(&place.name, 0);
    let Some(stat) = place.stat_name(&second)? else { return Ok(false) };
    if place.stat()?.is_some_and(|now| Identity::of(&now) == Identity::of(&stat)) {
        remove_name(place, &second)?;
        place.sync_folder()?;
    } else {
        number(place, count)?;
    }
    Ok(true)
}

/// Moves what is kept up by one, as far as no number is free, and gives the first to what has none yet.
fn number(place: &Place, count: u32) -> Result<(), CallError> {
    let name = |number| kept_name(&place.name, number);
    let failed = |errno| place.failed("numbering what was replaced at", errno);
    take_rights(place, &name(0))?;
    let mut free = count;
    for number in 1..count {
        if place.stat_name(&name(number))?.is_none() {
            free = number;
            break;
        }
    }
    for number in (0..free).rev() {
        rename(place, &name(number), &name(number + 1), RenameFlags::empty()).map_err(failed)?;
    }
    // Two names of one object stay both: then it has its number already.
    match rustix::fs::unlinkat(&place.parent, name(0), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => place.sync_folder(),
        Err(errno) => Err(failed(errno)),
    }
}

/// Takes set-id bits and capabilities from what is kept, so that an old program does not go on running with them. One that has other names keeps
/// them under all: it goes on to be what it was.
fn take_rights(place: &Place, name: &[u8]) -> Result<(), CallError> {
    let failed = |errno| place.failed("taking set-id bits from what was replaced at", errno);
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(&place.parent, name, flags, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&handle).map_err(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
        return Ok(());
    }
    let link = ProcLink::to(place, handle.as_fd())?;
    if stat.st_mode & SET_ID_BITS != 0 {
        let mode = Mode::from_raw_mode(stat.st_mode & 0o7777 & !SET_ID_BITS);
        rustix::fs::chmod(link.path(), mode).map_err(failed)?;
    }
    // Only root may remove one that is not there.
    match rustix::fs::getxattr(link.path(), CAPABILITY, &mut [0_u8; 0][..]) {
        Ok(_) => rustix::fs::removexattr(link.path(), CAPABILITY).map_err(failed),
        Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
        Err(errno) => Err(failed(errno)),
    }
}
