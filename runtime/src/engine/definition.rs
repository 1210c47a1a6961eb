//! Calls into the pure half of a component. Each call gets a new store, is synchronous, and is linked to nothing but the
//! declaration (I4).
//!
//! Calls nest: reading a parameter may evaluate an export of another resource, which is a call of its own. So run them on
//! a thread made by [`on_large_stack`].

mod catalog_view;
mod state;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use wasmtime::Store;
use wasmtime::component::Resource;

pub(super) use self::state::DefinitionState;
pub use self::state::{CatalogViewHandle, ParametersHandle};
use super::bindings::exports::runtime::module::definition as wit;
use super::convert;
use super::error::{CallError, DefinitionError, Fault};
use super::footprint::Footprint;
use super::module::Module;
use super::{clock, fault};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Claim, EdgeReason, Effect};
use crate::model::digest::AssetDigest;
use crate::model::ids::ResourceId;
use crate::model::key::Key;
use crate::model::kind::Unshown;

/// Memory of a definition, in bytes: fixed, so that no result depends on the machine.
pub const DEFINITION_MEMORY_BYTES: usize = 64 << 20;

/// Stack of the thread that makes definition calls: room for 64 nested calls with their guest stacks.
const LARGE_STACK_BYTES: usize = 256 << 20;

/// What a host may allocate for values of one call, in bytes.
const HOSTCALL_BYTES: usize = 16 << 20;

/// Runs `work` on a thread whose stack holds nested definition calls, and waits for it.
///
/// # Panics
/// If `work` panics, or the thread cannot be made.
pub fn on_large_stack<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("definition".into()).stack_size(LARGE_STACK_BYTES);
        let thread = builder.spawn_scoped(scope, work).expect("a thread can be made");
        match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

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
    pub desired: Option<Json>,
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
}

/// What one call works on.
struct Call {
    store: Store<DefinitionState>,
    guest: wit::Guest,
    started: Instant,
    limit: Duration,
}

impl Module {
    /// What the component says about its resource type. The engine asks once, when it loads the component.
    pub(super) fn describe(&self) -> Result<wit::Description, CallError> {
        let mut call = self.start("describe", DefinitionState::new())?;
        let answer = call.guest.call_describe(&mut call.store);
        self.finish("describe", &call, answer)
    }

