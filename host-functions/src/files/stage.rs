//! A complete new file beside its place, and its commit.

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use super::attributes::set_on_open;
use super::copy::copy_content;
use super::extended::Extended;
use super::object::{Kind, Object, Sameness, Seen, SharedSeen};
use super::path::NodePath;
use super::place::{Located, Place};
use super::swap::{Staging, occupied};
use crate::assets::AssetName;
use crate::authorize::Rule;
use crate::call::{Attributes, Content, HostCall};
use crate::context::HostContext;
use crate::error::CallError;
use crate::node::identity::{Fingerprint, Identity};

/// The mode of a new file when nothing says otherwise.
const NEW_FILE_MODE: u32 = 0o644;

/// The mode of a new file with a sensitive value in it.
const NEW_SECRET_MODE: u32 = 0o600;

/// A file written but not yet in place. Dropping it without a commit removes it.
#[derive(Debug)]
pub struct Staged {
    pub(super) path: NodePath,
    seen: SharedSeen,
    file: OwnedFd,
    staging: Staging,
    /// Whether a change had been let through before it was staged.
    changed_before: bool,
    /// How many had been, when it was.
    changes: u64,
}

impl Staged {
    /// Removes it, if it is not in place; gives what had been let through before, if it is certainly gone.
    pub(super) fn undo(self) -> Option<(bool, u64)> {
        self.staging.undo().then_some((self.changed_before, self.changes))
    }

    /// What was last seen where it is to go.
    pub(super) fn seen(&self) -> Seen {
        self.seen.get()
    }

    pub(super) fn is_in_place(&self) -> bool {
        self.staging.is_in_place()
    }

    /// Puts it in place; `seen` is what is there now, where that is not what was last seen.
    pub(super) fn replace(&mut self, seen: Option<Fingerprint>) -> Result<(), CallError> {
        self.staging.replace(seen.map_or_else(|| self.seen.get(), Seen::There))?;
        let now = rustix::fs::fstat(&self.file).map_err(|errno| self.staging.place.failed("looking at", errno))?;
        self.seen.set(Seen::from(Some(&now)));
        Ok(())
    }
}

fn usual_mode(content: &Content) -> u32 {
    match content {
        Content::Asset(AssetName::Secret(_)) => NEW_SECRET_MODE,
        Content::Asset(AssetName::Plain(_)) | Content::Inline(_) => NEW_FILE_MODE,
    }
}

impl HostContext {
    /// `object.stage`, already authorised.
    pub(super) fn stage_file(
        &mut self,
        call: &HostCall,
        object: &Object,
        content: &Content,
        attributes: Attributes,
    ) -> Result<Staged, CallError> {
        let changed_before = self.let_change_through();
        let staged = self.stage_beside(call, object, content, attributes, changed_before);
        if let Err(error) = &staged
            && self.has_nothing_staged(call, object, error)
        {
            self.take_back_change(changed_before);
        }
        staged
    }

    /// Whether nothing is beside the object under the staging name: then what could not be staged there has changed nothing.
    pub(super) fn has_nothing_staged(&mut self, call: &HostCall, object: &Object, error: &CallError) -> bool {
        if matches!(error, CallError::Denied(_)) {
            // It would be denied again.
            return false;
        }
        let place = self.locate(call, &object.path).and_then(Located::needed);
        place.is_ok_and(|place| {
            self.staging_name().and_then(|name| place.stat_name(name.as_bytes())).is_ok_and(|stat| stat.is_none())
        })
    }

