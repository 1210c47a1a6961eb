//! What the resources of one type declare, as policy judges it.

use std::collections::{BTreeMap, BTreeSet};

use host_functions::effects::PATH;

use crate::model::catalog::{Catalog, Claim, Resource};
use crate::model::ids::TypeName;
use crate::policy::Want;

/// Effects and claims on objects that the host knows, by resource type. Every type of the catalog has an entry.
pub(super) fn by_type(catalog: &Catalog) -> BTreeMap<&TypeName, BTreeSet<Want>> {
    let mut wants: BTreeMap<&TypeName, BTreeSet<Want>> = catalog.modules.keys().map(|name| (name, BTreeSet::new())).collect();
    for resource in &catalog.resources {
        wants.entry(&resource.id.type_name).or_default().extend(of_resource(resource));
    }
    wants
}

fn of_resource(resource: &Resource) -> impl Iterator<Item = Want> {
    let effects = resource.effects.iter().flat_map(Want::of_effect);
    // What an effect changes it wants already, by the actions that it names.
    let has_effect = |claim: &&Claim| {
        claim.domain != PATH && resource.effects.iter().any(|effect| effect.domain == claim.domain && effect.key == claim.key)
    };
    let claims = resource.claims.iter().filter(move |claim| !has_effect(claim));
    effects.chain(claims.filter_map(Want::to_hold))
}
