//! What a failed call means: how the resource ends, and how its intent does. Pure.
//!
//! A module says what its failure left behind, and may be wrong or lie. The host knows whether it let any change through, so that
//! decides what the module's word is worth.

use crate::engine::{AttemptError, CallError, GuestChange, LifecycleError};
use crate::model::report::{EffectClass, Failure, Outcome, Phase};

/// How a resource ends after a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict {
    /// [`Outcome::Failed`] or [`Outcome::Refused`].
    pub(super) outcome: Outcome,
    /// For the report.
    pub(super) failure: Failure,
}

/// What the host saw of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Seen {
    /// Whether a host call that changes the node was let through.
    pub(super) changed: bool,
    /// The last denial, in words with the row that would allow it.
    pub(super) denial: Option<Denial>,
}

/// A host call that was denied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Denial {
    /// What was denied, and by which rule.
    pub(super) message: String,
    /// What would allow it.
    pub(super) hint: Option<String>,
}

/// The verdict on a call that gave no answer.
pub(super) fn of_error(module: &str, phase: Phase, error: AttemptError, seen: &Seen) -> Verdict {
    match error {
        AttemptError::Call(error) => of_call(module, phase, error, seen),
        AttemptError::Module(error) => of_module(module, phase, error, seen),
    }
}

/// The verdict on an attempt in which a change was denied and the module took no notice: what it says after that is not believed.
pub(super) fn of_denial(module: &str, phase: Phase, seen: &Seen) -> Verdict {
    with_denial(refused(module, phase, "a host call that changes the node was denied".into(), None, seen), seen)
}

/// The verdict on an attempt that broke a rule without an error of its own.
pub(super) fn refused(module: &str, phase: Phase, message: String, hint: Option<String>, seen: &Seen) -> Verdict {
    let effect = effect(EffectClass::BeforeChange, seen.changed);
    let failure = Failure { module: module.into(), phase, effect, attribute: None, message, hint, limit: None };
    Verdict { outcome: Outcome::Refused, failure }
}

/// The verdict on a check that asks for a shared action that it may not ask for. Going on without would be a change that the module did not
/// plan.
pub(super) fn no_such_action(module: &str, action: &str, why: &str) -> Verdict {
    let failure = Failure {
        module: module.into(),
        phase: Phase::Check,
        effect: EffectClass::BeforeChange,
        attribute: None,
        message: format!("it asks for the shared action `{action}` first, {why}"),
        hint: Some("this is a defect of the module".into()),
        limit: None,
    };
    Verdict { outcome: Outcome::Failed, failure }
}

/// The verdict on a refresh after which the object is not as desired.
pub(super) fn not_as_desired(module: &str, changes: &[GuestChange]) -> Verdict {
    let mut verdict = not_converged(module, changes);
    let reasons: Vec<&str> = changes.iter().map(|change| change.reason.as_str()).collect();
    verdict.failure.message = format!("it was refreshed and is no longer as desired: {}", reasons.join("; "));
    verdict
}

/// The verdict on a change after which the object still differs.
pub(super) fn not_converged(module: &str, changes: &[GuestChange]) -> Verdict {
    let attributes: Vec<&str> = changes.iter().map(|change| change.attribute.as_str()).collect();
    let reasons: Vec<&str> = changes.iter().map(|change| change.reason.as_str()).collect();
    let failure = Failure {
        module: module.into(),
        phase: Phase::Verify,
        effect: EffectClass::PartialChange,
        attribute: attributes.first().map(ToString::to_string),
        message: format!("it was applied and still differs in {}: {}", attributes.join(", "), reasons.join("; ")),
        hint: Some(
            "what was done does not bring that about, or something else undid it meanwhile; the next run tries again".into(),
        ),
        limit: None,
    };
    Verdict { outcome: Outcome::Failed, failure }
}

