//! Making a directory: complete under the staging name, then put in place.

use rustix::fd::AsFd as _;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::attributes::set_on_open;
use super::object::{Object, Seen};
use super::path::NodePath;
use super::place::Place;
use super::swap::{Staging, occupied};
use crate::call::{Attributes, HostCall};
use crate::context::HostContext;
use crate::error::CallError;
use crate::node::resolve::{self, Target};
use crate::text::escape_bytes;

/// The mode of a new directory when nothing says otherwise.
const NEW_DIRECTORY_MODE: u32 = 0o755;

impl HostContext {
    /// Allows that a program of the node makes a directory at `path`, for the user `owner`, as `object.make-directory` would be allowed. Such a program
    /// follows names and not descriptors, so every folder above must be one that nobody else can change.
    pub(crate) fn allow_made_directory(&mut self, path: &NodePath, owner: Option<u32>) -> Result<(), CallError> {
        // Whose it will be is known only once the user is there; it is not who runs this.
        let attributes = Attributes { owner: owner.or(Some(u32::MAX - 1)), ..Attributes::default() };
        let call = HostCall::FilesObjectMakeDirectory { path: path.clone(), attributes };
        self.authorize(&call)?;
        if let Some(place) = self.locate(&call, path)?.existing()
            && place.stat()?.is_some()
        {
            return Err(CallError::AlreadyExists);
        }
        self.check_folders_above(path)
    }

    /// That each folder above `path`, as far as there are any, belongs to root or who runs this, and can be written by nobody else.
    fn check_folders_above(&self, path: &NodePath) -> Result<(), CallError> {
        let root = self.node().root();
        let bytes = path.as_bytes();
        let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(index, _)| index.max(1));
        for end in ends {
            let folder = &bytes[..end];
            let Target::Opened { fd, .. } = resolve::open_directory(root, folder)? else { return Ok(()) };
            let doing = || format!("looking at `{}`", escape_bytes(folder));
            let stat = rustix::fs::fstat(&fd).map_err(|errno| CallError::system(errno, &doing()))?;
            let others = Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH);
            if others || (stat.st_uid != 0 && stat.st_uid != root.run_as().0) {
                return Err(CallError::UnsafePath(format!(
                    "`{}` can be changed by others than root, so nothing is made beneath it by a program that follows names",
                    escape_bytes(folder)
                )));
            }
        }
        Ok(())
    }

    /// `object.make-directory`, already authorised.
    pub(super) fn make_object_directory(
        &mut self,
        call: &HostCall,
        object: &Object,
        attributes: Attributes,
    ) -> Result<(), CallError> {
        let changed_before = self.let_change_through();
        let place = self.locate(call, &object.path)?.needed()?;
        if place.stat()?.is_some() {
            return Err(CallError::AlreadyExists);
        }
        place.refuse_append_only()?;
        let name = &*self.staging_name()?.to_owned();
        rustix::fs::mkdirat(&place.parent, name, Mode::RWXU).map_err(|errno| {
            self.take_back_change(changed_before);
            match errno {
                Errno::EXIST => occupied(&place),
                _ => place.failed("making a directory beside", errno),
            }
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
