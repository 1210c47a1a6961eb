//! Removing what is at a place, and what a lost run staged.

use rustix::fd::AsFd as _;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::object::{Kind, Object, Sameness, Seen};
use super::path::NodePath;
use super::place::Place;
use super::{swap, tree};
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;

impl HostContext {
    /// `object.remove`, already authorised.
    pub(super) fn remove_object(&mut self, call: &HostCall, object: &Object, recursive: bool) -> Result<(), CallError> {
        let before = self.let_change_through();
        let removed = self.remove_what_is_there(call, object, recursive);
        if !recursive && matches!(removed, Err(CallError::NotEmpty)) {
            // The kernel removes a directory as a whole or not at all.
            self.take_back_change(before);
        }
        removed
    }

    fn remove_what_is_there(&mut self, call: &HostCall, object: &Object, recursive: bool) -> Result<(), CallError> {
        let Some(place) = self.locate(call, &object.path)?.existing() else { return Ok(()) };
        let Some((handle, stat)) = place.handle()? else {
            object.seen.set(Seen::Nothing);
            return Ok(());
        };
        self.guard(call, &stat)?;
        let seen = object.seen.get();
        if Kind::of(&stat)? == Kind::Directory {
            // What is in a directory may change while it stays the directory that was observed.
            seen.expect(Some(&stat), Sameness::Identity, &place.shown)?;
            if recursive {
                tree::empty(self, call, &place, handle.as_fd())?;
            }
            remove_directory(&place)?;
        } else {
            seen.expect(Some(&stat), Sameness::State, &place.shown)?;
            swap::take_out(&place, self.staging_name()?, seen)?;
        }
        object.seen.set(Seen::Nothing);
        Ok(())
    }

    /// Removes what a lost operation staged beside the paths that this resource may write, where its module has not. What is beneath trees the module
    /// alone can know. What cannot be removed is told in the log: it is whole, beside its place, and does no harm.
    pub fn discard_left_over(&mut self) {
        let Some(staging) = self.staging().map(ToString::to_string) else { return };
        let written = self.rights().effects.iter().filter_map(|effect| NodePath::parse(effect.written_path()?.to_vec()).ok());
        let paths: Vec<NodePath> = written.collect();
        for path in paths {
            let call = HostCall::FilesDiscardStaged { path: path.clone(), staging_name: staging.clone() };
            let discarded = self.authorize(&call).and_then(|()| self.discard(&call, &path, &staging));
            match discarded {
                Ok(false) => {}
                Ok(true) => tracing::info!(%path, "removed what a lost run had staged beside it"),
                Err(error) => tracing::warn!(%path, %error, "what a lost run may have staged beside it could not be removed"),
            }
        }
    }

    /// `discard-staged`, already authorised. A staged directory is empty, so no more than one object is ever removed.
    pub(super) fn discard(&mut self, call: &HostCall, path: &NodePath, staging: &str) -> Result<bool, CallError> {
        let Some(place) = self.locate(call, path)?.existing() else { return Ok(false) };
        if place.is_root() {
            return Ok(false);
        }
        let was_there = remove_staged(&place, staging)?;
        Ok(self.settle_kept(path, &place)? || was_there)
    }
}

fn remove_staged(place: &Place, staging: &str) -> Result<bool, CallError> {
    let Some(stat) = place.stat_name(staging.as_bytes())? else { return Ok(false) };
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    match rustix::fs::unlinkat(&place.parent, staging, flags) {
        Ok(()) => place.sync_folder().map(|()| true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(place.failed("removing what was staged beside", errno)),
    }
}

fn remove_directory(place: &Place) -> Result<(), CallError> {
    match rustix::fs::unlinkat(&place.parent, &place.name, AtFlags::REMOVEDIR) {
        Ok(()) => place.sync_folder(),
        Err(Errno::EXIST | Errno::NOTEMPTY) => Err(CallError::NotEmpty),
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(place.failed("removing", errno)),
    }
}