fn of_call(module: &str, phase: Phase, error: CallError, seen: &Seen) -> Verdict {
    let failure = Failure {
        module: module.into(),
        phase,
        effect: effect(EffectClass::UnknownOutcome, seen.changed),
        attribute: None,
        message: error.to_string(),
        hint: error.fault.hint(),
        limit: error.fault.limit(),
    };
    with_denial(Verdict { outcome: Outcome::Failed, failure }, seen)
}

fn of_module(module: &str, phase: Phase, error: LifecycleError, seen: &Seen) -> Verdict {
    let failure = Failure {
        module: module.into(),
        phase,
        effect: effect(error.effect, seen.changed),
        attribute: error.diagnostic.attribute,
        message: error.diagnostic.message,
        hint: error.diagnostic.hint,
        limit: None,
    };
    let verdict = Verdict { outcome: Outcome::Failed, failure };
    if error.denied { with_denial(verdict, seen) } else { verdict }
}

/// A failure that follows a denial is a refusal, told in the host's words.
fn with_denial(mut verdict: Verdict, seen: &Seen) -> Verdict {
    if let Some(denial) = &seen.denial {
        verdict.outcome = Outcome::Refused;
        verdict.failure.message.clone_from(&denial.message);
        verdict.failure.hint.clone_from(&denial.hint);
    }
    verdict
}

/// What was really left behind: nothing, where the host let no change through; and not nothing, where it did.
fn effect(said: EffectClass, changed: bool) -> EffectClass {
    match (changed, said) {
        (false, _) => EffectClass::BeforeChange,
        (true, EffectClass::BeforeChange) => EffectClass::PartialChangeUnknown,
        (true, said) => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Diagnostic, Fault};

    fn module_error(effect: EffectClass, denied: bool) -> AttemptError {
        let diagnostic = Diagnostic { attribute: Some("mode".into()), message: "no".into(), hint: None };
        AttemptError::Module(LifecycleError { effect, diagnostic, denied, unsupported: false })
    }

    #[test]
    fn the_host_decides_what_was_left_behind() {
        let verdict = |said, changed| {
            let seen = Seen { changed, denial: None };
            of_error("file", Phase::Apply, module_error(said, false), &seen).failure.effect
        };
        assert_eq!(verdict(EffectClass::BeforeChange, true), EffectClass::PartialChangeUnknown);
        assert_eq!(verdict(EffectClass::PartialChange, true), EffectClass::PartialChange);
        assert_eq!(verdict(EffectClass::UnknownOutcome, false), EffectClass::BeforeChange);
    }

    #[test]
    fn a_denial_turns_a_failure_into_a_refusal_with_its_row() {
        let denial = Denial { message: "denied".into(), hint: Some("row".into()) };
        let seen = Seen { changed: false, denial: Some(denial) };
        let verdict = of_error("file", Phase::Apply, module_error(EffectClass::BeforeChange, true), &seen);
        assert_eq!((verdict.outcome, verdict.failure.hint.as_deref()), (Outcome::Refused, Some("row")));
        let trap = CallError { module: "file".into(), function: "check", fault: Fault::Stack };
        let verdict = of_error("file", Phase::Check, AttemptError::Call(trap), &seen);
        assert_eq!(verdict.outcome, Outcome::Refused);
    }

    #[test]
    fn a_change_that_did_not_take_is_not_put_down_to_others_alone() {
        let reason = "the command has run, and nothing is at `/a`".to_owned();
        let change = GuestChange { attribute: "creates".into(), before: None, after: None, reason, content: None };
        let failure = not_converged("exec", &[change]).failure;
        assert_eq!(failure.message, "it was applied and still differs in creates: the command has run, and nothing is at `/a`");
        assert!(failure.hint.unwrap().starts_with("what was done does not bring that about, or"));
    }

    #[test]
    fn a_limit_is_named() {
        let fault = Fault::Deadline { limit_ms: 50 };
        let error = AttemptError::Call(CallError { module: "file".into(), function: "check", fault });
        let verdict = of_error("file", Phase::Check, error, &Seen::default());
        assert_eq!(verdict.failure.limit.as_deref(), Some("deadline 50ms"));
        assert_eq!(verdict.outcome, Outcome::Failed);
    }
}
