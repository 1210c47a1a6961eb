//! What a catalog says of providers: each that may be selected is there, under a name of its own, and no other is.

use std::collections::BTreeSet;

use super::{check_ascends, check_claim, check_effect, check_path, check_word, refuse};
use crate::bundle::catalog::CatalogError;
use crate::model::catalog::{Backends, Beyond, Candidate, Catalog, Module, Resource};
use crate::model::ids::{ProviderName, TypeName};
use crate::model::provider::module_name;

/// The longest message of a provider that a catalog has, in characters.
const MAX_MESSAGE: usize = 1_024;

/// How many providers one type may have.
const MAX_PROVIDERS: usize = 64;

pub(super) fn check(catalog: &Catalog) -> Result<(), CatalogError> {
    let mut used: BTreeSet<(&TypeName, &ProviderName)> = BTreeSet::new();
    for resource in &catalog.resources {
        let type_name = &resource.id.type_name;
        let known = catalog.providers.get(type_name);
        let Some(backends) = &resource.backends else {
            if known.is_some() {
                return Err(refuse(resource, "its type has providers, and it has no `backends`"));
            }
            continue;
        };
        if let Some(name) = backends.candidates.keys().find(|name| !known.is_some_and(|known| known.contains_key(*name))) {
            return Err(refuse(resource, &format!("its provider `{name}` is not in `providers`")));
        }
        used.extend(backends.candidates.keys().map(|name| (type_name, name)));
        check_backends(resource, backends)?;
    }
    let listed = catalog.providers.iter().flat_map(|(type_name, known)| known.keys().map(move |name| (type_name, name)));
    for (type_name, name) in listed {
        if !used.contains(&(type_name, name)) {
            return Err(CatalogError::rule(format!("provider `{name}` of `{type_name}`"), "no resource may be served by it"));
        }
    }
    match catalog.providers.iter().find(|(_, known)| known.is_empty() || known.len() > MAX_PROVIDERS) {
        Some((type_name, _)) => Err(CatalogError::rule(
            format!("providers of `{type_name}`"),
            format!("there are none, or more than {MAX_PROVIDERS}"),
        )),
        None => Ok(()),
    }
}

/// The modules of providers, each under the name that policy knows it by.
pub(super) fn modules(catalog: &Catalog) -> Result<Vec<(TypeName, &Module)>, CatalogError> {
    let mut modules = Vec::new();
    let mut names: BTreeSet<TypeName> = catalog.modules.keys().cloned().collect();
    for (type_name, known) in &catalog.providers {
        for (provider, module) in known {
            let at = || format!("provider `{provider}` of `{type_name}`");
            let name = module_name(type_name, provider).map_err(|error| CatalogError::rule(at(), error.to_string()))?;
            if !names.insert(name.clone()) {
                return Err(CatalogError::rule(at(), format!("another module is called `{name}` too")));
            }
            modules.push((name, module));
        }
    }
    Ok(modules)
}

fn check_backends(resource: &Resource, backends: &Backends) -> Result<(), CatalogError> {
    if let Some(forced) = &backends.forced
        && (backends.candidates.len() != 1 || !backends.candidates.contains_key(forced))
    {
        return Err(refuse(resource, &format!("it is to be served by `{forced}`, which is not its only candidate")));
    }
    backends.candidates.values().try_for_each(|candidate| check_candidate(resource, candidate))
}

fn check_candidate(resource: &Resource, candidate: &Candidate) -> Result<(), CatalogError> {
    match candidate {
        Candidate::Compiled { semantics, beyond, .. } => {
            check_ascends(resource, "capabilities of options", &semantics.capabilities)?;
            check_ascends(resource, "assets of options", &semantics.assets)?;
            semantics.capabilities.iter().try_for_each(|capability| check_word_pair(resource, capability))?;
            check_beyond(resource, beyond)
        }
        Candidate::Deferred { attributes, sources, beyond } => {
            attributes.keys().try_for_each(|name| check_word(resource, "option", name))?;
            if let Some(name) = sources.keys().find(|name| !attributes.contains_key(*name)) {
                let name: String = name.chars().take(80).collect();
                return Err(refuse(resource, &format!("the source `{name}` is not an option of it")));
            }
            check_beyond(resource, beyond)
        }
        Candidate::Refused { message, hint } => {
            let too_long = |text: &String| text.chars().count() > MAX_MESSAGE;
            let unsafe_text = |text: &String| text.chars().any(crate::model::key::needs_escape);
            if std::iter::once(message).chain(hint).any(|text| too_long(text) || unsafe_text(text)) {
                return Err(refuse(resource, "a message of a provider is too long, or holds control characters"));
            }
            Ok(())
        }
    }
}

fn check_word_pair(resource: &Resource, capability: &str) -> Result<(), CatalogError> {
    let Some((interface, action)) = capability.split_once('.') else {
        return Err(refuse(resource, &format!("the capability `{capability}` is not INTERFACE.ACTION")));
    };
    check_word(resource, "interface", interface)?;
    check_word(resource, "action", action)
}

fn check_beyond(resource: &Resource, beyond: &Beyond) -> Result<(), CatalogError> {
    check_ascends(resource, "claims of a provider", &beyond.claims)?;
    check_ascends(resource, "effects of a provider", &beyond.effects)?;
    check_ascends(resource, "affected paths of a provider", &beyond.affected_paths)?;
    beyond.claims.iter().try_for_each(|claim| check_claim(resource, claim))?;
    beyond.effects.iter().try_for_each(|effect| check_effect(resource, effect))?;
    beyond.affected_paths.iter().try_for_each(|path| check_path(resource, path))
}
