//! The one comparison of desired and observed, for plans and for verification. Pure.

use runtime_sdk::node::unchanged;
use runtime_sdk::{AccountName, Change, Diagnostic, Ensure as _, LifecycleError, NodeResult, Presence, Value};
use serde_json::json;

use crate::attributes::Membership;
use crate::desired::Desired;
use crate::primary::PrimaryGroup;
use crate::state::{Found, State};

const NEW: &str = "set as it is made";

/// What differs; nothing if the node is as desired.
///
/// # Errors
/// If what differs cannot be changed: a user that only a directory has, the one with the id 0, an account without a hash that is to be unlocked.
pub fn changes(desired: &Desired, state: &State) -> NodeResult<Vec<Change>> {
    if state.user.as_ref().is_some_and(|found| found.uid == 0) {
        keep_superuser(desired)?;
    }
    let changes = match (desired.ensure, &state.user) {
        (Presence::Absent, found) => absent(desired, state, found.is_some())?,
        (Presence::Present, None) => {
            let mut changes = vec![ensure(desired, "nothing is there yet")?];
            changes.extend(differences(desired, state, None)?);
            changes
        }
        (Presence::Present, Some(found)) => differences(desired, state, Some(found))?,
    };
    match &state.user {
        Some(found) if !found.local && !changes.is_empty() => Err(unchanged(
            Diagnostic::at("name", "a directory has this user, and the files of the node do not, so it cannot be changed here")
                .hint("change it in the directory, or choose another name"),
        )),
        _ => Ok(changes),
    }
}

/// The host never removes the account that may do everything, nor gives it another id: a plan must not promise it.
fn keep_superuser(desired: &Desired) -> NodeResult<()> {
    let (attribute, what) = match (desired.ensure, desired.uid) {
        (Presence::Absent, _) => ("ensure", "removed"),
        (Presence::Present, Some(_)) => ("uid", "given another id"),
        (Presence::Present, None) => return Ok(()),
    };
    let message = format!("the user `{}` has the id 0, and may do everything: it is never {what}", desired.name.0);
    Err(unchanged(Diagnostic::at(attribute, message).hint(format!("leave `{attribute}` out, or name another user"))))
}

fn absent(desired: &Desired, state: &State, is_there: bool) -> NodeResult<Vec<Change>> {
    let mut changes = Vec::new();
    if is_there {
        changes.push(ensure(desired, "it is not to be there")?);
    }
    if state.home_is_foreign {
        return Err(unchanged(
            Diagnostic::at("home", "the directory is not known to be this user's, so it is not removed with all that it holds")
                .hint("leave `manage_home` out, and remove the directory by a resource of its own if it is to go"),
        ));
    }
    if state.has_home == Some(true) {
        let reason = "the directory is not to be there, and goes with all that it holds";
        changes.push(Change::new("home", desired.managed_home().map(Value::from), None, reason)?);
    }
    Ok(changes)
}

fn ensure(desired: &Desired, reason: &str) -> NodeResult<Change> {
    let other = match desired.ensure {
        Presence::Present => Presence::Absent,
        Presence::Absent => Presence::Present,
    };
    Change::new("ensure", Some(json!(other.word())), Some(json!(desired.ensure.word())), reason)
}

/// Each managed attribute that differs from `found`, or every one if there is none.
fn differences(desired: &Desired, state: &State, found: Option<&Found>) -> NodeResult<Vec<Change>> {
    let changes = [
        plain("uid", desired.uid.map(|uid| uid.0), found.map(|found| found.uid), "it has another id")?,
        primary(desired.group.as_ref(), found)?,
        groups(desired, found)?,
        plain("comment", desired.comment.as_deref(), found.map(|found| found.comment.as_str()), "the comment differs")?,
        plain(
            "home",
            desired.home.as_ref().map(|home| home.0.as_str()),
            found.map(|found| found.home.as_str()),
            "it has another home",
        )?,
        plain(
            "shell",
            desired.shell.as_ref().map(|shell| shell.0.as_str()),
            found.map(|found| found.shell.as_str()),
            "it has another shell",
        )?,
        made_home(state)?,
        expires(desired, state, found)?,
        locked(desired, state, found)?,
        password(desired, state, found)?,
    ];
    Ok(changes.into_iter().flatten().collect())
}

