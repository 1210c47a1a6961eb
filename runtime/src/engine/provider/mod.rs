//! Providers: components behind a resource type.
//!
//! A [`Provider`] is a loaded one with what it says about itself. Its pure half is called directly, each call with an instance of its own; its other
//! half through [`backend`], which is what the host functions of the type's attempt call. Which provider serves a resource is not decided here.

mod attempt;
mod bindings;
mod convert;

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, Linker};

pub use self::attempt::{BackendSetup, backend};
use self::bindings::exports::runtime::module::options_definition as wit;
use self::bindings::{Provider as Instance, ProviderPre};
use super::definition::{AssetRequest, DefinitionState, HOSTCALL_BYTES, Parameters, is_identity};
use super::error::{CallError, DefinitionError, EngineError, Fault};
use super::footprint::Footprint;
use super::lifecycle::LifecycleState;
use super::module::host_imports;
use super::{Engine, clock, fault, purity};
use crate::engine::bindings::runtime::module::descriptors::DefinitionError as WitDefinitionError;
use crate::engine::bindings::runtime::module::parameters;
use crate::model::asset::AssetRef;
use crate::model::digest::ComponentDigest;
use crate::model::ids::{ProviderName, ResourceId, TypeName};
use crate::model::kind::Unshown;
use crate::model::provider::ProviderDescription;

/// What the pure half may call; everything else traps.
const DEFINITION_IMPORTS: [&str; 1] = ["runtime:module/parameters@0.1.0"];

/// A component that is compiled, fits the contract of providers, and has described itself. Cheap to clone.
#[derive(Clone)]
pub struct Provider(Arc<Inner>);

struct Inner {
    wasmtime: wasmtime::Engine,
    digest: ComponentDigest,
    /// None until it has described itself, which nobody but the loader sees.
    description: Option<ProviderDescription>,
    definition: ProviderPre<DefinitionState>,
    lifecycle: ProviderPre<LifecycleState>,
    definition_deadline: Duration,
}

/// Compiled options. Its debug output does not show them.
#[derive(Clone, PartialEq)]
pub struct CompiledOptions {
    /// With placeholders for assets.
    pub options: Json,
    /// Bytes that they need on the node.
    pub assets: Vec<AssetRequest>,
}

impl fmt::Debug for CompiledOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledOptions").field("options", &Unshown(&self.options)).field("assets", &self.assets).finish()
    }
}

/// What options mean for a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidatedOptions {
    /// What the resource holds and touches beyond what its type says.
    pub beyond: Footprint,
    /// The rest.
    pub semantics: crate::model::catalog::OptionsSemantics,
}

impl Engine {
    /// Makes a provider of a component that exports one, and asks it to describe itself.
    pub(super) fn load_provider(&self, digest: ComponentDigest, component: &Component) -> Result<Provider, EngineError> {
        let world = |source| EngineError::World { digest, source };
        let definition = self.link_provider_definition(component).map_err(world)?;
        let lifecycle = self.link_provider_lifecycle(component).map_err(world)?;
        let inner = Inner {
            wasmtime: self.wasmtime.clone(),
            digest,
            description: None,
            definition,
            lifecycle,
            definition_deadline: self.definition_deadline,
        };
        let undescribed = Provider(Arc::new(inner));
        let described = super::on_large_stack(|| undescribed.describe());
        let described = described.map_err(|source| EngineError::Describe { digest, source })?;
        let description = described.map_err(|reason| EngineError::Description { digest, reason })?;
        let mut inner = Arc::into_inner(undescribed.0).expect("the call has ended and kept nothing");
        inner.description = Some(description);
        Ok(Provider(Arc::new(inner)))
    }

    fn link_provider_definition(&self, component: &Component) -> wasmtime::Result<ProviderPre<DefinitionState>> {
        let mut linker = Linker::new(&self.wasmtime);
        parameters::add_to_linker::<_, HasSelf<_>>(&mut linker, |state: &mut DefinitionState| state)?;
        purity::trap_other_imports(&mut linker, component, &DEFINITION_IMPORTS.into())?;
        ProviderPre::new(linker.instantiate_pre(component)?)
    }

    fn link_provider_lifecycle(&self, component: &Component) -> wasmtime::Result<ProviderPre<LifecycleState>> {
        let mut linker = Linker::new(&self.wasmtime);
        host_functions::add_to_linker(&mut linker)?;
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        let names = host_imports(component, &DEFINITION_IMPORTS);
        purity::trap_other_imports(&mut linker, component, &names.iter().map(String::as_str).collect())?;
        ProviderPre::new(linker.instantiate_pre(component)?)
    }
}

impl Provider {
    /// The component's digest.
    pub fn digest(&self) -> ComponentDigest {
        self.0.digest
    }

    /// What it says about itself.
    ///
    /// # Panics
    /// Never: only the loader has one that has not described itself.
    pub fn description(&self) -> &ProviderDescription {
        self.0.description.as_ref().expect("a provider is handed out once it is described")
    }

    /// The resource type that it serves.
    pub fn type_name(&self) -> &TypeName {
        &self.description().type_name
    }

    /// Its name among the providers of that type.
    pub fn name(&self) -> &ProviderName {
        &self.description().name
    }

    /// The name of its module, which policy rows have.
    ///
    /// # Panics
    /// Never: a description with a name that is too long is refused.
    pub fn module_name(&self) -> TypeName {
        self.description().module_name().expect("a longer name is refused when it is loaded")
    }

