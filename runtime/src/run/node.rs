//! A run on a node, from the bundle to the report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use host_functions::Node;

use super::error::RunError;
use super::request::NodeRequest;
use super::time::{milliseconds, now};
use super::{Observer, Recovery};
use crate::apply::{self, Deliveries, Pace, Run, Stamps, Subscriptions, Unresolved};
use crate::bundle::Bundle;
use crate::engine::{Engine, EngineOptions};
use crate::journal::{self, Closing, Journal, ObligationStatus, OpenObligation, random_run_id};
use crate::model::ids::{OwnerName, ResourceId, RunId};
use crate::model::report::{Action, Note, Outcome, REPORT_VERSION, Report, ResourceReport, RunMode};
use crate::plan::{self, Plan, Planned, RunSecrets};
use crate::policy::Policy;
use crate::receipt::{self, Admitted, Builtins};
use crate::store::{
    Admission, Claimed, DesiredDigest, Location, OpenIntent, Receipt, Recorded, RunEnding, RunKind, RunStart, Snapshot, StampKey,
    Store,
};

/// What a run on a node works with.
struct Site {
    node: Arc<Node>,
    engine: Engine,
    policy: Policy,
    runtime: tokio::runtime::Runtime,
}

impl Site {
    fn open(request: &NodeRequest) -> Result<Self, RunError> {
        // A bundle may have secrets in it.
        let own = [request.program.as_deref(), request.policy.as_deref(), request.cache.as_deref(), request.bundle.as_deref()];
        let own = own.into_iter().chain([Some(request.state_dir.as_path()), Some(request.secrets_dir.as_path())]);
        let protected: Vec<&Path> = own.flatten().collect();
        let policy = match &request.policy {
            Some(path) => Policy::load(path)?,
            None => Policy::default(),
        };
        let options = EngineOptions {
            cache: request.cache.clone(),
            attempts: request.parallelism,
            keeps_agreements: request.mode == RunMode::Apply,
            ..EngineOptions::default()
        };
        Ok(Self {
            node: Arc::new(Node::open(&request.root, &protected)?),
            engine: Engine::new(options)?,
            policy,
            runtime: tokio_runtime()?,
        })
    }

    fn admit(&self, bundle: Bundle) -> Result<Admitted, RunError> {
        Ok(receipt::admit(bundle, &self.policy, &self.engine, self.node.facts())?)
    }
}

/// A run without a trace: everything up to the checks.
pub(super) fn look(request: &NodeRequest, observer: &dyn Observer) -> Result<Report, RunError> {
    let bundle = Bundle::open(request.bundle()?)?;
    let snapshot = Snapshot::open(&location(request), &request.scratch)?;
    let site = Site::open(request)?;
    let started = now();
    let admitted = site.admit(bundle)?;
    let secrets = RunSecrets::new(&admitted, crate::secrets::read(&request.secrets_dir, &admitted.catalog.node_secrets)?);
    let owner = &admitted.catalog.owner;
    let unresolved = waiting(&snapshot.view().open_intents(Some(owner))?);
    let recorded = snapshot.view().recorded_of(owner)?;
    let plan = plan_without_conflicts(&admitted, &site, secrets)?;
    refuse_conflicts(&snapshot, owner, Claims::of(&admitted, &plan))?;
    let key = StampKey::find(&request.state_dir)?;
    let obligations = snapshot.view().open_obligations(owner)?;
    let on_record = OnRecord { recorded, unresolved, obligations, spent: BTreeMap::new(), key };
    let mut run = run(&admitted, &plan, &site, RunMode::Noop, on_record);
    run.health_only = request.health_only;
    let resources = walk(run, &admitted, plan, &site, request, observer)?;
    Ok(report(admitted, None, RunMode::Noop, started, resources))
}

/// What a run would be refused for, without the claims being taken.
fn refuse_conflicts(snapshot: &Snapshot, owner: &OwnerName, claims: Claims) -> Result<(), RunError> {
    let conflicts = snapshot.view().conflicts(owner, &claims.taken, &claims.kept)?;
    if conflicts.is_empty() { Ok(()) } else { Err(RunError::Claims(conflicts)) }
}

