//! The functions of `backends`: each is authorised, and goes to the provider.

use super::{BackendCall, Circumstances, MAX_STATE_BYTES, Reply};
use crate::bindings::runtime::host::backend_types::{self, BackendError, Complaint, EffectClass, Failure, Interrupted, Outcome};
use crate::bindings::runtime::host::backends;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::{CallError, MAX_ERROR_TEXT};
use crate::text::cut;

type Answer<T> = wasmtime::Result<Result<T, BackendError>>;

impl backend_types::Host for HostContext {}

impl backends::Host for HostContext {
    async fn selected(&mut self) -> Result<backends::Provider, CallError> {
        self.authorize(&HostCall::BackendsSelected)?;
        let backend = self.backend().ok_or_else(|| CallError::Other("the provider is at work".to_owned()))?;
        let super::Selected { name, schema_version } = backend.selected();
        Ok(backends::Provider { name, schema_version })
    }

    async fn inspect(&mut self, desired: String) -> Answer<String> {
        self.state(HostCall::BackendsInspect, BackendCall::Inspect { desired }).await
    }

    async fn read(&mut self, desired: String) -> Answer<String> {
        self.state(HostCall::BackendsRead, BackendCall::Read { desired }).await
    }

    async fn apply(&mut self, desired: String, current: String) -> Answer<Outcome> {
        self.outcome(HostCall::BackendsApply, BackendCall::Apply { desired, current }).await
    }

    async fn refresh(&mut self, desired: String) -> Answer<Outcome> {
        self.outcome(HostCall::BackendsRefresh, BackendCall::Refresh { desired }).await
    }

    async fn perform(&mut self, action: String, desired: String) -> Answer<Outcome> {
        let call = HostCall::BackendsPerform { action: action.clone() };
        self.outcome(call, BackendCall::Perform { action, desired }).await
    }

    async fn recover(&mut self, desired: String, operation: Interrupted) -> Answer<()> {
        let answer = self.call_backend(&HostCall::BackendsRecover, BackendCall::Recover { desired, operation }).await?;
        Ok(answer.map(drop))
    }
}

impl HostContext {
    async fn state(&mut self, call: HostCall, forwarded: BackendCall) -> Answer<String> {
        match self.call_backend(&call, forwarded).await? {
            Ok(Reply::State(text)) => Ok(Ok(text)),
            Ok(_) => Err(wasmtime::Error::msg("the provider answered another function")),
            Err(error) => Ok(Err(error)),
        }
    }

    async fn outcome(&mut self, call: HostCall, forwarded: BackendCall) -> Answer<Outcome> {
        match self.call_backend(&call, forwarded).await? {
            Ok(Reply::Outcome(outcome)) => Ok(Ok(outcome)),
            Ok(_) => Err(wasmtime::Error::msg("the provider answered another function")),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Lets a call through to the provider, and takes over what the provider's own calls left behind, however it ended.
    async fn call_backend(&mut self, call: &HostCall, forwarded: BackendCall) -> Answer<Reply> {
        if let Err(error) = self.authorize(call).and_then(|()| check_size(&forwarded)) {
            return refused(error).map(Err);
        }
        let circumstances =
            Circumstances { phase: self.phase(), gate: self.gate(), staging: self.staging().cloned(), deadline: self.deadline() };
        let Some(mut backend) = self.take_backend() else {
            return refused(CallError::Other("the provider is at work".to_owned())).map(Err);
        };
        let answer = backend.call(forwarded, circumstances).await;
        if let Some(own) = backend.context() {
            self.absorb(own);
        }
        self.set_backend(backend);
        answer
    }
}

fn check_size(call: &BackendCall) -> Result<(), CallError> {
    let texts = match call {
        BackendCall::Inspect { desired } | BackendCall::Read { desired } | BackendCall::Refresh { desired } => [desired, ""],
        BackendCall::Apply { desired, current } => [desired, current.as_str()],
        BackendCall::Perform { action, desired } => [action, desired.as_str()],
        BackendCall::Recover { desired, operation } => [desired, operation.staging_name.as_str()],
    };
    match texts.into_iter().find(|text| text.len() > MAX_STATE_BYTES) {
        Some(text) => Err(CallError::TooLarge(format!("a state of {} bytes, more than {MAX_STATE_BYTES}", text.len()))),
        None => Ok(()),
    }
}

/// A call that was not let through, as the type sees it: nothing has changed.
fn refused(error: CallError) -> wasmtime::Result<BackendError> {
    if let CallError::Trap(error) = error {
        return Err(error);
    }
    let denied = matches!(error, CallError::Denied(_));
    let complaint = Complaint { attribute: None, message: cut(error.to_string(), MAX_ERROR_TEXT), hint: None };
    let failure = Failure { effect_class: EffectClass::BeforeChange, complaint };
    Ok(if denied { BackendError::Denied(failure) } else { BackendError::Failed(failure) })
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::super::{Backend, BackendAnswer, Selected};
    use super::*;
    use crate::phase::Phase;
    use crate::rights::{Module, Rights};
    use crate::testing::{Attempt, STAGING, TestAssets, all_rights, attempt_on, effect};
    use backends::Host as _;

    /// A provider that writes a file with rights of its own, where it is told to apply.
    struct Writer {
        own: HostContext,
        path: &'static str,
    }

    impl Backend for Writer {
        fn selected(&self) -> Selected {
            Selected { name: "writer".into(), schema_version: 2 }
        }

        fn call<'a>(
            &'a mut self,
            call: BackendCall,
            circumstances: Circumstances,
        ) -> Pin<Box<dyn Future<Output = BackendAnswer> + Send + 'a>> {
            self.own.set_circumstances(circumstances);
            let reply = match call {
                BackendCall::Read { desired } => Reply::State(desired),
                _ => {
                    let written = crate::testing::put_at(&mut self.own, self.path);
                    let output = Some(written.map_or_else(|error| error.to_string(), |()| "written".to_owned()));
                    Reply::Outcome(Outcome { executed: false, handled_refresh: false, output })
                }
            };
            Box::pin(std::future::ready(Ok(Ok(reply))))
        }

        fn context(&mut self) -> Option<&mut HostContext> {
            Some(&mut self.own)
        }

        fn put_off(&mut self, by: Duration) {
            self.own.set_deadline(self.own.deadline() + by);
        }
    }

