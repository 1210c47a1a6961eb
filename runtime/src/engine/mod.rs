//! Runs components: the one place, beside host-functions, that knows wasmtime (I2).
//!
//! A [`Module`] is a loaded component with what it says about its resource type. Its pure half is called directly
//! ([`Module::compile`] and the rest); its other half through an [`Attempt`], one instance for one attempt at one resource. A [`Provider`] is the same
//! for a component behind a type, which an attempt of the type reaches as its [`backend`].
//! The engine does not decide order, policy or what an answer means for a run.

mod agreed;
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
mod pool;
mod provider;
mod purity;
mod registration;
mod session;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use self::pool::PutBack;

pub use agreed::Agreement;
pub use compiler::{CompileLimits, Compiler, compiler};
pub use convert::canonical_json;
pub use definition::{
    AssetRequest, AssetSource, Child, Compiled, DEFINITION_MEMORY_BYTES, DerivedEdge, ParameterError, Parameters, Peer, Peers,
    Validated, of_each_on_large_stacks, on_large_stack,
};
pub use error::{CallError, DefinitionError, Diagnostic, EngineError, Fault};
pub use footprint::Footprint;
pub use lifecycle::{
    Attempt, AttemptError, AttemptLimits, CheckResult, Conflict, ContentChange, GuestChange, Interrupted, LifecycleError, Needed,
    OperationReason, Outcome, Prior, Reading, Reason, Safety, Verification,
};
pub use module::{Loaded, MAX_COMPONENT_BYTES, Module};
pub use pool::MAX_ATTEMPTS;
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
    /// The most attempts that are under way at once, up to [`MAX_ATTEMPTS`].
    pub attempts: usize,
    /// Whether what was found to agree is kept in the cache. A run that leaves no trace only reads there.
    pub keeps_agreements: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            cache: None,
            definition_deadline: Duration::from_secs(10),
            compiler: Compiler::default(),
            attempts: 1,
            keeps_agreements: false,
        }
    }
}

/// Compiles and runs components.
#[derive(Clone)]
pub struct Engine {
    wasmtime: wasmtime::Engine,
    cache: Option<Arc<cache::CodeCache>>,
    agreed: Option<Arc<agreed::Agreed>>,
    keeps_agreements: bool,
    definition_deadline: Duration,
    compiler: Compiler,
}

impl Engine {
    /// Starts the engine and its clock. A cache folder that others could write is not used.
    ///
    /// # Errors
    /// If wasmtime or the clock's thread does not start.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let wasmtime = start(options.attempts).map_err(EngineError::Start)?;
        clock::start_ticking(wasmtime.weak()).map_err(|error| EngineError::Start(error.into()))?;
        let cache = options.cache.as_deref().and_then(|folder| cache::CodeCache::open(folder, &wasmtime)).map(Arc::new);
        let agreed = cache.as_ref().and_then(|cache| agreed::Agreed::open(cache.folder(), &wasmtime)).map(Arc::new);
        let EngineOptions { definition_deadline, compiler, keeps_agreements, .. } = options;
        Ok(Self { wasmtime, cache, agreed, keeps_agreements, definition_deadline, compiler })
    }

    /// Whether instances live in slots: not where the system does not give the addresses that slots take, which is slower and changes nothing else.
    #[cfg(test)]
    pub(crate) fn has_slots(&self) -> bool {
        self.wasmtime.pooling_allocator_metrics().is_some()
    }

    /// Has `recompute` find out whether a catalog and its components agree, unless it was found on this node before that they do.
    ///
    /// # Errors
    /// Those of `recompute`.
    pub fn once_agreed<E>(&self, agreement: &Agreement, recompute: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        if self.agreed.as_ref().is_some_and(|agreed| agreed.has(agreement)) {
            return Ok(());
        }
        recompute()?;
        if let Some(agreed) = self.agreed.as_ref().filter(|_| self.keeps_agreements) {
            agreed.note(agreement);
        }
        Ok(())
    }
}

/// With slots for instances, as good as the system has them; without where it does not give the addresses that they take.
fn start(attempts: usize) -> wasmtime::Result<wasmtime::Engine> {
    let mut config = configuration();
    if watch::apply(&mut config) {
        return wasmtime::Engine::new(&config);
    }
    for put_back in [PutBack::ByHand, PutBack::BySystem] {
        pool::apply(&mut config, attempts, put_back);
        match (wasmtime::Engine::new(&config), put_back) {
            (Ok(engine), _) => return Ok(engine),
            (Err(error), PutBack::ByHand) => tracing::debug!(%error, "slots cannot be put back by hand"),
            (Err(error), PutBack::BySystem) => {
                tracing::warn!(%error, attempts, "instances have no slots: the run is slower, and the same otherwise");
            }
        }
    }
    wasmtime::Engine::new(&configuration())
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
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::digest::BundleDigest;

    #[test]
    fn what_agreed_is_not_asked_again_where_it_is_kept_and_a_refusal_always_is() {
        let folder = tempfile::tempdir().unwrap();
        let engine = |cache: bool, keeps_agreements| {
            let cache = cache.then(|| folder.path().join("cache"));
            Engine::new(EngineOptions { cache, keeps_agreements, ..EngineOptions::default() }).unwrap()
        };
        let agreement = Agreement::new(BundleDigest::of(b"bundle"), []);
        let asks = |engine: &Engine, answer: Result<(), ()>| {
            let mut asked = false;
            let given = engine.once_agreed(&agreement, || {
                asked = true;
                answer
            });
            (asked, given)
        };
        let (run, plan, without) = (engine(true, true), engine(true, false), engine(false, true));
        assert_eq!(asks(&run, Err(())), (true, Err(())));
        assert_eq!(asks(&plan, Ok(())), (true, Ok(())), "a refusal is not kept");
        assert_eq!(asks(&run, Ok(())), (true, Ok(())), "a plan keeps nothing");
        for known in [&run, &plan, &engine(true, true)] {
            assert_eq!(asks(known, Err(())), (false, Ok(())));
        }
        assert_eq!(asks(&without, Ok(())), (true, Ok(())));
        assert_eq!(asks(&without, Ok(())), (true, Ok(())), "without a cache it is asked each time");
    }
}