/// A run that converges the node.
pub(super) fn converge(
    request: &NodeRequest,
    observer: &dyn Observer,
    watch: Option<journal::Observer>,
) -> Result<Report, RunError> {
    let bundle = Bundle::open(request.bundle()?)?;
    let mut store = Store::open(&location(request))?;
    if let Some(watch) = watch {
        store.observe(watch);
    }
    let site = Site::open(request)?;
    // The folder may have been made just now.
    site.node.protect(&request.state_dir)?;
    let started = now();
    let admitted = site.admit(bundle)?;
    let secrets = RunSecrets::new(&admitted, crate::secrets::read(&request.secrets_dir, &admitted.catalog.node_secrets)?);
    let id = random_run_id();
    let owner = Some(admitted.catalog.owner.clone());
    store.begin_run(&RunStart { run: id.clone(), kind: RunKind::Apply, owner, at: milliseconds() })?;
    let modules = apply::Modules { types: &admitted.modules, providers: &admitted.providers };
    let (store, recovery) = recover_open(store, &id, modules, Some(&admitted), &site)?;
    let (mut store, walked) = walk_on_record(store, &id, &admitted, &site, request, (recovery, secrets, observer));
    match walked {
        Ok(resources) => {
            let report = report(admitted, Some(id.clone()), RunMode::Apply, started, resources);
            finish(&mut store, &id, &report)?;
            Ok(report)
        }
        Err(error) => {
            // Only a refusal leaves a store that can be written; what else went wrong is told, and the run stays without an end.
            if let (Some(store), RunError::Claims(_) | RunError::Conflicts(_)) = (store.as_mut(), &error) {
                store.end_run(&id, RunEnding::Refused, milliseconds(), Some(&error.to_string()))?;
            }
            Err(error)
        }
    }
}

/// Settles what is open, of whatever owner, with the modules at hand.
pub(super) fn recover(request: &NodeRequest) -> Result<Recovery, RunError> {
    let bundle = request.bundle.as_deref().map(Bundle::open).transpose()?;
    let mut store = Store::open(&location(request))?;
    let site = Site::open(request)?;
    site.node.protect(&request.state_dir)?;
    let Builtins { mut modules, mut providers } = receipt::builtin_modules(&site.policy, &site.engine)?;
    if let Some(bundle) = bundle {
        let admitted = site.admit(bundle)?;
        modules.extend(admitted.modules);
        for (type_name, known) in admitted.providers {
            providers.entry(type_name).or_default().extend(known);
        }
    }
    let modules = apply::Modules { types: &modules, providers: &providers };
    let id = random_run_id();
    store.begin_run(&RunStart { run: id.clone(), kind: RunKind::Recover, owner: None, at: milliseconds() })?;
    let (mut store, recovery) = recover_open(store, &id, modules, None, &site)?;
    let ending = if recovery.unresolved.is_empty() { RunEnding::Converged } else { RunEnding::Unresolved };
    store.end_run(&id, ending, milliseconds(), still_open(&recovery.unresolved).as_deref())?;
    Ok(Recovery { recovered: recovery.recovered, unresolved: recovery.unresolved })
}

/// What a recovery could not settle, a line each, for the journal.
fn still_open(unresolved: &BTreeMap<ResourceId, Unresolved>) -> Option<String> {
    let lines: Vec<String> = unresolved.iter().map(|(id, open)| format!("`{id}` is unresolved: {}", open.reason)).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Settles open intents: of the owner of `admitted`, or of all.
fn recover_open(
    store: Store,
    id: &RunId,
    modules: apply::Modules<'_>,
    admitted: Option<&Admitted>,
    site: &Site,
) -> Result<(Store, apply::Recovery), RunError> {
    let open = store.view().open_intents(admitted.map(|admitted| &admitted.catalog.owner))?;
    if open.is_empty() {
        return Ok((store, apply::Recovery::default()));
    }
    let journal = Journal::start(store, id.clone()).map_err(RunError::Thread)?;
    let recovery = site.runtime.block_on(apply::recover(&open, &modules, &site.node, &journal.handle()))?;
    Ok((journal.finish()?, recovery))
}

type Told<'a> = (apply::Recovery, RunSecrets, &'a dyn Observer);

/// Plans, takes the claims, and walks. Gives the store back where it can still be written.
fn walk_on_record(
    mut store: Store,
    id: &RunId,
    admitted: &Admitted,
    site: &Site,
    request: &NodeRequest,
    (recovery, secrets, observer): Told<'_>,
) -> (Option<Store>, Result<Vec<ResourceReport>, RunError>) {
    let begun = begin(&mut store, id, (admitted, secrets), site, request, recovery);
    let (mut run, plan) = match begun {
        Ok(begun) => begun,
        Err(error) => return (Some(store), Err(error)),
    };
    let journal = match Journal::start(store, id.clone()) {
        Ok(journal) => journal,
        Err(error) => return (None, Err(RunError::Thread(error))),
    };
    run.journal = Some(journal.handle());
    let walked = walk(run, admitted, plan, site, request, observer);
    match journal.finish() {
        Ok(store) => (Some(store), walked),
        Err(error) => (None, Err(walked.err().unwrap_or(error.into()))),
    }
}

