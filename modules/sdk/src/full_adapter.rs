//! Between the generated traits and a [`FullType`]: decoding, canonical JSON, and work that is kept between the calls.

use std::cell::{Cell, OnceCell};
use std::marker::PhantomData;

use serde_json::Value;

use crate::adapter::{Adapter, desired};
use crate::bindings::exports::runtime::module::{definition as pure, lifecycle};
use crate::bindings::runtime::module::parameters as wit;
use crate::full_type::{FullType, Needed, Plan, Verified};
use crate::node::{NodeResult, unchanged};
use crate::{
    AssetRef, CatalogView, Change, Context, DefinitionResult, Diagnostic, Edge, Footprint, InterruptedOperation, Outcome, Prior,
    RecordedState, ResourceId, Safety, Semantics, TestedState, json,
};

/// The component of a [`FullType`]; see [`export_full_type!`](crate::export_full_type).
pub struct FullAdapter<T>(PhantomData<T>);

/// The pure half is that of every type.
impl<T: FullType> pure::Guest for FullAdapter<T> {
    fn describe() -> pure::Description {
        Adapter::<T>::describe()
    }

    fn identity(id: ResourceId, given: &wit::Parameters) -> DefinitionResult<Footprint> {
        Adapter::<T>::identity(id, given)
    }

    fn compile(id: ResourceId, given: &wit::Parameters) -> DefinitionResult<pure::Compiled> {
        Adapter::<T>::compile(id, given)
    }

    fn assign_asset(desired: String, slot: String, asset: AssetRef) -> DefinitionResult<String> {
        Adapter::<T>::assign_asset(desired, slot, asset)
    }

    fn validate(desired: String) -> DefinitionResult<Semantics> {
        Adapter::<T>::validate(desired)
    }

    fn relationships(id: ResourceId, desired: Option<String>, catalog: &CatalogView) -> DefinitionResult<Vec<Edge>> {
        Adapter::<T>::relationships(id, desired, catalog)
    }

    fn resolve_export(id: ResourceId, attribute: String, given: &wit::Parameters) -> DefinitionResult<String> {
        Adapter::<T>::resolve_export(id, attribute, given)
    }

    fn test_view(desired: String) -> DefinitionResult<TestedState> {
        Adapter::<T>::test_view(desired)
    }

    fn migrate(from_version: u32, recorded: RecordedState) -> DefinitionResult<RecordedState> {
        Adapter::<T>::migrate(from_version, recorded)
    }

    fn equal(attribute: String, left: String, right: String) -> DefinitionResult<bool> {
        Adapter::<T>::equal(attribute, left, right)
    }

    fn must_replace(attribute: String, prior: String, desired: String) -> DefinitionResult<bool> {
        Adapter::<T>::must_replace(attribute, prior, desired)
    }

    fn must_replace_on_drift(output: String, recorded: String, observed: String) -> DefinitionResult<bool> {
        Adapter::<T>::must_replace_on_drift(output, recorded, observed)
    }

    fn stable_id(recorded: RecordedState) -> DefinitionResult<String> {
        Adapter::<T>::stable_id(recorded)
    }
}

impl<T: FullType> lifecycle::Guest for FullAdapter<T> {
    type Work = FullWork<T>;

    fn capabilities() -> Vec<String> {
        T::available()
    }

    fn inspect_safety(text: String, context: Context) -> NodeResult<Safety> {
        T::inspect(&desired(&text)?, &context)
    }

    fn composition_conflicts(group: Vec<lifecycle::Declared>, context: Context) -> NodeResult<Vec<lifecycle::Conflict>> {
        let decoded = group.into_iter().map(|declared| Ok((declared.id, desired(&declared.desired)?)));
        T::conflicts(&decoded.collect::<NodeResult<Vec<_>>>()?, &context)
    }

    fn check(text: String, context: Context) -> NodeResult<lifecycle::CheckResult> {
        let desired: T::Desired = desired(&text)?;
        Ok(match T::check(&desired, &context)? {
            Plan::InSync(reading) => {
                let refreshable = reading.refreshable;
                let (observed, outputs) = (told(reading.observed.as_ref())?, told(reading.outputs.as_ref())?);
                lifecycle::CheckResult::InSync(lifecycle::Reading { observed, outputs, refreshable })
            }
            Plan::Skipped(reason) => lifecycle::CheckResult::Skipped(reason),
            Plan::CannotPlan(reason) => lifecycle::CheckResult::CannotPlan(reason),
            Plan::NeedsApply(Needed { action, changes, work, incomplete_preview, prerequisite, handles_refresh }) => {
                let held = FullWork::<T> { desired, work, is_applied: Cell::new(false), applied: OnceCell::new() };
                lifecycle::CheckResult::NeedsApply(lifecycle::Needed {
                    action,
                    changes: sorted(changes),
                    work: lifecycle::Work::new(held),
                    incomplete_preview,
                    prerequisite,
                    handles_refresh,
                })
            }
        })
    }

    fn perform(action: String, text: String, context: Context) -> NodeResult<Outcome> {
        T::perform(&action, &desired(&text)?, &context)
    }

    fn refresh(text: String, context: Context) -> NodeResult<Outcome> {
        T::refresh(&desired(&text)?, &context)
    }

    fn recover_interrupted(text: String, operation: InterruptedOperation, context: Context) -> NodeResult<()> {
        T::recover(&desired(&text)?, &operation, &context)
    }

    fn read(prior: Prior, context: Context) -> NodeResult<Option<String>> {
        told(T::read(&prior, &context)?.as_ref())
    }

    fn delete(prior: Prior, context: Context) -> NodeResult<Outcome> {
        T::delete(&prior, &context)
    }
}

/// What `check` found to do, kept by the component until the host lets go of it.
pub struct FullWork<T: FullType> {
    desired: T::Desired,
    work: T::Work,
    is_applied: Cell<bool>,
    applied: OnceCell<T::Applied>,
}

impl<T: FullType> lifecycle::GuestWork for FullWork<T> {
    fn apply(&self, context: Context) -> NodeResult<Outcome> {
        if self.is_applied.replace(true) {
            return Err(unchanged(Diagnostic::new("the same work was to be applied twice")));
        }
        let (outcome, applied) = T::apply(&self.desired, &self.work, &context)?;
        // It is empty: the work is applied once.
        let _ = self.applied.set(applied);
        Ok(outcome)
    }

    fn verify(&self, context: Context) -> NodeResult<lifecycle::Verification> {
        let Some(applied) = self.applied.get() else {
            return Err(unchanged(Diagnostic::new("work was to be verified that was not applied")));
        };
        Ok(match T::verify(&self.desired, &self.work, applied, &context)? {
            Verified::Converged(observed) => lifecycle::Verification::Converged(told(observed.as_ref())?),
            Verified::NotConverged(changes) => lifecycle::Verification::NotConverged(sorted(changes)),
        })
    }
}

/// By attribute, as the contract wants it.
fn sorted(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by(|left, right| left.attribute.cmp(&right.attribute));
    changes
}

fn told(value: Option<&Value>) -> NodeResult<Option<String>> {
    Ok(value.map(json::canonical).transpose()?)
}
