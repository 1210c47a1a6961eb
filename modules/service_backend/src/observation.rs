//! What a provider finds of a service.

use serde::{Deserialize, Serialize};

/// What a service is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    /// It runs, or did what it was started for and counts as running.
    Running,
    /// It does not run.
    Stopped,
    /// It does not run, since it failed.
    Failed,
    /// It is between the two, and was for as long as it was waited for: it starts, stops, or waits to be started again.
    Changing,
}

/// Whether a service starts at boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boot {
    /// It does.
    Enabled,
    /// It is enabled, and will not be after the next boot.
    UntilReboot,
    /// It does not.
    Disabled,
    /// It cannot be enabled: others start it, or nobody.
    Static,
    /// What made it at boot decides.
    Generated,
}

/// Whether a service cannot be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mask {
    /// It can be.
    Unmasked,
    /// It cannot, until the next boot.
    UntilReboot,
    /// It cannot.
    Masked,
}

/// A service as it is on the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// Whether there is such a service.
    pub exists: bool,
    /// The service's own name, where the declared one is another of its names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias_of: Option<String>,
    /// What it is at.
    pub activity: Activity,
    /// The same in the init system's words: `active (running)`.
    pub words: String,
    /// Whether it starts at boot.
    pub boot: Boot,
    /// Whether it cannot be started.
    pub mask: Mask,
    /// Whether its definition is another than the one that the init system has read.
    pub definition_changed: bool,
}

/// What the node alone can tell of the identity of a service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// All its names; none if there is no such service.
    pub names: Vec<String>,
}
