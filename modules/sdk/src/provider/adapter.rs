//! Between the generated traits and a [`Backend`]: decoding and canonical JSON.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::bindings::exports::runtime::module::{backend, options_definition as pure};
use super::{Backend, BackendContext, ProviderDefinition};
use crate::backend::told;
use crate::bindings::runtime::host::backend_types::{BackendError, Interrupted, Outcome};
use crate::bindings::runtime::module::parameters as wit;
use crate::node::NodeResult;
use crate::{AssetRef, DefinitionResult, Footprint, Parameters, ResourceId, json};

/// The component of a [`Backend`]; see [`export_provider!`](crate::export_provider).
pub struct ProviderAdapter<T>(PhantomData<T>);

/// The description that `describe` gives.
pub(crate) fn describe<T: ProviderDefinition>() -> pure::Description {
    pure::Description {
        type_name: T::TYPE.into(),
        provider_name: T::NAME.into(),
        schema_version: T::SCHEMA_VERSION,
        summary: T::SUMMARY.into(),
        systems: T::systems(),
        conditions: T::conditions(),
        options: T::attributes().into_iter().map(Into::into).collect(),
        capabilities: T::capabilities(),
    }
}

impl<T: ProviderDefinition> pure::Guest for ProviderAdapter<T> {
    fn describe() -> pure::Description {
        describe::<T>()
    }

    fn identity(id: ResourceId, base: Footprint, given: &wit::Parameters) -> DefinitionResult<Footprint> {
        T::footprint(&base, &Parameters::new(&id, given))
    }

    fn compile_options(id: ResourceId, given: &wit::Parameters) -> DefinitionResult<pure::CompiledOptions> {
        let compiled = T::compile(&Parameters::new(&id, given))?;
        Ok(pure::CompiledOptions { options: json::canonical(&compiled.desired)?, assets: compiled.assets })
    }

    fn assign_asset(options: String, slot: String, asset: AssetRef) -> DefinitionResult<String> {
        let mut options: T::Options = json::parse_canonical(&options)?;
        T::assign_asset(&mut options, &slot, asset)?;
        Ok(json::canonical(&options)?)
    }

    fn validate(options: String, base: Footprint, desired: Option<String>) -> DefinitionResult<pure::Semantics> {
        let desired: Option<T::Desired> = desired.as_deref().map(json::parse).transpose()?;
        T::validate(&json::parse_canonical(&options)?, &base, desired.as_ref())
    }
}

/// What a call of the backend begins with: desired state and options.
fn given<T: ProviderDefinition>(desired: &str, options: &str) -> NodeResult<(T::Desired, T::Options)> {
    Ok((decoded(desired)?, decoded(options)?))
}

fn decoded<D: DeserializeOwned>(text: &str) -> NodeResult<D> {
    Ok(json::parse(text)?)
}

fn text<V: Serialize>(answer: NodeResult<V>) -> Result<String, BackendError> {
    let canonical = answer.and_then(|value| Ok(json::canonical(&value)?));
    canonical.map_err(told)
}

fn outcome(answer: NodeResult<crate::Outcome>) -> Result<Outcome, BackendError> {
    let crate::Outcome { outputs: _, executed, handled_refresh, output } = answer.map_err(told)?;
    Ok(Outcome { executed, handled_refresh, output })
}

impl<T: Backend> backend::Guest for ProviderAdapter<T> {
    fn inspect(desired: String, options: String, context: BackendContext) -> Result<String, BackendError> {
        text(given::<T>(&desired, &options).and_then(|(desired, options)| T::inspect(&desired, &options, &context)))
    }

    fn read(desired: String, options: String, context: BackendContext) -> Result<String, BackendError> {
        text(given::<T>(&desired, &options).and_then(|(desired, options)| T::read(&desired, &options, &context)))
    }

    fn apply(desired: String, options: String, current: String, context: BackendContext) -> Result<Outcome, BackendError> {
        outcome(given::<T>(&desired, &options).and_then(|(desired, options)| {
            let current: T::Observation = decoded(&current)?;
            T::apply(&desired, &options, &current, &context)
        }))
    }

    fn refresh(desired: String, options: String, context: BackendContext) -> Result<Outcome, BackendError> {
        outcome(given::<T>(&desired, &options).and_then(|(desired, options)| T::refresh(&desired, &options, &context)))
    }

    fn perform(action: String, desired: String, options: String, context: BackendContext) -> Result<Outcome, BackendError> {
        outcome(given::<T>(&desired, &options).and_then(|(desired, options)| T::perform(&action, &desired, &options, &context)))
    }

    fn recover_interrupted(
        desired: String,
        options: String,
        operation: Interrupted,
        context: BackendContext,
    ) -> Result<(), BackendError> {
        let operation = super::Interrupted::from(operation);
        let recovered =
            given::<T>(&desired, &options).and_then(|(desired, options)| T::recover(&desired, &options, &operation, &context));
        recovered.map_err(told)
    }
}
