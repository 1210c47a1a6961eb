//! Between the contract's lifecycle types and ours. Texts and lists of guests are checked as in [`crate::engine::convert`].

use std::time::Duration;

use serde_json::Value as Json;

use super::MAX_LIST;
use super::answers::{Conflict, ContentChange, GuestChange, LifecycleError, OperationReason, Prior, Reason};
use crate::engine::bindings::exports::runtime::module::lifecycle as wit;
use crate::engine::convert;
use crate::engine::error::Diagnostic;
use crate::model::key::Key;
use crate::model::report::{Action, EffectClass};

pub(super) fn context(remaining: Duration, reason: &Reason) -> Result<wit::Context, String> {
    Ok(wit::Context {
        remaining_ms: u64::try_from(remaining.as_millis()).unwrap_or(u64::MAX),
        reason: operation_reason(reason.reason.unwrap_or(OperationReason::Converge)),
        staging_name: reason.staging_name.clone(),
        prior: reason.prior.as_ref().map(prior).transpose()?,
        configuration: reason.configuration.as_ref().map(convert::canonical).transpose()?,
    })
}

pub(super) fn prior(from: &Prior) -> Result<wit::Prior, String> {
    let text = |json: &Option<Json>| json.as_ref().map(convert::canonical).transpose();
    Ok(wit::Prior {
        schema_version: from.schema_version,
        inputs: from.inputs.text().to_owned(),
        outputs: text(&from.outputs)?,
        observed: from.observed.as_ref().map(|observed| observed.text().to_owned()),
        configuration: text(&from.configuration)?,
    })
}

pub(super) fn operation_reason(from: OperationReason) -> wit::OperationReason {
    match from {
        OperationReason::Converge => wit::OperationReason::Converge,
        OperationReason::Refresh => wit::OperationReason::Refresh,
    }
}

pub(super) fn action(from: wit::Action) -> Action {
    match from {
        wit::Action::Create => Action::Create,
        wit::Action::Update => Action::Update,
        wit::Action::Replace => Action::Replace,
        wit::Action::Delete => Action::Delete,
    }
}

pub(super) fn change(from: wit::Change) -> Result<GuestChange, String> {
    let json = |text: Option<String>| text.as_deref().map(convert::parse_json).transpose();
    let content = from.content.map(|content| {
        let asset = content.asset.parse().map_err(|error: crate::model::asset::AssetRefError| error.to_string())?;
        Ok::<_, String>(ContentChange { path: Key(content.path), asset })
    });
    Ok(GuestChange {
        attribute: convert::message(&from.attribute),
        before: json(from.before)?,
        after: json(from.after)?,
        reason: convert::message(&from.reason),
        content: content.transpose()?,
    })
}

pub(super) fn conflict(from: wit::Conflict) -> Result<Conflict, String> {
    let resources = from.resources.iter().take(MAX_LIST).map(convert::parse_resource_id);
    Ok(Conflict { resources: resources.collect::<Result<_, _>>()?, message: convert::message(&from.message) })
}

pub(super) fn effect_class(from: wit::EffectClass) -> EffectClass {
    match from {
        wit::EffectClass::BeforeChange => EffectClass::BeforeChange,
        wit::EffectClass::PartialChange => EffectClass::PartialChange,
        wit::EffectClass::UnknownOutcome => EffectClass::UnknownOutcome,
        wit::EffectClass::PartialChangeUnknown => EffectClass::PartialChangeUnknown,
    }
}

pub(super) fn lifecycle_error(from: wit::LifecycleError) -> LifecycleError {
    let failure = |failure: wit::Failure, denied| LifecycleError {
        effect: effect_class(failure.effect_class),
        diagnostic: convert::diagnostic(failure.diagnostic),
        denied,
        unsupported: false,
    };
    match from {
        wit::LifecycleError::Denied(denied) => failure(denied, true),
        wit::LifecycleError::Failed(failed) => failure(failed, false),
        wit::LifecycleError::Unsupported(text) => LifecycleError {
            effect: EffectClass::BeforeChange,
            diagnostic: convert::diagnostic(text),
            denied: false,
            unsupported: true,
        },
        wit::LifecycleError::Other(text) => LifecycleError {
            effect: EffectClass::UnknownOutcome,
            diagnostic: Diagnostic { attribute: None, message: convert::message(&text), hint: None },
            denied: false,
            unsupported: false,
        },
    }
}
