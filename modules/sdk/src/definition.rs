//! The pure half of a resource type.
//!
//! A definition has no clock, no randomness, no environment and no host: it turns attributes into a desired state and says what
//! that state means. The same attributes must give the same state on any machine.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    AssetRef, AssetRequest, AssetSource, Attribute, Attributes, Block, Capability, Catalog, DefinitionError, Digest, Edge,
    Effect, EnsureVocabulary, Footprint, Output, Parameters, RecordSelectors, RecordedState, ResourceId, Semantics, TestedState,
    json,
};

/// What a definition function gives. A [`Diagnostic`](crate::Diagnostic) turns into its error by `?` or `.into()`.
pub type DefinitionResult<T> = Result<T, DefinitionError>;

/// A compiled declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled<D> {
    /// The desired state, with [`Asset::pending`](crate::Asset::pending) where an asset's digest will be.
    pub desired: D,
    /// The bytes it needs on the node.
    pub assets: Vec<AssetRequest>,
}

impl<D> Compiled<D> {
    /// A desired state that needs no assets.
    pub fn new(desired: D) -> Self {
        Self { desired, assets: Vec::new() }
    }

    /// Asks for bytes from `source`. Their name comes back to [`Definition::assign_asset`] under `slot`; `attribute` is to blame
    /// if they cannot be had.
    #[must_use]
    pub fn asset(mut self, slot: &str, source: AssetSource, attribute: &str) -> Self {
        self.assets.push(AssetRequest {
            slot: slot.into(),
            source,
            checksum: None,
            checksum_error: None,
            attribute: attribute.into(),
        });
        self
    }

    /// Says which digest the bytes asked for last must have.
    #[must_use]
    pub fn checksum(mut self, checksum: Option<Digest>) -> Self {
        if let Some(asset) = self.assets.last_mut() {
            asset.checksum = checksum;
        }
        self
    }

    /// What to say when the bytes asked for last have another digest: one sentence without a full stop, without values.
    #[must_use]
    pub fn checksum_error(mut self, message: &str) -> Self {
        if let Some(asset) = self.assets.last_mut() {
            asset.checksum_error = Some(message.into());
        }
        self
    }
}

