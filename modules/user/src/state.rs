//! What there is on the node.

use std::collections::BTreeMap;

use runtime_sdk::accounts::{self, Password};
use runtime_sdk::{Conflict, Context, HostCall as _, NodeResult, Presence, ResourceId, Safety, Value, json};
use serde::Serialize;

use crate::Desired;
use crate::expiry::Expiry;
use crate::home;
use crate::primary::PrimaryGroup;

/// What was read from the node for one resource.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct State {
    /// The user; none if there is none of the name.
    pub user: Option<Found>,
    /// Who may log in as it, where that is managed.
    pub login: Option<LoginState>,
    /// Whether the password's hash is the desired one, where that is managed.
    pub has_password: Option<bool>,
    /// Whether a directory is at the managed home.
    pub has_home: Option<bool>,
    /// Whether that directory is to be removed and is not known to be the user's.
    #[serde(skip)]
    pub home_is_foreign: bool,
}

/// A user of the node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// Its id.
    pub uid: u32,
    /// The id of its primary group.
    pub gid: u32,
    /// The name of that group, if it has one.
    pub group: Option<String>,
    /// Groups that list it, sorted.
    pub groups: Vec<String>,
    /// The comment.
    pub comment: String,
    /// The home directory.
    pub home: String,
    /// The shell.
    pub shell: String,
    /// Whether it is in the node's own files, so that it can be changed.
    #[serde(skip)]
    pub local: bool,
}

/// Who may log in.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoginState {
    /// Whether no password is accepted.
    pub locked: bool,
    /// When the account expires.
    pub expires: Expiry,
    /// Whether there is a hash that could be unlocked.
    #[serde(skip)]
    pub has_hash: bool,
}

impl From<accounts::User> for Found {
    fn from(user: accounts::User) -> Self {
        let accounts::User { id, group, group_name, groups, comment, home, shell, local } = user;
        Self { uid: id, gid: group, group: group_name, groups, comment, home, shell, local }
    }
}

impl Found {
    /// Whether its primary group is this one.
    pub fn is_in(&self, group: &PrimaryGroup) -> bool {
        match group {
            PrimaryGroup::Id(id) => self.gid == *id,
            PrimaryGroup::Name(name) => self.group.as_deref() == Some(name.0.as_str()),
        }
    }
}

impl State {
    /// Whether it is `other`, whatever groups list the user.
    pub fn is_but_for_groups(&self, other: &State) -> bool {
        let without = |state: &State| {
            let user = state.user.clone().map(|user| Found { groups: Vec::new(), ..user });
            State { user, ..state.clone() }
        };
        without(self) == without(other)
    }
}

/// Reads what is there, and no more than is managed.
pub fn read(desired: &Desired, context: &Context) -> NodeResult<State> {
    let user = find(desired)?;
    let manages_login = desired.locked.is_some() || desired.expires.is_some();
    let login = match user.is_some() && manages_login {
        true => accounts::read_login(&desired.name.0).before_change("see who may log in as the user")?.map(login_state),
        false => None,
    };
    let hash = desired.password_hash.as_ref().and_then(|hash| hash.name());
    let has_password = match hash.filter(|_| user.is_some()) {
        Some(hash) => Some(accounts::password_matches(&desired.name.0, hash).before_change("compare the password's hash")?),
        None => None,
    };
    let owner = desired.managed_home().map(home::owner).transpose()?;
    let home_is_foreign = match (owner.flatten(), desired.managed_home()) {
        (Some(owner), Some(home)) if desired.ensure == Presence::Absent => !is_own(owner, home, user.as_ref(), context),
        _ => false,
    };
    Ok(State { user, login, has_password, has_home: owner.map(|owner| owner.is_some()), home_is_foreign })
}

/// Whether a directory that `owner` owns is the home of the user: as the account says, or once that is gone, as the last run recorded it. A
/// declaration alone is not believed: it could name any directory.
fn is_own(owner: u32, home: &str, user: Option<&Found>, context: &Context) -> bool {
    match user {
        Some(user) => (user.uid, user.home.as_str()) == (owner, home),
        None => recorded(context).is_some_and(|(uid, recorded)| (uid, recorded.as_str()) == (owner, home)),
    }
}