/// An attribute that is compared as it is.
fn plain<T: PartialEq + Into<Value>>(
    attribute: &str,
    wanted: Option<T>,
    found: Option<T>,
    reason: &str,
) -> NodeResult<Option<Change>> {
    let Some(wanted) = wanted else { return Ok(None) };
    if found.as_ref() == Some(&wanted) {
        return Ok(None);
    }
    let reason = if found.is_some() { reason } else { NEW };
    Change::new(attribute, found.map(Into::into), Some(wanted.into()), reason).map(Some)
}

/// The primary group: compared by id or name, as it is declared.
fn primary(wanted: Option<&PrimaryGroup>, found: Option<&Found>) -> NodeResult<Option<Change>> {
    let Some(wanted) = wanted else { return Ok(None) };
    if found.is_some_and(|found| found.is_in(wanted)) {
        return Ok(None);
    }
    let before = found.map(|found| match (wanted, &found.group) {
        (PrimaryGroup::Name(_), Some(name)) => json!(name),
        _ => json!(found.gid),
    });
    let reason = if found.is_some() { "it is in another primary group" } else { NEW };
    Change::new("group", before, Some(json!(wanted)), reason).map(Some)
}

/// Groups to become a member of, and groups to leave.
pub fn membership(desired: &Desired, own: &[String]) -> (Vec<String>, Vec<String>) {
    let Some(wanted) = &desired.groups else { return Default::default() };
    let join = wanted.iter().filter(|group| !own.contains(&group.0)).map(|group| group.0.clone()).collect();
    let is_left = |group: &&String| desired.membership == Membership::Exact && !wanted.iter().any(|wanted| wanted.0 == **group);
    (join, own.iter().filter(is_left).cloned().collect())
}

fn groups(desired: &Desired, found: Option<&Found>) -> NodeResult<Option<Change>> {
    let Some(wanted) = &desired.groups else { return Ok(None) };
    let own = found.map(|found| found.groups.as_slice()).unwrap_or_default();
    let (join, leave) = membership(desired, own);
    if join.is_empty() && leave.is_empty() {
        return Ok(None);
    }
    let reason = match (found.is_some(), join.len(), leave.len()) {
        (false, ..) => NEW.to_owned(),
        (true, join, 0) => format!("it is not in {join} of them"),
        (true, 0, leave) => format!("it is in {leave} that it is not to be in"),
        (true, join, leave) => format!("it is not in {join} of them, and in {leave} that it is not to be in"),
    };
    let after: Vec<&str> = match desired.membership {
        Membership::Exact => names(wanted),
        Membership::Minimum => {
            let mut after: Vec<&str> = own.iter().map(String::as_str).chain(names(wanted)).collect();
            after.sort_unstable();
            after.dedup();
            after
        }
    };
    Change::new("groups", found.map(|found| json!(found.groups)), Some(json!(after)), reason).map(Some)
}

fn names(groups: &[AccountName]) -> Vec<&str> {
    groups.iter().map(|group| group.0.as_str()).collect()
}

fn made_home(state: &State) -> NodeResult<Option<Change>> {
    match state.has_home {
        Some(false) => {
            Change::new("manage_home", Some(json!(false)), Some(json!(true)), "the home directory is not there").map(Some)
        }
        _ => Ok(None),
    }
}

fn expires(desired: &Desired, state: &State, found: Option<&Found>) -> NodeResult<Option<Change>> {
    let own = state.login.map(|login| login.expires).filter(|_| found.is_some());
    match desired.expires {
        Some(wanted) if own != Some(wanted) => {
            let reason = if found.is_some() { "it expires at another time" } else { NEW };
            Change::new("expires", own.map(|own| json!(own)), Some(json!(wanted)), reason).map(Some)
        }
        _ => Ok(None),
    }
}

