//! Failures on the node: what was tried, what it left behind, and helpers that keep count.
//!
//! Every failure says how much may have happened, because the host decides by that whether trying again is safe.
//! [`HostCall::before_change`] is for host calls that only look; [`Progress`] is for those that change.

use serde::Serialize;
use serde_json::Value;

use crate::json::{self, JsonError};
use crate::{Change, ContentChange, Diagnostic, EffectClass, Failure, HostError, LifecycleError, Outcome};

/// What a lifecycle function gives.
pub type NodeResult<T> = Result<T, LifecycleError>;

/// A failure of the whole type on this node.
pub fn not_supported(message: String) -> LifecycleError {
    LifecycleError::Unsupported(Diagnostic::new(message))
}

/// A failure that has changed nothing.
pub fn unchanged(diagnostic: Diagnostic) -> LifecycleError {
    LifecycleError::Failed(Failure { effect_class: EffectClass::BeforeChange, diagnostic })
}

impl From<JsonError> for LifecycleError {
    /// A state that is not what this module writes, found before anything is done.
    fn from(error: JsonError) -> Self {
        unchanged(Diagnostic::new(error.to_string()))
    }
}

/// What a host error means, as the end of a sentence.
pub fn explain(error: &HostError) -> String {
    match error {
        HostError::Denied(rule) => format!("denied: {rule}"),
        HostError::NotFound => "nothing is there".into(),
        HostError::AlreadyExists => "something is there already".into(),
        HostError::WrongKind(text) => format!("the object is of another kind: {text}"),
        HostError::NotEmpty => "the directory is not empty".into(),
        HostError::UnsafePath(text) => format!("the path is not safe: {text}"),
        HostError::Changed(text) => format!("it was changed by something else meanwhile: {text}"),
        HostError::Busy(text) => format!("it is in use: {text}"),
        HostError::PermissionDenied(text) => format!("the operating system refused: {text}"),
        HostError::NoSpace => "the disk or a quota is full".into(),
        HostError::TooLarge(text) => format!("too large: {text}"),
        HostError::Deadline => "the deadline has passed".into(),
        HostError::Unsupported(text) => format!("this node cannot do it: {text}"),
        // What cannot be as it was asked for is mostly what was declared, and the text says what: a group that the node does not have.
        HostError::InvalidArgument(text) | HostError::Other(text) => text.clone(),
    }
}

fn lifecycle_error(error: &HostError, doing: &str, effect_class: EffectClass) -> LifecycleError {
    let diagnostic = Diagnostic::new(format!("cannot {doing}: {}", explain(error)));
    let failure = Failure { effect_class, diagnostic };
    match error {
        HostError::Denied(_) => LifecycleError::Denied(failure),
        _ => LifecycleError::Failed(failure),
    }
}

/// A host call's result as a lifecycle function's.
pub trait HostCall<T> {
    /// For calls that only look, made before anything is changed. `doing` completes "cannot …".
    fn before_change(self, doing: &str) -> NodeResult<T>;
}

impl<T> HostCall<T> for Result<T, HostError> {
    fn before_change(self, doing: &str) -> NodeResult<T> {
        self.map_err(|error| lifecycle_error(&error, doing, EffectClass::BeforeChange))
    }
}

/// How far an application has come, so that each failure says what it left behind. In every method `doing` completes "cannot …".
#[derive(Debug, Default)]
pub struct Progress {
    changed: bool,
}

impl Progress {
    /// Nothing is done yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A failure of the module's own making, with nothing changed since the last call that succeeded.
    pub fn failed(&self, diagnostic: Diagnostic) -> LifecycleError {
        LifecycleError::Failed(Failure { effect_class: self.class(true), diagnostic })
    }

    /// A call that changes nothing, whether it succeeds or not (reading; staging, which is undone by itself).
    pub fn harmless<T>(&self, doing: &str, result: Result<T, HostError>) -> NodeResult<T> {
        result.map_err(|error| lifecycle_error(&error, doing, self.class(true)))
    }

    /// A call that happens as a whole or, if the host refuses it, not at all.
    pub fn whole<T>(&mut self, doing: &str, result: Result<T, HostError>) -> NodeResult<T> {
        let is_known = |error: &HostError| !matches!(error, HostError::Deadline | HostError::Other(_));
        self.change(doing, result, is_known)
    }

    /// A call that takes several steps and may fail between them.
    pub fn stepwise<T>(&mut self, doing: &str, result: Result<T, HostError>) -> NodeResult<T> {
        self.change(doing, result, is_refused_at_once)
    }

    fn change<T>(&mut self, doing: &str, result: Result<T, HostError>, is_known: fn(&HostError) -> bool) -> NodeResult<T> {
        let result = result.map_err(|error| lifecycle_error(&error, doing, self.class(is_known(&error))));
        self.changed |= result.is_ok();
        result
    }

    /// The class of a failure now; `is_known`: whether the failed call is known to have changed nothing.
    fn class(&self, is_known: bool) -> EffectClass {
        match (self.changed, is_known) {
            (false, true) => EffectClass::BeforeChange,
            (true, true) => EffectClass::PartialChange,
            (false, false) => EffectClass::UnknownOutcome,
            (true, false) => EffectClass::PartialChangeUnknown,
        }
    }
}

