//! The provider behind a resource type: how the type's calls get there, and what comes back.
//!
//! The provider is a component of its own, which the engine runs; here is what lets a call through to it and what is kept of it. Its own host
//! calls are held against its own rights in a [`HostContext`] of its own, which the engine makes; what that was denied and what it changed then
//! count for the attempt as a whole. Which provider it is was settled before the attempt began.

mod host;
pub(crate) mod policy;

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::bindings::runtime::host::backend_types::{BackendError, Interrupted, Outcome};
use crate::context::HostContext;
use crate::gate::IntentGate;
use crate::node::staging::StagingName;
use crate::phase::Phase;

/// The largest state that passes between a type and its provider, in bytes of JSON.
pub const MAX_STATE_BYTES: usize = 4 << 20;

/// The selected provider, as its type sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// Its name: `apt`.
    pub name: String,
    /// The version of its options.
    pub schema_version: u32,
}

/// A call of the type, with texts that are canonical JSON if the type keeps to the contract.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "each variant and field is named after its function and parameter in the WIT")]
pub enum BackendCall {
    Inspect { desired: String },
    Read { desired: String },
    Apply { desired: String, current: String },
    Refresh { desired: String },
    Perform { action: String, desired: String },
    Recover { desired: String, operation: Interrupted },
}

/// What a provider answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// Canonical JSON, of `inspect` and `read`.
    State(String),
    /// Of everything that changes something.
    Outcome(Outcome),
    /// It is safe to go on.
    Recovered,
}

/// Where the attempt stands when it calls its provider: the provider's own calls are held against the same.
#[derive(Clone)]
pub struct Circumstances {
    /// The phase.
    pub phase: Phase,
    /// The intent.
    pub gate: Arc<dyn IntentGate>,
    /// The name recorded for what this operation stages.
    pub staging: Option<StagingName>,
    /// When the attempt ends.
    pub deadline: Instant,
}

/// The answer of a provider. The outer error ends the attempt: the provider trapped, or met a limit.
pub type BackendAnswer = wasmtime::Result<Result<Reply, BackendError>>;

/// A provider at work for one attempt. The engine implements it.
pub trait Backend: Send {
    /// Which provider it is.
    fn selected(&self) -> Selected;

    /// Calls it.
    fn call<'a>(
        &'a mut self,
        call: BackendCall,
        circumstances: Circumstances,
    ) -> Pin<Box<dyn Future<Output = BackendAnswer> + Send + 'a>>;

    /// The host's side of its own calls, once it has been called.
    fn context(&mut self) -> Option<&mut HostContext>;

    /// Moves its deadline: so much time was spent on something that is not the attempt's own.
    fn put_off(&mut self, by: Duration);
}
