//! Calls into the pure half of a component. Each call gets a new store, is synchronous, and is linked to nothing but the
//! declaration (I4).
//!
//! Calls nest: reading a parameter may evaluate an export of another resource, which is a call of its own. So run them on
//! a thread made by [`on_large_stack`].

mod catalog_view;
mod peers;
mod stacks;
mod state;

use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use wasmtime::Store;
use wasmtime::component::Resource;

pub use self::peers::Peers;
pub use self::stacks::{of_each_on_large_stacks, on_large_stack};
pub use self::state::{CatalogViewHandle, ParametersHandle};
pub(super) use self::state::{DefinitionState, is_identity};
use super::bindings::exports::runtime::module::definition as wit;
use super::convert;
use super::error::{CallError, DefinitionError, Fault};
use super::footprint::Footprint;
use super::module::Module;
use super::{clock, fault};
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Claim, EdgeReason, Effect};
use crate::model::digest::AssetDigest;
use crate::model::ids::ResourceId;
use crate::model::key::Key;
use crate::model::kind::Unshown;

/// Memory of a definition, in bytes: fixed, so that no result depends on the machine.
pub const DEFINITION_MEMORY_BYTES: usize = 64 << 20;

/// What a host may allocate for values of one call, in bytes.
pub(super) const HOSTCALL_BYTES: usize = 16 << 20;

/// The attributes of one declaration, as a definition reads them.
pub trait Parameters {
    /// Whether the attribute is given and not null.
    ///
    /// # Errors
    /// As [`Self::read`].
    fn has(&self, name: &str) -> Result<bool, ParameterError>;

    /// The attribute's value; none if it is omitted or null.
    ///
    /// # Errors
    /// If it waits for the node, could not be evaluated, or does not exist.
    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError>;

    /// The child blocks of this name, in the order of the manifest.
    ///
    /// # Errors
    /// If the type has no such block.
    fn children(&self, block: &str) -> Result<Vec<Child>, ParameterError>;
}

/// One child block of a declaration.
pub struct Child {
    /// Its label, in labelled blocks.
    pub label: Option<String>,
    /// Its attributes.
    pub given: Rc<dyn Parameters>,
}

/// Why a parameter cannot be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParameterError {
    /// It is settled on the node.
    Deferred,
    /// Evaluating it failed; the [`Parameters`] keeps the reason.
    Failed,
    /// There is no such attribute.
    Unknown,
}

/// Another resource as a definition may see it. Its debug output does not show the desired state.
#[derive(Clone, PartialEq)]
pub struct Peer {
    /// Its address.
    pub id: ResourceId,
    /// Its desired state, unless it waits for the node. A module sees it for its own type only.
    pub desired: Option<CanonicalJson>,
    /// Its claims.
    pub claims: Vec<Claim>,
    /// Its effects.
    pub effects: Vec<Effect>,
    /// Paths that change with it.
    pub affected_paths: Vec<Key>,
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("id", &self.id).field("claims", &self.claims).finish_non_exhaustive()
    }
}

/// A compiled declaration. Its debug output does not show the desired state.
#[derive(Clone, PartialEq)]
pub struct Compiled {
    /// The desired state, with placeholders for assets.
    pub desired: Json,
    /// Bytes that it needs on the node.
    pub assets: Vec<AssetRequest>,
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compiled").field("desired", &Unshown(&self.desired)).field("assets", &self.assets).finish()
    }
}

/// Bytes that a compiled resource needs on the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AssetRequest {
    /// Names it within the resource.
    pub slot: String,
    /// Where the bytes come from.
    pub source: AssetSource,
    /// The digest they must have.
    pub checksum: Option<AssetDigest>,
    /// What to say when they do not.
    pub checksum_error: Option<String>,
    /// The attribute to blame, by its path.
    pub attribute: String,
}

/// Where an asset's bytes come from. Its debug output does not show text.
#[derive(Clone, PartialEq, Eq)]
pub enum AssetSource {
    /// The text of an attribute, by its path.
    Parameter(String),
    /// This text.
    Inline(String),
    /// A file beneath the manifest's folder.
    Local(String),
    /// An `https` address.
    Url(String),
}

impl fmt::Debug for AssetSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Parameter(path) => write!(f, "Parameter({path})"),
            Self::Inline(text) => write!(f, "Inline({} bytes)", text.len()),
            Self::Local(_) => f.write_str("Local"),
            Self::Url(_) => f.write_str("Url"),
        }
    }
}

/// What a desired state means.
#[derive(Debug, Clone, PartialEq)]
pub struct Validated {
    /// What it holds and touches.
    pub footprint: Footprint,
    /// The rest.
    pub semantics: crate::model::catalog::Semantics,
    /// Whether it does something only when it is refreshed.
    pub only_refreshed: bool,
}

/// An order that a type derives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedEdge {
    /// Goes first.
    pub prerequisite: ResourceId,
    /// Goes after.
    pub dependent: ResourceId,
    /// Why: [`EdgeReason::Derived`] or [`EdgeReason::Action`].
    pub reason: EdgeReason,
    /// How whoever writes the manifest does without it.
    pub way_out: Option<String>,
}

/// What calls work on: one instance, and the limit of the call that is under way.
pub(super) struct Call {
    pub(super) store: Store<DefinitionState>,
    pub(super) guest: wit::Guest,
    started: Instant,
    limit: Duration,
}

impl Call {
    /// Begins another call into the same instance, with the whole time that a call may take.
    pub(super) fn restart(&mut self) {
        self.started = Instant::now();
        clock::hold_to(&mut self.store, self.started + self.limit);
    }
}

impl Module {
    pub(super) fn start(&self, function: &'static str, state: DefinitionState) -> Result<Call, CallError> {
        let limit = self.definition_deadline();
        let started = Instant::now();
        let mut store = Store::new(self.wasmtime(), state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        clock::hold_to(&mut store, started + limit);
        match self.instantiate_definition(&mut store) {
            Ok(guest) => Ok(Call { guest, store, started, limit }),
            Err(error) => {
                let exceeded = store.data().limiter.exceeded().cloned();
                Err(self.call_error(function, fault::classify(&error, exceeded, started, limit)))
            }
        }
    }

    pub(super) fn give(
        &self,
        function: &'static str,
        call: &mut Call,
        given: Rc<dyn Parameters>,
    ) -> Result<Resource<ParametersHandle>, CallError> {
        let handle = call.store.data_mut().give(given, None);
        handle.map_err(|error| self.bad_answer(function, error.to_string()))
    }

    pub(super) fn finish<R>(&self, function: &'static str, call: &Call, answer: wasmtime::Result<R>) -> Result<R, CallError> {
        answer.map_err(|error| {
            let exceeded = call.store.data().limiter.exceeded().cloned();
            self.call_error(function, fault::classify(&error, exceeded, call.started, call.limit))
        })
    }

    pub(super) fn answer<R>(
        &self,
        function: &'static str,
        call: &Call,
        answer: wasmtime::Result<Result<R, wit::DefinitionError>>,
    ) -> Result<R, DefinitionError> {
        let answer = self.finish(function, call, answer)?;
        answer.map_err(|error| convert::definition_error(self.type_name(), error))
    }

    pub(super) fn argument(&self, function: &'static str, json: &Json) -> Result<String, CallError> {
        convert::canonical(json).map_err(|message| self.bad_answer(function, message))
    }

    pub(super) fn bad_answer(&self, function: &'static str, message: String) -> CallError {
        self.call_error(function, Fault::Answer { message })
    }

    fn call_error(&self, function: &'static str, fault: Fault) -> CallError {
        CallError { module: self.name(), function, fault }
    }
}
