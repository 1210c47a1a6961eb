//! Which provider serves a resource on a node. Pure.
//!
//! Providers that support the `ID` of the node's os-release, else those that support each entry of `ID_LIKE` in order, which is closest first, else
//! those that support any system. Exactly one must remain at the first level that has any: no order of preference decides between two. What
//! must hold on the running node, and what policy says, excludes a provider before that. Whether a tool is installed decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use host_functions::facts::Facts;
use serde_json::Value as Json;

use crate::model::ids::{ProviderName, TypeName};
use crate::model::provider::{ANY_SYSTEM, Condition, ProviderDescription};

/// What of a node decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NodeIdentity {
    /// `ID` of os-release.
    pub id: String,
    /// `ID_LIKE`, in its order.
    pub id_like: Vec<String>,
    /// `VERSION_ID`; none on rolling releases.
    pub version_id: Option<String>,
    /// What holds on the running node.
    pub conditions: BTreeSet<Condition>,
}

impl NodeIdentity {
    /// From the facts of a node, and the name of its init system.
    pub fn new(facts: &Facts, init: Option<&str>) -> Self {
        let text = |path: [&str; 2]| facts.get(path)?.as_str().map(str::to_owned);
        let like = facts.get(["os", "id_like"]).unwrap_or_default();
        Self {
            // os-release(5) gives the default.
            id: text(["os", "id"]).unwrap_or_else(|| "linux".to_owned()),
            id_like: like.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned).collect(),
            version_id: text(["os", "version_id"]),
            conditions: init.into_iter().map(|name| Condition::Init(name.to_owned())).collect(),
        }
    }
}

/// What the manifest and the node's owner say, beyond what the node is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statement {
    /// The provider that the manifest wants for the resource.
    pub forced: Option<ProviderName>,
    /// The provider that the node's owner uses for the type.
    pub used: Option<ProviderName>,
    /// Providers of the type that the node's owner does not want.
    pub forbidden: BTreeSet<ProviderName>,
}

/// Why no provider was selected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSelection {
    /// None serves the resource here: it is skipped, with this as the reason.
    #[error("{0}")]
    None(String),
    /// Two or more do, and nothing says which. An error.
    #[error("the providers {} all support {level}, and nothing says which is meant", names(found))]
    Ambiguous {
        /// The level, as `ID=debian`.
        level: String,
        /// Those that support it.
        found: Vec<ProviderName>,
    },
    /// The manifest wants one that the node's owner does not. A refusal.
    #[error("{0}")]
    Forbidden(String),
}

/// A provider that cannot serve here, whatever system this is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excluded {
    /// Which provider.
    pub provider: ProviderName,
    /// Why.
    pub why: Exclusion,
}

/// Why a provider that supports the system is none of the candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusion {
    /// Something that it needs does not hold on the running node.
    Condition(Condition),
    /// It supports other versions of the system.
    Version {
        /// The node's.
        found: String,
        /// Those that it supports.
        supported: Vec<String>,
    },
    /// The node's owner forbids it.
    Policy,
}

impl fmt::Display for Excluded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let provider = &self.provider;
        match &self.why {
            Exclusion::Condition(condition) => write!(f, "{provider} needs {}", condition.needs()),
            Exclusion::Version { found, supported } => {
                write!(f, "{provider} supports VERSION_ID {}, not {found}", supported.join(", "))
            }
            Exclusion::Policy => write!(f, "{provider} is forbidden by policy"),
        }
    }
}

/// The providers among which a node selects, by name.
pub fn candidates_of<'p>(
    providers: impl IntoIterator<Item = &'p ProviderDescription>,
) -> BTreeMap<ProviderName, &'p ProviderDescription> {
    providers.into_iter().map(|provider| (provider.name.clone(), provider)).collect()
}

