//! Users and groups of the node, read only.
//!
//! On the running system its own look-up is asked (NSS), so that directories such as LDAP count; beneath another root the account files
//! there are read, each time anew, since a run may change them. Nothing is cached and nothing is written.

mod files;
mod host;
mod memberships;
pub(crate) mod policy;

use crate::error::CallError;
use crate::node::Root;
use crate::text::escape;

/// The longest name of a user or group that is looked up, in bytes.
pub const MAX_ACCOUNT_NAME: usize = 255;

/// How the names of a node are looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Accounts {
    /// By the running system.
    System,
    /// In the account files beneath the root.
    Files,
}

/// What kind of account.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    User,
    Group,
}

impl Accounts {
    pub(crate) fn of(root: &Root) -> Self {
        if root.is_system() { Accounts::System } else { Accounts::Files }
    }

    /// The numeric id of the account called `name`.
    pub(crate) fn find(self, root: &Root, kind: Kind, name: &str) -> Result<Option<u32>, CallError> {
        if name.is_empty() || name.len() > MAX_ACCOUNT_NAME || name.contains(['\0', ':', '\n']) {
            let shown: String = name.chars().take(80).collect();
            return Err(CallError::invalid(format!(
                "`{}` cannot be the name of an account: it must have 1 to {MAX_ACCOUNT_NAME} bytes, without NUL, `:` or newline",
                escape(&shown)
            )));
        }
        match self {
            Accounts::System => find_in_system(kind, name),
            Accounts::Files => files::find(root, kind, name),
        }
    }
}

fn find_in_system(kind: Kind, name: &str) -> Result<Option<u32>, CallError> {
    let found = match kind {
        Kind::User => nix::unistd::User::from_name(name).map(|user| user.map(|user| user.uid.as_raw())),
        Kind::Group => nix::unistd::Group::from_name(name).map(|group| group.map(|group| group.gid.as_raw())),
    };
    match found {
        Ok(id) => Ok(id),
        // What the system's look-up gives for a name it does not know, beside success without a result.
        Err(nix::errno::Errno::ENOENT | nix::errno::Errno::ESRCH) => Ok(None),
        Err(errno) => Err(CallError::Other(format!("looking up `{}`: {}", escape(name), errno.desc()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_knows_root_and_not_everybody() {
        assert_eq!(find_in_system(Kind::User, "root").unwrap(), Some(0));
        assert_eq!(find_in_system(Kind::Group, "root").unwrap(), Some(0));
        assert_eq!(find_in_system(Kind::User, "no-such-user-here").unwrap(), None);
        assert_eq!(find_in_system(Kind::User, "0").unwrap(), None, "a number is a name here");
    }

    #[test]
    fn names_that_cannot_be_are_refused() {
        let root = Root::open(std::path::Path::new("/")).unwrap();
        for bad in ["", "a:b", "a\0", "a\nb", &"x".repeat(MAX_ACCOUNT_NAME + 1)] {
            assert!(matches!(Accounts::of(&root).find(&root, Kind::User, bad), Err(CallError::InvalidArgument(_))), "{bad:?}");
        }
    }
}
