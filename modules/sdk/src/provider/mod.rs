//! What a provider is written with: the component behind a resource type on some systems (apt behind package).
//!
//! Two traits, as for a resource type: [`ProviderDefinition`] is the pure half, [`Backend`] the half that meets the node. A provider implements both
//! for one type and writes `runtime_sdk::export_provider!(Apt);`. What its options may say is a struct that derives
//! [`Attributes`](trait@crate::Attributes).
//!
//! The resource type owns the shapes that pass between the two: its desired state, and what a provider observes. Put those into a crate
//! that both use. How a type calls its provider is in [`crate::backend`].

mod adapter;

#[expect(missing_docs, reason = "generated: the documentation is that of the WIT, which has no place for some items")]
#[allow(clippy::all, clippy::allow_attributes_without_reason, unused_qualifications, reason = "generated, and not ours to shape")]
pub mod bindings;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::runtime::host::backend_types;
use crate::node::{NodeResult, not_supported};
use crate::{
    AssetRef, Attribute, Attributes, Capability, Compiled, DefinitionError, DefinitionResult, Footprint, OperationReason,
    Outcome, Parameters,
};

pub use adapter::ProviderAdapter;
pub use bindings::exports::runtime::module::backend::Context as BackendContext;
pub use bindings::exports::runtime::module::options_definition::{Semantics as OptionsSemantics, System};

/// The pure half of a provider.
pub trait ProviderDefinition: 'static {
    /// The resource type that it serves.
    const TYPE: &'static str;

    /// Its name, and that of its options block: lower-case letters, digits and `_`, starting with a letter.
    const NAME: &'static str;

    /// The version of the shape of its options, from 1.
    const SCHEMA_VERSION: u32;

    /// What it works with, one sentence.
    const SUMMARY: &'static str;

    /// What an options block gives: a struct that derives [`Attributes`](trait@Attributes), or `()` where there are no options, or
    /// [`attributes`](Self::attributes) puts them together.
    type Given: Attributes;

    /// The compiled options. They must serialise deterministically and refuse unknown fields.
    type Options: Serialize + DeserializeOwned + 'static;

    /// The desired state of the resource type, of which the provider may know a part.
    type Desired: DeserializeOwned + 'static;

    /// The systems that it serves, each as [`System::id`], or [`System::any`].
    fn systems() -> Vec<System>;

    /// What must hold on the running node besides: `init:systemd`. Nothing by default.
    fn conditions() -> Vec<String> {
        Vec::new()
    }

    /// Every option: those of [`Given`](Self::Given).
    fn attributes() -> Vec<Attribute> {
        Self::Given::attributes()
    }

    /// The rights that the provider asks for.
    fn capabilities() -> Vec<Capability>;

    /// What a resource holds and touches through this provider, beyond `base`, which is what its type says. Reads identity options only.
    /// Nothing by default.
    fn footprint(_base: &Footprint, _given: &Parameters) -> DefinitionResult<Footprint> {
        Ok(Footprint::empty())
    }

    /// The options of a declaration. Nothing is given where it has no options block.
    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Self::Options>>;

    /// Puts the name of one asset that `compile` asked for into the options.
    fn assign_asset(_options: &mut Self::Options, slot: &str, _asset: AssetRef) -> DefinitionResult<()> {
        Err(DefinitionError::Unsupported(format!("`{}` asks for no asset, so none goes to the slot `{slot}`", Self::NAME)))
    }

    /// Checks options, refuses whatever [`compile`](Self::compile) cannot give and any desired state that this provider cannot bring about, and says
    /// what they mean: with the footprint that [`footprint`](Self::footprint) gave. `desired` is none while it waits for the node.
    fn validate(options: &Self::Options, base: &Footprint, desired: Option<&Self::Desired>)
    -> DefinitionResult<OptionsSemantics>;
}

/// The half of a provider that meets the node. What it cannot do is refused by default.
pub trait Backend: ProviderDefinition {
    /// What it finds, in the shape that the resource type reads.
    type Observation: Serialize + DeserializeOwned + 'static;