/// The pure half of a resource type.
pub trait Definition: 'static {
    /// The type's name: lower-case letters, digits and `_`, starting with a letter, at most 63 bytes.
    const TYPE: &'static str;

    /// The version of the desired state's shape, from 1. Raise it with each change of shape, and say how to [`migrate`](Self::migrate).
    const SCHEMA_VERSION: u32;

    /// What the type manages, one sentence.
    const SUMMARY: &'static str;

    /// Whether the type leaves its work on the node to a provider, which it reaches by [`backend`](crate::backend). A declaration may then have
    /// an options block for each provider, which is the provider's to read.
    const HAS_PROVIDERS: bool = false;

    /// What a declaration gives: a struct that derives [`Attributes`](trait@Attributes), or `()` for a type that describes its attributes by hand.
    type Given: Attributes;

    /// The desired state. It must serialise deterministically and refuse unknown fields (`#[serde(deny_unknown_fields)]`); its JSON
    /// must leave out what is none.
    type Desired: Serialize + DeserializeOwned + 'static;

    /// Every attribute: those of [`Given`](Self::Given).
    fn attributes() -> Vec<Attribute> {
        Self::Given::attributes()
    }

    /// Every child block: those of [`Given`](Self::Given).
    fn blocks() -> Vec<Block> {
        Self::Given::blocks()
    }

    /// What others can read once the resource has been applied. Nothing by default.
    fn outputs() -> Vec<Output> {
        Vec::new()
    }

    /// The vocabulary of `ensure`, for types that have one: that of [`Given`](Self::Given).
    fn ensure() -> Option<EnsureVocabulary> {
        Self::Given::ensure_vocabulary()
    }

    /// The rights that the module asks for.
    fn capabilities() -> Vec<Capability>;

    /// How recorded state is compared with what is desired next. None by default.
    fn selectors() -> RecordSelectors {
        RecordSelectors {
            equality: Vec::new(),
            replace: Vec::new(),
            replace_when: Vec::new(),
            configuration: Vec::new(),
            drift: Vec::new(),
            has_stable_id: false,
        }
    }

    /// What a declaration holds and touches. Reads identity attributes only.
    fn footprint(given: &Parameters) -> DefinitionResult<Footprint>;

    /// The desired state of a declaration.
    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Self::Desired>>;

    /// Puts the name of one asset that `compile` asked for into the desired state.
    fn assign_asset(_desired: &mut Self::Desired, slot: &str, _asset: AssetRef) -> DefinitionResult<()> {
        Err(unsupported(format!("`{}` asks for no asset, so none goes to the slot `{slot}`", Self::TYPE)))
    }

    /// Checks a desired state, refuses whatever [`compile`](Self::compile) cannot give, and says what it means. Its footprint must equal what
    /// [`footprint`](Self::footprint) gave. The node calls this with what a bundle holds, so nothing may be taken for granted.
    fn validate(desired: &Self::Desired) -> DefinitionResult<Semantics>;

    /// The value of an exported attribute, equal to what `compile` would use; null for what is unmanaged. Reads only what it needs: by
    /// default what [`Given`](Self::Given) reads of it.
    fn resolve_export(attribute: &str, given: &Parameters) -> DefinitionResult<Value> {
        Self::Given::export(attribute, given)
    }

    /// The desired state as tests of manifests see it.
    fn test_view(desired: &Self::Desired) -> DefinitionResult<TestedState>;

    /// Orders that follow from this resource and its peers; `desired` is none while it waits for the node. None by default.
    fn relationships(_id: &ResourceId, _desired: Option<&Self::Desired>, _catalog: &Catalog) -> DefinitionResult<Vec<Edge>> {
        Ok(Vec::new())
    }

    /// State recorded under an older schema version, in today's. Refused by default.
    fn migrate(from_version: u32, _recorded: RecordedState) -> DefinitionResult<RecordedState> {
        Err(unsupported(format!("`{}` cannot migrate state from schema version {from_version}", Self::TYPE)))
    }

    /// Whether two values of an attribute listed in `selectors().equality` mean the same. Refused by default.
    fn equal(attribute: &str, _left: &Value, _right: &Value) -> DefinitionResult<bool> {
        Err(no_selector::<Self>("equality", attribute))
    }

    /// Whether a change of an attribute listed in `selectors().replace_when` replaces the object. Refused by default.
    fn must_replace(attribute: &str, _prior: &Value, _desired: &Value) -> DefinitionResult<bool> {
        Err(no_selector::<Self>("replacement", attribute))
    }

    /// Whether drift of an output listed in `selectors().drift` replaces the object. Refused by default.
    fn must_replace_on_drift(output: &str, _recorded: &Value, _observed: &Value) -> DefinitionResult<bool> {
        Err(no_selector::<Self>("drift", output))
    }

    /// The immutable id of the object, for types whose selectors say they have one. Refused by default.
    fn stable_id(_recorded: &RecordedState) -> DefinitionResult<String> {
        Err(unsupported(format!("`{}` has no stable id", Self::TYPE)))
    }
}

fn unsupported(message: String) -> DefinitionError {
    DefinitionError::Unsupported(message)
}

fn no_selector<T: Definition + ?Sized>(rule: &str, name: &str) -> DefinitionError {
    unsupported(format!("`{}` has no {rule} rule for `{name}`", T::TYPE))
}

impl Footprint {
    /// No claims, no effects, no paths.
    pub fn empty() -> Self {
        Self { claims: Vec::new(), effects: Vec::new(), affected_paths: Vec::new() }
    }

    /// Adds something that the resource may touch.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }

    /// Adds a path that changes when the resource does.
    #[must_use]
    pub fn affects(mut self, path: impl Into<Vec<u8>>) -> Self {
        self.affected_paths.push(path.into());
        self
    }
}

impl Effect {
    /// Reading and writing the object at an absolute path, or all beneath it if the path ends in `/**`.
    pub fn write_path(path: impl Into<Vec<u8>>) -> Self {
        Self::path(path, &["read", "write"])
    }

    /// Reading the object at an absolute path, or all beneath it if the path ends in `/**`.
    pub fn read_path(path: impl Into<Vec<u8>>) -> Self {
        Self::path(path, &["read"])
    }