/// The id and the home of the user when a run last left it as declared.
fn recorded(context: &Context) -> Option<(u32, String)> {
    let observed: Value = json::parse(context.prior.as_ref()?.observed.as_ref()?).ok()?;
    let user = observed.get("user")?;
    let uid = u32::try_from(user.get("uid")?.as_u64()?).ok()?;
    Some((uid, user.get("home")?.as_str()?.to_owned()))
}

/// The user of the node.
pub fn find(desired: &Desired) -> NodeResult<Option<Found>> {
    Ok(accounts::read_user(&desired.name.0).before_change("look the user up")?.map(Found::from))
}

fn login_state(login: accounts::Login) -> LoginState {
    LoginState { locked: login.locked, expires: Expiry::of(login.expires), has_hash: login.password == Password::Hash }
}

/// The home directory of an account whose id or primary group is about to change: the account tool gives the files in it to the new one.
pub fn safety(desired: &Desired) -> NodeResult<Safety> {
    let mut safety = Safety { claims: Vec::new(), affected_paths: Vec::new() };
    if desired.ensure == Presence::Absent || desired.uid.is_none() && desired.group.is_none() {
        return Ok(safety);
    }
    let Some(found) = find(desired)? else { return Ok(safety) };
    let stays = desired.uid.is_none_or(|uid| uid.0 == found.uid) && desired.group.as_ref().is_none_or(|group| found.is_in(group));
    if !stays && home::is_path(&found.home) {
        safety.affected_paths.push(found.home.into_bytes());
    }
    Ok(safety)
}

/// Users that are to have one id: as declared, or as they have it on this node.
pub fn conflicts(group: &[(ResourceId, Desired)]) -> NodeResult<Vec<Conflict>> {
    let present: Vec<_> = group.iter().filter(|(_, desired)| desired.ensure == Presence::Present).collect();
    if present.iter().all(|(_, desired)| desired.uid.is_none()) {
        return Ok(Vec::new());
    }
    let mut by_id: BTreeMap<u32, Vec<ResourceId>> = BTreeMap::new();
    for (id, desired) in present {
        let uid = match desired.uid {
            Some(uid) => Some(uid.0),
            None => find(desired)?.map(|found| found.uid),
        };
        if let Some(uid) = uid {
            by_id.entry(uid).or_default().push(id.clone());
        }
    }
    let shared = by_id.into_iter().filter(|(_, resources)| resources.len() > 1);
    let conflict = |(uid, resources)| Conflict { resources, message: format!("more than one user is to have the id {uid}") };
    Ok(shared.map(conflict).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::found;
    use runtime_sdk::{OperationReason, Prior};

    fn context(observed: Option<&str>) -> Context {
        let prior = observed.map(|observed| Prior {
            schema_version: 1,
            inputs: "{}".into(),
            outputs: None,
            observed: Some(observed.to_owned()),
            configuration: None,
        });
        Context { remaining_ms: 1000, reason: OperationReason::Converge, staging_name: None, prior, configuration: None }
    }

    #[test]
    fn a_home_is_the_users_by_its_owner_and_its_account_or_by_the_record() {
        let nothing = context(None);
        assert!(is_own(1000, "/home/web", Some(&found()), &nothing));
        assert!(!is_own(0, "/home/web", Some(&found()), &nothing), "it belongs to somebody else");
        assert!(!is_own(1000, "/etc", Some(&found()), &nothing), "the account has another home");
        assert!(!is_own(1000, "/home/web", None, &nothing), "nobody knows");
        let known = context(Some(r#"{"user":{"home":"/home/web","uid":1000}}"#));
        assert!(is_own(1000, "/home/web", None, &known));
        assert!(!is_own(1001, "/home/web", None, &known) && !is_own(1000, "/etc", None, &known));
    }
}
