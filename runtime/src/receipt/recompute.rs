//! Has every module say again, on this node, what the catalog says of its resources.
//!
//! Of resources that are compiled on the node, identity is asked again here; what they become is held to the catalog when that
//! happens, in plan.

use std::collections::BTreeMap;

use super::{AdmittedModule, AdmittedProviders, ReceiptError, deferred, orders, providers};
use crate::engine::{Validated, of_each_on_large_stacks};
use crate::model::catalog::{Catalog, Resource, Semantics, State};
use crate::model::ids::TypeName;

type Modules = BTreeMap<TypeName, AdmittedModule>;

/// # Errors
/// On the first resource of which a module says something else than the catalog.
pub(super) fn check(catalog: &Catalog, modules: &Modules, of_types: &AdmittedProviders) -> Result<(), ReceiptError> {
    let check_one = |resource: &Resource| {
        check_state(resource, modules)?;
        providers::check(resource, of_types)
    };
    of_each_on_large_stacks(&catalog.resources, check_one)?;
    orders::check_subscriptions(catalog)?;
    orders::check_reads(catalog, modules)?;
    orders::check_derived(catalog, modules)
}

fn check_state(resource: &Resource, modules: &Modules) -> Result<(), ReceiptError> {
    deferred::check_gate(resource)?;
    let module = &modules[&resource.id.type_name].module;
    if module.description().has_providers != resource.backends.is_some() {
        return Err(ReceiptError::Disagrees { resource: resource.id.clone(), what: "candidates" });
    }
    let (desired, semantics) = match &resource.state {
        State::Compiled { desired, semantics } => (desired, semantics),
        State::Deferred { .. } => return deferred::check(resource, module),
    };
    let validated = module.validate(&desired.json());
    let validated = validated.map_err(|source| ReceiptError::Definition { resource: resource.id.clone(), source })?;
    match difference(resource, semantics, &validated) {
        Some(what) => Err(ReceiptError::Disagrees { resource: resource.id.clone(), what }),
        None => Ok(()),
    }
}

/// What the module says otherwise than the catalog. Every member is named, so that a new one cannot be forgotten.
fn difference(resource: &Resource, semantics: &Semantics, validated: &Validated) -> Option<&'static str> {
    let Semantics { capabilities, assets, sensitive, accepts_refresh, timeout_ms, prerequisites } = &validated.semantics;
    let footprint = &validated.footprint;
    let same = [
        ("claims", footprint.claims == resource.claims),
        ("effects", footprint.effects == resource.effects),
        ("affected paths", footprint.affected_paths == resource.affected_paths),
        ("capabilities", *capabilities == semantics.capabilities),
        ("assets", *assets == semantics.assets),
        ("sensitivity", *sensitive == semantics.sensitive),
        ("acceptance of refreshes", *accepts_refresh == semantics.accepts_refresh),
        ("timeout", *timeout_ms == semantics.timeout_ms),
        ("prerequisites", *prerequisites == semantics.prerequisites),
    ];
    same.into_iter().find(|(_, same)| !same).map(|(what, _)| what)
}
