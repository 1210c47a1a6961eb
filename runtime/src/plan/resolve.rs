//! Settles gates and deferred values with the facts of this node, through the same definitions that the controller uses.
//!
//! What comes out is held to the catalog: a definition that gives other claims or effects here than on the controller is refused.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use zeroize::Zeroizing;

use super::secrets::RunSecrets;
use super::{KnownState, failed, gate};
use crate::engine::{AssetRequest, AssetSource, Child, DefinitionError, Module, ParameterError, Parameters, Validated};
use crate::language::slots::{self, SlotPath, Told};
use crate::language::value::{Marks, Value};
use crate::language::{NodeScope, evaluate_on_node};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Catalog, Resource, State};
use crate::model::description::is_secret_slot;
use crate::model::digest::AssetDigest;
use crate::model::facts;
use crate::model::ids::{ResourceId, SecretName, SecretSlot, TypeName};
use crate::model::report::{Outcome, Phase, ResourceReport};
use crate::model::secret;
use crate::receipt::Admitted;

/// How deep reading exports of other resources may nest.
const MAX_EXPORT_DEPTH: usize = 64;

/// Every resource settled, and the content that deferred values became.
pub(super) struct SettledAll {
    pub(super) resources: Vec<Settled>,
    pub(super) assets: BTreeMap<AssetDigest, Arc<[u8]>>,
}

/// A resource settled.
pub(super) enum Settled {
    /// It has ended: its gate is closed, or its values cannot be settled.
    Ended(Box<ResourceReport>),
    /// What it should be.
    Known(Box<KnownState>),
}

/// Settles every resource, in catalog order. To be called on a large stack.
pub(super) fn settle_all(admitted: &Admitted, secrets: &Arc<RunSecrets>, facts: &Json) -> SettledAll {
    let places = admitted.catalog.resources.iter().enumerate().map(|(place, resource)| (resource.id.clone(), place));
    let node = Rc::new(NodeValues {
        places: places.collect(),
        catalog: Arc::clone(&admitted.catalog),
        modules: admitted.modules.iter().map(|(name, admitted)| (name.to_string(), admitted.module.clone())).collect(),
        facts: facts.clone(),
        secrets: Arc::clone(secrets),
        settling: RefCell::default(),
        reading: RefCell::new(Vec::new()),
    });
    let mut assets = BTreeMap::new();
    let resources = admitted.catalog.resources.iter().map(|resource| settle(&node, resource, &mut assets)).collect();
    SettledAll { resources, assets }
}

fn settle(node: &Rc<NodeValues>, resource: &Resource, assets: &mut BTreeMap<AssetDigest, Arc<[u8]>>) -> Settled {
    *node.settling.borrow_mut() = None;
    match gate::closed(resource, node) {
        Ok(None) => {}
        Ok(Some(reason)) => return Settled::Ended(gate::skipped(resource, reason)),
        Err(message) => return Settled::Ended(failed(resource, Outcome::Failed, Phase::Resolve, message, None)),
    }
    *node.settling.borrow_mut() = Some(resource.id.type_name.clone());
    match &resource.state {
        State::Compiled { desired, semantics } => known(desired.clone(), semantics.clone())
            .unwrap_or_else(|message| Settled::Ended(failed(resource, Outcome::Failed, Phase::Resolve, message, None))),
        State::Deferred { sources, .. } => settle_deferred(node, resource, sources, assets),
    }
}

fn known(desired: Json, semantics: crate::model::catalog::Semantics) -> Result<Settled, String> {
    let desired_text = serde_jcs::to_string(&desired).map_err(|error| error.to_string())?;
    Ok(Settled::Known(Box::new(KnownState { desired, desired_text, semantics })))
}

