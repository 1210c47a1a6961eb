//! The catalog: what a manifest compiles to, and the config blob of a bundle.
//!
//! Its JSON is canonical (RFC 8785), has exactly one supported version, and refuses unknown fields. docs/formats/catalog.md
//! describes it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use super::asset::AssetRef;
use super::canonical::CanonicalJson;
use super::digest::{AssetDigest, ComponentDigest};
use super::expression::{Expression, Place};
use super::health::Health;
use super::ids::{OwnerName, ProviderName, ResourceId, SecretName, SecretSlot, TypeName};
use super::key::{Key, escape};
use super::kind::Unshown;
use super::provider::module_name;

/// The one catalog version that this program writes and reads.
pub const CATALOG_VERSION: u32 = 1;

/// The one language version: of expressions that travel in a catalog.
pub const LANGUAGE_VERSION: u32 = 1;

/// The longest timeout of a resource, 24 hours, in milliseconds.
pub const MAX_TIMEOUT_MS: u64 = 86_400_000;

/// A compiled manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Catalog {
    /// [`CATALOG_VERSION`].
    pub catalog_version: u32,
    /// [`LANGUAGE_VERSION`].
    pub language_version: u32,
    /// The manifest's name, which owns its objects on a node.
    pub owner: OwnerName,
    /// A number that the author raises with each release, 0 if none is given.
    pub serial: u64,
    /// Which nodes it is meant for, in the author's words; empty for any.
    pub audience: Vec<String>,
    /// Facts that were read under `--target`, by dotted path. A node where one differs refuses the bundle.
    pub target_facts: BTreeMap<String, Json>,
    /// The module of each resource type that occurs.
    pub modules: BTreeMap<TypeName, Module>,
    /// The providers that a node may select from, of each resource type that has any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub providers: BTreeMap<TypeName, BTreeMap<ProviderName, Module>>,
    /// The assets that resources name.
    pub assets: BTreeMap<AssetDigest, Asset>,
    /// Slots of sensitive values, which the bundle's own layer holds; sorted.
    pub secrets: Vec<SecretSlot>,
    /// Secrets of the node that expressions read; sorted.
    pub node_secrets: Vec<SecretName>,
    /// Every resource, in an order that respects `edges`.
    #[serde(deserialize_with = "exact")]
    pub resources: Vec<Resource>,
    /// What must go before what; sorted, each pair at most once for a reason.
    #[serde(deserialize_with = "exact")]
    pub edges: Vec<Edge>,
}

impl Catalog {
    /// Every module, under the name that policy knows it by: of its resource type, or `TYPE_PROVIDER`.
    pub fn components(&self) -> Vec<(TypeName, &Module)> {
        let mut all: Vec<(TypeName, &Module)> = self.modules.iter().map(|(name, module)| (name.clone(), module)).collect();
        for (type_name, known) in &self.providers {
            // One whose name is too long is refused where a catalog is read.
            let named = |(name, module)| Some((module_name(type_name, name).ok()?, module));
            all.extend(known.iter().filter_map(named));
        }
        all
    }
}

/// A list that takes no more memory than it has items: a catalog has several for each of many resources, and is held for as long as a run takes.
fn exact<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let mut items = Vec::deserialize(deserializer)?;
    items.shrink_to_fit();
    Ok(items)
}

/// The component that serves a resource type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// The component's bytes.
    pub component: ComponentDigest,
    /// The schema version of its desired state.
    pub schema_version: u32,
}

/// Bytes that travel with the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asset {
    /// Size in bytes.
    pub size: u64,
}

/// A declared resource. What few have is boxed, since there may be very many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// Its address, unique in the catalog.
    pub id: ResourceId,
    /// Where it is declared.
    pub source: Source,
    /// Claims from effects and from the module, sorted.
    #[serde(deserialize_with = "exact")]
    pub claims: Vec<Claim>,
    /// What it may touch, sorted.
    #[serde(deserialize_with = "exact")]
    pub effects: Vec<Effect>,
    /// Paths that change with it, sorted.
    #[serde(deserialize_with = "exact")]
    pub affected_paths: Vec<Key>,
    /// The deadline of one attempt, 1 to [`MAX_TIMEOUT_MS`], where the manifest sets one; else the type's own holds.
    pub timeout_ms: Option<u64>,
    /// When to leave it alone.
    pub control: Option<Box<Control>>,
    /// How to tell whether it works; absent where nothing tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Box<Health>>,
    /// What it should be.
    pub state: State,
    /// What each provider would be given that a node may select; for types with providers alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backends: Option<Box<Backends>>,
}

