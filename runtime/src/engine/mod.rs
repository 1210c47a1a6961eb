//! Runs components: the one place, beside host-functions, that knows wasmtime (I2).
//!
//! A [`Module`] is a loaded component with what it says about its resource type. Its pure half is called directly
//! ([`Module::compile`] and the rest); its other half through an [`Attempt`], one instance for one attempt at one resource. A [`Provider`] is the same
//! for a component behind a type, which an attempt of the type reaches as its [`backend`].
//! The engine does not decide order, policy or what an answer means for a run.

mod bindings;
mod cache;
mod clock;
mod compiler;
mod convert;
mod definition;
mod error;
mod fault;
mod footprint;
mod lifecycle;
mod limits;
mod module;
mod provider;
mod purity;
mod registration;
mod session;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use compiler::{CompileLimits, Compiler, compiler};
pub use definition::{
    AssetRequest, AssetSource, Child, Compiled, DEFINITION_MEMORY_BYTES, DerivedEdge, ParameterError, Parameters, Peer, Peers,
    Validated, on_large_stack,
};
pub use error::{CallError, DefinitionError, Diagnostic, EngineError, Fault};
pub use footprint::Footprint;
pub use lifecycle::{
    Attempt, AttemptError, AttemptLimits, CheckResult, Conflict, ContentChange, GuestChange, Interrupted, LifecycleError, Needed,
    OperationReason, Outcome, Prior, Reading, Reason, Safety, Verification,
};
pub use module::{Loaded, MAX_COMPONENT_BYTES, Module};
pub use provider::{BackendSetup, CompiledOptions, Provider, ValidatedOptions, backend};
pub use session::{RecordedState, Session, TestedState};
pub use watch::{MemoryWatch, watch_memories};

/// Stack of a guest, in bytes.
pub(crate) const WASM_STACK_BYTES: usize = 512 << 10;

/// Stack of a fiber: the guest's and the host functions' that it calls.
const ASYNC_STACK_BYTES: usize = 2 << 20;

/// How an engine works. The default is what a run uses.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Folder for compiled code; none compiles each time.
    pub cache: Option<PathBuf>,
    /// The longest a definition call may take. It ends guests that hang, and never decides a result.
    pub definition_deadline: Duration,
    /// Where components that are not built in are compiled.
    pub compiler: Compiler,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { cache: None, definition_deadline: Duration::from_secs(10), compiler: Compiler::default() }
    }
}

/// Compiles and runs components.
#[derive(Clone)]
pub struct Engine {
    wasmtime: wasmtime::Engine,
    cache: Option<Arc<cache::CodeCache>>,
    definition_deadline: Duration,
    compiler: Compiler,
}

impl Engine {
    /// Starts the engine and its clock. A cache folder that others could write is not used.
    ///
    /// # Errors
    /// If wasmtime or the clock's thread does not start.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let wasmtime = wasmtime::Engine::new(&configuration()).map_err(EngineError::Start)?;
        clock::start_ticking(wasmtime.weak()).map_err(|error| EngineError::Start(error.into()))?;
        let cache = options.cache.and_then(|folder| cache::CodeCache::open(&folder, &wasmtime)).map(Arc::new);
        Ok(Self { wasmtime, cache, definition_deadline: options.definition_deadline, compiler: options.compiler })
    }
}

/// One configuration for both kinds of call, chosen so that a definition gives the same bytes everywhere.
fn configuration() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    config
        .epoch_interruption(true)
        .concurrency_support(false)
        .cranelift_nan_canonicalization(true)
        .wasm_relaxed_simd(false)
        .wasm_memory64(false)
        .max_wasm_stack(WASM_STACK_BYTES)
        .async_stack_size(ASYNC_STACK_BYTES);
    watch::apply(&mut config);
    config
}
