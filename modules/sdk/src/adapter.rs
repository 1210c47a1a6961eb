//! Between the generated traits and a [`StateType`]: decoding, canonical JSON, check and verify.

use std::cell::Cell;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::exports::runtime::module::{definition as pure, lifecycle};
use crate::bindings::runtime::module::parameters as wit;
use crate::node::{NodeResult, not_supported, unchanged};
use crate::{
    AssetRef, Catalog, CatalogView, Change, Context, Definition, DefinitionResult, Diagnostic, Edge, Footprint,
    InterruptedOperation, Outcome, Parameters, Prior, RecordedState, ResourceId, Safety, Semantics, StateType, TestedState, json,
};

/// The component of a [`StateType`]; see [`export_state_type!`](crate::export_state_type).
pub struct Adapter<T>(PhantomData<T>);

/// The description that `describe` gives.
pub(crate) fn describe<T: Definition>() -> pure::Description {
    pure::Description {
        type_name: T::TYPE.into(),
        schema_version: T::SCHEMA_VERSION,
        summary: T::SUMMARY.into(),
        attributes: T::attributes().into_iter().map(Into::into).collect(),
        blocks: T::blocks().into_iter().map(Into::into).collect(),
        outputs: T::outputs().into_iter().map(Into::into).collect(),
        ensure: T::ensure(),
        capabilities: T::capabilities(),
        selectors: T::selectors(),
        has_providers: T::HAS_PROVIDERS,
    }
}

fn value(text: &str) -> DefinitionResult<Value> {
    Ok(json::parse(text)?)
}

impl<T: Definition> pure::Guest for Adapter<T> {
    fn describe() -> pure::Description {
        describe::<T>()
    }

    fn identity(id: ResourceId, given: &wit::Parameters) -> DefinitionResult<Footprint> {
        T::footprint(&Parameters::new(&id, given))
    }

    fn compile(id: ResourceId, given: &wit::Parameters) -> DefinitionResult<pure::Compiled> {
        let compiled = T::compile(&Parameters::new(&id, given))?;
        Ok(pure::Compiled { desired: json::canonical(&compiled.desired)?, assets: compiled.assets })
    }

    fn assign_asset(desired: String, slot: String, asset: AssetRef) -> DefinitionResult<String> {
        let mut desired: T::Desired = json::parse_canonical(&desired)?;
        T::assign_asset(&mut desired, &slot, asset)?;
        Ok(json::canonical(&desired)?)
    }

    fn validate(desired: String) -> DefinitionResult<Semantics> {
        T::validate(&json::parse_canonical(&desired)?)
    }

    fn relationships(id: ResourceId, desired: Option<String>, catalog: &CatalogView) -> DefinitionResult<Vec<Edge>> {
        let desired: Option<T::Desired> = desired.as_deref().map(json::parse_canonical).transpose()?;
        T::relationships(&id, desired.as_ref(), &Catalog::new(catalog))
    }

    fn resolve_export(id: ResourceId, attribute: String, given: &wit::Parameters) -> DefinitionResult<String> {
        Ok(json::canonical(&T::resolve_export(&attribute, &Parameters::new(&id, given))?)?)
    }

    fn test_view(desired: String) -> DefinitionResult<TestedState> {
        T::test_view(&json::parse_canonical(&desired)?)
    }

    fn migrate(from_version: u32, recorded: RecordedState) -> DefinitionResult<RecordedState> {
        T::migrate(from_version, recorded)
    }

    fn equal(attribute: String, left: String, right: String) -> DefinitionResult<bool> {
        T::equal(&attribute, &value(&left)?, &value(&right)?)
    }

    fn must_replace(attribute: String, prior: String, desired: String) -> DefinitionResult<bool> {
        T::must_replace(&attribute, &value(&prior)?, &value(&desired)?)
    }

    fn must_replace_on_drift(output: String, recorded: String, observed: String) -> DefinitionResult<bool> {
        T::must_replace_on_drift(&output, &value(&recorded)?, &value(&observed)?)
    }

    fn stable_id(recorded: RecordedState) -> DefinitionResult<String> {
        T::stable_id(&recorded)
    }
}

