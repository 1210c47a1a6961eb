//! What must hold within a catalog, one function a rule.

mod backends;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};

use host_functions::effects::PATH;
use host_functions::objects::Domain;

use crate::model::asset::AssetRef;
use crate::model::attribute_path::AttributePath;
use crate::model::catalog::{Candidate, Catalog, Claim, DeferredBlock, Effect, MAX_TIMEOUT_MS, Resource, Semantics, State};
use crate::model::description::{LABEL_RULE, MAX_CHILD_BLOCKS, is_label};
use crate::model::digest::AssetDigest;
use crate::model::expression::Kind;
use crate::model::health::Health;
use crate::model::ids::{ResourceId, TypeName};
use crate::model::key::Key;

use super::catalog::CatalogError;
use super::limits::{MAX_ASSET, MAX_EDGES, MAX_RESOURCES};

/// The longest word of the kinds checked by [`check_word`].
const MAX_WORD: usize = 127;

/// Checks every rule; the first that does not hold is the error.
pub(super) fn check(catalog: &Catalog) -> Result<(), CatalogError> {
    check_counts(catalog)?;
    let order = check_unique(catalog)?;
    check_edges(catalog, &order)?;
    check_modules(catalog)?;
    check_assets(catalog)?;
    backends::check(catalog)?;
    secrets::check(catalog)?;
    catalog.resources.iter().try_for_each(|resource| check_exports(resource, &order))?;
    catalog.resources.iter().try_for_each(check_resource)
}

fn check_counts(catalog: &Catalog) -> Result<(), CatalogError> {
    let counts = [("resources", catalog.resources.len(), MAX_RESOURCES), ("edges", catalog.edges.len(), MAX_EDGES)];
    for (what, count, cap) in counts {
        if count > cap {
            return Err(CatalogError::rule(format!("`{what}`"), format!("{count} are more than the {cap} that there may be")));
        }
    }
    Ok(())
}

/// Gives the position of each resource.
fn check_unique(catalog: &Catalog) -> Result<BTreeMap<&ResourceId, usize>, CatalogError> {
    let mut order = BTreeMap::new();
    for (position, resource) in catalog.resources.iter().enumerate() {
        if order.insert(&resource.id, position).is_some() {
            return Err(refuse(resource, "it is declared twice"));
        }
    }
    Ok(order)
}

fn check_edges(catalog: &Catalog, order: &BTreeMap<&ResourceId, usize>) -> Result<(), CatalogError> {
    if !catalog.edges.windows(2).all(|pair| pair[0].key() < pair[1].key()) {
        return Err(CatalogError::rule("`edges`", "they are out of order, or one occurs twice"));
    }
    for edge in &catalog.edges {
        let at = || format!("edge from `{}` to `{}` ({})", edge.prerequisite, edge.dependent, edge.source);
        if edge.prerequisite == edge.dependent {
            return Err(CatalogError::rule(at(), "a resource cannot go before itself"));
        }
        let (Some(first), Some(second)) = (order.get(&edge.prerequisite), order.get(&edge.dependent)) else {
            return Err(CatalogError::rule(at(), "one end is not a resource of the catalog"));
        };
        if first >= second {
            return Err(CatalogError::rule(at(), "the order of resources goes against it"));
        }
    }
    Ok(())
}

fn check_modules(catalog: &Catalog) -> Result<(), CatalogError> {
    let used: BTreeSet<&TypeName> = catalog.resources.iter().map(|resource| &resource.id.type_name).collect();
    if let Some(missing) = used.iter().find(|name| !catalog.modules.contains_key(**name)) {
        return Err(CatalogError::rule(format!("type `{missing}`"), "no module serves it"));
    }
    if let Some(extra) = catalog.modules.keys().find(|name| !used.contains(name)) {
        return Err(CatalogError::rule(format!("module `{extra}`"), "no resource is of its type"));
    }
    let mut components = BTreeMap::new();
    let providers = backends::modules(catalog)?;
    for (name, module) in catalog.modules.iter().map(|(name, module)| (name.clone(), module)).chain(providers) {
        if module.schema_version == 0 {
            return Err(CatalogError::rule(format!("module `{name}`"), "schema versions start at 1"));
        }
        if let Some(other) = components.insert(module.component, name.clone()) {
            return Err(CatalogError::rule(format!("module `{name}`"), format!("it has the same component as `{other}`")));
        }
    }
    Ok(())
}

