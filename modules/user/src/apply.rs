//! Bringing the desired state about: one host call for the account, and one for its home directory.

use runtime_sdk::accounts::{self, Expiry as HostExpiry, NewUser, UserChange};
use runtime_sdk::node::unchanged;
use runtime_sdk::{Asset, Context, Diagnostic, NodeResult, Outcome, Presence, Progress};

use crate::compare::membership;
use crate::desired::Desired;
use crate::expiry::Expiry;
use crate::home;
use crate::primary::PrimaryGroup;
use crate::state::{self, Found, State};

/// Brings the desired state about, provided that the user is still what `checked` says, but for its groups: a resource of one of those may have
/// put it in or taken it out meanwhile, and what is left to do follows from what is there now.
pub fn apply(desired: &Desired, checked: &State, context: &Context) -> NodeResult<Outcome> {
    let now = state::read(desired, context)?;
    if !now.is_but_for_groups(checked) {
        return Err(unchanged(
            Diagnostic::at("name", "the user was changed by something else after it was checked").hint("run it again"),
        ));
    }
    let checked = &now;
    let mut progress = Progress::new();
    match (desired.ensure, &checked.user) {
        (Presence::Absent, found) => remove(desired, checked, found.is_some(), &mut progress),
        (Presence::Present, None) => {
            let user = new_user(desired, checked);
            progress.whole("make the user", accounts::create_user(&desired.name.0, &user))
        }
        (Presence::Present, Some(found)) => change(desired, checked, found, &mut progress),
    }?;
    Ok(Outcome::changed())
}

/// The account first: it is refused while the user has processes, which then still have their directory.
fn remove(desired: &Desired, checked: &State, is_there: bool, progress: &mut Progress) -> NodeResult<()> {
    if is_there {
        progress.whole("remove the user", accounts::delete_user(&desired.name.0))?;
    }
    match desired.managed_home().filter(|_| checked.has_home == Some(true)) {
        Some(home) => home::remove(home, progress),
        None => Ok(()),
    }
}

fn new_user(desired: &Desired, checked: &State) -> NewUser {
    NewUser {
        id: desired.uid.map(|uid| uid.0),
        system: desired.system,
        group: desired.group.as_ref().map(PrimaryGroup::text),
        groups: membership(desired, &[]).0,
        comment: desired.comment.clone(),
        home: desired.home.as_ref().map(|home| home.0.clone()),
        make_home: checked.has_home == Some(false),
        shell: desired.shell.as_ref().map(|shell| shell.0.clone()),
        expires: desired.expires.and_then(day),
        password: desired.password_hash.as_ref().and_then(Asset::name).map(str::to_owned),
        locked: desired.locked == Some(true),
    }
}

fn change(desired: &Desired, checked: &State, found: &Found, progress: &mut Progress) -> NodeResult<()> {
    let change = user_change(desired, checked, found);
    if !is_empty(&change) {
        progress.whole("change the user", accounts::change_user(&desired.name.0, &change))?;
    }
    let Some(home) = desired.managed_home().filter(|_| checked.has_home == Some(false)) else { return Ok(()) };
    // Its ids may be new.
    let now = progress.harmless("look the user up again", accounts::read_user(&desired.name.0))?;
    match now {
        Some(user) => home::make(home, user.id, user.group, progress),
        None => Err(progress.failed(Diagnostic::at("name", "the user was removed by something else meanwhile"))),
    }
}

/// Just what differs.
fn user_change(desired: &Desired, checked: &State, found: &Found) -> UserChange {
    let (join, leave) = membership(desired, &found.groups);
    let other = |wanted: Option<&String>, found: &str| wanted.filter(|wanted| *wanted != found).cloned();
    let login = checked.login;
    UserChange {
        id: desired.uid.map(|uid| uid.0).filter(|uid| *uid != found.uid),
        group: desired.group.as_ref().filter(|group| !found.is_in(group)).map(PrimaryGroup::text),
        join,
        leave,
        comment: other(desired.comment.as_ref(), &found.comment),
        home: other(desired.home.as_ref().map(|home| &home.0), &found.home),
        shell: other(desired.shell.as_ref().map(|shell| &shell.0), &found.shell),
        expires: desired.expires.filter(|wanted| login.is_none_or(|login| login.expires != *wanted)).map(host_expiry),
        password: desired
            .password_hash
            .as_ref()
            .filter(|_| checked.has_password != Some(true))
            .and_then(Asset::name)
            .map(str::to_owned),
        locked: desired
            .locked
            .filter(|wanted| checked.has_password == Some(false) || login.is_none_or(|login| login.locked != *wanted)),
    }
}

fn is_empty(change: &UserChange) -> bool {
    let UserChange { id, group, join, leave, comment, home, shell, expires, password, locked } = change;
    let ids = id.is_none() && group.is_none() && join.is_empty() && leave.is_empty();
    let texts = comment.is_none() && home.is_none() && shell.is_none();
    ids && texts && expires.is_none() && password.is_none() && locked.is_none()
}

fn day(expiry: Expiry) -> Option<u32> {
    match expiry {
        Expiry::Never => None,
        Expiry::Day(day) => Some(day),
    }
}

fn host_expiry(expiry: Expiry) -> HostExpiry {
    day(expiry).map_or(HostExpiry::Never, HostExpiry::Day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::{Home, Shell};
    use crate::state::LoginState;
    use crate::testing::{desired, found, names, state};

    #[test]
    fn a_change_has_just_what_differs() {
        let wanted = Desired {
            uid: Some(runtime_sdk::AccountId(1000)),
            group: Some(PrimaryGroup::Id(1000)),
            groups: names(&["adm", "new"]),
            comment: Some("Web".into()),
            home: Some(Home("/srv/web".into())),
            shell: Some(Shell("/bin/sh".into())),
            expires: Some(Expiry::Never),
            locked: Some(true),
            ..desired(Presence::Present)
        };
        let login = Some(LoginState { locked: true, expires: Expiry::Day(1), has_hash: true });
        let change = user_change(&wanted, &State { login, ..state(Some(found())) }, &found());
        assert_eq!(
            (change.id, change.group.as_deref(), change.comment.as_deref(), change.shell.as_deref()),
            (None, None, None, None)
        );
        assert_eq!((change.join, change.leave), (vec!["new".to_owned()], Vec::new()));
        assert_eq!(change.home.as_deref(), Some("/srv/web"));
        assert!(matches!(change.expires, Some(HostExpiry::Never)));
        assert_eq!(change.locked, None);
        let nothing = user_change(&desired(Presence::Present), &state(Some(found())), &found());
        assert!(is_empty(&nothing));
    }

    #[test]
    fn a_new_hash_comes_with_whether_it_is_locked() {
        let mut hash = Asset::pending();
        hash.assign("secret:user.web/password_hash".into());
        let wanted = Desired { locked: Some(false), password_hash: Some(hash), ..desired(Presence::Present) };
        let login = Some(LoginState { locked: false, expires: Expiry::Never, has_hash: true });
        let checked = State { login, has_password: Some(false), ..state(Some(found())) };
        let change = user_change(&wanted, &checked, &found());
        assert_eq!((change.password.as_deref(), change.locked), (Some("secret:user.web/password_hash"), Some(false)));
        let same = user_change(&wanted, &State { has_password: Some(true), ..checked }, &found());
        assert!(is_empty(&same));
    }
}
