//! A resource type that takes refreshes and asks for a shared action. README.md lists what makes it do what.

mod definition;
mod lifecycle;

use serde::{Deserialize, Serialize};

/// The component.
pub struct Bell;

/// The shared action that it may ask for.
pub const RELOAD: &str = "bell.reload.v1";

/// The desired state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// The file that is the bell.
    pub path: String,
    /// Whether it hangs.
    pub hung: bool,
    /// What is written on it.
    pub note: String,
}

impl Desired {
    /// What the file says.
    pub fn text(&self) -> String {
        format!("{}\n{}\n", if self.hung { "hung" } else { "taken down" }, self.note)
    }

    /// A file beside the bell.
    pub fn beside(&self, suffix: &str) -> String {
        format!("{}.{suffix}", self.path)
    }
}

runtime_sdk::export_component!(Bell);
