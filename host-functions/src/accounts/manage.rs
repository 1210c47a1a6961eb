//! A change of accounts, already allowed: what is there now, whether the change can be made at all, and the tools that make it.

use std::time::Instant;

use zeroize::Zeroizing;

use super::change::{GroupChange, NewGroup, NewUser, UserChange};
use super::entry::{self, Password};
use super::name::is_digits;
use super::tools::{self, Job};
use super::{Accounts, Kind, files};
use crate::error::CallError;
use crate::node::Root;
use crate::text::escape;

/// Whether a hash is the user's own, locked or not.
pub(super) fn password_matches(root: &Root, name: &str, hash: &[u8]) -> Result<bool, CallError> {
    let same = files::with_password(root, name, |field, _| {
        let own = entry::unlocked(field).as_bytes();
        // Whoever can time this can ask for the answer as well; it is the length of a hash that no branch depends on.
        own.len() == hash.len() && own.iter().zip(hash).fold(0, |differ, (left, right)| differ | (left ^ right)) == 0
    })?;
    Ok(same.unwrap_or(false))
}

/// Refuses a value that is not a hash, without telling anything of it.
pub(super) fn check_hash(hash: &[u8]) -> Result<(), CallError> {
    if std::str::from_utf8(hash).is_ok_and(entry::is_modern_hash) {
        return Ok(());
    }
    Err(CallError::invalid("the value for the password is not a hash as crypt(5) has them (`$6$…`, `$y$…`)"))
}

impl Accounts {
    /// Makes a user.
    pub(super) fn create_user(
        &self,
        root: &Root,
        name: &str,
        user: &NewUser,
        hash: Option<&Zeroizing<Vec<u8>>>,
        deadline: Instant,
    ) -> Result<(), CallError> {
        let _guard = self.lock();
        if self.user(root, name)?.is_some() {
            return Err(CallError::AlreadyExists);
        }
        self.check_groups(root, user.joined())?;
        if user.group.is_none() && self.group(root, name)?.is_some() {
            return Err(CallError::invalid(format!(
                "there is a group `{name}` already, so none of that name is made with the user: name the primary group"
            )));
        }
        tools::perform(root, &Job::CreateUser { name, user }, hash, deadline)
    }

    /// Changes a user of the account files.
    pub(super) fn change_user(
        &self,
        root: &Root,
        name: &str,
        change: &UserChange,
        hash: Option<&Zeroizing<Vec<u8>>>,
        deadline: Instant,
    ) -> Result<(), CallError> {
        let _guard = self.lock();
        // The files, not the system: groups that a directory adds cannot be left.
        let (Some(now), Some(login)) = (files::user(root, name)?, files::login(root, name)?) else {
            return Err(CallError::NotFound);
        };
        self.check_groups(root, change.joined())?;
        if change.locked == Some(false) && change.password.is_none() && login.password == Password::Unusable {
            return Err(CallError::invalid(format!("the user `{name}` has no hash that could be unlocked")));
        }
        tools::perform(root, &Job::ChangeUser { name, change, now: &now, login }, hash, deadline)
    }

    /// Deletes a user of the account files; none there is fine.
    pub(super) fn delete_user(&self, root: &Root, name: &str, deadline: Instant) -> Result<(), CallError> {
        let _guard = self.lock();
        match files::user(root, name)? {
            Some(_) => tools::perform(root, &Job::DeleteUser { name }, None, deadline),
            None => Ok(()),
        }
    }

    /// Makes a group.
    pub(super) fn create_group(&self, root: &Root, name: &str, group: &NewGroup, deadline: Instant) -> Result<(), CallError> {
        let _guard = self.lock();
        if self.group(root, name)?.is_some() {
            return Err(CallError::AlreadyExists);
        }
        self.check_members(root, &group.members)?;
        tools::perform(root, &Job::CreateGroup { name, group }, None, deadline)
    }

    /// Changes a group of the account files.
    pub(super) fn change_group(&self, root: &Root, name: &str, change: &GroupChange, deadline: Instant) -> Result<(), CallError> {
        let _guard = self.lock();
        let now = files::group(root, name)?.ok_or(CallError::NotFound)?;
        self.check_members(root, change.members.as_deref().unwrap_or_default())?;
        tools::perform(root, &Job::ChangeGroup { name, change, now: &now }, None, deadline)
    }

    /// Deletes a group of the account files; none there is fine.
    pub(super) fn delete_group(&self, root: &Root, name: &str, deadline: Instant) -> Result<(), CallError> {
        let _guard = self.lock();
        match files::group(root, name)? {
            Some(_) => tools::perform(root, &Job::DeleteGroup { name }, None, deadline),
            None => Ok(()),
        }
    }

    /// That each group, by name or id, exists.
    fn check_groups<'g>(&self, root: &Root, groups: impl Iterator<Item = &'g str>) -> Result<(), CallError> {
        for group in groups {
            let is_there = match group.parse() {
                Ok(id) if is_digits(group) => match root.is_system() {
                    true => nix::unistd::Group::from_gid(nix::unistd::Gid::from_raw(id)).is_ok_and(|group| group.is_some()),
                    false => files::group_with_id(root, id)?.is_some(),
                },
                _ => self.find(root, Kind::Group, group)?.is_some(),
            };
            if !is_there {
                return Err(CallError::invalid(format!("this node has no group `{}`", escape(group))));
            }
        }
        Ok(())
    }

    /// That each user exists.
    fn check_members(&self, root: &Root, members: &[String]) -> Result<(), CallError> {
        for member in members {
            if self.find(root, Kind::User, member)?.is_none() {
                return Err(CallError::invalid(format!("this node has no user `{}`", escape(member))));
            }
        }
        Ok(())
    }
}
