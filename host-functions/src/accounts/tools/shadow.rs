//! What the tools of the shadow suite are called with. Pure.

use super::{Job, Step};
use crate::accounts::change::{GroupChange, NewGroup, NewUser, UserChange};
use crate::accounts::entry::{Group, Login, User};

/// The calls that do `job`, in order.
pub(super) fn steps(job: &Job<'_>) -> Vec<Step> {
    match job {
        Job::CreateUser { name, user } => create_user(name, user),
        Job::ChangeUser { name, change, now, login } => change_user(name, change, now, *login),
        Job::DeleteUser { name } => vec![Step::new("userdel", [*name])],
        Job::CreateGroup { name, group } => create_group(name, group),
        Job::ChangeGroup { name, change, now } => change_group(name, change, now),
        Job::DeleteGroup { name } => vec![Step::new("groupdel", [*name])],
    }
}

/// Arguments of one call, each option with its value.
#[derive(Default)]
struct Arguments(Vec<String>);

impl Arguments {
    fn flag(&mut self, option: &str, is_set: bool) {
        if is_set {
            self.0.push(option.to_owned());
        }
    }

    /// The option and its value are two arguments; the tools take the second whole, whatever it begins with.
    fn value(&mut self, option: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.0.extend([option.to_owned(), value.to_string()]);
        }
    }

    fn of(mut self, tool: &'static str, name: &str) -> Step {
        self.0.push(name.to_owned());
        Step::new(tool, self.0)
    }
}

fn create_user(name: &str, user: &NewUser) -> Vec<Step> {
    let mut arguments = Arguments::default();
    arguments.flag("--system", user.system);
    arguments.value("--uid", user.id);
    // What else there is depends on `/etc/login.defs` and `/etc/default/useradd` of the node.
    arguments.flag("--user-group", user.group.is_none());
    arguments.flag("--no-user-group", user.group.is_some());
    arguments.value("--gid", user.group.as_ref());
    arguments.value("--groups", joined(&user.groups));
    arguments.value("--comment", user.comment.as_ref());
    arguments.value("--home-dir", user.home.as_ref());
    arguments.flag(if user.make_home { "--create-home" } else { "--no-create-home" }, true);
    arguments.value("--shell", user.shell.as_ref());
    arguments.value("--expiredate", user.expires);
    let mut steps = vec![arguments.of("useradd", name)];
    steps.extend(user.password.as_ref().map(|_| Step::password(name, user.locked)));
    steps
}

fn change_user(name: &str, change: &UserChange, now: &User, login: Login) -> Vec<Step> {
    let mut arguments = Arguments::default();
    arguments.value("--uid", change.id);
    arguments.value("--gid", change.group.as_ref());
    if !change.leave.is_empty() {
        let stay = now.groups.iter().chain(&change.join).filter(|group| !change.leave.contains(group));
        let mut groups: Vec<String> = stay.cloned().collect();
        groups.sort_unstable();
        groups.dedup();
        arguments.value("--groups", Some(groups.join(",")));
    } else if let Some(join) = joined(&change.join) {
        arguments.flag("--append", true);
        arguments.value("--groups", Some(join));
    }
    arguments.value("--comment", change.comment.as_ref());
    arguments.value("--home", change.home.as_ref());
    arguments.value("--shell", change.shell.as_ref());
    arguments.value("--expiredate", change.expires.map(|day| day.map(|day| day.to_string()).unwrap_or_default()));
    if change.password.is_none() {
        arguments.flag("--lock", change.locked == Some(true) && !login.locked);
        arguments.flag("--unlock", change.locked == Some(false) && login.locked);
    }
    let mut steps = Vec::new();
    if !arguments.0.is_empty() {
        steps.push(arguments.of("usermod", name));
    }
    // A field without a hash counts as locked, but nobody locked it: a hash that is put in is usable unless something says otherwise.
    let stays_locked = login.locked && login.password == crate::accounts::entry::Password::Hash;
    steps.extend(change.password.as_ref().map(|_| Step::password(name, change.locked.unwrap_or(stays_locked))));
    steps
}

fn create_group(name: &str, group: &NewGroup) -> Vec<Step> {
    let mut arguments = Arguments::default();
    arguments.flag("--system", group.system);
    arguments.value("--gid", group.id);
    let mut steps = vec![arguments.of("groupadd", name)];
    if !group.members.is_empty() {
        steps.push(members(name, &group.members));
    }
    steps
}

fn change_group(name: &str, change: &GroupChange, _now: &Group) -> Vec<Step> {
    let mut steps = Vec::new();
    if let Some(id) = change.id {
        steps.push(Step::new("groupmod", ["--gid".to_owned(), id.to_string(), name.to_owned()]));
    }
    steps.extend(change.members.as_deref().map(|list| members(name, list)));
    steps
}

/// `gpasswd`, since `groupmod` of older releases has no option for members.
fn members(name: &str, members: &[String]) -> Step {
    Step::new("gpasswd", ["--members".to_owned(), members.join(","), name.to_owned()])
}