fn begin(
    store: &mut Store,
    id: &RunId,
    (admitted, secrets): (&Admitted, RunSecrets),
    site: &Site,
    request: &NodeRequest,
    recovery: apply::Recovery,
) -> Result<(Run, Plan), RunError> {
    let plan = plan_without_conflicts(admitted, site, secrets)?;
    let claims = Claims::of(admitted, &plan);
    let receipt = Receipt {
        owner: admitted.catalog.owner.clone(),
        bundle: admitted.bundle.digest(),
        serial: admitted.catalog.serial,
        components: admitted.catalog.components().into_iter().map(|(name, module)| (name, module.component)).collect(),
        policy: admitted.policy.clone(),
        at: milliseconds(),
    };
    store.admit(&Admission { run: id.clone(), receipt, resources: claims.taken, kept: claims.kept })?;
    let mut recorded = store.view().recorded_of(&admitted.catalog.owner)?;
    forget_undeclared(store, admitted, &mut recorded)?;
    let key = if plan.may_name_secrets() { Some(StampKey::find_or_make(&request.state_dir)?) } else { None };
    let obligations = open_obligations(store, admitted)?;
    let on_record = OnRecord { recorded, unresolved: recovery.unresolved, obligations, spent: recovery.spent, key };
    Ok((run(admitted, &plan, site, RunMode::Apply, on_record), plan))
}

/// Refreshes that are open. Of a subscriber that is no longer declared what is owed lapses.
fn open_obligations(store: &mut Store, admitted: &Admitted) -> Result<Vec<OpenObligation>, RunError> {
    let declared = declared(admitted);
    let open = store.view().open_obligations(&admitted.catalog.owner)?;
    let (open, gone): (Vec<_>, Vec<_>) = open.into_iter().partition(|owed| declared.contains(&owed.subscriber));
    for orphan in gone.iter().filter(|orphan| orphan.status == ObligationStatus::Owed) {
        store.close_obligation(orphan.obligation, Closing::Orphaned, None)?;
    }
    Ok(open)
}

/// Drops what is on record of resources that this version no longer declares: whoever declares one again begins anew.
fn forget_undeclared(
    store: &mut Store,
    admitted: &Admitted,
    recorded: &mut BTreeMap<ResourceId, Recorded>,
) -> Result<(), RunError> {
    let declared = declared(admitted);
    let gone: Vec<ResourceId> = recorded.keys().filter(|id| !declared.contains(id)).cloned().collect();
    recorded.retain(|id, _| !gone.contains(id));
    if gone.is_empty() { Ok(()) } else { Ok(store.forget(&admitted.catalog.owner, &gone)?) }
}

fn declared(admitted: &Admitted) -> BTreeSet<&ResourceId> {
    admitted.catalog.resources.iter().map(|resource| &resource.id).collect()
}

/// Reports of resources that are not declared any more and whose interrupted change is still open.
fn undeclared(admitted: &Admitted, unresolved: &BTreeMap<ResourceId, Unresolved>) -> Vec<ResourceReport> {
    let declared = declared(admitted);
    let left = unresolved.iter().filter(|(id, _)| !declared.contains(id));
    left.map(|(id, why)| ResourceReport {
        outcome: Outcome::Unresolved,
        action: Action::Skip,
        reason: Some(format!("no longer declared, and an interrupted change is not settled: {}", why.reason)),
        ..ResourceReport::untouched(id.clone())
    })
    .collect()
}

fn plan_without_conflicts(admitted: &Admitted, site: &Site, secrets: RunSecrets) -> Result<Plan, RunError> {
    let plan = plan::plan(admitted, secrets, &site.node, site.runtime.handle());
    if plan.conflicts.is_empty() { Ok(plan) } else { Err(RunError::Conflicts(plan.conflicts)) }
}

/// What earlier runs left behind.
struct OnRecord {
    recorded: BTreeMap<ResourceId, Recorded>,
    unresolved: BTreeMap<ResourceId, Unresolved>,
    obligations: Vec<OpenObligation>,
    spent: BTreeMap<ResourceId, Duration>,
    key: Option<StampKey>,
}