    fn stage_beside(
        &mut self,
        call: &HostCall,
        object: &Object,
        content: &Content,
        attributes: Attributes,
        changed_before: bool,
    ) -> Result<Staged, CallError> {
        let place = self.locate(call, &object.path)?.needed()?;
        let now = place.stat()?;
        let attributes = self.attributes_of_new(call, &place, now.as_ref(), attributes, usual_mode(content))?;
        object.seen.get().expect(now.as_ref(), Sameness::State, &place.shown)?;
        let extended = self.extended_of_replaced(call, &place)?;
        let (file, staging) = self.create_staged(place)?;
        copy_content(&staging.place, file.as_fd(), content, self.assets().as_ref(), self.deadline())?;
        if let Some(extended) = extended {
            set_on_open(&staging.place, file.as_fd(), Attributes { mode: None, ..attributes })?;
            extended.give(&staging.place, file.as_fd())?;
        }
        set_on_open(&staging.place, file.as_fd(), attributes)?;
        rustix::fs::fsync(&file).map_err(|errno| staging.place.failed("making durable the new content of", errno))?;
        let changes = self.changes();
        Ok(Staged { path: object.path.clone(), seen: object.seen.clone(), file, staging, changed_before, changes })
    }

    /// What the new file gets: what is asked for, else what the file there has, else what is usual.
    fn attributes_of_new(
        &mut self,
        call: &HostCall,
        place: &Place,
        now: Option<&Stat>,
        attributes: Attributes,
        usual_mode: u32,
    ) -> Result<Attributes, CallError> {
        let kind = now.map(Kind::of).transpose()?;
        let attributes = match (kind, now) {
            (Some(Kind::Directory), _) => {
                return Err(CallError::WrongKind(format!("`{}` is a directory, and a file cannot take its place", place.shown)));
            }
            (Some(Kind::File), Some(stat)) => attributes.or(stat),
            _ => Attributes { mode: attributes.mode.or(Some(usual_mode)), ..attributes },
        };
        self.allow_set_id(call, attributes.mode)?;
        Ok(attributes)
    }

    /// What the file at the place has beside its attributes; none if there is no file.
    fn extended_of_replaced(&mut self, call: &HostCall, place: &Place) -> Result<Option<Extended>, CallError> {
        let Some((handle, stat)) = place.handle()? else { return Ok(None) };
        if Kind::of(&stat)? != Kind::File {
            return Ok(None);
        }
        let extended = Extended::of(place, handle.as_fd())?;
        if extended.raises_rights() && !self.rights().grant.files.setuid {
            return Err(self.deny(call, Rule::Word { word: "setuid", what: "changing a file that has capabilities of its own" }));
        }
        Ok(Some(extended))
    }

    fn create_staged(&self, place: Place) -> Result<(OwnedFd, Staging), CallError> {
        place.refuse_append_only()?;
        let name = self.staging_name()?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&place.parent, name, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| match errno {
            Errno::EXIST => occupied(&place),
            _ => place.failed("making a new file beside", errno),
        })?;
        let stat = rustix::fs::fstat(&file).map_err(|errno| place.failed("making a new file beside", errno))?;
        let staging = Staging::new(place, name, &stat)?;
        Ok((file, staging))
    }

    /// The name to stage under. Authorising a change has made sure that there is one.
    pub(super) fn staging_name(&self) -> Result<&str, CallError> {
        let missing = || CallError::Other("the host has no staging name for this operation".to_owned());
        self.staging().map(crate::node::staging::StagingName::as_str).ok_or_else(missing)
    }

    /// `staged.commit`, already authorised.
    pub(super) fn commit_staged(&mut self, call: &HostCall, staged: &mut Staged) -> Result<(), CallError> {
        self.ready_to_commit(call, staged)?;
        staged.replace(None)
    }

    /// The place for what is staged, if that can still go there.
    pub(super) fn ready_to_commit(&mut self, call: &HostCall, staged: &Staged) -> Result<Place, CallError> {
        if staged.staging.is_in_place() {
            return Err(CallError::invalid(format!("`{}` is committed already", staged.path)));
        }
        let place = self.locate(call, &staged.path)?.needed()?;
        let folder =
            |place: &Place| Identity::of_fd(&place.parent).map_err(|errno| place.failed("looking at the folder of", errno));
        if folder(&place)? != folder(&staged.staging.place)? {
            return Err(CallError::Changed(format!("the folder of `{}` was replaced since the file was staged", place.shown)));
        }
        Ok(place)
    }
}
