//! Asks the modules about this node before anything is checked: dynamic claims of each resource, conflicts within each type.

use std::sync::Arc;
use std::time::Instant;

use host_functions::{HostContext, Node};

use super::{Groups, Planned, Ready, RunAssets};
use crate::engine::{Attempt, AttemptError, AttemptLimits, Conflict, Reason, Safety};
use crate::model::ids::TypeName;
use crate::model::report::{EffectClass, Failure, Outcome, Phase, ResourceReport};

/// What an inspection works with.
pub(super) struct Inspection<'a> {
    pub(super) node: &'a Arc<Node>,
    pub(super) assets: &'a Arc<RunAssets>,
    pub(super) groups: &'a Groups,
}

impl Inspection<'_> {
    /// Adds what the node says to each resource. One whose inspection fails has thereby ended; conflicts are given back.
    pub(super) async fn run(&self, resources: &mut [Planned]) -> Vec<Conflict> {
        for planned in resources.iter_mut() {
            let Planned::Ready(ready) = planned else { continue };
            match self.safety(ready).await {
                Ok(safety) => {
                    ready.claims.extend(safety.claims.iter().cloned());
                    ready.safety = safety;
                }
                Err(error) => *planned = Planned::Ended(failed(ready, &error)),
            }
        }
        let mut conflicts = Vec::new();
        for type_name in self.groups.types() {
            conflicts.extend(self.conflicts(type_name, resources).await);
        }
        conflicts
    }

    async fn safety(&self, ready: &Ready) -> Result<Safety, AttemptError> {
        if self.groups.has_no_safety(&ready.id.type_name) {
            return Ok(Safety::default());
        }
        let mut attempt = self.attempt(ready, ready.limits).await?;
        Ok(self.groups.safety(&mut attempt, ready, &Reason::default()).await?.unwrap_or_default())
    }

    /// Conflicts within a type, under the longest deadline of its resources. That they cannot be told ends every resource of the type.
    async fn conflicts(&self, type_name: &TypeName, resources: &mut [Planned]) -> Vec<Conflict> {
        let ready = resources.iter().filter_map(|planned| match planned {
            Planned::Ready(ready) if ready.id.type_name == *type_name => Some(ready),
            _ => None,
        });
        let Some(longest) = ready.max_by_key(|ready| ready.limits.deadline) else { return Vec::new() };
        let asked = async {
            let mut attempt = self.attempt(longest, longest.limits).await?;
            self.groups.conflicts(&mut attempt, type_name, &Reason::default()).await
        };
        match asked.await {
            Ok(conflicts) => conflicts,
            Err(error) => {
                for planned in resources.iter_mut() {
                    if let Planned::Ready(ready) = planned
                        && ready.id.type_name == *type_name
                    {
                        *planned = Planned::Ended(failed(ready, &error));
                    }
                }
                Vec::new()
            }
        }
    }

    async fn attempt(&self, ready: &Ready, limits: AttemptLimits) -> Result<Attempt, AttemptError> {
        let assets = Arc::clone(self.assets) as Arc<dyn host_functions::assets::AssetSource>;
        let host = HostContext::new(Arc::clone(self.node), ready.rights.clone(), assets, Instant::now() + limits.deadline);
        Ok(Attempt::start(&ready.module, host, limits).await?)
    }
}

fn failed(ready: &Ready, error: &AttemptError) -> Box<ResourceReport> {
    let (hint, limit, attribute) = match error {
        AttemptError::Call(call) => (call.fault.hint(), call.fault.limit(), None),
        AttemptError::Module(error) => (error.diagnostic.hint.clone(), None, error.diagnostic.attribute.clone()),
    };
    let failure = Failure {
        module: ready.id.type_name.to_string(),
        phase: Phase::Inspect,
        effect: EffectClass::BeforeChange,
        attribute,
        message: error.to_string(),
        hint,
        limit,
    };
    Box::new(ResourceReport { outcome: Outcome::Failed, failure: Some(failure), ..ready.report() })
}
