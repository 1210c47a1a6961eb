//! What a resource type for `runtime` is written with.
//!
//! A resource type is one WebAssembly component that exports the world `resource-type` of `wit/`. This crate holds the one
//! `generate!` of that world and turns it into Rust traits, so that a module is about its subject alone:
//!
//! - [`Definition`]: the pure half. It runs on the controller, and again on the node to check what the bundle says.
//! - [`StateType`]: the half that meets the node, for types that read a state, compare it and bring it about;
//! - [`FullType`]: the same in full, for types whose work is more than that: commands, refresh, prerequisites.
//!
//! What a declaration may say is a struct that derives [`Attributes`](trait@Attributes): its fields are the attributes and child blocks, and become
//! descriptors and readers.
//!
//! A module implements both traits for one type and writes `runtime_sdk::export_state_type!(Thing);`. The adapter behind the macro
//! does what every such type must do alike: strict decoding, canonical JSON, check and verify by one comparison.
//!
//! A type that leaves its work to providers (apt behind package) says so with [`Definition::HAS_PROVIDERS`], and calls the selected one by
//! [`backend`]; a provider is a component of its own, written with [`provider`].
//!
//! A module that fits neither implements the generated traits of [`bindings`] and calls [`export_component!`].
//!
//! Nothing here needs WebAssembly to be tested: [`testing`] runs a definition natively, with attributes from memory. Host calls
//! work in a component only.

// The code that `export!` makes names this crate by its own name, also inside it.
extern crate self as runtime_sdk;

#[expect(missing_docs, reason = "generated: the documentation is that of the WIT, which has no place for some items")]
#[allow(clippy::all, clippy::allow_attributes_without_reason, unused_qualifications, reason = "generated, and not ours to shape")]
pub mod bindings;

pub mod json;

pub mod diagnostic;

pub mod attribute;

pub mod attribute_type;

pub mod block;

pub mod output;

pub mod attributes;

pub mod ensure;

pub mod parameters;

pub mod values;

pub mod path;

pub mod principal;

pub mod account;

pub mod definition;

pub mod catalog;

pub mod node;

pub mod state_type;

pub mod full_type;

pub mod processes;

pub mod provider;

pub mod backend;

pub mod log;

pub mod testing;

mod adapter;

mod full_adapter;

#[cfg(all(target_family = "wasm", feature = "allocator"))]
mod memory;

#[doc(hidden)]
pub use serde as __serde;
#[doc(hidden)]
pub use wit_bindgen as __wit_bindgen;

pub use account::{AccountId, AccountName};
pub use adapter::{Adapter, HeldWork};
pub use attribute::{Attribute, Type};
pub use attribute_type::AttributeType;
pub use attributes::Attributes;
pub use bindings::exports::runtime::module::definition::{
    AssetRequest, AssetSource, Capability, DefinitionError, Edge, EdgeReason, EnsureVocabulary, RecordSelectors, RecordedState,
    Semantics, TestedState,
};
pub use bindings::exports::runtime::module::lifecycle::{
    Action, Change, Conflict, ContentChange, Context, EffectClass, Failure, InterruptedOperation, LifecycleError,
    OperationReason, Outcome, Prior, Safety,
};
pub use bindings::runtime::host::{accounts, assets, facts, files, openrc, packages, systemd, types::HostError};
pub use bindings::runtime::module::catalog_view::{CatalogView, Peer};
pub use bindings::runtime::module::types::{AssetRef, Claim, Diagnostic, Digest, Effect, Footprint, ResourceId};
pub use block::Block;
pub use catalog::{Catalog, TypedPeer};
pub use definition::{Compiled, Definition, DefinitionResult};
pub use ensure::{Ensure, Presence, Vocabulary};
pub use full_adapter::{FullAdapter, FullWork};
pub use full_type::{FullType, Needed, Plan, Reading, Verified};
pub use node::{HostCall, NodeResult, Progress};
pub use output::Output;
pub use parameters::{Child, Parameters};
pub use principal::Principal;
pub use runtime_sdk_derive::{AttributeType, Attributes, Ensure};
pub use serde_json::Value;
pub use state_type::StateType;
pub use values::{Asset, Bytes, Sensitive};

/// Makes the crate a component that serves the [`StateType`] given by name: `export_state_type!(File);`. Once a crate.
#[macro_export]
macro_rules! export_state_type {
    ($state_type:ty) => {
        const _: () = {
            type Exported = $crate::Adapter<$state_type>;
            $crate::export_component!(Exported);
        };
    };
}

/// Makes the crate a component that serves the [`FullType`] given by name: `export_full_type!(Exec);`. Once a crate.
#[macro_export]
macro_rules! export_full_type {
    ($full_type:ty) => {
        const _: () = {
            type Exported = $crate::FullAdapter<$full_type>;
            $crate::export_component!(Exported);
        };
    };
}

/// Makes the crate a component of the type given by an identifier, which implements the generated traits
/// `definition::Guest` and `lifecycle::Guest` of [`bindings`] itself. Once a crate.
#[macro_export]
macro_rules! export_component {
    ($component:ident) => {
        $crate::bindings::export!($component with_types_in $crate::bindings);
    };
}

/// The authoring guide's code is compiled as tests of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/module-authoring.md")]
mod authoring_guide {}
