//! Asks the modules about this node before anything is checked: dynamic claims of each resource, conflicts within each type.

use std::sync::Arc;
use std::time::Instant;

use host_functions::Node;

use super::{Groups, Planned, Ready, RunAssets};
use crate::engine::{Attempt, AttemptError, CallError, Conflict, Diagnostic, LifecycleError, Reason, Safety};
use crate::model::catalog::Claim;
use crate::model::ids::TypeName;
use crate::model::key::escape;
use crate::model::report::{EffectClass, Failure, Outcome, Phase, ResourceReport};
use crate::policy::{self, Refusal, Want};

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
                Ok(safety) => ready.set_safety(safety),
                Err(failure) => *planned = Planned::Ended(failure.of(ready)),
            }
        }
        let mut conflicts = Vec::new();
        for type_name in self.groups.types() {
            conflicts.extend(self.conflicts(&type_name, resources).await);
        }
        conflicts
    }

    /// Inspects one that has become known at its turn, when claims can be taken no more: what it holds must lie within what its declaration
    /// took. From then on it counts in its type's composition, unless that forbids it.
    ///
    /// # Errors
    /// With the report of a resource that has thereby ended.
    pub(super) async fn late(&self, ready: &mut Ready) -> Result<(), Box<ResourceReport>> {
        let safety = self.safety(ready).await.map_err(|failure| failure.of(ready))?;
        if let Some(claim) = safety.claims.iter().find(|claim| !ready.claims().any(|own| own.covers(claim))) {
            return Err(Failed::beyond(claim).of(ready));
        }
        ready.set_safety(safety);
        self.groups.add(ready);
        let conflicts = self.conflicts_of_type(ready).await;
        let refused = conflicts.map(|conflicts| conflicts.into_iter().find(|conflict| conflict.resources.contains(ready.id())));
        let failed = match refused {
            Ok(None) => return Ok(()),
            Ok(Some(conflict)) => Failed::refused(conflict.message, None),
            Err(failure) => failure,
        };
        self.groups.remove(ready.id());
        Err(failed.of(ready))
    }

    async fn safety(&self, ready: &Ready) -> Result<Safety, Failed> {
        self.offers_what_is_needed(ready).await?;
        if self.groups.has_no_safety(&ready.id().type_name) {
            return Ok(Safety::default());
        }
        let mut attempt = self.attempt(ready).await?;
        let safety = self.groups.safety(&mut attempt, ready, &Reason::default()).await;
        let safety = believed(safety, &mut attempt)?.unwrap_or_default();
        // To hold an object keeps others from it, so it takes the same right as a claim that the catalog names.
        let wants = safety.claims.iter().filter_map(Want::to_hold).collect();
        match policy::outside(&ready.id().type_name, ready.module().digest(), &wants, &ready.admitted().grant) {
            Some(refusal) => Err(refusal.into()),
            None => Ok(safety),
        }
    }

    /// Fails if the type says what the node offers, and the resource needs more.
    async fn offers_what_is_needed(&self, ready: &Ready) -> Result<(), Failed> {
        let type_name = &ready.id().type_name;
        let offered = match self.groups.offered(type_name) {
            Some(offered) => offered,
            None => {
                let mut attempt = self.attempt(ready).await?;
                let offered = attempt.capabilities().await;
                self.groups.note_offered(type_name, believed(offered, &mut attempt)?)
            }
        };
        match ready.capabilities().iter().find(|needed| !offered.is_empty() && !offered.contains(needed)) {
            Some(needed) => Err(Failed::lacking(needed)),
            None => Ok(()),
        }
    }

    /// Conflicts within a type. That they cannot be told ends every resource of the type.
    async fn conflicts(&self, type_name: &TypeName, resources: &mut [Planned]) -> Vec<Conflict> {
        let one = resources.iter().find_map(|planned| match planned {
            Planned::Ready(ready) if ready.id().type_name == *type_name => Some(ready),
            _ => None,
        });
        let Some(one) = one else { return Vec::new() };
        match self.conflicts_of_type(one).await {
            Ok(conflicts) => conflicts,
            Err(failure) => {
                for planned in resources.iter_mut() {
                    if let Planned::Ready(ready) = planned
                        && ready.id().type_name == *type_name
                    {
                        *planned = Planned::Ended(failure.of(ready));
                    }
                }
                Vec::new()
            }
        }
    }

    /// Conflicts within the type of `ready`.
    async fn conflicts_of_type(&self, ready: &Ready) -> Result<Vec<Conflict>, Failed> {
        let mut attempt = self.attempt(ready).await?;
        let conflicts = self.groups.conflicts(&mut attempt, &ready.id().type_name, &Reason::default()).await;
        believed(conflicts, &mut attempt)
    }

    async fn attempt(&self, ready: &Ready) -> Result<Attempt, Failed> {
        let assets = Arc::clone(self.assets) as Arc<dyn host_functions::assets::AssetSource>;
        let host = ready.host(self.node, &assets, Instant::now(), false);
        Ok(Attempt::start(ready.module(), host, ready.limits()).await?)
    }
}

