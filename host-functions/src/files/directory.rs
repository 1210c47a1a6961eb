//! Making a directory: complete under the staging name, then put in place.

use rustix::fd::AsFd as _;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::attributes::set_on_open;
use super::object::{Object, Seen};
use super::place::Place;
use super::swap::{Staging, occupied};
use crate::call::{Attributes, HostCall};
use crate::context::HostContext;
use crate::error::CallError;

/// The mode of a new directory when nothing says otherwise.
const NEW_DIRECTORY_MODE: u32 = 0o755;

impl HostContext {
    /// `object.make-directory`, already authorised.
    pub(super) fn make_object_directory(
        &mut self,
        call: &HostCall,
        object: &Object,
        attributes: Attributes,
    ) -> Result<(), CallError> {
        let place = self.locate(call, &object.path)?.needed()?;
        if place.stat()?.is_some() {
            return Err(CallError::AlreadyExists);
        }
        let name = self.staging_name()?;
        rustix::fs::mkdirat(&place.parent, name, Mode::RWXU).map_err(|errno| match errno {
            Errno::EXIST => occupied(&place),
            _ => place.failed("making a directory beside", errno),
        })?;
        let replaced = |place: &Place| CallError::Changed(format!("the directory made beside `{}` was replaced", place.shown));
        let stat = place.stat_name(name.as_bytes())?.ok_or_else(|| replaced(&place))?;
        // Where others can write, one of them may have put another directory there already.
        if stat.st_uid != self.node().run_as().0 {
            return Err(replaced(&place));
        }
        let mut staging = Staging::new(place, name, &stat)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&staging.place.parent, name, flags, Mode::empty());
        let folder = opened.map_err(|errno| staging.place.failed("opening the directory made beside", errno))?;
        if !staging.is(&folder) {
            return Err(replaced(&staging.place));
        }
        let attributes = Attributes { mode: attributes.mode.or(Some(NEW_DIRECTORY_MODE)), ..attributes };
        set_on_open(&staging.place, folder.as_fd(), attributes)?;
        rustix::fs::fsync(&folder).map_err(|errno| staging.place.failed("making durable", errno))?;
        staging.create()?;
        let now = rustix::fs::fstat(&folder).map_err(|errno| staging.place.failed("looking at", errno))?;
        object.seen.set(Seen::from(Some(&now)));
        Ok(())
    }
}