fn run(admitted: &Admitted, plan: &Plan, site: &Site, mode: RunMode, on_record: OnRecord) -> Run {
    let OnRecord { recorded, unresolved, obligations, spent, key } = on_record;
    Run {
        mode,
        health_only: false,
        owner: admitted.catalog.owner.clone(),
        node: Arc::clone(&site.node),
        assets: Arc::clone(&plan.assets) as Arc<dyn host_functions::assets::AssetSource>,
        stamps: Stamps { key, secrets: Arc::clone(plan.assets.secrets()) },
        journal: None,
        recorded,
        unresolved,
        groups: plan.groups.clone(),
        outputs: plan.outputs.clone(),
        subscriptions: Subscriptions::new(&admitted.catalog.edges, &obligations),
        deliveries: Deliveries::default(),
        spent,
    }
}

fn walk(
    run: Run,
    admitted: &Admitted,
    plan: Plan,
    site: &Site,
    request: &NodeRequest,
    observer: &dyn Observer,
) -> Result<Vec<ResourceReport>, RunError> {
    let pace = Pace { parallelism: request.parallelism, fail_fast: request.fail_fast };
    let left_over = undeclared(admitted, &run.unresolved);
    observer.begun(plan.resources.len() + left_over.len());
    let mut resources = apply::walk(&Arc::new(run), &admitted.catalog, plan, pace, observer, site.runtime.handle())?;
    left_over.iter().for_each(|report| observer.resource(report));
    resources.extend(left_over);
    Ok(resources)
}

/// What a plan claims, in the terms of the store.
struct Claims {
    taken: Vec<Claimed>,
    kept: Vec<ResourceId>,
}

impl Claims {
    fn of(admitted: &Admitted, plan: &Plan) -> Self {
        let mut claims = Self { taken: Vec::new(), kept: Vec::new() };
        for (planned, resource) in plan.resources.iter().zip(&admitted.catalog.resources) {
            match planned {
                Planned::Ready(ready) => claims.taken.push(Claimed {
                    resource: ready.id().clone(),
                    claims: ready.claims().cloned().collect(),
                    desired: Some(DesiredDigest::of(ready.managed.text().as_bytes())),
                    component: ready.module().digest(),
                }),
                Planned::Ended(report) if matches!(report.outcome, Outcome::Skipped | Outcome::NoProvider) => {
                    claims.kept.push(report.id.clone());
                }
                // It is declared, so what it claims is this owner's, though nothing can be done about it in this run, or what it
                // should be is known at its turn alone.
                Planned::Ended(_) | Planned::Waiting(_) => claims.taken.push(Claimed {
                    resource: resource.id.clone(),
                    claims: resource.all_claims().cloned().collect(),
                    desired: None,
                    component: admitted.modules[&resource.id.type_name].module.digest(),
                }),
            }
        }
        claims
    }
}

/// In noop nothing is recovered: what is open blocks its resource.
fn waiting(open: &[OpenIntent]) -> BTreeMap<ResourceId, Unresolved> {
    let unresolved = |intent: &OpenIntent| Unresolved {
        reason: format!("run {} began to change it and did not finish", intent.run),
        hint: Some("apply again, or `runtime recover`".into()),
    };
    open.iter().map(|intent| (intent.resource.clone(), unresolved(intent))).collect()
}

fn report(admitted: Admitted, run: Option<RunId>, mode: RunMode, started: String, resources: Vec<ResourceReport>) -> Report {
    let modules = admitted.catalog.components();
    let notes: Vec<Note> = admitted.notes;
    Report {
        report_version: REPORT_VERSION,
        run,
        mode,
        owner: admitted.catalog.owner.clone(),
        serial: admitted.catalog.serial,
        bundle: admitted.bundle.digest(),
        modules: modules.into_iter().map(|(name, module)| (name.to_string(), module.component)).collect(),
        started,
        ended: now(),
        notes,
        resources,
    }
}

fn finish(store: &mut Option<Store>, id: &RunId, report: &Report) -> Result<(), RunError> {
    let store = store.as_mut().expect("a walk that ended well gives the store back");
    let text = serde_json::to_string(report).expect("a report is plain data");
    store.put_report(id, &text, &report.summary())?;
    store.end_run(id, ending(report), milliseconds(), None)?;
    Ok(())
}

fn ending(report: &Report) -> RunEnding {
    let summary = report.summary();
    if summary.unresolved > 0 {
        RunEnding::Unresolved
    } else if summary.failed + summary.refused > 0 {
        RunEnding::Failed
    } else if summary.unmet + summary.no_provider + summary.cannot_plan + summary.not_reached > 0 {
        RunEnding::Incomplete
    } else {
        RunEnding::Converged
    }
}

fn location(request: &NodeRequest) -> Location {
    Location { folder: request.state_dir.clone(), root: request.root.clone() }
}

/// What attempts wait with. They run on threads of the walk.
fn tokio_runtime() -> Result<tokio::runtime::Runtime, RunError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_time();
    builder.build().map_err(RunError::Thread)
}
