//! The rights of one attempt at one resource, fixed when the attempt begins.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::assets::AssetName;
use crate::effects::Effect;
use crate::grant::{Ask, Grant};

/// Everything but the phase that a host call is held against.
#[derive(Debug, Clone)]
pub struct Rights {
    /// The resource's address, `file.motd`, for messages.
    pub resource: String,
    /// The component that serves it.
    pub module: Module,
    /// What the module asks for in `describe`.
    pub asks: Arc<Vec<Ask>>,
    /// What policy grants the module.
    pub grant: Arc<Grant>,
    /// What the resource says that it may touch.
    pub effects: Vec<Effect>,
    /// The assets that the resource's own `validate` listed.
    pub assets: BTreeMap<AssetName, Sensitivity>,
    /// Whether the content of its files may be a sensitive value for another reason than its assets: an earlier run put one there.
    pub had_secrets: bool,
    /// The provider that was selected for the resource, which its type may call; none for types without providers, and for providers.
    pub provider: Option<String>,
}

impl Rights {
    /// Whether the content of its files may be a sensitive value, so that neither it, its size nor its digest is told.
    pub fn conceals_content(&self) -> bool {
        self.had_secrets || self.secrets().next().is_some()
    }

    /// The slots of its sensitive assets.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.assets.keys().filter_map(|asset| match asset {
            AssetName::Secret(slot) => Some(slot.as_str()),
            AssetName::Plain(_) => None,
        })
    }
}

/// A component, as messages and policy rows name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// The name of its policy row or resource type.
    pub name: String,
    /// The digest of its bytes, `sha256:…`.
    pub digest: String,
}

/// Whether content may be shown, and given to the guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sensitivity {
    /// It may.
    Plain,
    /// It may only be written to its place by the host.
    Sensitive,
}
