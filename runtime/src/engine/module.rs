//! A loaded component.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use wasmtime::Store;
use wasmtime::component::{Component, HasSelf, InstancePre, Linker};

use super::bindings::ResourceTypePre;
use super::bindings::exports::runtime::module::{definition, lifecycle};
use super::bindings::runtime::module::{catalog_view, parameters};
use super::definition::DefinitionState;
use super::error::EngineError;
use super::lifecycle::LifecycleState;
use super::provider::Provider;
use super::{Engine, purity};
use crate::model::description::Description;
use crate::model::digest::ComponentDigest;
use crate::model::ids::TypeName;

/// The largest component that is loaded: a Rust module has 0.1 MiB, one with a JavaScript engine some 10.
pub const MAX_COMPONENT_BYTES: usize = 16 << 20;

/// What a definition may call; everything else traps.
const DEFINITION_IMPORTS: [&str; 2] = ["runtime:module/parameters@0.1.0", "runtime:module/catalog-view@0.1.0"];

/// Namespaces from which a component may import; toolchains bring in WASI whether a module uses it or not.
const KNOWN_NAMESPACES: [&str; 7] =
    ["runtime:module/", "runtime:host/", "wasi:cli/", "wasi:clocks/", "wasi:filesystem/", "wasi:io/", "wasi:random/"];

/// What a provider exports and a resource type does not.
const PROVIDER_EXPORT: &str = "runtime:module/backend@0.1.0";

/// A loaded component.
#[derive(Debug, Clone)]
pub enum Loaded {
    /// It serves a resource type.
    Type(Module),
    /// It is a provider of one.
    Provider(Provider),
}

/// A component that is compiled, fits the contract, and has described its resource type. Cheap to clone.
#[derive(Clone)]
pub struct Module(Arc<Inner>);

struct Inner {
    wasmtime: wasmtime::Engine,
    digest: ComponentDigest,
    description: Description,
    definition: Half<DefinitionState, definition::GuestIndices>,
    lifecycle: Half<LifecycleState, lifecycle::GuestIndices>,
    definition_deadline: Duration,
}

/// A component, ready to be made an instance of which one of the two interfaces is called. The functions of the other are not looked up each time.
struct Half<State: 'static, Indices> {
    instance: InstancePre<State>,
    indices: Indices,
}

impl Engine {
    /// Compiles a component, or takes it from the cache, checks that it fits the contract, and asks it to describe itself.
    ///
    /// # Errors
    /// See [`EngineError`]; nothing of the component has run but `describe`.
    pub fn load(&self, bytes: &[u8]) -> Result<Module, EngineError> {
        match self.load_any(bytes)? {
            Loaded::Type(module) => Ok(module),
            Loaded::Provider(provider) => Err(EngineError::IsProvider {
                digest: provider.digest(),
                provider: provider.name().clone(),
                type_name: provider.type_name().clone(),
            }),
        }
    }

    /// As [`Engine::load`], of either kind: what the component exports decides.
    ///
    /// # Errors
    /// As [`Engine::load`].
    pub fn load_any(&self, bytes: &[u8]) -> Result<Loaded, EngineError> {
        let digest = ComponentDigest::of(bytes);
        let component = self.compile(digest, bytes)?;
        check_imports(&component, digest)?;
        if component.component_type().exports(&self.wasmtime).any(|(name, _)| name == PROVIDER_EXPORT) {
            return self.load_provider(digest, &component).map(Loaded::Provider);
        }
        self.load_type(digest, &component).map(Loaded::Type)
    }

    fn load_type(&self, digest: ComponentDigest, component: &Component) -> Result<Module, EngineError> {
        let world = |source| EngineError::World { digest, source };
        let definition = self.link_definition(component).map_err(world)?;
        let lifecycle = self.link_lifecycle(component).map_err(world)?;
        let undescribed = Module(Arc::new(Inner {
            wasmtime: self.wasmtime.clone(),
            digest,
            description: placeholder(),
            definition,
            lifecycle,
            definition_deadline: self.definition_deadline,
        }));
        let described = super::on_large_stack(|| undescribed.session("describe").and_then(|mut session| session.describe()));
        let described = described.map_err(|source| EngineError::Describe { digest, source })?;
        let description = described.map_err(|reason| EngineError::Description { digest, reason })?;
        let mut inner = Arc::into_inner(undescribed.0).expect("the call has ended and kept nothing");
        inner.description = description;
        Ok(Module(Arc::new(inner)))
    }

