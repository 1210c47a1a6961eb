//! What a provider finds of a package.

use serde::{Deserialize, Serialize};

/// How much of a package is on the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nothing.
    Absent,
    /// Its configuration files.
    ConfigurationFiles,
    /// An installation or removal broke off.
    Partial,
    /// All of it.
    Installed,
}

/// How the installed version compares with the target, in the manager's own order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// It is lower.
    Lower,
    /// It is the same.
    Equal,
    /// It is higher.
    Higher,
}

/// A package as it is on the node, and what it would become.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// How much of it is there.
    pub state: State,
    /// The manager's own word for a partial state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The installed version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub installed_version: Option<String>,
    /// The architecture of what is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
    /// Whether the manager holds it at its version.
    pub held: bool,
    /// The version that it would have afterwards: the declared one, the one that the repositories offer, or the installed one where that is to
    /// stay. None if it is not known, or the package is to go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_version: Option<String>,
    /// Whether the target cannot be relied on: the index is older than it may be, or has no version.
    pub target_version_unconfirmed: bool,
    /// Whether the index is to be fetched before the target can be relied on.
    pub needs_index_update: bool,
    /// How the installed version compares with the target; none unless both are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
}

impl Observation {
    /// Whether all of it is there, and at the target where one is known.
    pub fn is_at_target(&self) -> bool {
        self.state == State::Installed && self.order.is_none_or(|order| order == Order::Equal)
    }
}
