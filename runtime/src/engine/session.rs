//! The functions of the pure half, one by one, on one instance of a component.
//!
//! A run gives each call an instance of its own ([`Module`]'s functions); calling one instance again shows what a definition keeps between
//! calls, which is for whoever checks modules.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use super::definition::{Call, Compiled, DefinitionState, DerivedEdge, Parameters, Peers, Validated, is_identity};
use super::error::{CallError, DefinitionError};
use super::footprint::Footprint;
use super::module::Module;
use super::{convert, registration};
use crate::model::asset::AssetRef;
use crate::model::description::Description;
use crate::model::ids::ResourceId;
use crate::model::kind::Unshown;

/// A desired state as tests of manifests see it. Its debug output does not show values.
#[derive(Clone, PartialEq)]
pub struct TestedState {
    /// Values by canonical attribute name.
    pub attributes: BTreeMap<String, Json>,
    /// The asset that is the managed content, if there is one.
    pub content: Option<AssetRef>,
}

impl fmt::Debug for TestedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds: BTreeMap<&String, Unshown<'_>> = self.attributes.iter().map(|(name, value)| (name, Unshown(value))).collect();
        f.debug_struct("TestedState").field("attributes", &kinds).field("content", &self.content).finish()
    }
}

/// What a past run recorded. It has no debug output: all of it is values.
#[derive(Clone, PartialEq)]
pub struct RecordedState {
    /// The desired state.
    pub inputs: Json,
    /// What was known once it had been applied.
    pub outputs: Option<Json>,
}

/// One instance of a component. After a call that failed with [`DefinitionError::Call`] it is of no more use.
pub struct Session {
    module: Module,
    call: Call,
}

impl Module {
    /// An instance whose first call is `function`, which a failure names.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn session(&self, function: &'static str) -> Result<Session, CallError> {
        Ok(Session { module: self.clone(), call: self.start(function, DefinitionState::new())? })
    }

    /// What a declaration holds and touches, from its identity attributes.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn footprint(&self, id: &ResourceId, given: Rc<dyn Parameters>) -> Result<Footprint, DefinitionError> {
        self.session("identity")?.footprint(id, given)
    }

    /// The desired state of a declaration.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn compile(&self, id: &ResourceId, given: Rc<dyn Parameters>) -> Result<Compiled, DefinitionError> {
        self.session("compile")?.compile(id, given)
    }

    /// The desired state with one asset's name put in.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn assign_asset(&self, desired: &Json, slot: &str, asset: &AssetRef) -> Result<Json, DefinitionError> {
        self.session("assign-asset")?.assign_asset(desired, slot, asset)
    }

    /// Checks a desired state and says what it means.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn validate(&self, desired: &Json) -> Result<Validated, DefinitionError> {
        self.session("validate")?.validate(desired)
    }

    /// Orders that follow from a resource and its peers.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn relationships(
        &self,
        id: &ResourceId,
        desired: Option<&Json>,
        peers: Arc<Peers>,
    ) -> Result<Vec<DerivedEdge>, DefinitionError> {
        self.session("relationships")?.relationships(id, desired, peers)
    }

    /// The value of an exported attribute.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn resolve_export(&self, id: &ResourceId, attribute: &str, given: Rc<dyn Parameters>) -> Result<Json, DefinitionError> {
        self.session("resolve-export")?.resolve_export(id, attribute, given)
    }

    /// A desired state as tests of manifests see it.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn test_view(&self, desired: &Json) -> Result<TestedState, DefinitionError> {
        self.session("test-view")?.test_view(desired)
    }
}

impl Session {
    /// What the component says about its resource type, or why that cannot be served.
    ///
    /// # Errors
    /// If the call fails.
    pub fn describe(&mut self) -> Result<Result<Description, String>, CallError> {
        self.call.restart();
        let answer = self.call.guest.call_describe(&mut self.call.store);
        let described = convert::description(self.module.finish("describe", &self.call, answer)?);
        Ok(described.and_then(|description| registration::check(&description).map(|()| description)))
    }

