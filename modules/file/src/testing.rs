//! Desired and observed states for the tests of this crate.

use runtime_sdk::Asset;
use runtime_sdk::files::Kind;

use crate::desired::{Desired, Ensure};
use crate::links::Links;
use crate::mode::Mode;
use crate::state::{Object, State};

/// `/srv/it` with nothing managed.
pub fn desired(ensure: Ensure) -> Desired {
    Desired {
        path: "/srv/it".into(),
        ensure,
        force: false,
        links: Links::Refuse,
        leads_to: Vec::new(),
        parents: false,
        content: None,
        owner: None,
        group: None,
        mode: None,
        backup: 0,
        validate: None,
        target: None,
    }
}

impl Desired {
    /// With the content whose digest [`digest`] makes of `name`.
    pub fn with_content(mut self, name: &str) -> Self {
        let mut asset = Asset::pending();
        asset.assign(digest(name));
        self.content = Some(asset);
        self
    }
}

/// A digest made of a name.
pub fn digest(name: &str) -> String {
    runtime_sdk::testing::any_digest(name)
}

/// An object of root's.
pub fn object(kind: Kind) -> Object {
    let mode = if kind == Kind::Symlink { None } else { Mode::from_bits(0o644) };
    Object { kind, owner: 0, group: 0, mode, target: None, digest: None }
}

/// A state in which no account was looked up.
pub fn state(object: Option<Object>) -> State {
    State { object, at: None, missing: Vec::new(), owner: None, group: None }
}
