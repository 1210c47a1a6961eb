//! The provider of a resource on this node: which one it is, with which options.
//!
//! Selection is data and is made in [`crate::providers`]; here is what comes of it. Options that wait for the node are compiled here, by the same
//! definition that the controller uses, and held to what the catalog says.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use host_functions::assets::AssetSource;
use host_functions::rights::Rights;
use host_functions::{HostContext, Node};
use serde_json::Value as Json;

use super::assets::Made;
use super::resolve::{Settled, Unsettled, asset_here, check_slots};
use super::values::{NodeParameters, NodeValues};
use super::{KnownState, failed, rights};
use crate::engine::{self, AttemptLimits, BackendSetup, Footprint, Parameters, Provider, ValidatedOptions};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Beyond, Candidate, OptionsSemantics, Resource, Semantics};
use crate::model::digest::AssetDigest;
use crate::model::ids::{ProviderName, ResourceId, SecretSlot};
use crate::model::managed::ManagedBackend;
use crate::model::report::{Action, Outcome, Phase, ResourceReport};
use crate::model::secret;
use crate::providers::{NoSelection, Statement, candidates_of, select};
use crate::receipt::AdmittedProvider;

/// The provider of a resource, with what its own host calls are held against.
#[derive(Clone)]
pub struct Backend {
    /// The provider.
    pub provider: Provider,
    options: Json,
    options_text: String,
    rights: Rights,
    limits: AttemptLimits,
}

impl Backend {
    /// The provider `admitted` for one resource. `effects` are those of the resource, its type's and those that the provider adds.
    ///
    /// # Errors
    /// If the options have no canonical form.
    pub(crate) fn new(
        admitted: &AdmittedProvider,
        (id, semantics): (&ResourceId, &Semantics),
        effects: &[crate::model::catalog::Effect],
        (options, meant): (Json, &OptionsSemantics),
        limits: AttemptLimits,
    ) -> Result<Self, String> {
        Ok(Self {
            options_text: serde_jcs::to_string(&options).map_err(|error| error.to_string())?,
            options,
            rights: rights::of_provider(admitted, id, effects, semantics, meant),
            limits: rights::limits_of_provider(admitted, limits),
            provider: admitted.provider.clone(),
        })
    }

    /// Its name.
    pub fn name(&self) -> &ProviderName {
        self.provider.name()
    }

    /// As it is recorded.
    pub fn managed(&self) -> ManagedBackend {
        ManagedBackend {
            provider: self.name().clone(),
            component: self.provider.digest(),
            schema_version: self.provider.description().schema_version,
            options: self.options.clone(),
        }
    }

    /// Adds the slots that its options name.
    pub(super) fn add_slots(&self, slots: &mut BTreeSet<SecretSlot>) {
        // Where the key is used otherwise the resource was refused before.
        let _ = secret::add_slots(&self.options, slots);
        let named = self.rights.assets.keys().filter_map(|asset| asset.to_string().parse::<AssetRef>().ok());
        slots.extend(named.filter_map(|asset| asset.slot().cloned()));
    }

    /// Gives an attempt at the resource this provider, with a host's side of its own.
    pub fn attach(&self, host: &mut HostContext, node: &Arc<Node>, assets: &Arc<dyn AssetSource>) {
        let mut rights = self.rights.clone();
        rights.had_secrets |= host.rights().had_secrets;
        let own = HostContext::new(Arc::clone(node), rights, Arc::clone(assets), Instant::now() + self.limits.deadline);
        host.set_backend(engine::backend(BackendSetup {
            provider: self.provider.clone(),
            options: self.options_text.clone(),
            host: own,
            limits: self.limits,
        }));
    }
}

/// What was settled of a selected provider.
pub(super) struct SelectedState {
    pub(super) name: ProviderName,
    pub(super) options: Json,
    pub(super) semantics: OptionsSemantics,
    pub(super) beyond: Beyond,
}

/// Selects the provider of a resource whose desired state is known, and settles its options.
pub(super) fn settle(node: &Rc<NodeValues>, resource: &Resource, mut state: Box<KnownState>, assets: &mut Made) -> Settled {
    let Some(backends) = &resource.backends else { return Settled::Known(state) };
    let sources = &node.sources;
    let admitted = sources.providers(&resource.id);
    let known = |name: &&ProviderName| admitted.is_some_and(|admitted| admitted.contains_key(*name));
    let at_hand = backends.candidates.keys().filter(known);
    let described = at_hand.filter_map(|name| Some(admitted?.get(name)?.provider.description()));
    let candidates = candidates_of(described);
    let statement = Statement { forced: backends.forced.clone(), ..sources.statement(&resource.id) };
    let name = match select(&resource.id.type_name, &candidates, &sources.identity, &statement) {
        Ok(name) => name,
        Err(why) => return Settled::Ended(unselected(resource, why)),
    };
    let Some(admitted) = admitted.and_then(|admitted| admitted.get(&name)) else { return Settled::Known(state) };
    match selected(node, resource, (&name, admitted), &backends.candidates[&name], &state.desired.json(), assets) {
        Ok(selected) => {
            state.backend = Some(selected);
            Settled::Known(state)
        }
        Err(NotSettled { outcome, unsettled: Unsettled { message, hint } }) => {
            let mut report = failed(resource, outcome, Phase::Resolve, message, hint);
            report.provider = Some(name);
            Settled::Ended(report)
        }
    }
}

