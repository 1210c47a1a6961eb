//! The step that settles, for each resource of an admitted bundle, what it will be held to on this node.
//!
//! In graph order: its gate, its deferred values, the claims that only the node can tell; then conflicts within each type. It reads
//! the node and changes nothing. What differs, it does not ask: that is for each resource's own turn, in apply. What waits for the outputs
//! of others is left as [`Waiting`], which the walk has settled at its turn.

mod assets;
mod backend;
mod gate;
mod groups;
mod hold;
mod inspect;
mod outputs;
mod resolve;
pub(crate) mod rights;
mod secrets;
mod sources;
mod values;
mod waiting;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use host_functions::assets::AssetSource;
use host_functions::rights::Rights;
use host_functions::{HostContext, Node};
use serde_json::Value as Json;

use self::backend::SelectedState;
use self::resolve::Settled;
use self::sources::Sources;
use self::waiting::Settler;
use crate::engine::{AttemptLimits, Module, Safety, canonical_json};
use crate::model::asset::AssetRef;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Claim, Effect, Resource, Semantics};
use crate::model::health::Health;
use crate::model::ids::{ResourceId, SecretSlot};
use crate::model::managed::Managed;
use crate::model::report::{Action, EffectClass, Failure, Outcome, Phase, ResourceReport};
use crate::model::secret;
use crate::providers::NodeIdentity;
use crate::receipt::Admitted;

pub use assets::RunAssets;
pub use backend::Backend;
pub use groups::Groups;
pub use outputs::{Available, Outputs};
pub use secrets::RunSecrets;
pub use waiting::Waiting;

/// What each resource is held to, in catalog order.
pub struct Plan {
    /// One for each resource of the catalog.
    pub resources: Vec<Planned>,
    /// The managed ones by type.
    pub groups: Groups,
    /// Content that resources name: of the bundle, and made on this node.
    pub assets: Arc<RunAssets>,
    /// Where the walk notes what resources put out, for those that wait for it.
    pub outputs: Outputs,
    /// Resources that cannot be managed together here; then the run is refused.
    pub conflicts: Vec<crate::engine::Conflict>,
}

/// A resource before its turn.
pub enum Planned {
    /// It has ended already: its gate is closed, or it could not be settled.
    Ended(Box<ResourceReport>),
    /// It may take its turn.
    Ready(Box<Ready>),
    /// It reads outputs of others, and is settled at its turn.
    Waiting(Waiting),
}

/// A resource that may take its turn.
pub struct Ready {
    /// Its address.
    pub id: ResourceId,
    /// The component that serves it.
    pub module: Module,
    /// Its desired state, which its type's group has as well.
    pub desired: CanonicalJson,
    /// That with its provider and its options, as it is recorded.
    pub managed: CanonicalJson,
    /// The provider that was selected, for types with providers.
    pub backend: Option<Backend>,
    /// From the catalog, and from the node.
    pub claims: Vec<Claim>,
    /// What the node added.
    pub safety: Safety,
    /// What it needs of what the node offers to its type.
    pub capabilities: Vec<String>,
    /// Whether it takes refreshes.
    pub accepts_refresh: bool,
    /// Shared actions that it may ask for.
    pub prerequisites: Vec<String>,
    /// The slots that its desired state names.
    pub secrets: BTreeSet<SecretSlot>,
    /// What its host calls are held against.
    pub rights: Rights,
    /// Its deadline and memory.
    pub limits: AttemptLimits,
    /// How to tell whether it works.
    pub health: Option<Health>,
}

impl Ready {
    /// The report to fill in at its turn.
    pub fn report(&self) -> ResourceReport {
        let provider = self.backend.as_ref().map(|backend| backend.name().clone());
        ResourceReport { provider, ..ResourceReport::untouched(self.id.clone()) }
    }

    /// The host's side of a new instance for an attempt that began at `started`, and of its provider.
    pub fn host(&self, node: &Arc<Node>, assets: &Arc<dyn AssetSource>, started: Instant, had_secrets: bool) -> HostContext {
        let mut rights = self.rights.clone();
        rights.had_secrets |= had_secrets;
        let mut host = HostContext::new(Arc::clone(node), rights, Arc::clone(assets), started + self.limits.deadline);
        if let Some(backend) = &self.backend {
            backend.attach(&mut host, node, assets);
        }
        host
    }
}

impl Plan {
    /// Whether a resource of it names a sensitive value, or may at its turn.
    pub fn may_name_secrets(&self) -> bool {
        self.resources.iter().any(|planned| match planned {
            Planned::Ready(ready) => !ready.secrets.is_empty(),
            Planned::Waiting(_) => true,
            Planned::Ended(_) => false,
        })
    }
}