/// The answer, unless the module tried to change the node while it was asked to look: then nothing that it says is believed (I6).
fn believed<T>(answer: Result<T, AttemptError>, attempt: &mut Attempt) -> Result<T, Failed> {
    match (answer, attempt.host().denied_change()) {
        (Ok(answer), None) => Ok(answer),
        (Ok(_), Some(denial)) => {
            let message = format!("the module tried to change the node in an inspection: {denial}");
            Err(Failed::refused(message, None))
        }
        (Err(error), _) => Err(Failed::new(error, attempt)),
    }
}

/// Why an inspection gave no answer, or one that is not taken.
struct Failed {
    outcome: Outcome,
    attribute: Option<String>,
    message: String,
    hint: Option<String>,
    limit: Option<String>,
}

impl Failed {
    /// A failure that follows a denial is a refusal, told in the host's words.
    fn new(error: AttemptError, attempt: &mut Attempt) -> Self {
        let (failed, may_be_denied) = match error {
            AttemptError::Call(call) => (call.into(), true),
            AttemptError::Module(LifecycleError { diagnostic, denied, .. }) => (diagnostic.into(), denied),
        };
        let host = attempt.host();
        match host.denied_change().or_else(|| host.denials().0.last()).filter(|_| may_be_denied) {
            Some(denial) => Self { outcome: Outcome::Refused, message: denial.to_string(), hint: denial.hint(), ..failed },
            None => failed,
        }
    }

    fn refused(message: String, hint: Option<String>) -> Self {
        Self { outcome: Outcome::Refused, attribute: None, message, hint, limit: None }
    }

    fn lacking(capability: &str) -> Self {
        let message = format!("this node does not offer `{}`, which it needs", escape(capability));
        Self { outcome: Outcome::Failed, attribute: None, message, hint: None, limit: None }
    }

    fn beyond(claim: &Claim) -> Self {
        let object = format!("{} `{}`", escape(&claim.domain), claim.key);
        let message = format!("on this node it also holds the {object}, which its declaration does not");
        Self::refused(message, Some("what waits for another resource's outputs takes no claims at its turn".into()))
    }

    fn of(&self, ready: &Ready) -> Box<ResourceReport> {
        let failure = Failure {
            module: ready.id().type_name.to_string(),
            phase: Phase::Inspect,
            effect: EffectClass::BeforeChange,
            attribute: self.attribute.clone(),
            message: self.message.clone(),
            hint: self.hint.clone(),
            limit: self.limit.clone(),
        };
        Box::new(ResourceReport { outcome: self.outcome, failure: Some(failure), ..ready.report() })
    }
}

impl From<CallError> for Failed {
    fn from(error: CallError) -> Self {
        let (hint, limit) = (error.fault.hint(), error.fault.limit());
        Self { outcome: Outcome::Failed, attribute: None, message: error.to_string(), hint, limit }
    }
}

impl From<Diagnostic> for Failed {
    fn from(Diagnostic { attribute, message, hint }: Diagnostic) -> Self {
        Self { outcome: Outcome::Failed, attribute, message, hint, limit: None }
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        let hint = refusal.row.map(|row| format!("the owner of this node can allow it in the policy:\n{row}"));
        Self::refused(refusal.reason, hint)
    }
}