/// The digests of the assets that a resource names.
fn asset_digests(resource: &Resource) -> Vec<AssetDigest> {
    let own: Vec<AssetDigest> = match &resource.state {
        State::Compiled { semantics, .. } => semantics.assets.iter().filter_map(AssetRef::digest).collect(),
        State::Deferred { sources, .. } => sources.values().copied().collect(),
    };
    let of_options = |candidate: &Candidate| -> Vec<AssetDigest> {
        match candidate {
            Candidate::Compiled { semantics, .. } => semantics.assets.iter().filter_map(AssetRef::digest).collect(),
            Candidate::Deferred { sources, .. } => sources.values().copied().collect(),
            Candidate::Refused { .. } => Vec::new(),
        }
    };
    let candidates = resource.backends.iter().flat_map(|backends| backends.candidates.values());
    own.into_iter().chain(candidates.flat_map(of_options)).collect()
}

/// Each asset that is named is there, and one that is there is named.
fn check_assets(catalog: &Catalog) -> Result<(), CatalogError> {
    let mut named: BTreeSet<AssetDigest> = BTreeSet::new();
    for resource in &catalog.resources {
        let digests = asset_digests(resource);
        if let Some(missing) = digests.iter().find(|digest| !catalog.assets.contains_key(*digest)) {
            return Err(refuse(resource, &format!("its asset `{missing}` is not in `assets`")));
        }
        named.extend(digests);
    }
    for (digest, asset) in &catalog.assets {
        if asset.size > MAX_ASSET {
            return Err(CatalogError::rule(format!("asset `{digest}`"), format!("it is larger than {MAX_ASSET} bytes")));
        }
        if !named.contains(digest) {
            return Err(CatalogError::rule(format!("asset `{digest}`"), "no resource names it"));
        }
    }
    Ok(())
}

/// Every resource that an expression reads is there.
fn check_exports(resource: &Resource, order: &BTreeMap<&ResourceId, usize>) -> Result<(), CatalogError> {
    let gates = resource.control.iter().flat_map(|control| control.if_.iter().chain(&control.unless));
    let deferred = resource.deferred();
    for expression in gates.chain(deferred.iter().map(|(_, expression)| *expression)) {
        let mut unknown = None;
        expression.walk(&mut |part| match &part.kind {
            Kind::Export { resource: read, .. } if !order.contains_key(read) => unknown = Some(read),
            _ => {}
        });
        if let Some(unknown) = unknown {
            return Err(refuse(resource, &format!("it reads `{unknown}`, which is not a resource of the catalog")));
        }
    }
    Ok(())
}

fn check_resource(resource: &Resource) -> Result<(), CatalogError> {
    if resource.source.line == 0 || resource.source.column == 0 {
        return Err(refuse(resource, "lines and columns start at 1"));
    }
    check_timeout(resource, resource.timeout_ms.unwrap_or(1))?;
    check_ascends(resource, "claims", &resource.claims)?;
    check_ascends(resource, "effects", &resource.effects)?;
    check_ascends(resource, "affected paths", &resource.affected_paths)?;
    resource.claims.iter().try_for_each(|claim| check_claim(resource, claim))?;
    resource.effects.iter().try_for_each(|effect| check_effect(resource, effect))?;
    resource.affected_paths.iter().try_for_each(|path| check_path(resource, path))?;
    if let Some(problem) = resource.health.as_deref().and_then(Health::problem) {
        return Err(refuse(resource, problem));
    }
    if resource.control.as_ref().is_some_and(|control| control.if_.is_none() && control.unless.is_none()) {
        return Err(refuse(resource, "its `control` is empty"));
    }
    match &resource.state {
        State::Compiled { semantics, .. } => check_semantics(resource, semantics),
        State::Deferred { sources, blocks, .. } => check_deferred(resource, sources, blocks),
    }
}

fn check_deferred(
    resource: &Resource,
    sources: &BTreeMap<String, AssetDigest>,
    blocks: &[DeferredBlock],
) -> Result<(), CatalogError> {
    if blocks.len() > MAX_CHILD_BLOCKS {
        return Err(refuse(resource, &format!("it has more than {MAX_CHILD_BLOCKS} blocks")));
    }
    for block in blocks {
        check_word(resource, "block", &block.name)?;
        if block.label.as_deref().is_some_and(|label| !is_label(label)) {
            return Err(refuse(resource, &format!("a block `{}` has a label that cannot be one: {LABEL_RULE}", block.name)));
        }
    }
    for (_, attributes) in resource.state.deferred_parts() {
        attributes.keys().try_for_each(|name| check_word(resource, "attribute", name))?;
    }
    match sources.keys().find(|path| !names_attribute(resource, path)) {
        Some(path) => {
            let path: String = path.chars().take(80).collect();
            Err(refuse(resource, &format!("the source `{path}` is not an attribute of it")))
        }
        None => Ok(()),
    }
}