/// The desired state that the host hands over, refused unless it is what `validate` accepts the form of.
pub(crate) fn desired<D: serde::Serialize + DeserializeOwned>(text: &str) -> NodeResult<D> {
    Ok(json::parse_canonical(text)?)
}

/// What differs, sorted by attribute, as the contract wants it.
fn changes<T: StateType>(desired: &T::Desired, state: &T::State) -> NodeResult<Vec<Change>> {
    let mut changes = T::expected_changes(desired, state)?;
    changes.sort_by(|left, right| left.attribute.cmp(&right.attribute));
    Ok(changes)
}

impl<T: StateType> lifecycle::Guest for Adapter<T> {
    type Work = HeldWork<T>;

    fn capabilities() -> Vec<String> {
        T::available()
    }

    fn inspect_safety(text: String, context: Context) -> NodeResult<Safety> {
        T::inspect(&desired(&text)?, &context)
    }

    fn composition_conflicts(group: Vec<lifecycle::Declared>, context: Context) -> NodeResult<Vec<lifecycle::Conflict>> {
        let declared = group.into_iter().map(|declared| Ok((declared.id, desired(&declared.desired)?)));
        T::conflicts(&declared.collect::<NodeResult<Vec<_>>>()?, &context)
    }

    fn check(text: String, context: Context) -> NodeResult<lifecycle::CheckResult> {
        let desired: T::Desired = desired(&text)?;
        let state = T::read(&desired, &context)?;
        let changes = changes::<T>(&desired, &state)?;
        if changes.is_empty() {
            let outputs = T::current_outputs(&desired, &state)?.as_ref().map(json::canonical).transpose()?;
            let observed = Some(json::canonical(&state)?);
            return Ok(lifecycle::CheckResult::InSync(lifecycle::Reading { observed, outputs, refreshable: false }));
        }
        Ok(lifecycle::CheckResult::NeedsApply(lifecycle::Needed {
            action: T::action(&desired, &state),
            changes,
            work: lifecycle::Work::new(HeldWork::<T> { desired, state, is_applied: Cell::new(false) }),
            incomplete_preview: None,
            prerequisite: None,
            handles_refresh: false,
        }))
    }

    fn perform(action: String, _desired: String, _context: Context) -> NodeResult<Outcome> {
        Err(not_supported(format!("`{}` has no shared action `{action}`", T::TYPE)))
    }

    fn refresh(_desired: String, _context: Context) -> NodeResult<Outcome> {
        Err(not_supported(format!("`{}` takes no refresh", T::TYPE)))
    }

    fn recover_interrupted(text: String, operation: InterruptedOperation, context: Context) -> NodeResult<()> {
        T::recover(&desired(&text)?, &operation, &context)
    }

    fn read(_prior: Prior, _context: Context) -> NodeResult<Option<String>> {
        Err(not_supported(format!("`{}` has no recorded outputs", T::TYPE)))
    }

    fn delete(_prior: Prior, _context: Context) -> NodeResult<Outcome> {
        Err(not_supported(format!("`{}` has no recorded objects to delete", T::TYPE)))
    }
}

/// What `check` found to do, kept by the component until the host lets go of it.
pub struct HeldWork<T: StateType> {
    desired: T::Desired,
    state: T::State,
    is_applied: Cell<bool>,
}

impl<T: StateType> lifecycle::GuestWork for HeldWork<T> {
    fn apply(&self, context: Context) -> NodeResult<Outcome> {
        if self.is_applied.replace(true) {
            return Err(unchanged(Diagnostic::new("the same work was to be applied twice")));
        }
        T::apply(&self.desired, &self.state, &context)
    }

    fn verify(&self, context: Context) -> NodeResult<lifecycle::Verification> {
        let state = T::read(&self.desired, &context)?;
        let changes = changes::<T>(&self.desired, &state)?;
        if changes.is_empty() {
            return Ok(lifecycle::Verification::Converged(Some(json::canonical(&state)?)));
        }
        Ok(lifecycle::Verification::NotConverged(changes))
    }
}