/// Whether a host call that fails so has not begun.
fn is_refused_at_once(error: &HostError) -> bool {
    matches!(
        error,
        HostError::Denied(_)
            | HostError::NotFound
            | HostError::AlreadyExists
            | HostError::WrongKind(_)
            | HostError::UnsafePath(_)
            | HostError::Unsupported(_)
            | HostError::InvalidArgument(_)
    )
}

impl Outcome {
    /// A change that ran no command and has no outputs.
    pub fn changed() -> Self {
        Self { outputs: None, executed: false, handled_refresh: false, output: None }
    }

    /// With outputs for other resources: a struct or map with those that [`Definition::outputs`](crate::Definition::outputs) lists.
    pub fn outputs<T: Serialize + ?Sized>(mut self, outputs: &T, progress: &Progress) -> NodeResult<Self> {
        let text = json::canonical(outputs)
            .map_err(|error| progress.failed(Diagnostic::new(format!("the outputs cannot be told: {error}"))))?;
        self.outputs = Some(text);
        Ok(self)
    }
}

impl Change {
    /// One attribute that differs: what was observed, what is desired, and why that counts as a difference.
    pub fn new(attribute: &str, before: Option<Value>, after: Option<Value>, reason: impl Into<String>) -> NodeResult<Self> {
        let text = |value: Option<Value>| value.as_ref().map(json::canonical).transpose();
        let (before, after) = (text(before)?, text(after)?);
        Ok(Self { attribute: attribute.into(), before, after, reason: reason.into(), content: None })
    }

    /// Says that the file at `path` will have the content `asset`, so that the host can show a difference of text.
    #[must_use]
    pub fn content(mut self, path: impl Into<Vec<u8>>, asset: &str) -> Self {
        self.content = Some(ContentChange { path: path.into(), asset: asset.into() });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(error: LifecycleError) -> EffectClass {
        match error {
            LifecycleError::Denied(failure) | LifecycleError::Failed(failure) => failure.effect_class,
            other => panic!("{other:?}"),
        }
    }

    fn fail(error: HostError) -> Result<(), HostError> {
        Err(error)
    }

    #[test]
    fn what_was_declared_and_cannot_be_is_told_in_the_hosts_words_alone() {
        let error = lifecycle_error(
            &HostError::InvalidArgument("this node has no group `x`".into()),
            "make the user",
            EffectClass::BeforeChange,
        );
        let LifecycleError::Failed(failure) = error else { panic!("another error") };
        assert_eq!(failure.diagnostic.message, "cannot make the user: this node has no group `x`");
    }

    #[test]
    fn the_first_failure_has_changed_nothing_unless_it_may_have_begun() {
        let mut progress = Progress::new();
        assert_eq!(class(progress.whole("x", fail(HostError::NoSpace)).unwrap_err()), EffectClass::BeforeChange);
        assert_eq!(class(progress.whole("x", fail(HostError::Deadline)).unwrap_err()), EffectClass::UnknownOutcome);
        assert_eq!(class(progress.stepwise("x", fail(HostError::NotFound)).unwrap_err()), EffectClass::BeforeChange);
        let refused = HostError::PermissionDenied(String::new());
        assert_eq!(class(progress.stepwise("x", fail(refused)).unwrap_err()), EffectClass::UnknownOutcome);
    }

    #[test]
    fn after_a_change_every_failure_is_partial() {
        let mut progress = Progress::new();
        progress.whole("x", Ok(())).unwrap();
        assert_eq!(class(progress.harmless("x", fail(HostError::NoSpace)).unwrap_err()), EffectClass::PartialChange);
        assert_eq!(class(progress.whole("x", fail(HostError::NotEmpty)).unwrap_err()), EffectClass::PartialChange);
        let other = HostError::Other(String::new());
        assert_eq!(class(progress.whole("x", fail(other)).unwrap_err()), EffectClass::PartialChangeUnknown);
    }

    #[test]
    fn a_denial_stays_a_denial_and_the_message_says_what_was_tried() {
        let error = fail(HostError::Denied("no rule".into())).before_change("read the file").unwrap_err();
        let LifecycleError::Denied(failure) = error else { panic!() };
        assert_eq!(failure.diagnostic.message, "cannot read the file: denied: no rule");
    }

    #[test]
    fn outputs_that_cannot_be_told_are_a_failure_after_the_change() {
        let mut progress = Progress::new();
        progress.whole("x", Ok(())).unwrap();
        let outcome = Outcome::changed().outputs(&serde_json::json!({"b": 1, "a": "x"}), &progress).unwrap();
        assert_eq!(outcome.outputs.as_deref(), Some(r#"{"a":"x","b":1}"#));
        let error = Outcome::changed().outputs(&serde_json::json!({"a": u64::MAX}), &progress).unwrap_err();
        assert_eq!(class(error), EffectClass::PartialChange);
    }

    #[test]
    fn changes_hold_canonical_json() {
        let change = Change::new("mode", None, Some(serde_json::json!({"b": 1.0, "a": "x"})), "it differs").unwrap();
        assert_eq!(change.before, None);
        assert_eq!(change.after.as_deref(), Some(r#"{"a":"x","b":1}"#));
        assert!(Change::new("n", Some(serde_json::json!(u64::MAX)), None, "").is_err());
    }
}
