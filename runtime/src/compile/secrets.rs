//! Sensitive values on their way into a bundle: the slots that a catalog names, and what goes into the layer for them.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::Compiler;
use super::parameters::Given;
use crate::manifest::Declaration;
use crate::model::asset::AssetRef;
use crate::model::catalog::Resource;
use crate::model::ids::{ResourceId, SecretName, SecretSlot};
use crate::model::secret::{self, SecretReads};

impl Compiler {
    /// Keeps for the bundle what a compiled resource names; none if it names what it was not given, which has been told.
    pub(super) fn keep_secrets(
        &self,
        declaration: &Declaration,
        given: &Given,
        desired: &Json,
        assets: &[AssetRef],
    ) -> Option<()> {
        let mut slots: BTreeSet<SecretSlot> = assets.iter().filter_map(AssetRef::slot).cloned().collect();
        if let Err(error) = secret::add_slots(desired, &mut slots) {
            self.broken(declaration, format!("gives a desired state that is not one: {error}"));
            return None;
        }
        for slot in slots {
            let Some(value) = given.told(&slot) else {
                self.broken(declaration, format!("names the slot `{slot}`, which it was not given"));
                return None;
            };
            self.secrets.borrow_mut().insert(slot, value);
        }
        Some(())
    }
}

impl Compiler {
    /// That the final state of a resource names no other slots than its draft.
    pub(super) fn same_slots(&self, id: &ResourceId, desired: &Json) -> bool {
        let mut slots = BTreeSet::new();
        let kept = self.secrets.borrow();
        let is_own = |slot: &SecretSlot| kept.contains_key(slot) && slot.resource().as_ref() == Some(id);
        secret::add_slots(desired, &mut slots).is_ok() && slots.iter().all(is_own)
    }
}

/// The secrets of the node that deferred resources read, sorted.
pub(super) fn node_secrets(resources: &[Resource]) -> Vec<SecretName> {
    let mut reads = SecretReads::default();
    for resource in resources {
        resource.deferred().iter().for_each(|(_, expression)| reads.add(expression));
    }
    // Evaluation has parsed each of them.
    let names: BTreeSet<SecretName> = reads.names.into_iter().flatten().filter_map(|name| name.parse().ok()).collect();
    names.into_iter().collect()
}
