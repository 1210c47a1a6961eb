//! How a resource type calls the provider that the node selected for it.
//!
//! The type says what `D` (its desired state) and `O` (what a provider observes) are; a provider of it reads and gives the same shapes. A
//! failure of the provider is a failure of the type's own, with what it left behind, so `?` hands it on.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bindings::runtime::host::backend_types::{
    BackendError, Complaint, EffectClass as WitEffectClass, Failure as WitFailure, Interrupted,
    OperationReason as WitOperationReason, Outcome as WitOutcome,
};
use crate::bindings::runtime::host::backends;
use crate::node::{HostCall as _, NodeResult, unchanged};
use crate::{Diagnostic, EffectClass, Failure, InterruptedOperation, LifecycleError, OperationReason, Outcome, json};

pub use crate::bindings::runtime::host::backends::Provider as Selected;

/// Which provider it is.
pub fn selected() -> NodeResult<Selected> {
    backends::selected().before_change("tell which provider was selected")
}

/// What the node alone can tell of the object's identity. For [`StateType::inspect`](crate::StateType::inspect).
pub fn inspect<O: DeserializeOwned>(desired: &(impl Serialize + ?Sized)) -> NodeResult<O> {
    observation(backends::inspect(&json::canonical(desired)?))
}

/// What is there.
pub fn read<O: DeserializeOwned>(desired: &(impl Serialize + ?Sized)) -> NodeResult<O> {
    observation(backends::read(&json::canonical(desired)?))
}

/// Brings `desired` about, starting from what [`read`] gave.
pub fn apply(desired: &(impl Serialize + ?Sized), current: &(impl Serialize + ?Sized)) -> NodeResult<Outcome> {
    outcome(backends::apply(&json::canonical(desired)?, &json::canonical(current)?))
}

/// Does what a changed subscription asks for.
pub fn refresh(desired: &(impl Serialize + ?Sized)) -> NodeResult<Outcome> {
    outcome(backends::refresh(&json::canonical(desired)?))
}

/// Does a shared action, by its key.
pub fn perform(action: &str, desired: &(impl Serialize + ?Sized)) -> NodeResult<Outcome> {
    outcome(backends::perform(action, &json::canonical(desired)?))
}

/// Has the provider make it safe to go on after an interrupted operation. For [`StateType::recover`](crate::StateType::recover).
pub fn recover(desired: &(impl Serialize + ?Sized), operation: &InterruptedOperation) -> NodeResult<()> {
    let reason = match operation.reason {
        OperationReason::Converge => WitOperationReason::Converge,
        OperationReason::Refresh => WitOperationReason::Refresh,
    };
    let operation = Interrupted { staging_name: operation.staging_name.clone(), reason };
    backends::recover(&json::canonical(desired)?, &operation).map_err(heard)
}

fn observation<O: DeserializeOwned>(answer: Result<String, BackendError>) -> NodeResult<O> {
    let text = answer.map_err(heard)?;
    json::parse(&text).map_err(|error| unchanged(Diagnostic::new(format!("the provider's answer cannot be read: {error}"))))
}

fn outcome(answer: Result<WitOutcome, BackendError>) -> NodeResult<Outcome> {
    let WitOutcome { executed, handled_refresh, output } = answer.map_err(heard)?;
    Ok(Outcome { outputs: None, executed, handled_refresh, output })
}

/// A provider's failure, as the type's own.
fn heard(error: BackendError) -> LifecycleError {
    let diagnostic = |Complaint { attribute, message, hint }: Complaint| Diagnostic { attribute, message, hint };
    let failure = |WitFailure { effect_class, complaint }: WitFailure| {
        let effect_class = match effect_class {
            WitEffectClass::BeforeChange => EffectClass::BeforeChange,
            WitEffectClass::PartialChange => EffectClass::PartialChange,
            WitEffectClass::UnknownOutcome => EffectClass::UnknownOutcome,
            WitEffectClass::PartialChangeUnknown => EffectClass::PartialChangeUnknown,
        };
        Failure { effect_class, diagnostic: diagnostic(complaint) }
    };
    match error {
        BackendError::Denied(denied) => LifecycleError::Denied(failure(denied)),
        BackendError::Failed(failed) => LifecycleError::Failed(failure(failed)),
        BackendError::Unsupported(complaint) => LifecycleError::Unsupported(diagnostic(complaint)),
        BackendError::Other(text) => LifecycleError::Other(text),
    }
}

/// A failure on its way from a provider to its type.
pub(crate) fn told(error: LifecycleError) -> BackendError {
    let complaint = |Diagnostic { attribute, message, hint }: Diagnostic| Complaint { attribute, message, hint };
    let failure = |Failure { effect_class, diagnostic }: Failure| {
        let effect_class = match effect_class {
            EffectClass::BeforeChange => WitEffectClass::BeforeChange,
            EffectClass::PartialChange => WitEffectClass::PartialChange,
            EffectClass::UnknownOutcome => WitEffectClass::UnknownOutcome,
            EffectClass::PartialChangeUnknown => WitEffectClass::PartialChangeUnknown,
        };
        WitFailure { effect_class, complaint: complaint(diagnostic) }
    };
    match error {
        LifecycleError::Denied(denied) => BackendError::Denied(failure(denied)),
        LifecycleError::Failed(failed) => BackendError::Failed(failure(failed)),
        LifecycleError::Unsupported(diagnostic) => BackendError::Unsupported(complaint(diagnostic)),
        LifecycleError::Other(text) => BackendError::Other(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_crosses_from_a_provider_to_its_type_as_it_is() {
        let diagnostic = || Diagnostic { attribute: Some("version".into()), message: "no".into(), hint: Some("do".into()) };
        let failure = |effect_class| Failure { effect_class, diagnostic: diagnostic() };
        for error in [
            LifecycleError::Denied(failure(EffectClass::BeforeChange)),
            LifecycleError::Failed(failure(EffectClass::PartialChange)),
            LifecycleError::Failed(failure(EffectClass::UnknownOutcome)),
            LifecycleError::Failed(failure(EffectClass::PartialChangeUnknown)),
            LifecycleError::Unsupported(diagnostic()),
            LifecycleError::Other("else".into()),
        ] {
            assert_eq!(heard(told(error.clone())), error);
        }
    }
}