impl Resource {
    /// The expressions that are evaluated on the node but for its gate, each with the name of the attribute or option that it is for.
    pub fn deferred(&self) -> Vec<(&str, &Expression)> {
        let own = self.state.deferred_parts().into_iter().map(|(_, attributes)| attributes);
        let options = self.backends.iter().flat_map(|backends| backends.candidates.values().filter_map(Candidate::deferred));
        own.chain(options).flatten().map(|(name, expression)| (name.as_str(), expression)).collect()
    }

    /// What it holds, whichever provider is selected.
    pub fn all_claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().chain(self.beyond().flat_map(|beyond| &beyond.claims))
    }

    /// What it may touch with any of its providers.
    pub fn all_effects(&self) -> impl Iterator<Item = &Effect> {
        self.effects.iter().chain(self.beyond().flat_map(|beyond| &beyond.effects))
    }

    /// What each of its providers adds to its own claims, effects and affected paths.
    pub fn beyond(&self) -> impl Iterator<Item = &Beyond> {
        self.backends.iter().flat_map(|backends| backends.candidates.values().filter_map(Candidate::beyond))
    }
}

/// The providers that a node may select for a resource, each with what it would be given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backends {
    /// The one that the manifest wants; then it is the only candidate.
    pub forced: Option<ProviderName>,
    /// Every provider that a node may select.
    pub candidates: BTreeMap<ProviderName, Candidate>,
}

/// What one provider would be given. Its debug output does not show values.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Candidate {
    /// Options that were compiled on the controller.
    Compiled {
        /// The provider's own.
        options: Json,
        /// What its `validate` said of them.
        semantics: OptionsSemantics,
        /// What it adds.
        beyond: Beyond,
    },
    /// Options that are compiled on the node, from an options block of which some attributes read facts or other resources there.
    Deferred {
        /// Every given option by canonical name; known ones are literals.
        attributes: BTreeMap<String, Expression>,
        /// The files that options flagged as source name, as assets, by the name of the option.
        sources: BTreeMap<String, AssetDigest>,
        /// What it adds.
        beyond: Beyond,
    },
    /// The provider cannot serve the declaration, which matters where it is selected.
    Refused {
        /// Why, in its words.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
}

impl Candidate {
    /// The options that wait for the node; none if there are none.
    pub fn deferred(&self) -> Option<&BTreeMap<String, Expression>> {
        match self {
            Self::Deferred { attributes, .. } => Some(attributes),
            Self::Compiled { .. } | Self::Refused { .. } => None,
        }
    }

    /// What it adds to the resource.
    pub fn beyond(&self) -> Option<&Beyond> {
        match self {
            Self::Compiled { beyond, .. } | Self::Deferred { beyond, .. } => Some(beyond),
            Self::Refused { .. } => None,
        }
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compiled { options, semantics, beyond } => {
                let shown = Unshown(options);
                f.debug_struct("Compiled").field("options", &shown).field("semantics", semantics).field("beyond", beyond).finish()
            }
            Self::Deferred { attributes, sources, beyond } => f
                .debug_struct("Deferred")
                .field("attributes", attributes)
                .field("sources", sources)
                .field("beyond", beyond)
                .finish(),
            Self::Refused { message, .. } => f.debug_struct("Refused").field("message", message).finish_non_exhaustive(),
        }
    }
}

/// What options mean, from themselves alone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptionsSemantics {
    /// The rights that the provider needs, as `files.write`, sorted.
    #[serde(deserialize_with = "exact")]
    pub capabilities: Vec<String>,
    /// The assets that the options name, sorted.
    #[serde(deserialize_with = "exact")]
    pub assets: Vec<AssetRef>,
    /// Whether they are sensitive by their own nature.
    pub sensitive: bool,
}

/// What a resource holds and touches through a provider, beyond what its type says. Each sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beyond {
    /// As in [`Resource`].
    #[serde(deserialize_with = "exact")]
    pub claims: Vec<Claim>,
    /// As in [`Resource`].
    #[serde(deserialize_with = "exact")]
    pub effects: Vec<Effect>,
    /// As in [`Resource`].
    #[serde(deserialize_with = "exact")]
    pub affected_paths: Vec<Key>,
}

/// Desired state, settled or waiting for the node. Its debug output does not show values.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum State {
    /// Compiled on the controller.
    Compiled {
        /// The type's own desired state.
        desired: CanonicalJson,
        /// What `validate` said of it.
        semantics: Semantics,
    },
    /// Compiled on the node, from attributes of which some read facts or other resources there.
    Deferred {
        /// Every given attribute by canonical name; known ones are literals.
        attributes: BTreeMap<String, Expression>,
        /// The files that attributes flagged as source name, as assets, by the path of the attribute: `source`, `vhost[0].page`.
        sources: BTreeMap<String, AssetDigest>,
        /// Its child blocks, in the order of the manifest.
        blocks: Vec<DeferredBlock>,
    },
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compiled { desired, semantics } => {
                f.debug_struct("Compiled").field("desired", desired).field("semantics", semantics).finish()
            }
            Self::Deferred { attributes, sources, blocks } => f
                .debug_struct("Deferred")
                .field("attributes", attributes)
                .field("sources", sources)
                .field("blocks", blocks)
                .finish(),
        }
    }
}