/// Whether a path leads to an attribute that is given.
fn names_attribute(resource: &Resource, path: &str) -> bool {
    let Ok(AttributePath { block, name: Some(name) }) = path.parse() else { return false };
    let parts = resource.state.deferred_parts();
    let wanted = block.as_ref().map(|(name, _)| name.as_str());
    let mut same = parts.iter().filter(|(of, _)| of.map(|of| of.name.as_str()) == wanted);
    same.nth(block.as_ref().map_or(0, |(_, place)| *place)).is_some_and(|(_, attributes)| attributes.contains_key(&name))
}

fn check_semantics(resource: &Resource, semantics: &Semantics) -> Result<(), CatalogError> {
    check_timeout(resource, semantics.timeout_ms)?;
    check_ascends(resource, "capabilities", &semantics.capabilities)?;
    check_ascends(resource, "assets", &semantics.assets)?;
    check_ascends(resource, "prerequisites", &semantics.prerequisites)?;
    for capability in &semantics.capabilities {
        let Some((interface, action)) = capability.split_once('.') else {
            return Err(refuse(resource, &format!("the capability `{capability}` is not INTERFACE.ACTION")));
        };
        check_word(resource, "interface", interface)?;
        check_word(resource, "action", action)?;
    }
    Ok(())
}

fn check_timeout(resource: &Resource, timeout_ms: u64) -> Result<(), CatalogError> {
    if (1..=MAX_TIMEOUT_MS).contains(&timeout_ms) {
        return Ok(());
    }
    Err(refuse(resource, &format!("its timeout is not from 1 to {MAX_TIMEOUT_MS} ms")))
}

fn check_claim(resource: &Resource, claim: &Claim) -> Result<(), CatalogError> {
    check_domain(resource, &claim.domain)?;
    if claim.domain == "path" { check_path(resource, &claim.key) } else { check_key(resource, &claim.key) }
}

fn check_effect(resource: &Resource, effect: &Effect) -> Result<(), CatalogError> {
    check_domain(resource, &effect.domain)?;
    if effect.actions.is_empty() {
        return Err(refuse(resource, "an effect has no actions"));
    }
    check_ascends(resource, "actions", &effect.actions)?;
    effect.actions.iter().try_for_each(|action| check_word(resource, "action", action))?;
    if effect.domain == "path" { check_path(resource, &effect.key) } else { check_key(resource, &effect.key) }
}

/// A domain of the host's, or `TYPE/WORD` with the resource's own type.
fn check_domain(resource: &Resource, domain: &str) -> Result<(), CatalogError> {
    if domain == PATH || Domain::from_word(domain).is_some() {
        return Ok(());
    }
    match domain.split_once('/') {
        Some((owner, word)) if owner == resource.id.type_name.as_str() => check_word(resource, "domain", word),
        _ => Err(refuse(resource, &format!("`{domain}` is neither a domain of the host nor of the resource's own type"))),
    }
}

fn check_key(resource: &Resource, key: &Key) -> Result<(), CatalogError> {
    if key.0.is_empty() || key.0.contains(&0) {
        return Err(refuse(resource, "the key of a claim or effect is empty or holds a zero byte"));
    }
    Ok(())
}

/// An absolute path without empty parts, `.`, `..` and zero bytes; `/**` may end it.
fn check_path(resource: &Resource, path: &Key) -> Result<(), CatalogError> {
    let whole = path.0.strip_suffix(b"/**").unwrap_or(&path.0);
    let mut parts = whole.split(|byte| *byte == b'/');
    let absolute = parts.next().is_some_and(<[u8]>::is_empty);
    let is_root = path.0 == b"/" || path.0 == b"/**";
    let plain = |part: &[u8]| !part.is_empty() && part != b"." && part != b".." && !part.contains(&0);
    if absolute && (is_root || (whole.len() > 1 && parts.all(plain))) {
        return Ok(());
    }
    Err(refuse(resource, &format!("`{path}` is not an absolute path in plain form")))
}

/// Lower-case letters, digits, `_` and `-`.
fn check_word(resource: &Resource, what: &str, word: &str) -> Result<(), CatalogError> {
    let plain = word.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'));
    if plain && !word.is_empty() && word.len() <= MAX_WORD {
        return Ok(());
    }
    let word: String = word.chars().take(80).collect();
    Err(refuse(resource, &format!("`{word}` is not a valid {what}")))
}

fn check_ascends<T: Ord>(resource: &Resource, what: &str, items: &[T]) -> Result<(), CatalogError> {
    if ascends(items) { Ok(()) } else { Err(refuse(resource, &format!("its {what} are out of order, or one occurs twice"))) }
}

fn ascends<T: Ord>(items: &[T]) -> bool {
    items.windows(2).all(|pair| pair[0] < pair[1])
}

fn refuse(resource: &Resource, rule: &str) -> CatalogError {
    CatalogError::rule(format!("resource `{}`", resource.id), rule)
}
