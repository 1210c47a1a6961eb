//! Which providers may run, loading those, and having each say again what the catalog says of it.
//!
//! A provider that policy does not let run is no candidate on this node, and a note says so; only where the manifest wants it is the bundle
//! refused for it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use host_functions::grant::Grant;

use super::deferred::{OptionLiterals, check_options};
use super::modules::{Granted, asks, builtin};
use super::{AdmittedProvider, AdmittedProviders, ReceiptError, wants};
use crate::bundle::Bundle;
use crate::engine::{DefinitionError, Engine, Footprint, Loaded, Provider, ValidatedOptions};
use crate::model::catalog::{Beyond, Candidate, Catalog, Resource, State};
use crate::model::ids::{ProviderName, TypeName};
use crate::model::provider::module_name;
use crate::model::report::{Note, Severity};
use crate::policy::{Decision, ModuleIdentity, Policy};
use crate::providers::{NoOptions, Statement, missing_option};

/// Those that policy lets run, by resource type and name.
pub(super) type GrantedProviders = BTreeMap<TypeName, BTreeMap<ProviderName, Granted>>;

/// What policy says of every provider of a catalog.
pub(super) struct Decided {
    pub(super) granted: GrantedProviders,
    /// Of those that it does not let run.
    pub(super) notes: Vec<Note>,
}

/// Asks policy about every provider of the catalog. Nothing of any has been looked at.
///
/// # Errors
/// All refusals of providers that the manifest wants.
pub(super) fn decide(catalog: &Catalog, policy: &Policy) -> Result<Decided, ReceiptError> {
    let mut decided = Decided { granted: GrantedProviders::new(), notes: Vec::new() };
    let mut refusals = Vec::new();
    let wanted: BTreeSet<(&TypeName, &ProviderName)> = catalog.resources.iter().filter_map(forced).collect();
    for (type_name, known) in &catalog.providers {
        for (name, named) in known {
            let Ok(module) = module_name(type_name, name) else { continue };
            let wants = wants::of_provider(catalog, type_name, name);
            let builtin = builtin(&module, named.component);
            let identity = ModuleIdentity { name: &module, digest: named.component, builtin, wants: &wants };
            match policy.decide(&identity) {
                Decision::Granted { grant, by } => {
                    let of_type = decided.granted.entry(type_name.clone()).or_default();
                    of_type.insert(name.clone(), Granted { grant: *grant, by });
                }
                Decision::Refused(refusal) if wanted.contains(&(type_name, name)) => refusals.push(refusal),
                Decision::Refused(refusal) => decided.notes.push(Note {
                    severity: Severity::Info,
                    message: format!("the provider `{name}` of `{type_name}` is not used here: {refusal}"),
                    hint: refusal.row.map(|row| format!("the owner of this node can allow it in the policy:\n{row}")),
                }),
            }
        }
    }
    if refusals.is_empty() { Ok(decided) } else { Err(ReceiptError::Policy(refusals)) }
}

fn forced(resource: &Resource) -> Option<(&TypeName, &ProviderName)> {
    Some((&resource.id.type_name, resource.backends.as_ref()?.forced.as_ref()?))
}

/// What the node's owner says of the providers of each type.
pub(super) fn statements(catalog: &Catalog, policy: &Policy) -> BTreeMap<TypeName, Statement> {
    let statement = |type_name: &TypeName| Statement {
        forced: None,
        used: policy.used_provider(type_name).cloned(),
        forbidden: policy.forbidden_providers(type_name),
    };
    catalog.modules.keys().map(|type_name| (type_name.clone(), statement(type_name))).collect()
}

/// Loads every provider that may run, and checks that each is the one that the catalog says.
pub(super) fn load(
    bundle: &Bundle,
    catalog: &Catalog,
    granted: GrantedProviders,
    engine: &Engine,
) -> Result<AdmittedProviders, ReceiptError> {
    let mut providers = AdmittedProviders::new();
    for (type_name, of_type) in granted {
        for (name, granted) in of_type {
            let named = &catalog.providers[&type_name][&name];
            let loaded = engine.load_any(&bundle.component(named.component)?);
            let loaded = loaded.map_err(|source| ReceiptError::Component { type_name: type_name.clone(), source })?;
            let wanted = format!("the provider {name} of {type_name}, schema version {}", named.schema_version);
            let other = |found| ReceiptError::OtherModule { digest: named.component, wanted: wanted.clone(), found };
            let provider = match loaded {
                Loaded::Provider(provider) => provider,
                Loaded::Type(module) => return Err(other(format!("the resource type {}", module.type_name()))),
            };
            let version = provider.description().schema_version;
            let found = format!("the provider {} of {}, schema version {version}", provider.name(), provider.type_name());
            if wanted != found {
                return Err(other(found));
            }
            let of_type = providers.entry(type_name.clone()).or_default();
            of_type.insert(name, admitted(provider, granted.grant)?);
        }
    }
    Ok(providers)
}