/// The report of a resource that no provider serves here.
fn unselected(resource: &Resource, why: NoSelection) -> Box<ResourceReport> {
    match &why {
        NoSelection::None(reason) => Box::new(ResourceReport {
            outcome: Outcome::NoProvider,
            action: Action::Skip,
            reason: Some(reason.clone()),
            ..ResourceReport::untouched(resource.id.clone())
        }),
        NoSelection::Ambiguous { .. } => {
            let row = format!("provider \"{}\" {{\n  use = \"NAME\"\n}}", resource.id.type_name);
            let hint = format!("the owner of this node can say which in the policy:\n{row}");
            failed(resource, Outcome::Failed, Phase::Resolve, why.to_string(), Some(hint))
        }
        NoSelection::Forbidden(_) => {
            let hint = "leave `meta { provider }` out, or ask the owner of this node".to_owned();
            failed(resource, Outcome::Refused, Phase::Resolve, why.to_string(), Some(hint))
        }
    }
}

/// Why the options of a selected provider are not settled.
struct NotSettled {
    outcome: Outcome,
    unsettled: Unsettled,
}

impl From<Unsettled> for NotSettled {
    fn from(unsettled: Unsettled) -> Self {
        Self { outcome: Outcome::Failed, unsettled }
    }
}

fn refused(message: &str) -> NotSettled {
    let hint = Some("compile again with `--target` for this node".to_owned());
    NotSettled { outcome: Outcome::Refused, unsettled: Unsettled { message: message.to_owned(), hint } }
}

fn selected(
    node: &Rc<NodeValues>,
    resource: &Resource,
    (name, admitted): (&ProviderName, &AdmittedProvider),
    candidate: &Candidate,
    desired: &Json,
    assets: &mut Made,
) -> Result<SelectedState, NotSettled> {
    let provider = &admitted.provider;
    let parameters = Rc::new(NodeParameters::of_options(Rc::clone(node), resource.id.clone(), name.clone()));
    let base = Footprint {
        claims: resource.claims.clone(),
        effects: resource.effects.clone(),
        affected_paths: resource.affected_paths.clone(),
    };
    let (options, known, beyond) = match candidate {
        Candidate::Refused { message, hint } => {
            return Err(Unsettled { message: message.clone(), hint: hint.clone() }.into());
        }
        Candidate::Compiled { options, semantics, beyond } => (options.clone(), Some(semantics), beyond),
        Candidate::Deferred { sources, beyond, .. } => {
            (compile_here(provider, resource, &parameters, sources, assets)?, None, beyond)
        }
    };
    let validated = provider.validate(&options, &base, Some(desired));
    let ValidatedOptions { beyond: said, semantics } = validated.map_err(|error| parameters.explain(error))?;
    let Beyond { claims, effects, affected_paths } = beyond;
    if (&said.claims, &said.effects, &said.affected_paths) != (claims, effects, affected_paths) {
        return Err(refused("on this node the provider gives other claims, effects or affected paths than the bundle says"));
    }
    match known {
        Some(known) if *known != semantics => {
            return Err(refused("on this node the provider gives its options another meaning than the bundle says"));
        }
        Some(_) => {}
        None => {
            check_slots(&options, &semantics.assets, &parameters)?;
            node.sources.secrets.keep(&parameters.told());
        }
    }
    Ok(SelectedState { name: name.clone(), options, semantics, beyond: beyond.clone() })
}

fn compile_here(
    provider: &Provider,
    resource: &Resource,
    parameters: &Rc<NodeParameters>,
    sources: &BTreeMap<String, AssetDigest>,
    assets: &mut Made,
) -> Result<Json, Unsettled> {
    let failed = |error| parameters.explain(error);
    let compiled = provider.compile_options(&resource.id, Rc::clone(parameters) as Rc<dyn Parameters>).map_err(failed)?;
    if parameters.has_failed() {
        // A provider may throw away that something could not be read.
        return Err(parameters.explain(engine::DefinitionError::Parameter));
    }
    let mut options = compiled.options;
    for request in &compiled.assets {
        let asset = asset_here(request, parameters, sources, assets)?;
        options = provider.assign_asset(&options, &request.slot, &asset).map_err(failed)?;
    }
    Ok(options)
}