fn settle_deferred(
    node: &Rc<NodeValues>,
    resource: &Resource,
    sources: &BTreeMap<String, AssetDigest>,
    assets: &mut BTreeMap<AssetDigest, Arc<[u8]>>,
) -> Settled {
    let parameters = Rc::new(NodeParameters::new(Rc::clone(node), resource.id.clone()));
    let compiled = compile_here(node.module(&resource.id), resource, &parameters, sources);
    let refuse = |outcome, message, hint| Settled::Ended(failed(resource, outcome, Phase::Resolve, message, hint));
    match compiled {
        Ok((desired, validated, made)) => {
            if let Some(difference) = footprint_difference(resource, &validated) {
                let message = format!("on this node the module gives other {difference} than the bundle says");
                return refuse(Outcome::Refused, message, Some("compile again with `--target` for this node".into()));
            }
            assets.extend(made);
            node.secrets.keep(&parameters.told.borrow());
            known(desired, validated.semantics).unwrap_or_else(|message| refuse(Outcome::Failed, message, None))
        }
        Err(Unsettled { message, hint }) => refuse(Outcome::Failed, message, hint),
    }
}

type Made = BTreeMap<AssetDigest, Arc<[u8]>>;

/// Why a deferred resource has no desired state on this node.
struct Unsettled {
    message: String,
    hint: Option<String>,
}

fn compile_here(
    module: &Module,
    resource: &Resource,
    parameters: &Rc<NodeParameters>,
    sources: &BTreeMap<String, AssetDigest>,
) -> Result<(Json, Validated, Made), Unsettled> {
    let failed = |error: DefinitionError| parameters.explain(error);
    let compiled = module.compile(&resource.id, Rc::clone(parameters) as Rc<dyn Parameters>).map_err(failed)?;
    let mut desired = compiled.desired;
    let mut made = Made::new();
    for request in &compiled.assets {
        let asset = asset_here(request, parameters, sources, &mut made)?;
        desired = module.assign_asset(&desired, &request.slot, &asset).map_err(failed)?;
    }
    let validated = module.validate(&desired).map_err(failed)?;
    check_slots(&desired, &validated, parameters)?;
    Ok((desired, validated, made))
}

/// That the module names only slots that it was told here.
fn check_slots(desired: &Json, validated: &Validated, parameters: &NodeParameters) -> Result<(), Unsettled> {
    let unsettled = |message: String| Unsettled { message, hint: None };
    let mut slots: BTreeSet<SecretSlot> = validated.semantics.assets.iter().filter_map(AssetRef::slot).cloned().collect();
    secret::add_slots(desired, &mut slots).map_err(|error| unsettled(error.to_string()))?;
    let told = parameters.told.borrow();
    match slots.iter().find(|slot| !told.contains_key(*slot)) {
        Some(slot) => Err(unsettled(format!("the module names the slot `{slot}`, which it was not given"))),
        None => Ok(()),
    }
}

fn asset_here(
    request: &AssetRequest,
    parameters: &NodeParameters,
    sources: &BTreeMap<String, AssetDigest>,
    made: &mut Made,
) -> Result<AssetRef, Unsettled> {
    let unsettled = |message: String| Unsettled { message, hint: None };
    let text = match &request.source {
        AssetSource::Inline(text) => text.clone(),
        AssetSource::Parameter(name) => match parameters.read(name) {
            Ok(Some(Json::String(text))) => text,
            Ok(Some(told)) if is_secret_slot(&told) => return secret_here(request, parameters, &told),
            Ok(_) => return Err(unsettled(format!("`{name}` is wanted as content and is not text"))),
            Err(_) => return Err(parameters.explain(DefinitionError::Parameter)),
        },
        AssetSource::Local(_) => {
            let known = sources.get(&request.attribute).copied();
            return known
                .map(AssetRef::Plain)
                .ok_or_else(|| unsettled(format!("the bundle does not have the file that `{}` names", request.attribute)));
        }
        AssetSource::Url(_) => return Err(unsettled("content from an address cannot be fetched on a node".into())),
    };
    let digest = AssetDigest::of(text.as_bytes());
    if request.checksum.is_some_and(|wanted| wanted != digest) {
        return Err(unsettled(format!("the content of `{}` does not have its checksum", request.attribute)));
    }
    made.insert(digest, text.into_bytes().into());
    Ok(AssetRef::Plain(digest))
}