fn joined(groups: &[String]) -> Option<String> {
    (!groups.is_empty()).then(|| groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::entry::Password;

    fn lines(job: &Job<'_>) -> Vec<String> {
        let line = |step: &Step| {
            let password = match &step.password {
                Some(line) => format!(" < {}{}", line.name, if line.locked { ":!HASH" } else { ":HASH" }),
                None => String::new(),
            };
            format!("{} {}{password}", step.tool, step.arguments.join(" "))
        };
        steps(job).iter().map(line).collect()
    }

    fn user(groups: &[&str]) -> User {
        User {
            id: 1000,
            group: 1000,
            group_name: None,
            groups: groups.iter().map(|group| (*group).to_owned()).collect(),
            comment: String::new(),
            home: "/".into(),
            shell: String::new(),
            local: true,
        }
    }

    fn login(password: Password, locked: bool) -> Login {
        Login { password, locked, expires: None }
    }

    fn changed(change: &UserChange, now: &User, login: Login) -> Vec<String> {
        lines(&Job::ChangeUser { name: "web", change, now, login })
    }

    #[test]
    fn a_user_is_made_with_what_is_said_and_no_more() {
        let none = NewUser::default();
        assert_eq!(lines(&Job::CreateUser { name: "web", user: &none }), ["useradd --user-group --no-create-home web"]);
        let all = NewUser {
            id: Some(200),
            system: true,
            group: Some("www".into()),
            groups: vec!["adm".into(), "ssl".into()],
            comment: Some("-r".into()),
            home: Some("/srv/web".into()),
            make_home: true,
            shell: Some("/bin/false".into()),
            expires: Some(20_000),
            password: Some("secret:user.web/password_hash".parse().unwrap()),
            locked: true,
        };
        assert_eq!(
            lines(&Job::CreateUser { name: "web", user: &all }),
            [
                "useradd --system --uid 200 --no-user-group --gid www --groups adm,ssl --comment -r --home-dir /srv/web --create-home \
                 --shell /bin/false --expiredate 20000 web",
                "chpasswd -e < web:!HASH"
            ]
        );
    }

    #[test]
    fn groups_are_joined_without_naming_others_unless_one_is_left() {
        let now = user(&["adm", "old"]);
        let join = UserChange { join: vec!["ssl".into()], ..UserChange::default() };
        let usable = login(Password::Hash, false);
        assert_eq!(changed(&join, &now, usable), ["usermod --append --groups ssl web"]);
        let both = UserChange { leave: vec!["old".into()], ..join };
        assert_eq!(changed(&both, &now, usable), ["usermod --groups adm,ssl web"]);
        let all = UserChange { leave: vec!["old".into(), "adm".into()], ..UserChange::default() };
        assert_eq!(changed(&all, &now, usable), ["usermod --groups  web"], "an empty list leaves all");
    }

    #[test]
    fn a_new_hash_keeps_an_account_locked_and_opens_none_that_nobody_locked() {
        let password = || Some("secret:user.web/password_hash".parse().unwrap());
        let hash = UserChange { password: password(), ..UserChange::default() };
        assert_eq!(changed(&hash, &user(&[]), login(Password::Hash, true)), ["chpasswd -e < web:!HASH"]);
        assert_eq!(changed(&hash, &user(&[]), login(Password::Hash, false)), ["chpasswd -e < web:HASH"]);
        assert_eq!(changed(&hash, &user(&[]), login(Password::Unusable, true)), ["chpasswd -e < web:HASH"], "it had no hash");
        let unlock = UserChange { locked: Some(false), ..hash };
        assert_eq!(changed(&unlock, &user(&[]), login(Password::Hash, true)), ["chpasswd -e < web:HASH"]);
        let lock = UserChange { locked: Some(true), ..UserChange::default() };
        assert_eq!(changed(&lock, &user(&[]), login(Password::Hash, false)), ["usermod --lock web"]);
        assert_eq!(changed(&lock, &user(&[]), login(Password::Unusable, true)), [""; 0]);
    }

    #[test]
    fn the_rest_of_a_user_is_changed_by_one_call() {
        let change = UserChange {
            id: Some(7),
            group: Some("10".into()),
            comment: Some(String::new()),
            home: Some("/h".into()),
            shell: Some("/bin/sh".into()),
            expires: Some(None),
            locked: Some(false),
            ..UserChange::default()
        };
        let expected = "usermod --uid 7 --gid 10 --comment  --home /h --shell /bin/sh --expiredate  --unlock web";
        assert_eq!(changed(&change, &user(&[]), login(Password::Hash, true)), [expected]);
        assert_eq!(changed(&UserChange::default(), &user(&[]), login(Password::Hash, true)), [""; 0]);
    }

    #[test]
    fn groups_are_made_changed_and_removed() {
        let group = NewGroup { id: Some(7), system: true, members: vec!["a".into(), "b".into()] };
        let expected = ["groupadd --system --gid 7 web", "gpasswd --members a,b web"];
        assert_eq!(lines(&Job::CreateGroup { name: "web", group: &group }), expected);
        let change = GroupChange { id: Some(8), members: Some(Vec::new()) };
        let now = Group { id: 7, members: Vec::new(), local: true };
        let expected = ["groupmod --gid 8 web", "gpasswd --members  web"];
        assert_eq!(lines(&Job::ChangeGroup { name: "web", change: &change, now: &now }), expected);
        assert_eq!(lines(&Job::DeleteGroup { name: "web" }), ["groupdel web"]);
        assert_eq!(lines(&Job::DeleteUser { name: "web" }), ["userdel web"]);
    }
}