    /// What a declaration holds and touches, from its identity attributes.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn footprint(&self, id: &ResourceId, given: Rc<dyn Parameters>) -> Result<Footprint, DefinitionError> {
        let state = DefinitionState::of_identity(Rc::new(self.description().clone()));
        let mut call = self.start("identity", state)?;
        let handle = self.give("identity", &mut call, given)?;
        let answer = call.guest.call_identity(&mut call.store, &convert::resource_id(id), handle);
        let footprint = self.answer("identity", &call, answer)?;
        convert::footprint(self.type_name(), footprint.claims, footprint.effects, footprint.affected_paths)
            .map_err(|message| self.bad_answer("identity", message).into())
    }

    /// The desired state of a declaration.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn compile(&self, id: &ResourceId, given: Rc<dyn Parameters>) -> Result<Compiled, DefinitionError> {
        let mut call = self.start("compile", DefinitionState::new())?;
        let handle = self.give("compile", &mut call, given)?;
        let answer = call.guest.call_compile(&mut call.store, &convert::resource_id(id), handle);
        let compiled = self.answer("compile", &call, answer)?;
        convert::compiled(compiled).map_err(|message| self.bad_answer("compile", message).into())
    }

    /// The desired state with one asset's name put in.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn assign_asset(&self, desired: &Json, slot: &str, asset: &AssetRef) -> Result<Json, DefinitionError> {
        let mut call = self.start("assign-asset", DefinitionState::new())?;
        let desired = self.argument("assign-asset", desired)?;
        let answer = call.guest.call_assign_asset(&mut call.store, &desired, slot, &asset.to_string());
        let json = self.answer("assign-asset", &call, answer)?;
        convert::parse_json(&json).map_err(|message| self.bad_answer("assign-asset", message).into())
    }

    /// Checks a desired state and says what it means.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn validate(&self, desired: &Json) -> Result<Validated, DefinitionError> {
        let mut call = self.start("validate", DefinitionState::new())?;
        let desired = self.argument("validate", desired)?;
        let answer = call.guest.call_validate(&mut call.store, &desired);
        let semantics = self.answer("validate", &call, answer)?;
        convert::validated(self.type_name(), semantics).map_err(|message| self.bad_answer("validate", message).into())
    }

    /// Orders that follow from a resource and its peers.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn relationships(
        &self,
        id: &ResourceId,
        desired: Option<&Json>,
        peers: Arc<Vec<Peer>>,
    ) -> Result<Vec<DerivedEdge>, DefinitionError> {
        let state = DefinitionState::of_peers(self.type_name().clone(), peers);
        let mut call = self.start("relationships", state)?;
        let desired = desired.map(|desired| self.argument("relationships", desired)).transpose()?;
        let handle = call.store.data_mut().give_view();
        let handle = handle.map_err(|error| self.bad_answer("relationships", error.to_string()))?;
        let answer = call.guest.call_relationships(&mut call.store, &convert::resource_id(id), desired.as_ref(), handle);
        let edges = self.answer("relationships", &call, answer)?;
        convert::derived_edges(id, edges).map_err(|message| self.bad_answer("relationships", message).into())
    }

    /// The value of an exported attribute.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn resolve_export(&self, id: &ResourceId, attribute: &str, given: Rc<dyn Parameters>) -> Result<Json, DefinitionError> {
        let mut call = self.start("resolve-export", DefinitionState::new())?;
        let handle = self.give("resolve-export", &mut call, given)?;
        let answer = call.guest.call_resolve_export(&mut call.store, &convert::resource_id(id), attribute, handle);
        let json = self.answer("resolve-export", &call, answer)?;
        convert::parse_json(&json).map_err(|message| self.bad_answer("resolve-export", message).into())
    }

    fn start(&self, function: &'static str, state: DefinitionState) -> Result<Call, CallError> {
        let limit = self.definition_deadline();
        let started = Instant::now();
        let mut store = Store::new(self.wasmtime(), state);
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        clock::hold_to(&mut store, started + limit);
        match self.definition().instantiate(&mut store) {
            Ok(instance) => Ok(Call { guest: instance.runtime_module_definition().clone(), store, started, limit }),
            Err(error) => {
                let exceeded = store.data().limiter.exceeded().cloned();
                Err(self.call_error(function, fault::classify(&error, exceeded, started, limit)))
            }
        }
    }

    fn give(
        &self,
        function: &'static str,
        call: &mut Call,
        given: Rc<dyn Parameters>,
    ) -> Result<Resource<ParametersHandle>, CallError> {
        let handle = call.store.data_mut().give(given, None);
        handle.map_err(|error| self.bad_answer(function, error.to_string()))
    }

    fn finish<R>(&self, function: &'static str, call: &Call, answer: wasmtime::Result<R>) -> Result<R, CallError> {
        answer.map_err(|error| {
            let exceeded = call.store.data().limiter.exceeded().cloned();
            self.call_error(function, fault::classify(&error, exceeded, call.started, call.limit))
        })
    }

    fn answer<R>(
        &self,
        function: &'static str,
        call: &Call,
        answer: wasmtime::Result<Result<R, wit::DefinitionError>>,
    ) -> Result<R, DefinitionError> {
        let answer = self.finish(function, call, answer)?;
        answer.map_err(|error| convert::definition_error(self.type_name(), error))
    }

    fn argument(&self, function: &'static str, json: &Json) -> Result<String, CallError> {
        convert::canonical(json).map_err(|message| self.bad_answer(function, message))
    }

    fn bad_answer(&self, function: &'static str, message: String) -> CallError {
        self.call_error(function, Fault::Answer { message })
    }

    fn call_error(&self, function: &'static str, fault: Fault) -> CallError {
        CallError { module: self.name(), function, fault }
    }
}