/// The provider that serves a resource of `type_name` on `node`.
///
/// One that the manifest wants, or the node's owner uses, need not support the system: who names it knows better. What must hold on the
/// running node must hold for it too.
///
/// # Errors
/// If there is none, more than one, or one that is not wanted here.
pub fn select(
    type_name: &TypeName,
    candidates: &BTreeMap<ProviderName, &ProviderDescription>,
    node: &NodeIdentity,
    statement: &Statement,
) -> Result<ProviderName, NoSelection> {
    let Statement { forced, used, forbidden } = statement;
    if let Some(name) = forced {
        if forbidden.contains(name) {
            let message = format!("the manifest wants the provider `{name}`, which the policy of this node forbids");
            return Err(NoSelection::Forbidden(message));
        }
        if let Some(used) = used.as_ref().filter(|used| *used != name) {
            let message = format!("the manifest wants the provider `{name}`, and the policy of this node uses `{used}`");
            return Err(NoSelection::Forbidden(message));
        }
    }
    if let Some(name) = forced.as_ref().or(used.as_ref()) {
        return named(type_name, candidates.get(name).copied(), name, node, forbidden);
    }
    by_identity(type_name, candidates, node, forbidden)
}

/// A provider that somebody names.
fn named(
    type_name: &TypeName,
    candidate: Option<&ProviderDescription>,
    name: &ProviderName,
    node: &NodeIdentity,
    forbidden: &BTreeSet<ProviderName>,
) -> Result<ProviderName, NoSelection> {
    let Some(candidate) = candidate else {
        let message = format!("no {} provider on this host: {name} is wanted, and is not at hand", title(type_name));
        return Err(NoSelection::None(message));
    };
    let unmet = unmet(candidate, node).map(Exclusion::Condition);
    match unmet.or_else(|| forbidden.contains(name).then_some(Exclusion::Policy)) {
        Some(why) => Err(excluded(type_name, &[Excluded { provider: name.clone(), why }])),
        None => Ok(name.clone()),
    }
}

fn by_identity(
    type_name: &TypeName,
    candidates: &BTreeMap<ProviderName, &ProviderDescription>,
    node: &NodeIdentity,
    forbidden: &BTreeSet<ProviderName>,
) -> Result<ProviderName, NoSelection> {
    let mut out = Vec::new();
    let like = node.id_like.iter().map(|id| (id.as_str(), format!("ID_LIKE={id}")));
    let own = (node.id.as_str(), format!("ID={}", node.id));
    let levels = std::iter::once(own).chain(like).chain([(ANY_SYSTEM, "any system".to_owned())]);
    for (id, level) in levels {
        let mut found = Vec::new();
        for (name, candidate) in candidates {
            let Some(system) = candidate.systems.iter().find(|system| system.id == id) else { continue };
            let excluded = unmet(candidate, node).map(Exclusion::Condition);
            let excluded = excluded.or_else(|| forbidden.contains(name).then_some(Exclusion::Policy));
            match excluded.or_else(|| other_version(&system.versions, node)) {
                Some(why) => out.push(Excluded { provider: name.clone(), why }),
                None => found.push(name.clone()),
            }
        }
        match found.as_slice() {
            [] => {}
            [only] => return Ok(only.clone()),
            _ => return Err(NoSelection::Ambiguous { level, found }),
        }
    }
    if !out.is_empty() {
        return Err(excluded(type_name, &out));
    }
    let like = if node.id_like.is_empty() { "ID_LIKE unset".to_owned() } else { format!("ID_LIKE={}", node.id_like.join(" ")) };
    Err(NoSelection::None(format!("no {} provider supports ID={}, {like}", title(type_name), node.id)))
}

fn unmet(candidate: &ProviderDescription, node: &NodeIdentity) -> Option<Condition> {
    candidate.conditions.iter().find(|condition| !node.conditions.contains(condition)).cloned()
}

/// A version narrows, and a system without one is never left out for that.
fn other_version(supported: &[String], node: &NodeIdentity) -> Option<Exclusion> {
    let found = node.version_id.as_ref().filter(|_| !supported.is_empty())?;
    (!supported.contains(found)).then(|| Exclusion::Version { found: found.clone(), supported: supported.to_vec() })
}

fn excluded(type_name: &TypeName, out: &[Excluded]) -> NoSelection {
    // One that supports several of the node's names is told once.
    let told: BTreeSet<String> = out.iter().map(Excluded::to_string).collect();
    let told: Vec<String> = told.into_iter().collect();
    NoSelection::None(format!("no {} provider on this host: {}", title(type_name), told.join("; ")))
}

/// A type's name as the first word of a sentence: `Package`.
fn title(type_name: &TypeName) -> String {
    let (first, rest) = type_name.as_str().split_at(1);
    format!("{}{rest}", first.to_ascii_uppercase())
}

fn names(found: &[ProviderName]) -> String {
    found.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests;