pub(super) fn admitted(provider: Provider, grant: Grant) -> Result<AdmittedProvider, ReceiptError> {
    let asks = asks(&provider.module_name(), &provider.description().capabilities)?;
    Ok(AdmittedProvider { provider, grant: Arc::new(grant), asks })
}

/// Has every provider that may run say again what the catalog says of one resource. To be called on a large stack.
///
/// # Errors
/// With the first that differs.
pub(super) fn check(resource: &Resource, providers: &AdmittedProviders) -> Result<(), ReceiptError> {
    let Some(backends) = &resource.backends else { return Ok(()) };
    let Some(known) = providers.get(&resource.id.type_name) else { return Ok(()) };
    let base = Footprint {
        claims: resource.claims.clone(),
        effects: resource.effects.clone(),
        affected_paths: resource.affected_paths.clone(),
    };
    for (name, candidate) in &backends.candidates {
        if let Some(admitted) = known.get(name) {
            check_candidate(resource, &admitted.provider, &base, candidate)?;
        }
    }
    Ok(())
}

fn check_candidate(
    resource: &Resource,
    provider: &Provider,
    base: &Footprint,
    candidate: &Candidate,
) -> Result<(), ReceiptError> {
    let failed = |source| ReceiptError::Definition { resource: resource.id.clone(), source };
    let disagrees = |what| Err(ReceiptError::Disagrees { resource: resource.id.clone(), what });
    let desired = match &resource.state {
        State::Compiled { desired, .. } => Some(desired.json()),
        State::Deferred { .. } => None,
    };
    let desired = desired.as_ref();
    match candidate {
        Candidate::Compiled { options, semantics, beyond } => {
            let ValidatedOptions { beyond: said, semantics: meant } =
                provider.validate(options, base, desired).map_err(failed)?;
            if !is_same(&said, beyond) {
                return disagrees("claims, effects or affected paths of a provider");
            }
            if meant == *semantics { Ok(()) } else { disagrees("meaning of a provider's options") }
        }
        Candidate::Deferred { attributes, beyond, .. } => {
            check_options(resource, provider.description(), attributes)?;
            let literals = Rc::new(OptionLiterals::new(attributes.clone(), provider.description().options.clone()));
            let said = provider.footprint(&resource.id, base, literals).map_err(failed)?;
            if is_same(&said, beyond) { Ok(()) } else { disagrees("claims, effects or affected paths of a provider") }
        }
        Candidate::Refused { message, hint } => match refusal(resource, provider, base, desired) {
            Refusal::Told(told) if (&told.0, &told.1) == (message, hint) => Ok(()),
            Refusal::Told(_) | Refusal::None => disagrees("refusal of a provider"),
            Refusal::Unknown => Ok(()),
            Refusal::Failed(source) => Err(failed(source)),
        },
    }
}

fn is_same(said: &Footprint, beyond: &Beyond) -> bool {
    let Beyond { claims, effects, affected_paths } = beyond;
    (&said.claims, &said.effects, &said.affected_paths) == (claims, effects, affected_paths)
}

/// What a provider says of a declaration that does not name it.
enum Refusal {
    Told((String, Option<String>)),
    /// It takes it.
    None,
    /// Only with the bytes of its assets could it be told.
    Unknown,
    Failed(DefinitionError),
}

fn refusal(resource: &Resource, provider: &Provider, base: &Footprint, desired: Option<&serde_json::Value>) -> Refusal {
    if let Some(missing) = missing_option(provider) {
        return Refusal::Told((missing.message, missing.hint));
    }
    let none = || Rc::new(NoOptions(provider.clone()));
    let compiled = provider.footprint(&resource.id, base, none()).and_then(|_| provider.compile_options(&resource.id, none()));
    let said = match compiled {
        Ok(compiled) if !compiled.assets.is_empty() => return Refusal::Unknown,
        Ok(compiled) => provider.validate(&compiled.options, base, desired).map(drop),
        Err(error) => Err(error),
    };
    match said {
        Ok(()) => Refusal::None,
        Err(DefinitionError::Invalid(diagnostic)) => Refusal::Told((diagnostic.message, diagnostic.hint)),
        Err(DefinitionError::Unsupported { message, .. }) => Refusal::Told((message, None)),
        Err(error) => Refusal::Failed(error),
    }
}
