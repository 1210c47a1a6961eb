//! Settles what a lost run left open: asks each module to make going on safe.
//!
//! That it did so says nothing about whether the operation succeeded: the resource is checked like any other afterwards. What the
//! module cannot make safe stays open, and blocks its resource. Only the node's journal decides what is open, never a clock.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use host_functions::assets::{AssetSource, NoAssets};
use host_functions::{HostContext, Node};
use serde_json::Value as Json;

use super::gate::open_gate;
use super::group;
use super::seen;
use super::verdict;
use crate::engine::{Attempt, AttemptLimits, Interrupted, OperationReason, Reason, Validated, canonical_json, on_large_stack};
use crate::journal::{JournalError, JournalHandle, Operation, Resolution};
use crate::model::ids::{ResourceId, TypeName};
use crate::model::managed::{Managed, ManagedBackend};
use crate::model::report::Phase;
use crate::plan::{Backend, rights};
use crate::receipt::{AdmittedModule, AdmittedProviders};
use crate::store::OpenIntent;

/// What an operator can do where neither the module nor the host knows anything better.
const WHAT_TO_DO: &str = "see on the node that what it manages is whole, and run again: if its module still cannot take it up, give \
                          `runtime recover` a bundle with a version of the module that can";

/// Why an operation stays open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// What is in the way.
    pub reason: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// The modules at hand.
#[derive(Clone, Copy)]
pub struct Modules<'m> {
    /// Of resource types.
    pub types: &'m BTreeMap<TypeName, AdmittedModule>,
    /// Their providers.
    pub providers: &'m AdmittedProviders,
}

/// How recovery ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recovery {
    /// Settled.
    pub recovered: Vec<ResourceId>,
    /// Still open.
    pub unresolved: BTreeMap<ResourceId, Unresolved>,
    /// How much of its deadline each took.
    pub spent: BTreeMap<ResourceId, Duration>,
}

/// Settles `open` with `modules`, one after the other, in the order in which they were begun.
///
/// # Errors
/// If the journal cannot be written.
pub async fn recover(
    open: &[OpenIntent],
    modules: &Modules<'_>,
    node: &Arc<Node>,
    journal: &JournalHandle,
) -> Result<Recovery, JournalError> {
    let mut recovery = Recovery::default();
    for intent in open {
        let began = Instant::now();
        let recovered = recover_one(intent, modules, node, journal).await?;
        *recovery.spent.entry(intent.resource.clone()).or_default() += began.elapsed();
        match recovered {
            Ok(()) => recovery.recovered.push(intent.resource.clone()),
            Err(unresolved) => drop(recovery.unresolved.insert(intent.resource.clone(), unresolved)),
        }
    }
    journal.flush().await?;
    Ok(recovery)
}

async fn recover_one(
    intent: &OpenIntent,
    modules: &Modules<'_>,
    node: &Arc<Node>,
    journal: &JournalHandle,
) -> Result<Result<(), Unresolved>, JournalError> {
    if let Some(path) = &intent.cgroup
        && let Err(why) = group::end(path)
    {
        let reason = format!("what it had started goes on: {why}");
        return Ok(Err(Unresolved { reason, hint: Some("end these processes, and run again".into()) }));
    }
    if let Operation::Perform(_) = intent.operation {
        // A shared action has no object that could be left in between, and the next check tells whether it is still needed.
        journal.resolve(journal.adopt(intent), Resolution::Recovered, None)?;
        return Ok(Ok(()));
    }
    let admitted = match usable_module(intent, modules.types) {
        Ok(admitted) => admitted,
        Err(unresolved) => return Ok(Err(unresolved)),
    };
    let token = journal.adopt(intent);
    match make_safe(intent, (admitted, modules.providers), node, &token).await {
        Ok(()) => {
            journal.resolve(token, Resolution::Recovered, None)?;
            Ok(Ok(()))
        }
        Err(unresolved) => Ok(Err(unresolved)),
    }
}

/// The module that may take up the operation: the same component, or one that reads the same desired state.
fn usable_module<'a>(
    intent: &OpenIntent,
    modules: &'a BTreeMap<TypeName, AdmittedModule>,
) -> Result<&'a AdmittedModule, Unresolved> {
    let type_name = &intent.resource.type_name;
    let found = modules.get(type_name).filter(|admitted| {
        admitted.module.digest() == intent.component || admitted.module.description().schema_version == intent.schema_version
    });
    found.ok_or_else(|| Unresolved {
        reason: format!("no module at hand can take up the operation that `{type_name}` {} began", intent.component.short()),
        hint: Some(format!("give `runtime recover` a bundle that has the component {}", intent.component)),
    })
}

