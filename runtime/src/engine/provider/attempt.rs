//! A provider at work for one attempt at one resource, called by the attempt's own host functions.
//!
//! Its instance is made when it is first called and lives as long as the attempt. It is not entered again after a trap or a limit, which end the
//! whole attempt and are named with the provider.

use std::pin::Pin;
use std::time::{Duration, Instant};

use host_functions::HostContext;
use host_functions::backends::{Backend, BackendAnswer, BackendCall, Circumstances, MAX_STATE_BYTES, Reply, Selected};
use wasmtime::Store;

use super::bindings::exports::runtime::module::backend::Context;
use super::{Instance, Provider};
use crate::engine::error::{CallError, Fault};
use crate::engine::lifecycle::{AttemptLimits, LifecycleState, new_store};
use crate::engine::{clock, fault};

/// What a provider works with at one resource.
pub struct BackendSetup {
    /// The provider.
    pub provider: Provider,
    /// Its options, canonical JSON.
    pub options: String,
    /// The host's side of its calls, with its own rights.
    pub host: HostContext,
    /// Its memory, and how long it may take at most.
    pub limits: AttemptLimits,
}

/// The provider for the host functions of the type's attempt. Nothing of it runs yet.
pub fn backend(setup: BackendSetup) -> Box<dyn Backend> {
    let BackendSetup { provider, options, host, limits } = setup;
    Box::new(Work { provider, options, limits, stage: Stage::New(Box::new(host)) })
}

struct Work {
    provider: Provider,
    options: String,
    limits: AttemptLimits,
    stage: Stage,
}

/// How far it has come.
enum Stage {
    New(Box<HostContext>),
    Running(Box<Running>),
    /// It failed before it ran.
    Over,
}

struct Running {
    store: Store<LifecycleState>,
    guest: Instance,
    started: Instant,
    limit: Duration,
    over: bool,
}

impl Backend for Work {
    fn selected(&self) -> Selected {
        let description = self.provider.description();
        Selected { name: description.name.to_string(), schema_version: description.schema_version }
    }

    fn call<'a>(
        &'a mut self,
        call: BackendCall,
        circumstances: Circumstances,
    ) -> Pin<Box<dyn Future<Output = BackendAnswer> + Send + 'a>> {
        Box::pin(self.answer(call, circumstances))
    }

    fn context(&mut self) -> Option<&mut HostContext> {
        match &mut self.stage {
            Stage::New(host) => Some(host),
            Stage::Running(running) => Some(running.store.data_mut().host_mut()),
            Stage::Over => None,
        }
    }

    fn put_off(&mut self, by: Duration) {
        if let Some(host) = self.context() {
            host.set_deadline(host.deadline() + by);
        }
        if let Stage::Running(running) = &mut self.stage {
            running.started += by;
            let deadline = running.store.data_mut().host_mut().deadline();
            clock::hold_to(&mut running.store, deadline);
        }
    }
}

impl Work {
    async fn answer(&mut self, call: BackendCall, circumstances: Circumstances) -> BackendAnswer {
        let function = name(&call);
        self.start(function, &circumstances).await?;
        let Stage::Running(running) = &mut self.stage else { return Err(self.ended(function, gone())) };
        if running.over {
            return Err(self.ended(function, gone()));
        }
        let left = circumstances.deadline.saturating_duration_since(Instant::now());
        let context = Context {
            remaining_ms: u64::try_from(left.as_millis()).unwrap_or(u64::MAX),
            staging_name: circumstances.staging.as_ref().map(|name| name.as_str().to_owned()),
        };
        running.store.data_mut().host_mut().set_circumstances(circumstances);
        let answer = running.call(call, &self.options, &context).await;
        let fault = match answer {
            Ok(Ok(Reply::State(text))) if text.len() > MAX_STATE_BYTES => {
                Fault::Answer { message: format!("a state of {} bytes, more than {MAX_STATE_BYTES}", text.len()) }
            }
            Ok(reply) => return Ok(reply),
            Err(error) => {
                let exceeded = running.store.data().exceeded();
                fault::classify(&error, exceeded, running.started, running.limit)
            }
        };
        running.over = true;
        Err(self.ended(function, fault))
    }

    /// Makes the instance, if there is none yet.
    async fn start(&mut self, function: &'static str, circumstances: &Circumstances) -> wasmtime::Result<()> {
        if !matches!(self.stage, Stage::New(_)) {
            return Ok(());
        }
        let Stage::New(host) = std::mem::replace(&mut self.stage, Stage::Over) else { return Ok(()) };
        let (started, limit) = (Instant::now(), self.limits.deadline);
        let mut store = new_store(self.provider.wasmtime(), *host, self.limits.memory_bytes);
        clock::hold_to(&mut store, circumstances.deadline.min(started + limit));
        match self.provider.instantiate(&mut store).await {
            Ok(guest) => {
                self.stage = Stage::Running(Box::new(Running { store, guest, started, limit, over: false }));
                Ok(())
            }
            Err(error) => {
                let exceeded = store.data().exceeded();
                let fault = fault::classify(&error, exceeded, started, limit);
                Err(self.ended(function, fault))
            }
        }
    }

    /// What ends the attempt: it comes out of the type's guest as it is, and names the provider.
    fn ended(&self, function: &'static str, fault: Fault) -> wasmtime::Error {
        wasmtime::Error::new(CallError { module: self.provider.module_name().to_string(), function, fault })
    }
}

impl Running {
    async fn call(&mut self, call: BackendCall, options: &String, context: &Context) -> BackendAnswer {
        let Self { store, guest, .. } = self;
        let guest = guest.runtime_module_backend();
        Ok(match call {
            BackendCall::Inspect { desired } => guest.call_inspect(store, &desired, options, context).await?.map(Reply::State),
            BackendCall::Read { desired } => guest.call_read(store, &desired, options, context).await?.map(Reply::State),
            BackendCall::Apply { desired, current } => {
                guest.call_apply(store, &desired, options, &current, context).await?.map(Reply::Outcome)
            }
            BackendCall::Refresh { desired } => guest.call_refresh(store, &desired, options, context).await?.map(Reply::Outcome),
            BackendCall::Perform { action, desired } => {
                guest.call_perform(store, &action, &desired, options, context).await?.map(Reply::Outcome)
            }
            BackendCall::Recover { desired, operation } => {
                guest.call_recover_interrupted(store, &desired, options, &operation, context).await?.map(|()| Reply::Recovered)
            }
        })
    }
}

/// The function of the contract that a call goes to.
fn name(call: &BackendCall) -> &'static str {
    match call {
        BackendCall::Inspect { .. } => "inspect",
        BackendCall::Read { .. } => "read",
        BackendCall::Apply { .. } => "apply",
        BackendCall::Refresh { .. } => "refresh",
        BackendCall::Perform { .. } => "perform",
        BackendCall::Recover { .. } => "recover-interrupted",
    }
}

fn gone() -> Fault {
    Fault::Answer { message: "the instance has failed and is not used again".into() }
}
