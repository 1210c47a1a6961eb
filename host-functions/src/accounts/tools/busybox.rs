//! What busybox's applets are called with. Pure.
//!
//! They make and remove users and groups, and members; they cannot change anything else of what is there. That is refused, with what would help.

use super::{Job, Step};
use crate::accounts::change::{GroupChange, NewGroup, NewUser, UserChange};
use crate::accounts::entry::{Group, Login, Password};
use crate::error::CallError;

/// The calls that do `job`, in order.
///
/// # Errors
/// `unsupported` for what busybox cannot do.
pub(super) fn steps(job: &Job<'_>) -> Result<Vec<Step>, CallError> {
    match job {
        Job::CreateUser { name, user } => create_user(name, user),
        Job::ChangeUser { name, change, login, .. } => change_user(name, change, *login),
        Job::DeleteUser { name } => Ok(vec![Step::new("deluser", [*name])]),
        Job::CreateGroup { name, group } => Ok(create_group(name, group)),
        Job::ChangeGroup { name, change, now } => change_group(name, change, now),
        Job::DeleteGroup { name } => Ok(vec![Step::new("delgroup", [*name])]),
    }
}

fn cannot(what: &str) -> CallError {
    CallError::Unsupported(format!("busybox cannot {what}: install the package `shadow` on this node"))
}

fn create_user(name: &str, user: &NewUser) -> Result<Vec<Step>, CallError> {
    if user.expires.is_some() {
        return Err(cannot("set when an account expires"));
    }
    // Without `-D` it would ask for a password.
    let mut arguments = vec!["-D".to_owned()];
    arguments.extend(user.system.then(|| "-S".to_owned()));
    arguments.extend((!user.make_home).then(|| "-H".to_owned()));
    let values = [
        ("-u", user.id.map(|id| id.to_string())),
        ("-g", user.comment.clone()),
        ("-h", user.home.clone()),
        ("-s", user.shell.clone()),
        // Of a system account it would otherwise be `nogroup`.
        ("-G", Some(user.group.clone().unwrap_or_else(|| name.to_owned()))),
    ];
    for (option, value) in values {
        arguments.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]));
    }
    arguments.push(name.to_owned());
    let own_group = user.group.is_none().then(|| Step::new("addgroup", own_group(name, user)));
    let mut steps: Vec<Step> = own_group.into_iter().chain([Step::new("adduser", arguments)]).collect();
    steps.extend(user.groups.iter().map(|group| Step::new("addgroup", [name, group])));
    steps.extend(user.password.as_ref().map(|_| Step::password(name, user.locked)));
    Ok(steps)
}

fn own_group(name: &str, user: &NewUser) -> Vec<String> {
    let system = user.system.then(|| "-S".to_owned());
    system.into_iter().chain([name.to_owned()]).collect()
}

fn change_user(name: &str, change: &UserChange, login: Login) -> Result<Vec<Step>, CallError> {
    let UserChange { id, group, join, leave, comment, home, shell, expires, password, locked } = change;
    let impossible = [
        (id.is_some(), "change the id of a user"),
        (group.is_some(), "change the primary group of a user"),
        (comment.is_some(), "change the comment of a user"),
        (home.is_some(), "change the home directory of a user"),
        (shell.is_some(), "change the shell of a user"),
        (expires.is_some(), "change when an account expires"),
    ];
    if let Some((_, what)) = impossible.iter().find(|(wanted, _)| *wanted) {
        return Err(cannot(what));
    }
    let mut steps: Vec<Step> = join.iter().map(|group| Step::new("addgroup", [name, group])).collect();
    steps.extend(leave.iter().map(|group| Step::new("delgroup", [name, group])));
    if password.is_some() {
        let stays_locked = login.locked && login.password == Password::Hash;
        steps.push(Step::password(name, locked.unwrap_or(stays_locked)));
    } else if let Some(locked) = locked.filter(|locked| *locked != login.locked) {
        steps.push(Step::new("passwd", [if locked { "-l" } else { "-u" }, name]));
    }
    Ok(steps)
}