    /// What a declaration holds and touches, from its identity attributes: reading any other ends the call.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn footprint(&mut self, id: &ResourceId, given: Rc<dyn Parameters>) -> Result<Footprint, DefinitionError> {
        self.call.restart();
        let module = self.module.clone();
        let readable = move |block: Option<&str>, name: &str| is_identity(module.description().attributes_of(block), name);
        self.call.store.data_mut().restrict(Some(Rc::new(readable)));
        let handle = self.module.give("identity", &mut self.call, given)?;
        let answer = self.call.guest.call_identity(&mut self.call.store, &convert::resource_id(id), handle);
        self.call.store.data_mut().restrict(None);
        let footprint = self.module.answer("identity", &self.call, answer)?;
        self.checked(
            "identity",
            convert::footprint(self.module.type_name(), footprint.claims, footprint.effects, footprint.affected_paths),
        )
    }

    /// The desired state of a declaration.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn compile(&mut self, id: &ResourceId, given: Rc<dyn Parameters>) -> Result<Compiled, DefinitionError> {
        self.call.restart();
        let handle = self.module.give("compile", &mut self.call, given)?;
        let answer = self.call.guest.call_compile(&mut self.call.store, &convert::resource_id(id), handle);
        let compiled = self.module.answer("compile", &self.call, answer)?;
        self.checked("compile", convert::compiled(compiled))
    }

    /// The desired state with one asset's name put in.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn assign_asset(&mut self, desired: &Json, slot: &str, asset: &AssetRef) -> Result<Json, DefinitionError> {
        self.call.restart();
        let desired = self.module.argument("assign-asset", desired)?;
        let answer = self.call.guest.call_assign_asset(&mut self.call.store, &desired, slot, &asset.to_string());
        let json = self.module.answer("assign-asset", &self.call, answer)?;
        self.checked("assign-asset", convert::parse_json(&json))
    }

    /// Checks a desired state and says what it means.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn validate(&mut self, desired: &Json) -> Result<Validated, DefinitionError> {
        self.call.restart();
        let desired = self.module.argument("validate", desired)?;
        let answer = self.call.guest.call_validate(&mut self.call.store, &desired);
        let semantics = self.module.answer("validate", &self.call, answer)?;
        self.checked("validate", convert::validated(self.module.type_name(), semantics))
    }

    /// Orders that follow from a resource and its peers.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn relationships(
        &mut self,
        id: &ResourceId,
        desired: Option<&Json>,
        peers: Arc<Peers>,
    ) -> Result<Vec<DerivedEdge>, DefinitionError> {
        self.call.restart();
        let desired = desired.map(|desired| self.module.argument("relationships", desired)).transpose()?;
        let state = self.call.store.data_mut();
        state.show_peers(self.module.type_name().clone(), peers);
        let handle = state.give_view();
        let handle = handle.map_err(|error| self.module.bad_answer("relationships", error.to_string()))?;
        let guest = &self.call.guest;
        let answer = guest.call_relationships(&mut self.call.store, &convert::resource_id(id), desired.as_ref(), handle);
        let edges = self.module.answer("relationships", &self.call, answer)?;
        self.checked("relationships", convert::derived_edges(id, edges))
    }

    /// The value of an exported attribute.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn resolve_export(
        &mut self,
        id: &ResourceId,
        attribute: &str,
        given: Rc<dyn Parameters>,
    ) -> Result<Json, DefinitionError> {
        self.call.restart();
        let handle = self.module.give("resolve-export", &mut self.call, given)?;
        let answer = self.call.guest.call_resolve_export(&mut self.call.store, &convert::resource_id(id), attribute, handle);
        let json = self.module.answer("resolve-export", &self.call, answer)?;
        self.checked("resolve-export", convert::parse_json(&json))
    }

    /// A desired state as tests of manifests see it.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn test_view(&mut self, desired: &Json) -> Result<TestedState, DefinitionError> {
        self.call.restart();
        let desired = self.module.argument("test-view", desired)?;
        let answer = self.call.guest.call_test_view(&mut self.call.store, &desired);
        let view = self.module.answer("test-view", &self.call, answer)?;
        self.checked("test-view", convert::tested_state(view))
    }

    /// State recorded under an older schema version, in today's.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn migrate(&mut self, from_version: u32, recorded: &RecordedState) -> Result<RecordedState, DefinitionError> {
        self.call.restart();
        let recorded = self.checked("migrate", convert::wit_recorded_state(recorded))?;
        let answer = self.call.guest.call_migrate(&mut self.call.store, from_version, &recorded);
        let migrated = self.module.answer("migrate", &self.call, answer)?;
        self.checked("migrate", convert::recorded_state(migrated))
    }

    /// Whether two values of an attribute mean the same.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn equal(&mut self, attribute: &str, left: &Json, right: &Json) -> Result<bool, DefinitionError> {
        self.call.restart();
        let (left, right) = (self.module.argument("equal", left)?, self.module.argument("equal", right)?);
        let answer = self.call.guest.call_equal(&mut self.call.store, attribute, &left, &right);
        self.module.answer("equal", &self.call, answer)
    }

    /// Whether a change of an attribute replaces the object.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn must_replace(&mut self, attribute: &str, prior: &Json, desired: &Json) -> Result<bool, DefinitionError> {
        self.call.restart();
        let (prior, desired) = (self.module.argument("must-replace", prior)?, self.module.argument("must-replace", desired)?);
        let answer = self.call.guest.call_must_replace(&mut self.call.store, attribute, &prior, &desired);
        self.module.answer("must-replace", &self.call, answer)
    }

    /// Whether drift of an output replaces the object.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn must_replace_on_drift(&mut self, output: &str, recorded: &Json, observed: &Json) -> Result<bool, DefinitionError> {
        const FUNCTION: &str = "must-replace-on-drift";
        self.call.restart();
        let (recorded, observed) = (self.module.argument(FUNCTION, recorded)?, self.module.argument(FUNCTION, observed)?);
        let answer = self.call.guest.call_must_replace_on_drift(&mut self.call.store, output, &recorded, &observed);
        self.module.answer(FUNCTION, &self.call, answer)
    }

    /// The immutable id of the object.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn stable_id(&mut self, recorded: &RecordedState) -> Result<String, DefinitionError> {
        self.call.restart();
        let recorded = self.checked("stable-id", convert::wit_recorded_state(recorded))?;
        let answer = self.call.guest.call_stable_id(&mut self.call.store, &recorded);
        let id = self.module.answer("stable-id", &self.call, answer)?;
        Ok(convert::message(&id))
    }

    /// An answer in our own form, or the call's failure where the contract forbids it.
    fn checked<T>(&self, function: &'static str, converted: Result<T, String>) -> Result<T, DefinitionError> {
        converted.map_err(|message| self.module.bad_answer(function, message).into())
    }
}
