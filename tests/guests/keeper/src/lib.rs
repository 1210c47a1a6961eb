//! A resource type with three independent assets: two from files or addresses, one from text. README.md lists its slips.

mod definition;
mod lifecycle;

use runtime_sdk::Asset;
use serde::{Deserialize, Serialize};

/// The component.
pub struct Keeper;

/// The assets, each an attribute and a slot of this name, and a file with this suffix.
pub const SLOTS: [&str; 3] = ["first", "second", "note"];

/// The desired state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// What the paths of its files begin with.
    pub path: String,
    /// From a file or an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Asset>,
    /// From a file or an address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second: Option<Asset>,
    /// From text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<Asset>,
    /// How to break the contract; none to keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slip: Option<Slip>,
}

/// A way to break the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Slip {
    /// `validate` does not name `second`.
    Forgets,
    /// `validate` gives a timeout that depends on bytes.
    Times,
    /// `relationships` gives reasons that depend on bytes.
    Orders,
}

impl Desired {
    /// The asset of a slot, if it is given.
    pub fn asset(&self, slot: &str) -> Option<&Asset> {
        match slot {
            "first" => self.first.as_ref(),
            "second" => self.second.as_ref(),
            _ => self.note.as_ref(),
        }
    }

    /// The file of a slot.
    pub fn file(&self, slot: &str) -> String {
        format!("{}.{slot}", self.path)
    }
}

runtime_sdk::export_state_type!(Keeper);
