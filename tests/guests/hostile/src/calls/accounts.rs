//! Calls of `accounts`.

use runtime_sdk::accounts::{self, GroupChange, NewGroup, NewUser, UserChange};

use super::with::With;
use super::{Answer, done, seen};
use crate::desired::FOREIGN_SECRET;

/// The account that the calls are about.
const NAME: &str = "web";

pub fn call(function: &str, with: &With<'_>) -> Option<Answer> {
    let name = || with.text(if with.is("superuser") { "root" } else { NAME });
    match function {
        "accounts#find-user" => seen(accounts::find_user(&name())),
        "accounts#find-group" => seen(accounts::find_group(&name())),
        "accounts#read-user" => seen(accounts::read_user(&name())),
        "accounts#read-group" => seen(accounts::read_group(&name())),
        "accounts#read-login" => seen(accounts::read_login(&name())),
        "accounts#password-matches" => {
            let secret = if with.is("secret") { "secret:\n" } else { FOREIGN_SECRET };
            seen(accounts::password_matches(&name(), secret))
        }
        "accounts#create-user" => done(accounts::create_user(&name(), &new_user(with))),
        "accounts#change-user" => done(accounts::change_user(&name(), &user_change(with))),
        "accounts#delete-user" => done(accounts::delete_user(&name())),
        "accounts#create-group" => done(accounts::create_group(&name(), &new_group(with))),
        "accounts#change-group" => done(accounts::change_group(&name(), &group_change(with))),
        "accounts#delete-group" => done(accounts::delete_group(&name())),
        _ => None,
    }
}

/// An id that no account has, that of whoever may do everything, or none.
fn id(with: &With<'_>) -> Option<u32> {
    if with.is("id") {
        return Some(u32::MAX);
    }
    with.is("id-of-root").then_some(0)
}

fn text(with: &With<'_>, kind: &str, text: &str) -> Option<String> {
    with.is(kind).then(|| text.to_owned())
}

fn new_user(with: &With<'_>) -> NewUser {
    NewUser {
        id: id(with),
        system: false,
        group: text(with, "group", "-G"),
        groups: text(with, "groups", "a:b").into_iter().collect(),
        comment: text(with, "comment", "x\nroot2::0:0::/:/bin/sh"),
        home: text(with, "home", "/srv/x/../../etc"),
        make_home: with.is("home-nowhere"),
        shell: text(with, "shell", "sh"),
        expires: None,
        password: text(with, "password", FOREIGN_SECRET),
        locked: false,
    }
}

fn user_change(with: &With<'_>) -> UserChange {
    UserChange {
        id: id(with),
        group: text(with, "group", "-G"),
        join: text(with, "groups", "a:b").into_iter().collect(),
        leave: Vec::new(),
        comment: text(with, "comment", "x\nroot2::0:0::/:/bin/sh"),
        home: text(with, "home", "/srv/x/../../etc"),
        shell: text(with, "shell", "sh"),
        expires: None,
        password: text(with, "password", FOREIGN_SECRET),
        locked: None,
    }
}

/// Members of a group, of which one is none, or too many.
fn members(with: &With<'_>) -> Vec<String> {
    if with.is("count") {
        return vec![NAME.into(); 1_001];
    }
    text(with, "members", "a,b").into_iter().collect()
}

fn new_group(with: &With<'_>) -> NewGroup {
    NewGroup { id: id(with), system: false, members: members(with) }
}

fn group_change(with: &With<'_>) -> GroupChange {
    GroupChange { id: id(with), members: Some(members(with)) }
}
