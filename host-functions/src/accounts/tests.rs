//! The host functions on a scratch root without tools: what is refused before any is looked for.

use std::sync::Arc;

use super::*;
use crate::bindings::runtime::host::accounts::{self, Host as _};
use crate::effects::Effect;
use crate::grant::Ask;
use crate::rights::{Rights, Sensitivity};
use crate::testing::{Attempt, all_rights, assert_error, effect};

fn rights() -> Rights {
    let mut rights = all_rights("user.web");
    let named = |domain: &str, name: &str| Effect { domain: domain.into(), ..effect(name, &["create", "modify", "delete"]) };
    for name in ["web", "root"] {
        rights.effects.extend([named("user", name), named("group", name)]);
    }
    rights.effects.push(Effect { domain: "group".into(), ..effect("adm", &["join"]) });
    Arc::make_mut(&mut rights.asks)
        .extend(["create", "modify", "delete", "join"].map(|verb| Ask::parse("accounts", verb, "*").unwrap()));
    rights.assets.insert("secret:user.web/password_hash".parse().unwrap(), Sensitivity::Sensitive);
    rights
}

/// A root with a few accounts and no tools.
fn attempt() -> Attempt {
    let attempt = Attempt::with(rights());
    attempt.write("/etc/passwd", b"root:x:0:0::/root:/bin/sh\nweb:x:33:33::/srv:/bin/false\n");
    attempt.write("/etc/group", b"root:x:0:\nadm:x:4:\nweb:x:33:\n");
    attempt.write("/etc/shadow", b"web:!:19000::::::\n");
    attempt
}

fn new_user() -> accounts::NewUser {
    accounts::NewUser {
        id: None,
        system: false,
        group: Some("adm".into()),
        groups: vec![],
        comment: None,
        home: None,
        make_home: false,
        shell: None,
        expires: None,
        password: None,
        locked: false,
    }
}

fn change() -> accounts::UserChange {
    accounts::UserChange {
        id: None,
        group: None,
        join: vec![],
        leave: vec![],
        comment: None,
        home: None,
        shell: None,
        expires: None,
        password: None,
        locked: None,
    }
}

#[test]
fn names_that_cannot_be_are_refused() {
    let root = Root::open(std::path::Path::new("/")).unwrap();
    for bad in ["", "a:b", "a\0", "a\nb", &"x".repeat(MAX_ACCOUNT_NAME + 1)] {
        assert!(matches!(Accounts::of(&root).find(&root, Kind::User, bad), Err(CallError::InvalidArgument(_))), "{bad:?}");
    }
}

#[test]
fn entries_are_told_whole() {
    let mut attempt = attempt();
    let user = attempt.context.read_user("web".into()).unwrap().unwrap();
    assert_eq!((user.id, user.group_name.as_deref(), user.shell.as_str()), (33, Some("web"), "/bin/false"));
    assert_eq!(attempt.context.read_group("adm".into()).unwrap().unwrap().id, 4);
    let login = attempt.context.read_login("web".into()).unwrap().unwrap();
    assert!(login.locked && matches!(login.password, accounts::Password::Unusable));
    assert_eq!(attempt.context.read_user("nobody".into()).unwrap().map(|user| user.id), None);
}

#[test]
fn what_could_be_an_option_or_another_line_is_refused_whatever_is_granted() {
    let mut attempt = attempt();
    let context = &mut attempt.context;
    for name in ["-r", "--root=/", "a:b", "a\nb", ""] {
        assert_error!(context.create_user(name.into(), new_user()), CallError::InvalidArgument(_));
        assert_error!(context.delete_user(name.into()), CallError::InvalidArgument(_));
        assert_error!(
            context.create_group(name.into(), accounts::NewGroup { id: None, system: false, members: vec![] }),
            CallError::InvalidArgument(_)
        );
    }
    let with = |user: accounts::NewUser, context: &mut crate::HostContext| context.create_user("new".into(), user);
    for user in [
        accounts::NewUser { comment: Some("x:0:0".into()), ..new_user() },
        accounts::NewUser { home: Some("/a\nb".into()), ..new_user() },
        accounts::NewUser { shell: Some("sh".into()), ..new_user() },
        accounts::NewUser { groups: vec!["a,root".into()], ..new_user() },
        accounts::NewUser { id: Some(u32::MAX), ..new_user() },
        accounts::NewUser { make_home: true, ..new_user() },
    ] {
        assert_error!(with(user, context), CallError::InvalidArgument(_));
    }
}

#[test]
fn what_is_there_or_is_missing_is_told_before_a_tool_is_looked_for() {
    let mut attempt = attempt();
    let context = &mut attempt.context;
    assert_error!(context.create_user("web".into(), new_user()), CallError::AlreadyExists);
    let group = accounts::NewGroup { id: None, system: false, members: vec![] };
    assert_error!(context.create_group("web".into(), group), CallError::AlreadyExists);
    let unlock = accounts::UserChange { locked: Some(false), ..change() };
    assert_error!(context.change_user("web".into(), unlock), CallError::InvalidArgument(_));
    let lock = accounts::UserChange { locked: Some(true), shell: Some("/bin/sh".into()), ..change() };
    assert_error!(context.change_user("web".into(), lock), CallError::Unsupported(_));
    let members = accounts::GroupChange { id: None, members: Some(vec!["nobody".into()]) };
    assert_error!(context.change_group("web".into(), members), CallError::InvalidArgument(_));
}

#[test]
fn the_superuser_is_protected_from_every_module() {
    let mut attempt = attempt();
    let context = &mut attempt.context;
    assert_error!(context.delete_user("root".into()), CallError::Denied(_));
    assert_error!(context.delete_group("root".into()), CallError::Denied(_));
    let renumbered = accounts::UserChange { id: Some(7), ..change() };
    assert_error!(context.change_user("root".into(), renumbered), CallError::Denied(_));
    let second = accounts::UserChange { id: Some(0), ..change() };
    assert_error!(context.change_user("web".into(), second), CallError::Denied(_));
    assert!(context.denied_change().is_some());
}

#[test]
fn a_value_that_is_no_hash_is_refused_without_a_word_of_it() {
    let mut attempt = attempt();
    // The secret of the tests is its slot in upper case.
    let error = attempt.context.password_matches("web".into(), "secret:user.web/password_hash".into()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("not a hash") && !text.contains("USER.WEB"), "{text}");
    assert_error!(attempt.context.password_matches("web".into(), "hunter2".into()), CallError::InvalidArgument(_));
}