fn locked(desired: &Desired, state: &State, found: Option<&Found>) -> NodeResult<Option<Change>> {
    let Some(wanted) = desired.locked else { return Ok(None) };
    let own = state.login.filter(|_| found.is_some());
    if own.is_some_and(|login| login.locked == wanted) {
        return Ok(None);
    }
    if !wanted && desired.password_hash.is_none() && !own.is_some_and(|login| login.has_hash) {
        return Err(nothing_to_unlock());
    }
    let reason = match (found.is_some(), wanted) {
        (false, _) => NEW,
        (true, true) => "a password would be accepted",
        (true, false) => "no password is accepted",
    };
    Change::new("locked", own.map(|login| json!(login.locked)), Some(json!(wanted)), reason).map(Some)
}

fn nothing_to_unlock() -> LifecycleError {
    unchanged(
        Diagnostic::at("locked", "the account has no hash of a password that could be unlocked")
            .hint("give one with `password_hash`, or leave `locked` out"),
    )
}

/// Neither the hash that is there nor the one that will be is shown.
fn password(desired: &Desired, state: &State, found: Option<&Found>) -> NodeResult<Option<Change>> {
    if desired.password_hash.is_none() || state.has_password == Some(true) {
        return Ok(None);
    }
    let reason = if found.is_some() { "the hash of the password differs" } else { NEW };
    Change::new("password_hash", None, None, reason).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expiry::Expiry;
    use crate::state::LoginState;
    use crate::testing::{desired, found, names as account_names, state};
    use runtime_sdk::{AccountId, Asset, EffectClass};

    fn told(desired: &Desired, state: &State) -> Vec<(String, String)> {
        changes(desired, state).unwrap().into_iter().map(|change| (change.attribute, change.reason)).collect()
    }

    fn attributes(desired: &Desired, state: &State) -> Vec<String> {
        told(desired, state).into_iter().map(|(attribute, _)| attribute).collect()
    }

    fn login(locked: bool, has_hash: bool) -> Option<LoginState> {
        Some(LoginState { locked, expires: Expiry::Never, has_hash })
    }

    #[test]
    fn the_user_that_may_do_everything_is_neither_removed_nor_given_another_id() {
        let root = state(Some(Found { uid: 0, ..found() }));
        let renumbered = Desired { uid: Some(AccountId(7)), ..desired(Presence::Present) };
        for (wanted, attribute) in [(&desired(Presence::Absent), "ensure"), (&renumbered, "uid")] {
            let LifecycleError::Failed(failure) = changes(wanted, &root).unwrap_err() else { panic!("{attribute}") };
            assert_eq!(
                (failure.diagnostic.attribute.as_deref(), failure.effect_class),
                (Some(attribute), EffectClass::BeforeChange)
            );
        }
        let other_shell = Desired { shell: Some(crate::home::Shell("/bin/false".into())), ..desired(Presence::Present) };
        assert_eq!(attributes(&other_shell, &root), ["shell"], "whatever else may be changed");
    }

    #[test]
    fn what_is_omitted_is_left_alone() {
        assert_eq!(told(&desired(Presence::Present), &state(Some(found()))), []);
        assert_eq!(told(&desired(Presence::Absent), &state(None)), []);
    }

    #[test]
    fn a_new_user_shows_all_that_is_set() {
        let wanted = Desired {
            uid: Some(AccountId(7)),
            group: Some(PrimaryGroup::Id(7)),
            groups: account_names(&["adm"]),
            comment: Some(String::new()),
            shell: Some(crate::home::Shell("/bin/sh".into())),
            expires: Some(Expiry::Never),
            locked: Some(true),
            password_hash: Some(Asset::pending()),
            home: Some(crate::home::Home("/h".into())),
            manage_home: true,
            ..desired(Presence::Present)
        };
        let nothing = State { has_home: Some(false), ..state(None) };
        let expected =
            ["ensure", "uid", "group", "groups", "comment", "home", "shell", "manage_home", "expires", "locked", "password_hash"];
        assert_eq!(attributes(&wanted, &nothing), expected);
        let password = changes(&wanted, &nothing).unwrap().pop().unwrap();
        assert_eq!((password.before, password.after), (None, None), "nothing is told of a hash");
    }

    #[test]
    fn groups_are_compared_by_policy() {
        let with =
            |membership, groups: &[&str]| Desired { membership, groups: account_names(groups), ..desired(Presence::Present) };
        let own = state(Some(found()));
        assert_eq!(told(&with(Membership::Minimum, &["adm"]), &own), []);
        assert_eq!(told(&with(Membership::Minimum, &[]), &own), []);
        let reason = |membership, groups: &[&str]| told(&with(membership, groups), &own).remove(0).1;
        assert_eq!(reason(Membership::Minimum, &["new"]), "it is not in 1 of them");
        assert_eq!(reason(Membership::Exact, &["adm"]), "it is in 1 that it is not to be in");
        assert_eq!(reason(Membership::Exact, &["new"]), "it is not in 1 of them, and in 2 that it is not to be in");
        assert_eq!(told(&with(Membership::Exact, &["adm", "ssl"]), &own), []);
        let change = changes(&with(Membership::Minimum, &["new"]), &own).unwrap().remove(0);
        assert_eq!(change.after.as_deref(), Some(r#"["adm","new","ssl"]"#), "what it will be in");
        assert_eq!(membership(&with(Membership::Exact, &["new"]), &found().groups).1, ["adm", "ssl"]);
    }

    #[test]
    fn a_primary_group_is_compared_as_it_is_declared() {
        let with = |group| Desired { group: Some(group), ..desired(Presence::Present) };
        let own = state(Some(found()));
        assert_eq!(told(&with(PrimaryGroup::Name(AccountName("web".into()))), &own), []);
        assert_eq!(told(&with(PrimaryGroup::Id(1000)), &own), []);
        let change = changes(&with(PrimaryGroup::Id(7)), &own).unwrap().remove(0);
        assert_eq!((change.before.as_deref(), change.after.as_deref()), (Some("1000"), Some("7")));
    }

    #[test]
    fn an_account_without_a_hash_cannot_be_unlocked() {
        let unlocked = Desired { locked: Some(false), ..desired(Presence::Present) };
        let with = |login| State { login, ..state(Some(found())) };
        assert_eq!(told(&unlocked, &with(login(false, true))), []);
        assert_eq!(told(&unlocked, &with(login(true, true))), [("locked".into(), "no password is accepted".into())]);
        for state in [with(login(true, false)), state(None)] {
            let LifecycleError::Failed(failure) = changes(&unlocked, &state).unwrap_err() else { panic!() };
            assert_eq!(
                (failure.effect_class, failure.diagnostic.attribute.as_deref()),
                (EffectClass::BeforeChange, Some("locked"))
            );
        }
        let with_hash = Desired { password_hash: Some(Asset::pending()), ..unlocked };
        assert_eq!(attributes(&with_hash, &with(login(true, false))), ["locked", "password_hash"]);
    }

    #[test]
    fn what_is_left_of_a_removed_user_is_its_home() {
        let gone = Desired { home: Some(crate::home::Home("/h".into())), manage_home: true, ..desired(Presence::Absent) };
        let left = State { has_home: Some(true), ..state(None) };
        let goes = "the directory is not to be there, and goes with all that it holds";
        assert_eq!(told(&gone, &left), [("home".into(), goes.into())]);
        assert_eq!(attributes(&gone, &State { has_home: Some(true), ..state(Some(found())) }), ["ensure", "home"]);
        assert_eq!(told(&gone, &State { has_home: Some(false), ..state(None) }), []);
        let foreign = State { home_is_foreign: true, ..left };
        assert!(changes(&gone, &foreign).is_err(), "somebody else's is not touched, whatever is declared");
    }

    #[test]
    fn a_user_of_a_directory_can_be_as_desired_but_not_changed() {
        let own = state(Some(Found { local: false, ..found() }));
        assert_eq!(told(&desired(Presence::Present), &own), []);
        assert!(changes(&desired(Presence::Absent), &own).is_err());
    }
}
