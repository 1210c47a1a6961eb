//! Settles gates and deferred values with the facts of this node, through the same definitions that the controller uses.
//!
//! What comes out is held to the catalog: a definition that gives other claims or effects here than on the controller is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use zeroize::Zeroizing;

use super::assets::Made;
use super::hold::hold;
use super::outputs::Unread;
use super::sources::Sources;
use super::values::{NodeParameters, NodeValues};
use super::{KnownState, backend, failed, gate};
use crate::engine::{AssetRequest, AssetSource, DefinitionError, Module, Parameters, Validated, canonical_json};
use crate::language::value::Value;
use crate::model::asset::AssetRef;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Resource, Semantics, State};
use crate::model::description::is_secret_slot;
use crate::model::digest::AssetDigest;
use crate::model::ids::SecretSlot;
use crate::model::report::{Outcome, Phase, ResourceReport};
use crate::model::secret;

/// A resource settled.
pub(super) enum Settled {
    /// It has ended: its gate is closed, or its values cannot be settled.
    Ended(Box<ResourceReport>),
    /// It reads an output that is not known.
    Waiting(Unread),
    /// What it should be.
    Known(Box<KnownState>),
}

/// Settles every resource, in catalog order, and gives the content that deferred values became. To be called on a large stack.
pub(super) fn settle_all(sources: &Arc<Sources>) -> (Vec<Settled>, Made) {
    let mut made = Made::new();
    let settled = sources.catalog.resources.iter().map(|resource| settle(sources, resource, &mut made)).collect();
    (settled, made)
}

/// Settles one resource. To be called on a large stack.
pub(super) fn settle_one(sources: &Arc<Sources>, resource: &Resource) -> (Settled, Made) {
    let mut made = Made::new();
    (settle(sources, resource, &mut made), made)
}

/// An output that is not known decides, whatever else comes of it: a module may take the failed read for anything.
fn settle(sources: &Arc<Sources>, resource: &Resource, made: &mut Made) -> Settled {
    let node = Rc::new(NodeValues::new(sources));
    let settled = settle_with(&node, resource, made);
    match node.unread.take() {
        Some(unread) => Settled::Waiting(unread),
        None => settled,
    }
}

fn settle_with(node: &Rc<NodeValues>, resource: &Resource, assets: &mut Made) -> Settled {
    match gate::closed(resource, node) {
        Ok(None) => {}
        Ok(Some(reason)) => return Settled::Ended(gate::skipped(resource, reason)),
        Err(message) => return Settled::Ended(failed(resource, Outcome::Failed, Phase::Resolve, message, None)),
    }
    *node.settling.borrow_mut() = Some(resource.id.type_name.clone());
    let settled = match &resource.state {
        State::Compiled { desired, .. } => known(desired.clone(), None),
        State::Deferred { sources, .. } => settle_deferred(node, resource, sources, assets),
    };
    match settled {
        Settled::Known(state) => backend::settle(node, resource, state, assets),
        other => other,
    }
}

fn known(desired: CanonicalJson, semantics: Option<Semantics>) -> Settled {
    Settled::Known(Box::new(KnownState { desired, semantics, backend: None }))
}

fn settle_deferred(
    node: &Rc<NodeValues>,
    resource: &Resource,
    sources: &BTreeMap<String, AssetDigest>,
    assets: &mut Made,
) -> Settled {
    let parameters = Rc::new(NodeParameters::new(Rc::clone(node), resource.id.clone()));
    let compiled = compile_here(node.module(&resource.id), resource, &parameters, sources);
    let refuse = |outcome, message, hint| Settled::Ended(failed(resource, outcome, Phase::Resolve, message, hint));
    match compiled {
        Ok((desired, validated, made)) => {
            if let Err(message) = hold(&node.sources, resource, &desired, &validated) {
                return refuse(Outcome::Refused, message, Some("compile again with `--target` for this node".into()));
            }
            assets.extend(made);
            node.sources.secrets.keep(&parameters.told());
            match canonical_json(&desired) {
                Ok(desired) => known(desired, Some(validated.semantics)),
                Err(message) => refuse(Outcome::Failed, message, None),
            }
        }
        Err(Unsettled { message, hint }) => refuse(Outcome::Failed, message, hint),
    }
}

