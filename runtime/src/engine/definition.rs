//! Calls into the pure half of a component. Each call gets a new store, is synchronous, and is linked to nothing but the
//! declaration (I4).
//!
//! Calls nest: reading a parameter may evaluate an export of another resource, which is a call of its own. So run them on
//! a thread made by [`on_large_stack`].

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use wasmtime::Store;
use wasmtime::component::{Resource, ResourceTable};

use super::bindings::exports::runtime::module::definition as wit;
use super::bindings::runtime::module::catalog_view::{self, Peer as WitPeer};
use super::bindings::runtime::module::parameters::{self, Child as WitChild, ParameterError as WitParameterError};
use super::convert;
use super::error::{CallError, DefinitionError, Fault};
use super::footprint::Footprint;
use super::limits::Limiter;
use super::module::Module;
use super::{clock, fault};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Claim, EdgeReason, Effect};
use crate::model::description::{Attribute, Description};
use crate::model::digest::AssetDigest;
use crate::model::ids::{ResourceId, TypeName};
use crate::model::key::Key;

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

/// Another resource as a definition may see it.
#[derive(Debug, Clone, PartialEq)]
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

/// A compiled declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The desired state, with placeholders for assets.
    pub desired: Json,
    /// Bytes that it needs on the node.
    pub assets: Vec<AssetRequest>,
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
    /// The attribute to blame.
    pub attribute: String,
}

/// Where an asset's bytes come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssetSource {
    /// The text of an attribute.
    Parameter(String),
    /// This text.
    Inline(String),
    /// A file beneath the manifest's folder.
    Local(String),
    /// An `https` address.
    Url(String),
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

/// The host's side of a `parameters` handle: which of the call's [`Given`] it is.
pub struct ParametersHandle(usize);

/// What a `parameters` handle gives access to.
struct Given {
    parameters: Rc<dyn Parameters>,
    /// The child block whose attributes they are; none for the declaration's own.
    block: Option<String>,
}

/// The host's side of a `catalog-view` handle.
pub struct CatalogViewHandle;

/// What a store of one definition call holds.
pub(super) struct DefinitionState {
    pub(super) limiter: Limiter,
    table: ResourceTable,
    given: Vec<Given>,
    peers: Option<Arc<Vec<Peer>>>,
    own_type: Option<TypeName>,
    identity_of: Option<Rc<Description>>,
}

impl DefinitionState {
    fn new() -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(1_000);
        Self {
            limiter: Limiter::strict(DEFINITION_MEMORY_BYTES),
            table,
            given: Vec::new(),
            peers: None,
            own_type: None,
            identity_of: None,
        }
    }

    /// What a handle of the guest gives access to, for reading the attribute `name`.
    fn given(&self, handle: &Resource<ParametersHandle>, name: &str) -> wasmtime::Result<&Rc<dyn Parameters>> {
        let given = &self.given[self.table.get(handle)?.0];
        if let Some(description) = &self.identity_of
            && given.attributes(description).iter().any(|a| a.name == name && !a.identity)
        {
            return Err(wasmtime::Error::new(Fault::NotIdentity { attribute: name.to_owned() }));
        }
        Ok(&given.parameters)
    }

    fn give(&mut self, parameters: Rc<dyn Parameters>, block: Option<String>) -> wasmtime::Result<Resource<ParametersHandle>> {
        let handle = self.table.push(ParametersHandle(self.given.len()))?;
        self.given.push(Given { parameters, block });
        Ok(handle)
    }
}

impl Given {
    fn attributes<'a>(&self, description: &'a Description) -> &'a [Attribute] {
        match &self.block {
            None => &description.attributes,
            Some(block) => description.block(block).map_or(&[], |block| &block.attributes),
        }
    }
}

impl parameters::Host for DefinitionState {}

impl parameters::HostParameters for DefinitionState {
    fn has(&mut self, handle: Resource<ParametersHandle>, name: String) -> wasmtime::Result<Result<bool, WitParameterError>> {
        let given = self.given(&handle, &name)?;
        Ok(given.has(&name).map_err(|error| parameter_error(error, name)))
    }

    fn read(
        &mut self,
        handle: Resource<ParametersHandle>,
        name: String,
    ) -> wasmtime::Result<Result<Option<String>, WitParameterError>> {
        let given = self.given(&handle, &name)?;
        match given.read(&name) {
            Ok(value) => Ok(Ok(value.as_ref().map(convert::canonical).transpose().map_err(wasmtime::Error::msg)?)),
            Err(error) => Ok(Err(parameter_error(error, name))),
        }
    }

    fn children(
        &mut self,
        handle: Resource<ParametersHandle>,
        block: String,
    ) -> wasmtime::Result<Result<Vec<WitChild>, WitParameterError>> {
        let given = &self.given[self.table.get(&handle)?.0];
        if given.block.is_some() {
            return Ok(Err(WitParameterError::Unknown(block)));
        }
        match given.parameters.children(&block) {
            Ok(children) => {
                let give =
                    |child: Child| Ok(WitChild { given: self.give(child.given, Some(block.clone()))?, label: child.label });
                Ok(Ok(children.into_iter().map(give).collect::<wasmtime::Result<_>>()?))
            }
            Err(error) => Ok(Err(parameter_error(error, block))),
        }
    }

    fn drop(&mut self, handle: Resource<ParametersHandle>) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

fn parameter_error(error: ParameterError, name: String) -> WitParameterError {
    match error {
        ParameterError::Deferred => WitParameterError::Deferred,
        ParameterError::Failed => WitParameterError::Failed,
        ParameterError::Unknown => WitParameterError::Unknown(name),
    }
}

impl catalog_view::Host for DefinitionState {}

impl catalog_view::HostCatalogView for DefinitionState {
    fn of_type(&mut self, _: Resource<CatalogViewHandle>, type_name: String) -> wasmtime::Result<Vec<WitPeer>> {
        Ok(self.peers_where(|peer| peer.id.type_name.as_str() == type_name))
    }

    fn all(&mut self, _: Resource<CatalogViewHandle>) -> wasmtime::Result<Vec<WitPeer>> {
        Ok(self.peers_where(|_| true))
    }

    fn drop(&mut self, handle: Resource<CatalogViewHandle>) -> wasmtime::Result<()> {
        self.table.delete(handle)?;
        Ok(())
    }
}

impl DefinitionState {
    fn peers_where(&self, wanted: impl Fn(&Peer) -> bool) -> Vec<WitPeer> {
        let peers = self.peers.iter().flat_map(|peers| peers.iter());
        peers.filter(|peer| wanted(peer)).map(|peer| convert::peer(peer, self.own_type.as_ref())).collect()
    }
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
        let state = DefinitionState { identity_of: Some(Rc::new(self.description().clone())), ..DefinitionState::new() };
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
        let state = DefinitionState { peers: Some(peers), own_type: Some(self.type_name().clone()), ..DefinitionState::new() };
        let mut call = self.start("relationships", state)?;
        let desired = desired.map(|desired| self.argument("relationships", desired)).transpose()?;
        let handle = call.store.data_mut().table.push(CatalogViewHandle);
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