async fn make_safe(
    intent: &OpenIntent,
    (admitted, providers): (&AdmittedModule, &AdmittedProviders),
    node: &Arc<Node>,
    token: &crate::journal::IntentToken,
) -> Result<(), Unresolved> {
    let unresolved = |reason: String| Unresolved { reason, hint: None };
    let recorded: Json = serde_json::from_str(&intent.desired).map_err(|error| unresolved(error.to_string()))?;
    let managed = Managed::read(recorded, admitted.module.description().has_providers).map_err(unresolved)?;
    let desired = &managed.desired;
    let validated = on_large_stack(|| admitted.module.validate(desired)).map_err(|error| unresolved(error.to_string()))?;
    let limits = rights::limits_for(admitted, validated.semantics.timeout_ms);
    let mut rights = rights::for_effects(admitted, &intent.resource, &validated.footprint.effects, &validated.semantics);
    let backend = match &managed.backend {
        None => None,
        Some(recorded) => Some(backend(intent, recorded, desired, &validated, providers, limits)?),
    };
    rights.provider = backend.as_ref().map(|backend| backend.name().to_string());
    let assets: Arc<dyn AssetSource> = Arc::new(NoAssets);
    let mut host = HostContext::new(Arc::clone(node), rights, Arc::clone(&assets), Instant::now() + limits.deadline);
    if let Some(backend) = &backend {
        backend.attach(&mut host, node, &assets);
    }
    open_gate(&mut host, token);
    let mut attempt = Attempt::start(&admitted.module, host, limits).await.map_err(|error| unresolved(error.to_string()))?;
    let staging_name = token.staging_name().to_string();
    let operation = Interrupted { staging_name: staging_name.clone(), reason: operation_reason(&intent.operation) };
    let reason = Reason { staging_name: Some(staging_name), ..Reason::default() };
    let desired = canonical_json(desired).map_err(unresolved)?;
    let ended = attempt.recover(&desired, &operation, &reason).await;
    let seen = seen::of(&mut attempt);
    let module = intent.resource.type_name.as_str();
    let verdict = match ended {
        Ok(()) if attempt.host().denied_change().is_none() => {
            attempt.host().discard_left_over();
            return Ok(());
        }
        Ok(()) => verdict::of_denial(module, Phase::Recover, &seen),
        Err(error) => verdict::of_error(module, Phase::Recover, error, &seen),
    };
    Err(Unresolved { reason: verdict.failure.message, hint: Some(verdict.failure.hint.unwrap_or_else(|| WHAT_TO_DO.into())) })
}

/// The provider that may take up its part: the same component, or one that reads the same options.
fn backend(
    intent: &OpenIntent,
    recorded: &ManagedBackend,
    desired: &Json,
    validated: &Validated,
    providers: &AdmittedProviders,
    limits: AttemptLimits,
) -> Result<Backend, Unresolved> {
    let type_name = &intent.resource.type_name;
    let found = providers.get(type_name).and_then(|known| known.get(&recorded.provider)).filter(|admitted| {
        let provider = &admitted.provider;
        provider.digest() == recorded.component || provider.description().schema_version == recorded.schema_version
    });
    let admitted = found.ok_or_else(|| Unresolved {
        reason: format!(
            "no module at hand can take up the operation that the provider `{}` of `{type_name}` {} began",
            recorded.provider,
            recorded.component.short()
        ),
        hint: Some(format!("give `runtime recover` a bundle that has the component {}", recorded.component)),
    })?;
    let said = on_large_stack(|| admitted.provider.validate(&recorded.options, &validated.footprint, Some(desired)));
    let said = said.map_err(|error| Unresolved { reason: error.to_string(), hint: None })?;
    let effects: Vec<_> = validated.footprint.effects.iter().chain(&said.beyond.effects).cloned().collect();
    let resource = (&intent.resource, &validated.semantics);
    Backend::new(admitted, resource, &effects, (recorded.options.clone(), &said.semantics), limits)
        .map_err(|reason| Unresolved { reason, hint: None })
}

fn operation_reason(operation: &Operation) -> OperationReason {
    match operation {
        Operation::Converge(_) | Operation::Perform(_) => OperationReason::Converge,
        Operation::Refresh => OperationReason::Refresh,
    }
}
