//! Look-ups of the running system (NSS), so that accounts of directories count.

use nix::errno::Errno;
use nix::unistd::{Gid, getgrouplist};

use super::Kind;
use super::entry::{Group, User};
use super::files;
use crate::error::CallError;
use crate::node::Root;
use crate::text::escape;

/// The id of the account called `name`.
pub(super) fn find(kind: Kind, name: &str) -> Result<Option<u32>, CallError> {
    match kind {
        Kind::User => found(name, nix::unistd::User::from_name(name)).map(|user| user.map(|user| user.uid.as_raw())),
        Kind::Group => found(name, nix::unistd::Group::from_name(name)).map(|group| group.map(|group| group.gid.as_raw())),
    }
}

/// The user called `name`; `root` tells whether it is in the account files.
pub(super) fn user(root: &Root, name: &str) -> Result<Option<User>, CallError> {
    let Some(user) = found(name, nix::unistd::User::from_name(name))? else { return Ok(None) };
    let local = files::user(root, name)?;
    let groups = match &local {
        // The files say which groups list it; whether one that a directory adds does, only a list of all groups could tell.
        Some(local) => merged(local.groups.clone(), groups_of(name, user.gid)?),
        None => groups_of(name, user.gid)?,
    };
    Ok(Some(User {
        id: user.uid.as_raw(),
        group: user.gid.as_raw(),
        group_name: group_name(user.gid)?,
        groups,
        comment: user.gecos.to_string_lossy().into_owned(),
        home: user.dir.to_string_lossy().into_owned(),
        shell: user.shell.to_string_lossy().into_owned(),
        local: local.is_some(),
    }))
}

/// The group called `name`; `root` tells whether it is in the account files.
pub(super) fn group(root: &Root, name: &str) -> Result<Option<Group>, CallError> {
    let Some(group) = found(name, nix::unistd::Group::from_name(name))? else { return Ok(None) };
    let mut members = group.mem;
    members.sort_unstable();
    members.dedup();
    Ok(Some(Group { id: group.gid.as_raw(), members, local: files::group(root, name)?.is_some() }))
}

/// Names of the groups that a user is in beside its primary one.
fn groups_of(name: &str, primary: Gid) -> Result<Vec<String>, CallError> {
    let user = std::ffi::CString::new(name).map_err(|_| CallError::invalid("a name of an account has no NUL"))?;
    let ids = getgrouplist(&user, primary).map_err(|errno| failed(name, errno))?;
    let mut names = Vec::new();
    for id in ids.into_iter().filter(|id| *id != primary) {
        names.extend(group_name(id)?);
    }
    Ok(names)
}

fn merged(mut left: Vec<String>, right: Vec<String>) -> Vec<String> {
    left.extend(right);
    left.sort_unstable();
    left.dedup();
    left
}

fn group_name(id: Gid) -> Result<Option<String>, CallError> {
    let shown = id.to_string();
    Ok(found(&shown, nix::unistd::Group::from_gid(id))?.map(|group| group.name))
}

/// A look-up's result, with unknown names told apart from failures.
fn found<T>(name: &str, result: nix::Result<Option<T>>) -> Result<Option<T>, CallError> {
    match result {
        Ok(found) => Ok(found),
        // What the system's look-up gives for a name it does not know, beside success without a result.
        Err(Errno::ENOENT | Errno::ESRCH) => Ok(None),
        Err(errno) => Err(failed(name, errno)),
    }
}

fn failed(name: &str, errno: Errno) -> CallError {
    CallError::Other(format!("looking up `{}`: {}", escape(name), errno.desc()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_knows_root_and_not_everybody() {
        let root = Root::open(std::path::Path::new("/")).unwrap();
        assert_eq!(find(Kind::User, "root").unwrap(), Some(0));
        assert_eq!(find(Kind::Group, "root").unwrap(), Some(0));
        assert_eq!(find(Kind::User, "no-such-user-here").unwrap(), None);
        assert_eq!(find(Kind::User, "0").unwrap(), None, "a number is a name here");
        let user = user(&root, "root").unwrap().unwrap();
        assert_eq!((user.id, user.group, user.group_name.as_deref(), user.local), (0, 0, Some("root"), true));
        assert_eq!(super::user(&root, "no-such-user-here").unwrap(), None);
        let group = group(&root, "root").unwrap().unwrap();
        assert_eq!((group.id, group.local), (0, true));
    }
}
