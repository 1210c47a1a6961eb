//! What the resources of one type declare, as policy judges it.

use std::collections::{BTreeMap, BTreeSet};

use host_functions::effects::PATH;
use host_functions::grant::Access;

use crate::model::catalog::{Catalog, Resource};
use crate::model::ids::TypeName;
use crate::policy::Want;

/// Effects and claims on paths, by resource type. Every type of the catalog has an entry.
pub(super) fn by_type(catalog: &Catalog) -> BTreeMap<&TypeName, BTreeSet<Want>> {
    let mut wants: BTreeMap<&TypeName, BTreeSet<Want>> = catalog.modules.keys().map(|name| (name, BTreeSet::new())).collect();
    for resource in &catalog.resources {
        wants.entry(&resource.id.type_name).or_default().extend(of_resource(resource));
    }
    wants
}

fn of_resource(resource: &Resource) -> impl Iterator<Item = Want> {
    let effects = resource.effects.iter().filter(|effect| effect.domain == PATH).flat_map(|effect| {
        let access = effect.actions.iter().filter_map(|action| Access::from_word(action));
        access.map(|access| Want { access, path: effect.key.clone() })
    });
    // To hold a path keeps others from it, which is no less than changing it.
    let claims = resource.claims.iter().filter(|claim| claim.domain == PATH);
    effects.chain(claims.map(|claim| Want { access: Access::Write, path: claim.key.clone() }))
}
