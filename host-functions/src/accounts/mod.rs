//! Users and groups of the node.
//!
//! On the running system its own look-up is asked (NSS), so that directories such as LDAP count; beneath another root the account files
//! there are read. Nothing is cached, since a run changes them. What is changed is changed by the node's own tools, in its root, one call at a
//! time; the account files are never written here.
//!
//! | file | what |
//! |---|---|
//! | `entry`, `change`, `name` | what is read, what is to be done, and what texts may be: data |
//! | `files`, `system` | the two ways to look up |
//! | `tools` | the calls of the node's tools, and running them |
//! | `manage` | a change, from what was found to what a tool does |

mod change;
mod entry;
mod files;
mod host;
mod manage;
mod memberships;
mod name;
pub(crate) mod policy;
mod system;
mod tools;

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::CallError;
use crate::node::Root;
use crate::text::escape;

pub use change::{GroupChange, NewGroup, NewUser, UserChange};
pub use entry::{Group, Login, Password, User};

/// The longest name of a user or group that is looked up, in bytes.
pub const MAX_ACCOUNT_NAME: usize = 255;

/// How the names of a node are looked up, and the lock under which they are changed.
#[derive(Debug)]
pub(crate) struct Accounts {
    source: Source,
    /// Account tools of one run wait here for each other, in place of failing on each other's lock.
    changing: Mutex<()>,
}

/// Where accounts are looked up.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// By the running system.
    System,
    /// In the account files beneath the root.
    Files,
}

/// What kind of account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    User,
    Group,
}

impl Accounts {
    pub(crate) fn of(root: &Root) -> Self {
        let source = if root.is_system() { Source::System } else { Source::Files };
        Self { source, changing: Mutex::default() }
    }

    /// The numeric id of the account called `name`.
    pub(crate) fn find(&self, root: &Root, kind: Kind, name: &str) -> Result<Option<u32>, CallError> {
        check_lookup(name)?;
        match self.source {
            Source::System => system::find(kind, name),
            Source::Files => files::find(root, kind, name),
        }
    }

    /// The user called `name`.
    pub(crate) fn user(&self, root: &Root, name: &str) -> Result<Option<User>, CallError> {
        check_lookup(name)?;
        match self.source {
            Source::System => system::user(root, name),
            Source::Files => files::user(root, name),
        }
    }

    /// The group called `name`.
    pub(crate) fn group(&self, root: &Root, name: &str) -> Result<Option<Group>, CallError> {
        check_lookup(name)?;
        match self.source {
            Source::System => system::group(root, name),
            Source::Files => files::group(root, name),
        }
    }

    /// Who may log in as the user called `name`: a matter of the account files alone.
    pub(crate) fn login(&self, root: &Root, name: &str) -> Result<Option<Login>, CallError> {
        check_lookup(name)?;
        files::login(root, name)
    }

    /// Waits until no other attempt of this run changes accounts.
    fn lock(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Refuses a name that no account can have.
fn check_lookup(name: &str) -> Result<(), CallError> {
    if name.is_empty() || name.len() > MAX_ACCOUNT_NAME || name.contains(['\0', ':', '\n']) {
        let shown: String = name.chars().take(80).collect();
        return Err(CallError::invalid(format!(
            "`{}` cannot be the name of an account: it must have 1 to {MAX_ACCOUNT_NAME} bytes, without NUL, `:` or newline",
            escape(&shown)
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