/// The name of sensitive content, of which no digest is told.
fn secret_here(request: &AssetRequest, parameters: &NodeParameters, told: &Json) -> Result<AssetRef, Unsettled> {
    let unsettled = |what: &str| Unsettled { message: format!("the content of `{}` {what}", request.attribute), hint: None };
    let slot = secret::slot_of(told).ok().flatten().ok_or_else(|| unsettled("is not text"))?;
    let value = parameters.told.borrow().get(&slot).and_then(Value::json);
    let Some(Json::String(text)) = value else { return Err(unsettled("is not text")) };
    let text = Zeroizing::new(text);
    if request.checksum.is_some_and(|wanted| AssetDigest::of(text.as_bytes()) != wanted) {
        return Err(unsettled("does not have its checksum"));
    }
    Ok(AssetRef::Secret(slot))
}

/// What of claims, effects and paths is not as in the catalog.
fn footprint_difference(resource: &Resource, validated: &Validated) -> Option<&'static str> {
    let footprint = &validated.footprint;
    if footprint.claims != resource.claims {
        Some("claims")
    } else if footprint.effects != resource.effects {
        Some("effects")
    } else if footprint.affected_paths != resource.affected_paths {
        Some("affected paths")
    } else {
        None
    }
}

/// Facts and exports as expressions of the catalog read them on this node.
pub(super) struct NodeValues {
    catalog: Arc<Catalog>,
    places: BTreeMap<ResourceId, usize>,
    modules: BTreeMap<String, Module>,
    facts: Json,
    secrets: Arc<RunSecrets>,
    /// The type of the resource being settled, which uses whatever is read for it; none for a gate.
    settling: RefCell<Option<TypeName>>,
    /// Exports being read, outermost first.
    reading: RefCell<Vec<String>>,
}

impl NodeValues {
    fn module(&self, id: &ResourceId) -> &Module {
        &self.modules[id.type_name.as_str()]
    }

    fn resource(&self, id: &ResourceId) -> Option<&Resource> {
        self.places.get(id).map(|place| &self.catalog.resources[*place])
    }
}

/// The scope of an expression: `NodeValues` behind a reference count, so that exports can be read through definitions.
pub(super) struct Scope(pub(super) Rc<NodeValues>);

impl NodeScope for Scope {
    fn fact(&self, path: &[String]) -> Option<Json> {
        facts::get(&self.0.facts, path).cloned()
    }

    fn slot(&self, slot: &SecretSlot) -> Result<Json, String> {
        let value = self.0.secrets.slot(slot);
        value.map(|value| value.json()).ok_or_else(|| format!("the bundle has no secret `{slot}`"))
    }

    fn secret(&self, name: &SecretName) -> Result<Json, String> {
        self.0.secrets.of_node(name, self.0.settling.borrow().as_ref()).map(|value| value.json())
    }

    fn output(&self, id: &ResourceId, attribute: &str) -> Result<Value, String> {
        let name = format!("{id}.{attribute}");
        if self.0.reading.borrow().len() >= MAX_EXPORT_DEPTH || self.0.reading.borrow().contains(&name) {
            return Err(format!("`{name}` depends on itself, or exports nest more than {MAX_EXPORT_DEPTH} deep"));
        }
        if self.0.resource(id).is_none() {
            return Err(format!("there is no resource `{id}`"));
        }
        self.0.reading.borrow_mut().push(name);
        let parameters = Rc::new(NodeParameters::new(Rc::clone(&self.0), id.clone()));
        let read = self.0.module(id).resolve_export(id, attribute, Rc::clone(&parameters) as Rc<dyn Parameters>);
        self.0.reading.borrow_mut().pop();
        let json = read.map_err(|error| parameters.explain(error).message)?;
        let value = slots::reveal(&json, &parameters.told.borrow());
        let value = value.map_err(|error| format!("`{id}.{attribute}` cannot be read: {error}"))?;
        // Whatever the module made of a sensitive value is sensitive too.
        Ok(if parameters.sensitive.get() { value.marked(&Marks::sensitive()) } else { value })
    }
}

