//! Symbolic links: where one leads, and making one, under the staging name and then put in place.

use rustix::fs::{AtFlags, OFlags, Stat};
use rustix::io::Errno;

use super::attributes::ownership;
use super::object::{Kind, Object, Sameness, Seen};
use super::path::MAX_PATH;
use super::place::Place;
use super::swap::{Staging, occupied};
use crate::call::{Attributes, HostCall};
use crate::context::HostContext;
use crate::error::CallError;
use crate::node::identity::Identity;
use crate::node::resolve::{self, Target};
use crate::text::escape_bytes;

impl HostContext {
    /// `object.destination`, already authorised. Only where it leads is told: whoever wants to do something there needs a handle on that path.
    pub(super) fn destination_of(&mut self, call: &HostCall, object: &Object) -> Result<Vec<u8>, CallError> {
        let (path, blocked) = match resolve::open(self.node().root(), object.path.as_bytes(), OFlags::PATH)? {
            Target::Opened { path, .. } | Target::Missing { path } => (path, None),
            Target::NotDirectory { at, path } => (path, Some(at)),
        };
        self.authorize_resolved(call, &path)?;
        match blocked {
            None => Ok(path),
            Some(at) => Err(CallError::WrongKind(format!("`{}` is not a directory", escape_bytes(&at)))),
        }
    }

    /// `object.make-symlink`, already authorised.
    pub(super) fn make_object_symlink(
        &mut self,
        call: &HostCall,
        object: &Object,
        target: &[u8],
        attributes: Attributes,
    ) -> Result<(), CallError> {
        let changed_before = self.let_change_through();
        let place = self.locate(call, &object.path)?.needed()?;
        let now = place.stat()?;
        let attributes = match now.as_ref().map(|stat| Kind::of(stat).map(|kind| (kind, stat))).transpose()? {
            // A link that replaces a link keeps its owner.
            Some((Kind::Symlink, stat)) => attributes.or(stat),
            None | Some((Kind::File, _)) => attributes,
            Some((kind, _)) => {
                return Err(CallError::WrongKind(format!("`{}` is {}, and a link cannot take its place", place.shown, kind.a())));
            }
        };
        object.seen.get().expect(now.as_ref(), Sameness::State, &place.shown)?;
        let staged = stage_link(place, self.staging_name()?, target, attributes);
        if let Err(error) = &staged
            && self.has_nothing_staged(call, object, error)
        {
            self.take_back_change(changed_before);
        }
        let mut staging = staged?;
        let made = staging.0;
        staging.1.replace(object.seen.get())?;
        let now = staging.1.place.stat()?.filter(|stat| Identity::of(stat) == made);
        object.seen.set(Seen::from(now.as_ref()));
        Ok(())
    }
}

/// Makes the link beside its place, and says which object it is.
fn stage_link(place: Place, name: &str, target: &[u8], attributes: Attributes) -> Result<(Identity, Staging), CallError> {
    place.refuse_append_only()?;
    rustix::fs::symlinkat(target, &place.parent, name).map_err(|errno| match errno {
        Errno::EXIST => occupied(&place),
        _ => place.failed("making a symbolic link beside", errno),
    })?;
    let stat: Stat = match place.stat_name(name.as_bytes())? {
        Some(stat) => stat,
        None => return Err(CallError::Changed(format!("the link made beside `{}` was removed", place.shown))),
    };
    let staging = Staging::new(place, name, &stat)?;
    let place = &staging.place;
    if let Some((owner, group)) = ownership(&stat, attributes) {
        rustix::fs::chownat(&place.parent, name, owner, group, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| place.failed("changing the owner of", errno))?;
    }
    Ok((Identity::of(&stat), staging))
}

/// Fails for a target that no link can have.
pub(super) fn check_target(target: &[u8]) -> Result<(), CallError> {
    if target.is_empty() || target.contains(&0) {
        return Err(CallError::invalid("the target of a symbolic link must not be empty or have a NUL"));
    }
    if target.len() >= MAX_PATH {
        return Err(CallError::TooLarge(format!("the target of a symbolic link has at most {} bytes", MAX_PATH - 1)));
    }
    Ok(())
}
