//! The groups that a user has when it logs in: what a program that runs as that user gets.

use std::ffi::CString;

use nix::unistd::{Gid, Uid};

use super::{Accounts, Source};
use crate::error::CallError;
use crate::node::Root;

/// The largest account file that is read, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// Numeric groups of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Memberships {
    /// The primary group.
    pub(crate) group: u32,
    /// All groups, the primary one among them.
    pub(crate) groups: Vec<u32>,
}

impl Accounts {
    /// The groups of the user with this id; none if it has no account.
    pub(crate) fn memberships(&self, root: &Root, user: u32) -> Result<Option<Memberships>, CallError> {
        match self.source {
            Source::System => of_system(user),
            Source::Files => {
                let passwd = root.read_file(b"/etc/passwd", MAX_FILE)?.unwrap_or_default();
                let group = root.read_file(b"/etc/group", MAX_FILE)?.unwrap_or_default();
                Ok(of_files(&passwd, &group, user))
            }
        }
    }
}

fn of_system(user: u32) -> Result<Option<Memberships>, CallError> {
    let failed = |errno: nix::errno::Errno| CallError::Other(format!("looking up user {user}: {}", errno.desc()));
    let found = match nix::unistd::User::from_uid(Uid::from_raw(user)) {
        Ok(found) => found,
        // What the system's look-up gives for an id it does not know, beside success without a result.
        Err(nix::errno::Errno::ENOENT | nix::errno::Errno::ESRCH) => None,
        Err(errno) => return Err(failed(errno)),
    };
    let Some(found) = found else { return Ok(None) };
    let name = CString::new(found.name).map_err(|_| CallError::Other(format!("user {user} has a name with a NUL")))?;
    let groups = nix::unistd::getgrouplist(&name, found.gid).map_err(failed)?;
    Ok(Some(Memberships { group: found.gid.as_raw(), groups: groups.into_iter().map(Gid::as_raw).collect() }))
}

/// From the content of `/etc/passwd` and `/etc/group`. Lines that are not well formed are passed over.
fn of_files(passwd: &[u8], group: &[u8], user: u32) -> Option<Memberships> {
    let lines = |content: &'_ [u8]| -> Vec<Vec<Vec<u8>>> {
        let fields = |line: &[u8]| line.split(|byte| *byte == b':').map(<[u8]>::to_vec).collect();
        content.split(|byte| *byte == b'\n').map(fields).collect()
    };
    let account = lines(passwd).into_iter().find(|fields| fields.get(2).and_then(|id| number(id)) == Some(user))?;
    let (name, primary) = (account.first()?, number(account.get(3)?)?);
    let lists_user = |members: &[u8]| members.split(|byte| *byte == b',').any(|member| member == name.as_slice());
    let further = lines(group)
        .into_iter()
        .filter(|fields| fields.get(3).is_some_and(|members| lists_user(members)))
        .filter_map(|fields| number(fields.get(2)?))
        .filter(|id| *id != primary);
    Some(Memberships { group: primary, groups: std::iter::once(primary).chain(further).collect() })
}

fn number(text: &[u8]) -> Option<u32> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_of_a_user_are_its_own_and_those_that_list_it() {
        let passwd = b"root:x:0:0::/root:/bin/sh\nbroken:x\nweb:x:33:33::/:\n";
        let group = b"root:x:0:\nadm:x:4:bob,web\nwww:x:33:web\nwebmasters:x:9:webmaster\n";
        let of = |user| of_files(passwd, group, user).map(|found| (found.group, found.groups));
        assert_eq!(of(33), Some((33, vec![33, 4])));
        assert_eq!(of(0), Some((0, vec![0])));
        assert_eq!(of(7), None);
    }

    #[test]
    fn the_system_knows_the_groups_of_root() {
        let found = of_system(0).unwrap().unwrap();
        assert!(found.group == 0 && found.groups.contains(&0));
        assert_eq!(of_system(4_000_000_000).unwrap(), None);
    }
}