/// Why a deferred resource has no desired state on this node.
pub(super) struct Unsettled {
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

fn compile_here(
    module: &Module,
    resource: &Resource,
    parameters: &Rc<NodeParameters>,
    sources: &BTreeMap<String, AssetDigest>,
) -> Result<(Json, Validated, Made), Unsettled> {
    let failed = |error: DefinitionError| parameters.explain(error);
    let compiled = module.compile(&resource.id, Rc::clone(parameters) as Rc<dyn Parameters>).map_err(failed)?;
    if parameters.has_failed() {
        // A module may throw away that something could not be read.
        return Err(parameters.explain(DefinitionError::Parameter));
    }
    let mut desired = compiled.desired;
    let mut made = Made::new();
    for request in &compiled.assets {
        let asset = asset_here(request, parameters, sources, &mut made)?;
        desired = module.assign_asset(&desired, &request.slot, &asset).map_err(failed)?;
    }
    let validated = module.validate(&desired).map_err(failed)?;
    check_slots(&desired, &validated.semantics.assets, parameters)?;
    Ok((desired, validated, made))
}

pub(super) fn asset_here(
    request: &AssetRequest,
    parameters: &NodeParameters,
    sources: &BTreeMap<String, AssetDigest>,
    made: &mut Made,
) -> Result<AssetRef, Unsettled> {
    let unsettled = |message: String| Unsettled { message, hint: None };
    let text = match &request.source {
        AssetSource::Inline(text) => text.clone(),
        AssetSource::Parameter(path) => match parameters.read_path(path) {
            Ok(Some(Json::String(text))) => text,
            Ok(Some(told)) if is_secret_slot(&told) => return secret_here(request, parameters, &told),
            Ok(_) => return Err(unsettled(format!("`{path}` is wanted as content and is not text"))),
            Err(_) => return Err(parameters.explain(DefinitionError::Parameter)),
        },
        // Taken along by the controller, whether a file or from an address: a node fetches nothing.
        AssetSource::Local(_) | AssetSource::Url(_) => {
            let digest = sources.get(&request.attribute).copied();
            let digest =
                digest.ok_or_else(|| unsettled(format!("the bundle does not have what `{}` names", request.attribute)))?;
            check_sum(request, digest)?;
            return Ok(AssetRef::Plain(digest));
        }
    };
    let digest = AssetDigest::of(text.as_bytes());
    check_sum(request, digest)?;
    made.insert(digest, text.into_bytes().into());
    Ok(AssetRef::Plain(digest))
}

/// The name of sensitive content, of which no digest is told.
fn secret_here(request: &AssetRequest, parameters: &NodeParameters, told: &Json) -> Result<AssetRef, Unsettled> {
    let unsettled = |what: &str| Unsettled { message: format!("the content of `{}` {what}", request.attribute), hint: None };
    let slot = secret::slot_of(told).ok().flatten().ok_or_else(|| unsettled("is not text"))?;
    let value = parameters.told().get(&slot).and_then(Value::json);
    let Some(Json::String(text)) = value else { return Err(unsettled("is not text")) };
    let text = Zeroizing::new(text);
    if request.checksum.is_some_and(|wanted| AssetDigest::of(text.as_bytes()) != wanted) {
        return Err(unsettled("does not have its checksum"));
    }
    Ok(AssetRef::Secret(slot))
}

/// That the module names only slots that it was told here.
pub(super) fn check_slots(desired: &Json, assets: &[AssetRef], parameters: &NodeParameters) -> Result<(), Unsettled> {
    let unsettled = |message: String| Unsettled { message, hint: None };
    let mut slots: BTreeSet<SecretSlot> = assets.iter().filter_map(AssetRef::slot).cloned().collect();
    secret::add_slots(desired, &mut slots).map_err(|error| unsettled(error.to_string()))?;
    let told = parameters.told();
    match slots.iter().find(|slot| !told.contains_key(*slot)) {
        Some(slot) => Err(unsettled(format!("the module names the slot `{slot}`, which it was not given"))),
        None => Ok(()),
    }
}

fn check_sum(request: &AssetRequest, found: AssetDigest) -> Result<(), Unsettled> {
    if request.checksum.is_none_or(|wanted| wanted == found) {
        return Ok(());
    }
    let own = || format!("the content of `{}` does not have its checksum", request.attribute);
    let message = request.checksum_error.clone().unwrap_or_else(own);
    Err(Unsettled { message: format!("{message}: it has {found}"), hint: None })
}