    fn compile(&self, digest: ComponentDigest, bytes: &[u8]) -> Result<Component, EngineError> {
        if bytes.len() > MAX_COMPONENT_BYTES {
            return Err(EngineError::TooLarge { digest, size: bytes.len(), cap: MAX_COMPONENT_BYTES });
        }
        if wasmtime::Engine::detect_precompiled(bytes).is_some() {
            return Err(EngineError::Precompiled { digest });
        }
        if let Some(component) = self.cache.as_ref().and_then(|cache| cache.get(&self.wasmtime, digest)) {
            return Ok(component);
        }
        let component = self.compiler.compile(&self.wasmtime, digest, bytes)?;
        if let Some(cache) = &self.cache {
            cache.put(digest, &component);
        }
        Ok(component)
    }

    fn link_definition(&self, component: &Component) -> wasmtime::Result<Half<DefinitionState, definition::GuestIndices>> {
        let mut linker = Linker::new(&self.wasmtime);
        parameters::add_to_linker::<_, HasSelf<_>>(&mut linker, |state: &mut DefinitionState| state)?;
        catalog_view::add_to_linker::<_, HasSelf<_>>(&mut linker, |state: &mut DefinitionState| state)?;
        purity::trap_other_imports(&mut linker, component, &DEFINITION_IMPORTS.into())?;
        let instance = of_the_world(linker.instantiate_pre(component)?)?;
        Ok(Half { indices: definition::GuestIndices::new(&instance)?, instance })
    }

    fn link_lifecycle(&self, component: &Component) -> wasmtime::Result<Half<LifecycleState, lifecycle::GuestIndices>> {
        let mut linker = Linker::new(&self.wasmtime);
        host_functions::add_to_linker(&mut linker)?;
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        let names = host_imports(component, &DEFINITION_IMPORTS);
        let linked: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        purity::trap_other_imports(&mut linker, component, &linked)?;
        let instance = of_the_world(linker.instantiate_pre(component)?)?;
        Ok(Half { indices: lifecycle::GuestIndices::new(&instance)?, instance })
    }
}

/// The same, which exports all that the world wants.
fn of_the_world<State: 'static>(instance: InstancePre<State>) -> wasmtime::Result<InstancePre<State>> {
    ResourceTypePre::new(instance).map(|found| found.instance_pre().clone())
}

/// The imports of a component but those of its pure half.
pub(super) fn host_imports(component: &Component, pure: &[&str]) -> Vec<String> {
    let names = component.component_type();
    let names = names.imports(component.engine()).map(|(name, _)| name.to_owned());
    names.filter(|name| !pure.contains(&name.as_str())).collect()
}

/// Refuses a component that imports from somewhere unknown, before anything is linked.
fn check_imports(component: &Component, digest: ComponentDigest) -> Result<(), EngineError> {
    let ty = component.component_type();
    let engine = component.engine();
    let unknown = ty.imports(engine).find(|(name, _)| !KNOWN_NAMESPACES.iter().any(|known| name.starts_with(known)));
    match unknown {
        Some((name, _)) => Err(EngineError::UnknownImport { digest, import: crate::model::key::escape(name) }),
        None => Ok(()),
    }
}

/// Stands in until the component has described itself; no caller sees it.
fn placeholder() -> Description {
    Description {
        type_name: "undescribed".parse().expect("a valid name"),
        schema_version: 1,
        summary: String::new(),
        attributes: Vec::new(),
        blocks: Vec::new(),
        outputs: Vec::new(),
        ensure: None,
        capabilities: Vec::new(),
        selectors: crate::model::description::Selectors::default(),
        has_providers: false,
    }
}

impl Module {
    /// The component's digest.
    pub fn digest(&self) -> ComponentDigest {
        self.0.digest
    }

    /// What it says about its resource type.
    pub fn description(&self) -> &Description {
        &self.0.description
    }

    /// The resource type that it serves.
    pub fn type_name(&self) -> &TypeName {
        &self.0.description.type_name
    }

    /// The module's name for messages: its resource type.
    pub(super) fn name(&self) -> String {
        self.type_name().to_string()
    }

    pub(super) fn wasmtime(&self) -> &wasmtime::Engine {
        &self.0.wasmtime
    }

    /// A new instance for calls of its pure half.
    pub(super) fn instantiate_definition(&self, store: &mut Store<DefinitionState>) -> wasmtime::Result<definition::Guest> {
        let instance = self.0.definition.instance.instantiate(&mut *store)?;
        self.0.definition.indices.load(store, &instance)
    }

    pub(super) fn definition_deadline(&self) -> Duration {
        self.0.definition_deadline
    }

    /// A new instance for one attempt.
    pub(super) async fn instantiate(&self, store: &mut Store<LifecycleState>) -> wasmtime::Result<lifecycle::Guest> {
        let instance = self.0.lifecycle.instance.instantiate_async(&mut *store).await?;
        self.0.lifecycle.indices.load(store, &instance)
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Module({}, {})", self.type_name(), self.digest())
    }
}