    /// Reading the object at an absolute path, and making a plain directory there where nothing is: a folder on the way, which makes no claim.
    pub fn make_directory(path: impl Into<Vec<u8>>) -> Self {
        Self::path(path, &["read", "make-directory"])
    }

    /// Running the program at an absolute path, or with `*` any program: `query` to learn something, `run` to change something.
    pub fn program(path: &str, actions: &[&str]) -> Self {
        Self::on("process", path, actions)
    }

    /// Doing this with the unit of this full name, `nginx.service`: `read`, `start`, `stop`, `restart`, `reload`, `reset-failed`, `enable`, `disable`,
    /// `mask`, `unmask`. Services of other init systems are named so too.
    pub fn unit(name: &str, actions: &[&str]) -> Self {
        Self::on("unit", name, actions)
    }

    /// Doing this with the user of this name: `read`, `create`, `modify`, `delete`.
    pub fn user(name: &str, actions: &[&str]) -> Self {
        Self::on("user", name, actions)
    }

    /// Doing this with the group of this name: `read`, `create`, `modify`, `delete`; or `join`, to put a user into it, which makes no claim of the
    /// group.
    pub fn group(name: &str, actions: &[&str]) -> Self {
        Self::on("group", name, actions)
    }

    fn path(path: impl Into<Vec<u8>>, actions: &[&str]) -> Self {
        Self::on("path", path, actions)
    }

    fn on(domain: &str, key: impl Into<Vec<u8>>, actions: &[&str]) -> Self {
        let actions = actions.iter().map(|action| (*action).to_owned()).collect();
        Self { domain: domain.into(), key: key.into(), actions, qualifier: None }
    }
}

impl Semantics {
    /// The meaning of a state with this footprint that must be reached within `timeout` (1 ms to 24 hours). It has no assets, asks for no
    /// capabilities, is not sensitive and takes no refresh.
    pub fn new(footprint: Footprint, timeout: Duration) -> Self {
        let Footprint { claims, effects, affected_paths } = footprint;
        Self {
            capabilities: Vec::new(),
            assets: Vec::new(),
            sensitive: false,
            claims,
            effects,
            affected_paths,
            accepts_refresh: false,
            only_refreshed: false,
            timeout_ms: u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX),
            prerequisites: Vec::new(),
        }
    }

    /// Adds a right that the resource needs, as `files.write`.
    #[must_use]
    pub fn capability(mut self, name: &str) -> Self {
        self.capabilities.push(name.into());
        self
    }

    /// Adds an asset that the state names.
    #[must_use]
    pub fn asset(mut self, digest: &str) -> Self {
        self.assets.push(digest.into());
        self
    }

    /// Adds the key of a shared action that the resource may ask for.
    #[must_use]
    pub fn prerequisite(mut self, key: &str) -> Self {
        self.prerequisites.push(key.into());
        self
    }

    /// The footprint in it.
    pub fn footprint(&self) -> Footprint {
        Footprint { claims: self.claims.clone(), effects: self.effects.clone(), affected_paths: self.affected_paths.clone() }
    }
}

impl TestedState {
    /// What tests see: a struct or map with each declared attribute by canonical name, null for what is unmanaged.
    pub fn new<T: Serialize + ?Sized>(attributes: &T) -> DefinitionResult<Self> {
        Ok(Self { attributes: json::canonical(attributes)?, content: None })
    }

    /// The asset that is the managed content, if there is one.
    #[must_use]
    pub fn content(mut self, asset: Option<&str>) -> Self {
        self.content = asset.map(str::to_owned);
        self
    }

    /// Permission bits as tests see them: four octal digits, null for what is unmanaged.
    pub fn octal_mode(bits: Option<u32>) -> Value {
        bits.map_or(Value::Null, |bits| format!("{bits:04o}").into())
    }
}

impl Capability {
    /// A right to do `action` through the host interface `interface`, within `scope`; `reason` tells the node's owner why.
    pub fn new(interface: &str, action: &str, scope: &str, reason: &str) -> Self {
        Self { interface_name: interface.into(), action: action.into(), scope: scope.into(), reason: reason.into() }
    }
}