/// A child block of a resource that is compiled on the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeferredBlock {
    /// Its name.
    pub name: String,
    /// Its label, in labelled blocks.
    pub label: Option<String>,
    /// Every given attribute by canonical name; known ones are literals.
    pub attributes: BTreeMap<String, Expression>,
}

/// One of the parts of a deferred state: its attributes, and the child block that they are of.
pub type DeferredPart<'s> = (Option<&'s DeferredBlock>, &'s BTreeMap<String, Expression>);

impl State {
    /// The attributes that wait for the node, of the resource itself and of each child block; none if it is compiled.
    pub fn deferred_parts(&self) -> Vec<DeferredPart<'_>> {
        match self {
            Self::Compiled { .. } => Vec::new(),
            Self::Deferred { attributes, blocks, .. } => {
                let own: DeferredPart<'_> = (None, attributes);
                std::iter::once(own).chain(blocks.iter().map(|block| (Some(block), &block.attributes))).collect()
            }
        }
    }
}

/// What a desired state means, from itself alone; its claims, effects and paths are the resource's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Semantics {
    /// The rights it needs, as `files.write`, sorted.
    #[serde(deserialize_with = "exact")]
    pub capabilities: Vec<String>,
    /// The assets it names, sorted.
    #[serde(deserialize_with = "exact")]
    pub assets: Vec<AssetRef>,
    /// Whether it is sensitive by its own nature.
    pub sensitive: bool,
    /// Whether it takes refreshes.
    pub accepts_refresh: bool,
    /// The type's own deadline, 1 to [`MAX_TIMEOUT_MS`].
    pub timeout_ms: u64,
    /// Shared actions it may ask for, sorted.
    #[serde(deserialize_with = "exact")]
    pub prerequisites: Vec<String>,
}

/// `control { if, unless }`: a resource whose gate is closed is skipped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Control {
    /// Managed only if true.
    #[serde(rename = "if")]
    pub if_: Option<Expression>,
    /// Managed only if false.
    pub unless: Option<Expression>,
}

/// An exclusive hold on an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// `path`, `package`, `unit`, `user`, `group`, or the module's own, as `MODULE/DOMAIN`.
    pub domain: String,
    /// Which object.
    pub key: Key,
    /// Which part of it; `*` overlaps every other.
    pub qualifier: String,
}

impl Claim {
    /// Whether the two cannot be held at once: same domain, overlapping keys and qualifiers. Keys of `path` that end in `/**`
    /// overlap everything beneath.
    pub fn overlaps(&self, other: &Claim) -> bool {
        let qualifiers = self.qualifier == other.qualifier || self.qualifier == "*" || other.qualifier == "*";
        self.domain == other.domain && qualifiers && keys_overlap(&self.domain, &self.key.0, &other.key.0)
    }

    /// Whether whoever holds this one holds `other` too.
    pub fn covers(&self, other: &Claim) -> bool {
        let qualifier = self.qualifier == other.qualifier || self.qualifier == "*";
        let key = self.key == other.key || (self.domain == "path" && is_beneath(&other.key.0, &self.key.0));
        self.domain == other.domain && qualifier && key
    }
}

fn keys_overlap(domain: &str, left: &[u8], right: &[u8]) -> bool {
    left == right || (domain == "path" && (is_beneath(left, right) || is_beneath(right, left)))
}

/// Whether `path` lies beneath `tree`, where `tree` is `DIR/**`; `path` may itself be such a tree.
fn is_beneath(path: &[u8], tree: &[u8]) -> bool {
    tree.strip_suffix(b"**").is_some_and(|folder| folder.ends_with(b"/") && path.starts_with(folder))
}

/// Something a resource may touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Effect {
    /// As in [`Claim`].
    pub domain: String,
    /// Which object.
    pub key: Key,
    /// What may be done, sorted: for `path` of `make-directory`, `read`, `write`.
    #[serde(deserialize_with = "exact")]
    pub actions: Vec<String>,
    /// Narrows the actions where the domain has something to narrow.
    pub qualifier: Option<String>,
}

/// One thing that must go before another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// Goes first.
    pub prerequisite: ResourceId,
    /// Goes after.
    pub dependent: ResourceId,
    /// Why.
    pub reason: EdgeReason,
    /// What it comes from: the entry of `require` or `before`, the attribute that reads, or the declaration whose module derived it.
    pub source: Source,
}

impl Edge {
    /// All but where it comes from: no two edges of a catalog are equal in this.
    pub fn key(&self) -> (&ResourceId, &ResourceId, &EdgeReason) {
        (&self.prerequisite, &self.dependent, &self.reason)
    }
}