    /// What a resource holds and touches through it beyond `base`, which is what its type says. `given` are the options.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn footprint(&self, id: &ResourceId, base: &Footprint, given: Rc<dyn Parameters>) -> Result<Footprint, DefinitionError> {
        const FUNCTION: &str = "identity";
        let (id, base) = (super::convert::resource_id(id), super::convert::wit_footprint(base));
        let provider = self.clone();
        let answer = self.call(FUNCTION, move |store, guest| {
            let readable =
                move |block: Option<&str>, name: &str| block.is_some() || is_identity(&provider.description().options, name);
            store.data_mut().restrict(Some(Rc::new(readable)));
            let handle = store.data_mut().give(given, None)?;
            guest.call_identity(store, &id, &base, handle)
        })?;
        let said = self.answer(answer)?;
        let own = super::convert::footprint(self.type_name(), said.claims, said.effects, said.affected_paths);
        self.checked(FUNCTION, own)
    }

    /// The options of a declaration.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn compile_options(&self, id: &ResourceId, given: Rc<dyn Parameters>) -> Result<CompiledOptions, DefinitionError> {
        const FUNCTION: &str = "compile-options";
        let id = super::convert::resource_id(id);
        let answer = self.call(FUNCTION, move |store, guest| {
            let handle = store.data_mut().give(given, None)?;
            guest.call_compile_options(store, &id, handle)
        })?;
        let compiled = self.answer(answer)?;
        self.checked(FUNCTION, convert::compiled(compiled))
    }

    /// The options with one asset's name put in.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn assign_asset(&self, options: &Json, slot: &str, asset: &AssetRef) -> Result<Json, DefinitionError> {
        const FUNCTION: &str = "assign-asset";
        let options = self.argument(FUNCTION, options)?;
        let answer = self.call(FUNCTION, |store, guest| guest.call_assign_asset(store, &options, slot, &asset.to_string()))?;
        let assigned = self.answer(answer)?;
        self.checked(FUNCTION, super::convert::parse_json(&assigned))
    }

    /// Checks options, and says what they mean. `desired` is none while it waits for the node.
    ///
    /// # Errors
    /// See [`DefinitionError`].
    pub fn validate(
        &self,
        options: &Json,
        base: &Footprint,
        desired: Option<&Json>,
    ) -> Result<ValidatedOptions, DefinitionError> {
        const FUNCTION: &str = "validate";
        let options = self.argument(FUNCTION, options)?;
        let desired = desired.map(|desired| self.argument(FUNCTION, desired)).transpose()?;
        let base = super::convert::wit_footprint(base);
        let answer = self.call(FUNCTION, |store, guest| guest.call_validate(store, &options, &base, desired.as_ref()))?;
        let semantics = self.answer(answer)?;
        self.checked(FUNCTION, convert::validated(self.type_name(), semantics))
    }

    /// What it says about itself, or why that cannot be served.
    ///
    /// # Errors
    /// If the call fails.
    pub fn describe(&self) -> Result<Result<ProviderDescription, String>, CallError> {
        let said = self.call("describe", |store, guest| guest.call_describe(store))?;
        Ok(convert::description(said))
    }

    /// Calls the pure half of a new instance.
    fn call<R>(
        &self,
        function: &'static str,
        call: impl FnOnce(&mut Store<DefinitionState>, &wit::Guest) -> wasmtime::Result<R>,
    ) -> Result<R, CallError> {
        let (started, limit) = (Instant::now(), self.0.definition_deadline);
        let mut store = Store::new(&self.0.wasmtime, DefinitionState::new());
        store.limiter(|state| &mut state.limiter);
        store.set_hostcall_fuel(HOSTCALL_BYTES);
        clock::hold_to(&mut store, started + limit);
        let instance = self.0.definition.instantiate(&mut store);
        let answer = instance.and_then(|instance| call(&mut store, instance.runtime_module_options_definition()));
        answer.map_err(|error| {
            let exceeded = store.data().limiter.exceeded().cloned();
            self.call_error(function, fault::classify(&error, exceeded, started, limit))
        })
    }

    async fn instantiate(&self, store: &mut Store<LifecycleState>) -> wasmtime::Result<Instance> {
        self.0.lifecycle.instantiate_async(store).await
    }

    fn wasmtime(&self) -> &wasmtime::Engine {
        &self.0.wasmtime
    }

    fn answer<R>(&self, answer: Result<R, WitDefinitionError>) -> Result<R, DefinitionError> {
        answer.map_err(|error| super::convert::definition_error(self.type_name(), error))
    }

    fn argument(&self, function: &'static str, json: &Json) -> Result<String, CallError> {
        super::convert::canonical(json).map_err(|message| self.call_error(function, Fault::Answer { message }))
    }

    /// An answer in our own form, or the call's failure where the contract forbids it.
    fn checked<T>(&self, function: &'static str, converted: Result<T, String>) -> Result<T, DefinitionError> {
        converted.map_err(|message| self.call_error(function, Fault::Answer { message }).into())
    }

    fn call_error(&self, function: &'static str, fault: Fault) -> CallError {
        let module = self.0.description.as_ref().and_then(|description| description.module_name().ok());
        CallError { module: module.map_or_else(|| "undescribed".to_owned(), |name| name.to_string()), function, fault }
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.0.description.as_ref().map(|description| (&description.type_name, &description.name));
        write!(f, "Provider({name:?}, {})", self.digest())
    }
}