/// The attributes of one deferred resource, evaluated on this node when they are first read.
struct NodeParameters {
    node: Rc<NodeValues>,
    id: ResourceId,
    known: RefCell<BTreeMap<String, Option<Json>>>,
    failure: RefCell<Option<String>>,
    /// The sensitive values that reading gave slots for.
    told: RefCell<Told>,
    /// Whether something that was read is sensitive.
    sensitive: Cell<bool>,
}

impl NodeParameters {
    fn new(node: Rc<NodeValues>, id: ResourceId) -> Self {
        let (known, failure, told) = (RefCell::default(), RefCell::default(), RefCell::default());
        Self { node, id, known, failure, told, sensitive: Cell::new(false) }
    }

    fn evaluate(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        let attribute = self.node.module(&self.id).description().attributes.iter().find(|a| a.name == name);
        let attribute = attribute.ok_or(ParameterError::Unknown)?;
        let resource = self.node.resource(&self.id).ok_or(ParameterError::Unknown)?;
        let State::Deferred { attributes, .. } = &resource.state else {
            return Err(self.fail(format!("`{}` is settled, so its attributes are not in the bundle", self.id)));
        };
        let Some(expression) = attributes.get(name) else { return Ok(None) };
        let value = evaluate_on_node(expression, &Scope(Rc::clone(&self.node)));
        let settled = value.map_err(|error| self.fail(format!("{} ({})", error.summary, error.place)))?;
        self.sensitive.set(self.sensitive.get() || settled.sensitive || attribute.sensitive);
        // The value itself is checked; what the module gets has a slot in the place of each sensitive part.
        if attribute.check(settled.json).map_err(|mismatch| self.fail(mismatch.to_string()))?.is_none() {
            return Ok(None);
        }
        let path = SlotPath::attribute(&self.id, name);
        let concealed = slots::conceal(&settled.value, attribute.sensitive, &path, &mut self.told.borrow_mut());
        concealed.map_err(|_| self.fail(format!("a sensitive part of `{name}` is nested too deep, or its keys are too long")))
    }

    fn fail(&self, message: String) -> ParameterError {
        *self.failure.borrow_mut() = Some(message);
        ParameterError::Failed
    }

    /// A definition's error in words; where it could not read a parameter, why.
    fn explain(&self, error: DefinitionError) -> Unsettled {
        match error {
            DefinitionError::Parameter => {
                let why = self.failure.borrow_mut().take();
                Unsettled { message: why.unwrap_or_else(|| "a parameter could not be read".into()), hint: None }
            }
            DefinitionError::Invalid(diagnostic) => Unsettled { message: diagnostic.message, hint: diagnostic.hint },
            DefinitionError::Call(call) => Unsettled { message: call.to_string(), hint: call.fault.hint() },
            other => Unsettled { message: other.to_string(), hint: None },
        }
    }
}

impl Parameters for NodeParameters {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        if let Some(value) = self.known.borrow().get(name) {
            return Ok(value.clone());
        }
        let value = self.evaluate(name)?;
        self.known.borrow_mut().insert(name.to_owned(), value.clone());
        Ok(value)
    }

    fn children(&self, block: &str) -> Result<Vec<Child>, ParameterError> {
        let described = self.node.module(&self.id).description().block(block).is_some();
        if described { Ok(Vec::new()) } else { Err(ParameterError::Unknown) }
    }
}