/// Settles every resource of `admitted` on `node`, with these sensitive values.
///
/// Runs definitions and inspections, so it blocks: call it outside asynchronous code, with the runtime that attempts use.
pub fn plan(admitted: &Admitted, secrets: RunSecrets, node: &Arc<Node>, runtime: &tokio::runtime::Handle) -> Plan {
    let (outputs, secrets) = (Outputs::default(), Arc::new(secrets));
    let identity = NodeIdentity::new(node.facts(), node.init());
    let sources = Arc::new(Sources::new(admitted, node.facts(), identity, outputs.clone(), Arc::clone(&secrets)));
    let (settled, made) = crate::engine::on_large_stack(|| resolve::settle_all(&sources));
    let assets = Arc::new(RunAssets::new(admitted.bundle.clone(), made, secrets));
    let effects = admitted.catalog.resources.iter().flat_map(Resource::all_effects);
    node.announce(effects.map(|effect| (effect.domain.as_str(), effect.key.0.as_slice())));
    let groups = Groups::default();
    let settler = Settler { sources, node: Arc::clone(node), assets: Arc::clone(&assets), groups: groups.clone() };
    let settler = Arc::new(settler);
    let of_place = |(place, settled)| match settled {
        Settled::Ended(report) => Planned::Ended(report),
        Settled::Waiting(_) => Planned::Waiting(Waiting::new(&settler, place)),
        Settled::Known(state) => {
            let resource = &admitted.catalog.resources[place];
            ready(&settler.sources, resource, *state).map_or_else(Planned::Ended, |ready| Planned::Ready(Box::new(ready)))
        }
    };
    let mut resources: Vec<Planned> = settled.into_iter().enumerate().map(of_place).collect();
    groups.fill(resources.iter().filter_map(|planned| match planned {
        Planned::Ready(ready) => Some(ready.as_ref()),
        Planned::Ended(_) | Planned::Waiting(_) => None,
    }));
    let inspection = inspect::Inspection { node, assets: &assets, groups: &groups };
    let conflicts = runtime.block_on(inspection.run(&mut resources));
    Plan { resources, groups, assets, outputs, conflicts }
}

/// The desired state of a resource on this node, with what its type says of it.
struct KnownState {
    desired: Json,
    semantics: Semantics,
    /// For types with providers.
    backend: Option<SelectedState>,
}

fn ready(sources: &Sources, resource: &Resource, state: KnownState) -> Result<Ready, Box<ResourceReport>> {
    let KnownState { desired, semantics, backend } = state;
    let admitted = sources.module(&resource.id);
    let limits = rights::limits(admitted, resource, &semantics);
    let (mut claims, mut rights) = (resource.claims.clone(), rights::of(admitted, resource, &semantics));
    let backend = backend.map(|selected| {
        claims.extend(selected.beyond.claims.iter().cloned());
        rights.provider = Some(selected.name.to_string());
        let effects: Vec<Effect> = resource.effects.iter().chain(&selected.beyond.effects).cloned().collect();
        let provider = sources.provider(&resource.id, &selected.name);
        Backend::new(provider, (&resource.id, &semantics), &effects, (selected.options, &selected.semantics), limits)
    });
    let unwritable = |message| failed(resource, Outcome::Failed, Phase::Resolve, message, None);
    let backend = backend.transpose().map_err(unwritable)?;
    let managed = Managed { desired, backend: backend.as_ref().map(Backend::managed) };
    let desired = canonical_json(&managed.desired).map_err(unwritable)?;
    let whole = if managed.backend.is_some() { canonical_json(&managed.json()).map_err(unwritable)? } else { desired.clone() };
    let mut secrets: BTreeSet<SecretSlot> = semantics.assets.iter().filter_map(AssetRef::slot).cloned().collect();
    // Where the key is used otherwise the resource was refused before.
    let _ = secret::add_slots(&managed.desired, &mut secrets);
    if let Some(backend) = &backend {
        backend.add_slots(&mut secrets);
    }
    Ok(Ready {
        secrets,
        id: resource.id.clone(),
        module: admitted.module.clone(),
        claims,
        safety: Safety::default(),
        capabilities: semantics.capabilities,
        accepts_refresh: semantics.accepts_refresh,
        prerequisites: semantics.prerequisites,
        rights,
        limits,
        desired,
        managed: whole,
        backend,
        health: resource.health.clone(),
    })
}

/// The report of a resource that could not be settled.
fn failed(resource: &Resource, outcome: Outcome, phase: Phase, message: String, hint: Option<String>) -> Box<ResourceReport> {
    let failure = Failure {
        module: resource.id.type_name.to_string(),
        phase,
        effect: EffectClass::BeforeChange,
        attribute: None,
        message,
        hint,
        limit: None,
    };
    Box::new(ResourceReport {
        outcome,
        action: Action::Skip,
        failure: Some(failure),
        ..ResourceReport::untouched(resource.id.clone())
    })
}
