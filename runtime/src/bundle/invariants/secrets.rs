//! What a catalog says of secrets: each slot that it lists is named by the resource that it belongs to, and each that is named is listed.

use std::collections::BTreeSet;

use super::{ascends, refuse};
use crate::bundle::catalog::CatalogError;
use crate::model::asset::AssetRef;
use crate::model::catalog::{Candidate, Catalog, Resource, State};
use crate::model::ids::{SecretName, SecretSlot};
use crate::model::secret::{self, SecretReads};

pub(super) fn check(catalog: &Catalog) -> Result<(), CatalogError> {
    if !ascends(&catalog.secrets) || !ascends(&catalog.node_secrets) {
        return Err(CatalogError::rule("`secrets` or `node_secrets`", "they are out of order, or one occurs twice"));
    }
    let (mut slots, mut names) = (BTreeSet::new(), BTreeSet::new());
    for resource in &catalog.resources {
        check_gate(resource)?;
        let named = Named::of(resource)?;
        let is_own = |slot: &&SecretSlot| slot.resource().as_ref() == Some(&resource.id);
        if let Some(other) = named.slots.iter().find(|slot| !is_own(slot)) {
            return Err(refuse(resource, &format!("it names the secret `{other}`, which is not its own")));
        }
        if let Some(missing) = named.slots.iter().find(|slot| catalog.secrets.binary_search(slot).is_err()) {
            return Err(refuse(resource, &format!("its secret `{missing}` is not in `secrets`")));
        }
        if let Some(missing) = named.names.iter().find(|name| catalog.node_secrets.binary_search(name).is_err()) {
            return Err(refuse(resource, &format!("it reads the secret `{missing}`, which is not in `node_secrets`")));
        }
        slots.extend(named.slots);
        names.extend(named.names);
    }
    if let Some(extra) = catalog.secrets.iter().find(|slot| !slots.contains(slot)) {
        return Err(CatalogError::rule(format!("secret `{extra}`"), "no resource names it"));
    }
    match catalog.node_secrets.iter().find(|name| !names.contains(name)) {
        Some(extra) => Err(CatalogError::rule(format!("secret `{extra}`"), "no resource reads it")),
        None => Ok(()),
    }
}

/// What one resource names.
#[derive(Default)]
struct Named {
    slots: BTreeSet<SecretSlot>,
    names: BTreeSet<SecretName>,
}

impl Named {
    fn of(resource: &Resource) -> Result<Self, CatalogError> {
        let mut named = Self::default();
        match &resource.state {
            State::Compiled { desired, semantics } => {
                secret::add_slots_of_text(desired, &mut named.slots).map_err(|error| refuse(resource, &error.to_string()))?;
                named.slots.extend(semantics.assets.iter().filter_map(AssetRef::slot).cloned());
            }
            State::Deferred { .. } => {}
        }
        for candidate in resource.backends.iter().flat_map(|backends| backends.candidates.values()) {
            if let Candidate::Compiled { options, semantics, .. } = candidate {
                secret::add_slots(options, &mut named.slots).map_err(|error| refuse(resource, &error.to_string()))?;
                named.slots.extend(semantics.assets.iter().filter_map(AssetRef::slot).cloned());
            }
        }
        let mut reads = SecretReads::default();
        resource.deferred().iter().for_each(|(_, expression)| reads.add(expression));
        named.slots.extend(reads.slots.into_iter().cloned());
        for name in reads.names {
            let name = name.and_then(|name| name.parse().ok());
            named.names.insert(name.ok_or_else(|| refuse(resource, "it calls `secret` without the name of a secret"))?);
        }
        Ok(named)
    }
}

/// A gate is told in reports, so it may not hang on a secret.
fn check_gate(resource: &Resource) -> Result<(), CatalogError> {
    let Some(control) = &resource.control else { return Ok(()) };
    let mut reads = SecretReads::default();
    control.if_.iter().chain(&control.unless).for_each(|condition| reads.add(condition));
    if reads.is_empty() { Ok(()) } else { Err(refuse(resource, "its `control` reads a secret")) }
}
