//! What the resources of one type declare, as policy judges it.

use std::collections::{BTreeMap, BTreeSet};

use host_functions::effects::PATH;

use crate::model::catalog::{Beyond, Catalog, Claim, Effect, Resource};
use crate::model::ids::{ProviderName, TypeName};
use crate::policy::Want;

/// Effects and claims on objects that the host knows, by resource type. Every type of the catalog has an entry.
pub(super) fn by_type(catalog: &Catalog) -> BTreeMap<&TypeName, BTreeSet<Want>> {
    let mut wants: BTreeMap<&TypeName, BTreeSet<Want>> = catalog.modules.keys().map(|name| (name, BTreeSet::new())).collect();
    for resource in &catalog.resources {
        wants.entry(&resource.id.type_name).or_default().extend(of_resource(resource));
    }
    wants
}

/// What a provider is to touch: what the resources declare that it may serve, and what it adds to that.
pub(super) fn of_provider(catalog: &Catalog, type_name: &TypeName, provider: &ProviderName) -> BTreeSet<Want> {
    let mut wants = BTreeSet::new();
    for resource in catalog.resources.iter().filter(|resource| resource.id.type_name == *type_name) {
        let candidates = resource.backends.as_ref().map(|backends| &backends.candidates);
        let Some(candidate) = candidates.and_then(|candidates| candidates.get(provider)) else { continue };
        wants.extend(of_resource(resource));
        if let Some(Beyond { claims, effects, .. }) = candidate.beyond() {
            wants.extend(of(effects, claims));
        }
    }
    wants
}

fn of_resource(resource: &Resource) -> impl Iterator<Item = Want> {
    of(&resource.effects, &resource.claims)
}

fn of<'c>(effects: &'c [Effect], claims: &'c [Claim]) -> impl Iterator<Item = Want> + use<'c> {
    let wanted = effects.iter().flat_map(Want::of_effect);
    // What an effect changes it wants already, by the actions that it names.
    let has_effect = move |claim: &&Claim| {
        claim.domain != PATH && effects.iter().any(|effect| effect.domain == claim.domain && effect.key == claim.key)
    };
    let claims = claims.iter().filter(move |claim| !has_effect(claim));
    wanted.chain(claims.filter_map(Want::to_hold))
}
