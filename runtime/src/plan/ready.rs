//! A resource that may take its turn: what was settled of it, beside what the catalog says.
//!
//! There are as many as the catalog has resources, from the plan to the turn of each. So it holds what the catalog does not have, and makes what a turn
//! needs, its rights above all, when the turn is there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use host_functions::assets::AssetSource;
use host_functions::rights::Rights;
use host_functions::{HostContext, Node};

use super::sources::Sources;
use super::{Backend, KnownState, failed, rights};
use crate::engine::{AttemptLimits, Module, Safety, canonical_json};
use crate::model::asset::AssetRef;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Beyond, Catalog, Claim, Effect, Resource, Semantics, State};
use crate::model::health::Health;
use crate::model::ids::{ResourceId, SecretSlot};
use crate::model::managed::Managed;
use crate::model::report::{Outcome, Phase, ResourceReport};
use crate::model::secret;
use crate::receipt::AdmittedModule;

/// A resource that may take its turn.
pub struct Ready {
    catalog: Arc<Catalog>,
    /// Its place in the catalog.
    place: usize,
    admitted: AdmittedModule,
    /// Where it was compiled on this node.
    semantics: Option<Box<Semantics>>,
    /// Its desired state, which its type's group has as well.
    pub desired: CanonicalJson,
    /// That with its provider and its options, as it is recorded.
    pub managed: CanonicalJson,
    /// The provider that was selected, for types with providers.
    pub backend: Option<Box<Backend>>,
    /// What the node added, which is nothing for most.
    safety: Option<Box<Safety>>,
    /// The slots that its desired state names.
    pub secrets: BTreeSet<SecretSlot>,
}

impl Ready {
    fn resource(&self) -> &Resource {
        &self.catalog.resources[self.place]
    }

    fn semantics(&self) -> &Semantics {
        match (self.semantics.as_deref(), &self.resource().state) {
            (Some(semantics), _) | (None, State::Compiled { semantics, .. }) => semantics,
            (None, State::Deferred { .. }) => unreachable!("what is compiled on the node brings its semantics"),
        }
    }

    /// Its address.
    pub fn id(&self) -> &ResourceId {
        &self.resource().id
    }

    /// The component that serves it.
    pub fn module(&self) -> &Module {
        &self.admitted.module
    }

    /// What it claims: by the catalog, through its provider, and by what the node added.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        let beyond = self.backend.as_ref().and_then(|backend| beyond(self.resource(), backend));
        let added = self.safety.iter().flat_map(|safety| &safety.claims);
        self.resource().claims.iter().chain(beyond.into_iter().flat_map(|beyond| &beyond.claims)).chain(added)
    }

    /// Whether its declaration has an effect of which this holds.
    pub fn has_effect(&self, holds: impl FnMut(&Effect) -> bool) -> bool {
        self.resource().effects.iter().any(holds)
    }

    /// What it needs of what the node offers to its type.
    pub fn capabilities(&self) -> &[String] {
        &self.semantics().capabilities
    }

    /// Whether it takes refreshes.
    pub fn accepts_refresh(&self) -> bool {
        self.semantics().accepts_refresh
    }

    /// Shared actions that it may ask for.
    pub fn prerequisites(&self) -> &[String] {
        &self.semantics().prerequisites
    }

    /// How to tell whether it works.
    pub fn health(&self) -> Option<&Health> {
        self.resource().health.as_deref()
    }

    /// Its deadline and memory.
    pub fn limits(&self) -> AttemptLimits {
        rights::limits(&self.admitted, self.resource(), self.semantics())
    }

    /// What its host calls are held against.
    pub fn rights(&self) -> Rights {
        let rights = rights::of(&self.admitted, self.resource(), self.semantics());
        Rights { provider: self.backend.as_ref().map(|backend| backend.name().to_string()), ..rights }
    }

    /// Whether this is what the node adds to what it claims.
    pub fn is_safe_as(&self, safety: &Safety) -> bool {
        self.safety.as_deref().map_or_else(|| *safety == Safety::default(), |own| own == safety)
    }

    pub(super) fn set_safety(&mut self, safety: Safety) {
        self.safety = (safety != Safety::default()).then(|| Box::new(safety));
    }

    pub(super) fn admitted(&self) -> &AdmittedModule {
        &self.admitted
    }

    /// The report to fill in at its turn.
    pub fn report(&self) -> ResourceReport {
        let provider = self.backend.as_ref().map(|backend| backend.name().clone());
        ResourceReport { provider, ..ResourceReport::untouched(self.id().clone()) }
    }

    /// The host's side of a new instance for an attempt that began at `started`, and of its provider.
    pub fn host(&self, node: &Arc<Node>, assets: &Arc<dyn AssetSource>, started: Instant, had_secrets: bool) -> HostContext {
        let mut rights = self.rights();
        rights.had_secrets |= had_secrets;
        let mut host = HostContext::new(Arc::clone(node), rights, Arc::clone(assets), started + self.limits().deadline);
        if let Some(backend) = &self.backend {
            backend.attach(&mut host, node, assets);
        }
        host
    }
}

/// What the provider that was selected adds to a resource.
fn beyond<'r>(resource: &'r Resource, backend: &Backend) -> Option<&'r Beyond> {
    resource.backends.as_ref()?.candidates.get(backend.name())?.beyond()
}

/// Makes the resource at `place` ready.
///
/// # Errors
/// With its report, if what it should be has no canonical form.
pub(super) fn ready(sources: &Sources, place: usize, state: KnownState) -> Result<Ready, Box<ResourceReport>> {
    let KnownState { desired, semantics, backend } = state;
    let resource = &sources.catalog.resources[place];
    let unwritable = |message| failed(resource, Outcome::Failed, Phase::Resolve, message, None);
    let mut ready = Ready {
        catalog: Arc::clone(&sources.catalog),
        place,
        admitted: sources.module(&resource.id).clone(),
        semantics: semantics.map(Box::new),
        managed: desired.clone(),
        desired,
        backend: None,
        safety: None,
        secrets: BTreeSet::new(),
    };
    if let Some(selected) = backend {
        let effects: Vec<Effect> = resource.effects.iter().chain(&selected.beyond.effects).cloned().collect();
        let provider = sources.provider(&resource.id, &selected.name);
        let meant = (selected.options, &selected.semantics);
        let backend = Backend::new(provider, (&resource.id, ready.semantics()), &effects, meant, ready.limits());
        let backend = backend.map_err(unwritable)?;
        let managed = Managed { desired: ready.desired.json(), backend: Some(backend.managed()) };
        ready.managed = canonical_json(&managed.json()).map_err(unwritable)?;
        ready.backend = Some(Box::new(backend));
    }
    ready.secrets = slots(&ready);
    Ok(ready)
}

/// The slots that the desired state of a resource names, and the options of its provider.
fn slots(ready: &Ready) -> BTreeSet<SecretSlot> {
    let mut slots: BTreeSet<SecretSlot> = ready.semantics().assets.iter().filter_map(AssetRef::slot).cloned().collect();
    // Where the key is used otherwise the resource was refused before.
    let _ = secret::add_slots_of_text(&ready.desired, &mut slots);
    if let Some(backend) = &ready.backend {
        backend.add_slots(&mut slots);
    }
    slots
}
