//! The step that settles, for each resource of an admitted bundle, what it will be held to on this node.
//!
//! In graph order: its gate, its deferred values, the claims that only the node can tell; then conflicts within each type. It reads
//! the node and changes nothing. What differs, it does not ask: that is for each resource's own turn, in apply. What waits for the outputs
//! of others is left as [`Waiting`], which the walk has settled at its turn.

mod assets;
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

use host_functions::Node;
use host_functions::rights::Rights;
use serde_json::Value as Json;

use self::resolve::Settled;
use self::sources::Sources;
use self::waiting::Settler;
use crate::engine::{AttemptLimits, Module, Safety};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Claim, Resource, Semantics};
use crate::model::health::Health;
use crate::model::ids::{ResourceId, SecretSlot};
use crate::model::report::{Action, EffectClass, Failure, Outcome, Phase, ResourceReport};
use crate::model::secret;
use crate::receipt::{Admitted, AdmittedModule};

pub use assets::RunAssets;
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
    /// Its desired state.
    pub desired: Json,
    /// The same as canonical text.
    pub desired_text: String,
    /// From the catalog, and from the node.
    pub claims: Vec<Claim>,
    /// What the node added.
    pub safety: Safety,
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
        ResourceReport::untouched(self.id.clone())
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
    let sources = Arc::new(Sources::new(admitted, node.facts(), outputs.clone(), Arc::clone(&secrets)));
    let (settled, made) = crate::engine::on_large_stack(|| resolve::settle_all(&sources));
    let assets = Arc::new(RunAssets::new(admitted.bundle.clone(), made, secrets));
    let groups = Groups::default();
    let settler = Settler { sources, node: Arc::clone(node), assets: Arc::clone(&assets), groups: groups.clone() };
    let settler = Arc::new(settler);
    let of_place = |(place, settled)| match settled {
        Settled::Ended(report) => Planned::Ended(report),
        Settled::Waiting(_) => Planned::Waiting(Waiting::new(&settler, place)),
        Settled::Known(state) => {
            let resource = &admitted.catalog.resources[place];
            Planned::Ready(Box::new(ready(settler.sources.module(&resource.id), resource, *state)))
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
    desired_text: String,
    semantics: Semantics,
}

fn ready(admitted: &AdmittedModule, resource: &Resource, state: KnownState) -> Ready {
    let mut secrets: BTreeSet<SecretSlot> = state.semantics.assets.iter().filter_map(AssetRef::slot).cloned().collect();
    // Where the key is used otherwise the resource was refused before.
    let _ = secret::add_slots(&state.desired, &mut secrets);
    Ready {
        secrets,
        id: resource.id.clone(),
        module: admitted.module.clone(),
        claims: resource.claims.clone(),
        safety: Safety::default(),
        accepts_refresh: state.semantics.accepts_refresh,
        prerequisites: state.semantics.prerequisites.clone(),
        rights: rights::of(admitted, resource, &state.semantics),
        limits: rights::limits(admitted, resource, &state.semantics),
        desired: state.desired,
        desired_text: state.desired_text,
        health: resource.health.clone(),
    }
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
