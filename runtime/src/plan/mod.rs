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
mod ready;
mod resolve;
pub(crate) mod rights;
mod secrets;
mod sources;
mod values;
mod waiting;

use std::sync::Arc;

use host_functions::Node;

use self::backend::SelectedState;
use self::resolve::Settled;
use self::sources::Sources;
use self::waiting::Settler;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Resource, Semantics};
use crate::model::report::{Action, EffectClass, Failure, Outcome, Phase, ResourceReport};
use crate::providers::NodeIdentity;
use crate::receipt::Admitted;

pub use assets::RunAssets;
pub use backend::Backend;
pub use groups::Groups;
pub use outputs::{Available, Outputs};
pub use ready::Ready;
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
            ready::ready(&settler.sources, place, *state).map_or_else(Planned::Ended, |ready| Planned::Ready(Box::new(ready)))
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
    desired: CanonicalJson,
    /// What its type says of a state that was compiled here; of any other the catalog has it.
    semantics: Option<Semantics>,
    /// For types with providers.
    backend: Option<SelectedState>,
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
