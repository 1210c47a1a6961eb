//! The desired state, and what it touches.

use runtime_sdk::{AccountId, AccountName, Asset, Claim, Effect, Footprint, Presence};
use serde::{Deserialize, Serialize};

use crate::attributes::Membership;
use crate::expiry::Expiry;
use crate::home::{Home, Shell};
use crate::primary::PrimaryGroup;

/// What decides about claims and effects.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    /// The name.
    pub name: &'a AccountName,
    /// Whether it is there.
    pub ensure: Presence,
    /// The primary group.
    pub group: Option<&'a PrimaryGroup>,
    /// Other groups.
    pub groups: &'a [AccountName],
    /// The home directory.
    pub home: Option<&'a Home>,
    /// Whether the home directory is made and removed.
    pub manage_home: bool,
}

impl Identity<'_> {
    /// The user; each group that it is to be in, and there its own membership; the home directory where it is managed. A home directory that is made
    /// is not claimed with what it holds: that belongs to others, but for what `/etc/skel` puts into it as it is made.
    pub fn footprint(&self) -> Footprint {
        let actions: &[&str] = match self.ensure {
            Presence::Present => &["read", "create", "modify"],
            Presence::Absent => &["read", "delete"],
        };
        let mut footprint = Footprint::empty().effect(Effect::user(&self.name.0, actions));
        let joined = self.group.map(PrimaryGroup::text).into_iter().chain(self.groups.iter().map(|group| group.0.clone()));
        footprint.effects.extend(joined.map(|group| Effect::group(&group, &["join"])));
        let membership = |group: &AccountName| Claim {
            domain: "group".into(),
            key: group.0.clone().into(),
            qualifier: format!("member:{}", self.name.0),
        };
        footprint.claims.extend(self.groups.iter().map(membership));
        let Some(Home(home)) = self.home.filter(|_| self.manage_home) else { return footprint };
        let footprint = footprint.effect(Effect::write_path(home.as_str())).affects(home.as_str());
        match self.ensure {
            Presence::Present => footprint,
            Presence::Absent => footprint.effect(Effect::write_path(format!("{home}/**"))),
        }
    }
}

/// The desired state. What is none is left as it is on the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// The name.
    pub name: AccountName,
    /// Whether it is there.
    pub ensure: Presence,
    /// The numeric id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<AccountId>,
    /// The primary group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<PrimaryGroup>,
    /// Other groups, sorted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<AccountName>>,
    /// What becomes of groups that are not named.
    pub membership: Membership,
    /// The comment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The home directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// Whether the home directory is made and removed.
    pub manage_home: bool,
    /// The shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<Shell>,
    /// When it expires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<Expiry>,
    /// Whether no password is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locked: Option<bool>,
    /// The name of the password's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub password_hash: Option<Asset>,
    /// Whether a new one gets an id of the system's range.
    pub system: bool,
}

impl Desired {
    /// What decides about claims and effects.
    pub fn identity(&self) -> Identity<'_> {
        Identity {
            name: &self.name,
            ensure: self.ensure,
            group: self.group.as_ref(),
            groups: self.groups.as_deref().unwrap_or_default(),
            home: self.home.as_ref(),
            manage_home: self.manage_home,
        }
    }

    /// The managed home directory.
    pub fn managed_home(&self) -> Option<&str> {
        self.home.as_ref().filter(|_| self.manage_home).map(|home| home.0.as_str())
    }
}