    /// What the node alone can tell of the object's identity, in the shape that the resource type reads. May read metadata only.
    fn inspect(_desired: &Self::Desired, _options: &Self::Options, _context: &BackendContext) -> NodeResult<Value> {
        Err(refused::<Self>("knows nothing about identities that only the node can tell"))
    }

    /// Reads what is there, and changes nothing. Absence is an observation, not an error.
    fn read(desired: &Self::Desired, options: &Self::Options, context: &BackendContext) -> NodeResult<Self::Observation>;

    /// Brings the desired state about, starting from `current`. Outputs of the answer are of no use: they are the resource type's.
    fn apply(
        desired: &Self::Desired,
        options: &Self::Options,
        current: &Self::Observation,
        context: &BackendContext,
    ) -> NodeResult<Outcome>;

    /// Does what a changed subscription asks for.
    fn refresh(_desired: &Self::Desired, _options: &Self::Options, _context: &BackendContext) -> NodeResult<Outcome> {
        Err(refused::<Self>("takes no refresh"))
    }

    /// Does a shared action, by its key.
    fn perform(
        action: &str,
        _desired: &Self::Desired,
        _options: &Self::Options,
        _context: &BackendContext,
    ) -> NodeResult<Outcome> {
        Err(refused::<Self>(&format!("has no shared action `{action}`")))
    }

    /// Makes reading and applying again safe after an interrupted operation. Refused by default: then a person must look.
    fn recover(
        _desired: &Self::Desired,
        _options: &Self::Options,
        _operation: &Interrupted,
        _context: &BackendContext,
    ) -> NodeResult<()> {
        Err(refused::<Self>("cannot tell how to go on after an interrupted operation"))
    }
}

fn refused<T: ProviderDefinition + ?Sized>(what: &str) -> crate::LifecycleError {
    not_supported(format!("the provider `{}` {what}", T::NAME))
}

/// An operation that a lost run began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupted {
    /// The name under which it staged.
    pub staging_name: String,
    /// Why it ran.
    pub reason: OperationReason,
}

impl From<backend_types::Interrupted> for Interrupted {
    fn from(from: backend_types::Interrupted) -> Self {
        let reason = match from.reason {
            backend_types::OperationReason::Converge => OperationReason::Converge,
            backend_types::OperationReason::Refresh => OperationReason::Refresh,
        };
        Self { staging_name: from.staging_name, reason }
    }
}

impl System {
    /// Systems whose os-release has this `ID`, or that say they are like it.
    pub fn id(id: &str) -> Self {
        Self { id: id.into(), versions: Vec::new() }
    }

    /// Any system that no other provider of the type names.
    pub fn any() -> Self {
        Self::id("*")
    }

    /// Only these values of `VERSION_ID`, and systems that have none.
    #[must_use]
    pub fn versions(mut self, versions: &[&str]) -> Self {
        self.versions = versions.iter().map(|version| (*version).to_owned()).collect();
        self
    }
}

impl OptionsSemantics {
    /// The meaning of options with this footprint, beyond the type's. They have no assets, ask for no capabilities and are not sensitive.
    pub fn new(footprint: Footprint) -> Self {
        let Footprint { claims, effects, affected_paths } = footprint;
        Self { capabilities: Vec::new(), assets: Vec::new(), sensitive: false, claims, effects, affected_paths }
    }

    /// Adds a right that the provider needs for the resource, as `files.write`.
    #[must_use]
    pub fn capability(mut self, name: &str) -> Self {
        self.capabilities.push(name.into());
        self
    }

    /// Adds an asset that the options name.
    #[must_use]
    pub fn asset(mut self, name: &str) -> Self {
        self.assets.push(name.into());
        self
    }
}

/// Makes the crate a component that is the provider given by name: `export_provider!(Apt);`. Once a crate.
#[macro_export]
macro_rules! export_provider {
    ($provider:ty) => {
        const _: () = {
            type Exported = $crate::provider::ProviderAdapter<$provider>;
    $crate::provider::bindings::export!(Exported with_types_in $crate::provider::bindings);
        };
    };
}
