//! Desired and observed states for the tests of this crate.

use runtime_sdk::{AccountName, Presence};

use crate::attributes::Membership;
use crate::desired::Desired;
use crate::state::{Found, State};

/// The user `web` with nothing managed.
pub fn desired(ensure: Presence) -> Desired {
    Desired {
        name: AccountName("web".into()),
        ensure,
        uid: None,
        group: None,
        groups: None,
        membership: Membership::Minimum,
        comment: None,
        home: None,
        manage_home: false,
        shell: None,
        expires: None,
        locked: None,
        password_hash: None,
        system: false,
    }
}

/// Names of groups.
pub fn names(names: &[&str]) -> Option<Vec<AccountName>> {
    Some(names.iter().map(|name| AccountName((*name).into())).collect())
}

/// The user `web` as the node has it.
pub fn found() -> Found {
    Found {
        uid: 1000,
        gid: 1000,
        group: Some("web".into()),
        groups: vec!["adm".into(), "ssl".into()],
        comment: "Web".into(),
        home: "/home/web".into(),
        shell: "/bin/sh".into(),
        local: true,
    }
}

/// A state of which nothing else was read.
pub fn state(user: Option<Found>) -> State {
    State { user, login: None, has_password: None, has_home: None, home_is_foreign: false }
}