    fn attempt(path: &'static str) -> Attempt {
        let rights = Rights { provider: Some("writer".into()), ..all_rights("thing.a") };
        let mut attempt = Attempt::with(rights);
        let module = Module { name: "thing_writer".into(), digest: "sha256:x".into() };
        let rights = Rights {
            module,
            effects: vec![effect("/srv", &["read", "write"]), effect("/etc", &["read"])],
            ..all_rights("thing.a")
        };
        let node = Arc::clone(attempt.context.node());
        let own = attempt_on(node, rights, Arc::new(TestAssets::default()), attempt.gate.clone());
        attempt.context.set_backend(Box::new(Writer { own, path }));
        attempt
    }

    /// Nothing here waits for anything.
    fn now<T>(future: impl Future<Output = T>) -> T {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(future).poll(&mut context) {
            std::task::Poll::Ready(value) => value,
            std::task::Poll::Pending => panic!("it waits"),
        }
    }

    #[test]
    fn a_provider_works_within_its_own_rights_and_what_it_did_counts_for_the_attempt() {
        let mut attempt = attempt("/srv");
        let output = now(attempt.context.apply("{}".into(), "{}".into())).unwrap().unwrap().output;
        assert_eq!(output.as_deref(), Some("written"));
        assert!(attempt.context.let_change_through(), "the provider's change is the attempt's");
        assert!(attempt.host("/srv").exists());
        let (records, _) = attempt.context.node().audit().snapshot();
        let commit = records.iter().find(|record| record.call == "files.staged.commit").unwrap();
        assert_eq!((commit.resource.as_str(), commit.module.as_str()), ("thing.a", "thing_writer"));
    }

    #[test]
    fn what_a_provider_is_denied_is_denied_to_the_attempt() {
        let mut attempt = attempt("/etc");
        let output = now(attempt.context.apply("{}".into(), "{}".into())).unwrap().unwrap().output.unwrap();
        assert!(output.contains("the resource's effects do not name it"), "{output}");
        let denial = attempt.context.denied_change().expect("it counts");
        assert_eq!(denial.call, "files.object.stage");
        assert!(!attempt.host("/etc").exists());
    }

    #[test]
    fn a_provider_is_in_the_phase_and_under_the_intent_of_its_type() {
        let mut attempt = attempt("/srv");
        attempt.context.set_phase(Phase::Check);
        assert!(matches!(now(attempt.context.apply("{}".into(), "{}".into())).unwrap(), Err(BackendError::Denied(_))));
        assert_eq!(now(attempt.context.read("{}".into())).unwrap().unwrap(), "{}");
        attempt.context.set_phase(Phase::Inspect);
        assert!(matches!(now(attempt.context.read("{}".into())).unwrap(), Err(BackendError::Denied(_))));
        attempt.context.set_phase(Phase::Apply);
        attempt.gate.0.store(false, Ordering::SeqCst);
        assert!(matches!(now(attempt.context.refresh("{}".into())).unwrap(), Err(BackendError::Denied(_))), "no intent");
        let operation = Interrupted { staging_name: STAGING.into(), reason: backend_types::OperationReason::Converge };
        assert!(matches!(now(attempt.context.recover("{}".into(), operation)).unwrap(), Err(BackendError::Denied(_))));
    }

    #[test]
    fn a_state_is_capped_before_it_goes_anywhere() {
        let mut attempt = attempt("/srv");
        let huge = "x".repeat(MAX_STATE_BYTES + 1);
        let Err(BackendError::Failed(failure)) = now(attempt.context.read(huge)).unwrap() else { panic!() };
        assert!(failure.complaint.message.contains("more than 4194304"), "{}", failure.complaint.message);
        let (_, provider) = (now(attempt.context.read("{}".into())), now(attempt.context.selected()).unwrap());
        assert_eq!((provider.name.as_str(), provider.schema_version), ("writer", 2));
        assert!(matches!(attempt.context.take_backend().unwrap().context().map(|own| own.phase()), Some(Phase::Apply)));
        let answer: Result<Arc<str>, _> = now(attempt.context.read("{}".into())).unwrap().map(Into::into);
        assert!(matches!(answer, Err(BackendError::Failed(_))), "it is not entered twice");
    }
}
