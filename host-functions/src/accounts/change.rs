//! What is to be done to a user or group, as data that is checked before anything uses it.

use super::name::{Field, check_field, check_group, check_id, check_name};
use crate::assets::AssetName;
use crate::error::CallError;

/// The most groups or members of one call.
const MAX_LIST: usize = 1_000;

/// A user to make; as `new-user` of the WIT.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each field is documented in the WIT")]
pub struct NewUser {
    pub id: Option<u32>,
    pub system: bool,
    pub group: Option<String>,
    pub groups: Vec<String>,
    pub comment: Option<String>,
    pub home: Option<String>,
    pub make_home: bool,
    pub shell: Option<String>,
    pub expires: Option<u32>,
    pub password: Option<AssetName>,
    pub locked: bool,
}

/// What to change of a user; as `user-change` of the WIT. The inner none of `expires` is never.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each field is documented in the WIT")]
pub struct UserChange {
    pub id: Option<u32>,
    pub group: Option<String>,
    pub join: Vec<String>,
    pub leave: Vec<String>,
    pub comment: Option<String>,
    pub home: Option<String>,
    pub shell: Option<String>,
    pub expires: Option<Option<u32>>,
    pub password: Option<AssetName>,
    pub locked: Option<bool>,
}

/// A group to make; as `new-group` of the WIT.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each field is documented in the WIT")]
pub struct NewGroup {
    pub id: Option<u32>,
    pub system: bool,
    pub members: Vec<String>,
}

/// What to change of a group; as `group-change` of the WIT.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each field is documented in the WIT")]
pub struct GroupChange {
    pub id: Option<u32>,
    pub members: Option<Vec<String>>,
}

impl NewUser {
    /// The groups that the user becomes a member of, as they are written: what has to be allowed.
    pub fn joined(&self) -> impl Iterator<Item = &str> {
        self.group.iter().chain(&self.groups).map(String::as_str)
    }

    /// Refuses what no account tool may be given.
    pub(crate) fn check(&self) -> Result<(), CallError> {
        let Self { id, group, groups, comment, home, make_home, shell, .. } = self;
        check_account(*id, group.as_deref(), comment.as_deref(), home.as_deref(), shell.as_deref())?;
        check_names(groups)?;
        match *make_home && home.is_none() {
            true => Err(CallError::invalid("a home directory is to be made, and `home` does not say where")),
            false => Ok(()),
        }
    }
}

impl UserChange {
    /// As of [`NewUser::joined`].
    pub fn joined(&self) -> impl Iterator<Item = &str> {
        self.group.iter().chain(&self.join).map(String::as_str)
    }

    /// Refuses what no account tool may be given.
    pub(crate) fn check(&self) -> Result<(), CallError> {
        let Self { id, group, join, leave, comment, home, shell, .. } = self;
        check_account(*id, group.as_deref(), comment.as_deref(), home.as_deref(), shell.as_deref())?;
        check_names(join)?;
        check_names(leave)
    }
}

impl NewGroup {
    /// Refuses what no account tool may be given.
    pub(crate) fn check(&self) -> Result<(), CallError> {
        self.id.map_or(Ok(()), check_id)?;
        check_names(&self.members)
    }
}

impl GroupChange {
    /// Refuses what no account tool may be given.
    pub(crate) fn check(&self) -> Result<(), CallError> {
        self.id.map_or(Ok(()), check_id)?;
        self.members.as_deref().map_or(Ok(()), check_names)
    }
}

fn check_account(
    id: Option<u32>,
    group: Option<&str>,
    comment: Option<&str>,
    home: Option<&str>,
    shell: Option<&str>,
) -> Result<(), CallError> {
    id.map_or(Ok(()), check_id)?;
    group.map_or(Ok(()), check_group)?;
    comment.map_or(Ok(()), |text| check_field(Field::Comment, text))?;
    home.map_or(Ok(()), |text| check_field(Field::Home, text))?;
    shell.map_or(Ok(()), |text| check_field(Field::Shell, text))
}

fn check_names(names: &[String]) -> Result<(), CallError> {
    if names.len() > MAX_LIST {
        return Err(CallError::TooLarge(format!(
            "a list of accounts has at most {MAX_LIST} names, and this has {}",
            names.len()
        )));
    }
    names.iter().try_for_each(|name| check_name(name))
}