fn create_group(name: &str, group: &NewGroup) -> Vec<Step> {
    let mut arguments: Vec<String> = group.system.then(|| "-S".to_owned()).into_iter().collect();
    arguments.extend(group.id.into_iter().flat_map(|id| ["-g".to_owned(), id.to_string()]));
    arguments.push(name.to_owned());
    let made = Step::new("addgroup", arguments);
    [made].into_iter().chain(group.members.iter().map(|member| Step::new("addgroup", [member, name]))).collect()
}

fn change_group(name: &str, change: &GroupChange, now: &Group) -> Result<Vec<Step>, CallError> {
    if change.id.is_some() {
        return Err(cannot("change the id of a group"));
    }
    let Some(wanted) = &change.members else { return Ok(Vec::new()) };
    let new = wanted.iter().filter(|member| !now.members.contains(member));
    let old = now.members.iter().filter(|member| !wanted.contains(member));
    let add = new.map(|member| Step::new("addgroup", [member.as_str(), name]));
    Ok(add.chain(old.map(|member| Step::new("delgroup", [member.as_str(), name]))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::entry::User;

    fn lines(job: &Job<'_>) -> Result<Vec<String>, CallError> {
        let line = |step: &Step| format!("{} {}", step.tool, step.arguments.join(" "));
        steps(job).map(|steps| steps.iter().map(line).collect())
    }

    const UNLOCKED: Login = Login { password: Password::Hash, locked: false, expires: None };

    fn now() -> User {
        User {
            id: 1,
            group: 1,
            group_name: None,
            groups: Vec::new(),
            comment: String::new(),
            home: "/".into(),
            shell: String::new(),
            local: true,
        }
    }

    #[test]
    fn a_user_is_made_with_a_group_of_its_own_or_in_one() {
        let system = NewUser { system: true, id: Some(7), ..NewUser::default() };
        let expected = ["addgroup -S web", "adduser -D -S -H -u 7 -G web web"];
        assert_eq!(lines(&Job::CreateUser { name: "web", user: &system }).unwrap(), expected);
        let user = NewUser {
            group: Some("www".into()),
            groups: vec!["adm".into()],
            home: Some("/h".into()),
            make_home: true,
            password: Some("secret:user.web/password_hash".parse().unwrap()),
            ..NewUser::default()
        };
        let expected = ["adduser -D -h /h -G www web", "addgroup web adm", "chpasswd -e"];
        assert_eq!(lines(&Job::CreateUser { name: "web", user: &user }).unwrap(), expected);
    }

    #[test]
    fn what_busybox_cannot_do_is_refused_and_says_what_would_help() {
        let change = UserChange { shell: Some("/bin/sh".into()), ..UserChange::default() };
        let job = Job::ChangeUser { name: "web", change: &change, now: &now(), login: UNLOCKED };
        let error = lines(&job).unwrap_err().to_string();
        assert_eq!(error, "busybox cannot change the shell of a user: install the package `shadow` on this node");
        let change = GroupChange { id: Some(7), members: None };
        let now = Group { id: 1, members: Vec::new(), local: true };
        assert!(matches!(lines(&Job::ChangeGroup { name: "web", change: &change, now: &now }), Err(CallError::Unsupported(_))));
        let user = NewUser { expires: Some(1), ..NewUser::default() };
        assert!(lines(&Job::CreateUser { name: "web", user: &user }).is_err());
    }

    #[test]
    fn members_come_and_go_one_by_one() {
        let now_group = Group { id: 1, members: vec!["a".into(), "b".into()], local: true };
        let change = GroupChange { id: None, members: Some(vec!["b".into(), "c".into()]) };
        let expected = ["addgroup c web", "delgroup a web"];
        assert_eq!(lines(&Job::ChangeGroup { name: "web", change: &change, now: &now_group }).unwrap(), expected);
        let change = UserChange { join: vec!["x".into()], leave: vec!["y".into()], locked: Some(true), ..UserChange::default() };
        let expected = ["addgroup web x", "delgroup web y", "passwd -l web"];
        let job = Job::ChangeUser { name: "web", change: &change, now: &now(), login: UNLOCKED };
        assert_eq!(lines(&job).unwrap(), expected);
    }
}