/// Why one resource goes before another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum EdgeReason {
    /// `meta { require }`.
    Require,
    /// `meta { before }`.
    Before,
    /// `meta { subscribe }`: the dependent is refreshed when the prerequisite changes.
    Subscribe,
    /// `meta { notify }`: the same, said at the prerequisite.
    Notify,
    /// An attribute of the dependent reads the prerequisite.
    Reference,
    /// A resource type derived it, in its words.
    Derived(String),
    /// A resource type derived it: the dependent needs this shared action once the prerequisite has changed.
    Action(String),
}

impl EdgeReason {
    /// Whether a resource type derived it, so that a node can have it derived again.
    pub fn is_derived(&self) -> bool {
        match self {
            Self::Derived(_) | Self::Action(_) => true,
            Self::Require | Self::Before | Self::Subscribe | Self::Notify | Self::Reference => false,
        }
    }

    /// Whether the dependent is refreshed when the prerequisite changes.
    pub fn is_subscription(&self) -> bool {
        matches!(self, Self::Subscribe | Self::Notify)
    }
}

/// For messages; the words of a resource type are escaped.
impl fmt::Display for EdgeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Require => f.write_str("`require`"),
            Self::Before => f.write_str("`before`"),
            Self::Subscribe => f.write_str("`subscribe`"),
            Self::Notify => f.write_str("`notify`"),
            Self::Reference => f.write_str("it is read there"),
            Self::Derived(words) => f.write_str(&escape(words)),
            Self::Action(key) => write!(f, "it needs the action `{}` after it", escape(key)),
        }
    }
}

/// A place in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// File name, relative to the folder of the manifest, with `/`.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
}

impl From<&Place> for Source {
    fn from(place: &Place) -> Self {
        Self { file: place.file.to_string(), line: place.line, column: place.column }
    }
}

/// `site.hcl:8:3`, the file's name escaped.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", escape(&self.file), self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(domain: &str, key: &str, qualifier: &str) -> Claim {
        Claim { domain: domain.into(), key: key.into(), qualifier: qualifier.into() }
    }

    #[test]
    fn debug_output_of_a_state_shows_no_values() {
        let semantics = Semantics {
            capabilities: vec![],
            assets: vec![],
            sensitive: false,
            accepts_refresh: false,
            timeout_ms: 1,
            prerequisites: vec![],
        };
        let compiled =
            State::Compiled { desired: CanonicalJson::new(&serde_json::json!({"content": "hush"})).unwrap(), semantics };
        let literal: Expression = serde_json::from_value(serde_json::json!(["literal", "a:1:1+1", "hush"])).unwrap();
        let attributes = BTreeMap::from([("content".to_owned(), literal)]);
        let block = DeferredBlock { name: "part".into(), label: None, attributes: attributes.clone() };
        let deferred = State::Deferred { attributes, sources: BTreeMap::new(), blocks: vec![block] };
        let debug = format!("{compiled:?} {deferred:?}");
        assert!(!debug.contains("hush") && debug.contains("desired: CanonicalJson(18 bytes)"), "{debug}");
    }

    #[test]
    fn claims_overlap_by_key_tree_and_qualifier() {
        let file = claim("path", "/srv/x/a", "");
        assert!(file.overlaps(&file));
        assert!(file.overlaps(&claim("path", "/srv/x/**", "")));
        assert!(claim("path", "/srv/**", "").overlaps(&claim("path", "/srv/x/**", "")));
        assert!(!file.overlaps(&claim("path", "/srv/x", "")), "a directory is not what it holds");
        assert!(!claim("path", "/srv/x", "").overlaps(&claim("path", "/srv/x/**", "")));
        assert!(!claim("path", "/srv/x**", "").overlaps(&claim("path", "/srv/xy", "")), "a name that ends in `**` is no tree");
        assert!(!file.overlaps(&claim("unit", "/srv/x/a", "")));
        assert!(claim("path", "/a", "*").overlaps(&claim("path", "/a", "mode")));
        assert!(!claim("path", "/a", "mode").overlaps(&claim("path", "/a", "content")));
    }

    #[test]
    fn a_claim_covers_itself_its_parts_and_what_is_beneath() {
        let tree = claim("path", "/srv/**", "*");
        for part in [&tree, &claim("path", "/srv/a", "mode"), &claim("path", "/srv/a/**", "")] {
            assert!(tree.covers(part), "{part:?}");
        }
        for other in [claim("path", "/srv", ""), claim("path", "/**", ""), claim("unit", "/srv/a", "")] {
            assert!(!tree.covers(&other), "{other:?}");
        }
        assert!(!claim("path", "/srv/a", "mode").covers(&claim("path", "/srv/a", "")));
        assert!(!claim("path", "/srv/a", "mode").covers(&claim("path", "/srv/a", "*")));
    }
}
