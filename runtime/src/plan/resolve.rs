//! Settles gates and deferred values with the facts of this node, through the same definitions that the controller uses.
//!
//! What comes out is held to the catalog: a definition that gives other claims or effects here than on the controller is refused.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use super::assets::Made;
use super::hold::hold;
use super::outputs::Unread;
use super::sources::Sources;
use super::{KnownState, failed, gate};
use crate::engine::{AssetRequest, AssetSource, Child, DefinitionError, Module, ParameterError, Parameters, Validated};
use crate::language::{NodeScope, Settled as Value, evaluate_on_node};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Resource, State};
use crate::model::description::Output;
use crate::model::digest::AssetDigest;
use crate::model::facts;
use crate::model::ids::ResourceId;
use crate::model::report::{Outcome, Phase, ResourceReport};

/// How deep reading exports of other resources may nest.
const MAX_EXPORT_DEPTH: usize = 64;

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
            known(desired, validated.semantics).unwrap_or_else(|message| refuse(Outcome::Failed, message, None))
        }
        Err(Unsettled { message, hint }) => refuse(Outcome::Failed, message, hint),
    }
}

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
        let digest = asset_here(request, parameters, sources, &mut made)?;
        desired = module.assign_asset(&desired, &request.slot, &AssetRef::Plain(digest)).map_err(failed)?;
    }
    let validated = module.validate(&desired).map_err(failed)?;
    Ok((desired, validated, made))
}

fn asset_here(
    request: &AssetRequest,
    parameters: &NodeParameters,
    sources: &BTreeMap<String, AssetDigest>,
    made: &mut Made,
) -> Result<AssetDigest, Unsettled> {
    let unsettled = |message: String| Unsettled { message, hint: None };
    let text = match &request.source {
        AssetSource::Inline(text) => text.clone(),
        AssetSource::Parameter(name) => match parameters.read(name) {
            Ok(Some(Json::String(text))) => text,
            Ok(_) => return Err(unsettled(format!("`{name}` is wanted as content and is not text"))),
            Err(_) => return Err(parameters.explain(DefinitionError::Parameter)),
        },
        AssetSource::Local(_) => {
            let known = sources.get(&request.attribute).copied();
            return known
                .ok_or_else(|| unsettled(format!("the bundle does not have the file that `{}` names", request.attribute)));
        }
        AssetSource::Url(_) => return Err(unsettled("content from an address cannot be fetched on a node".into())),
    };
    let digest = AssetDigest::of(text.as_bytes());
    if request.checksum.is_some_and(|wanted| wanted != digest) {
        return Err(unsettled(format!("the content of `{}` does not have its checksum", request.attribute)));
    }
    made.insert(digest, text.into_bytes().into());
    Ok(digest)
}

/// Facts, exports and outputs as expressions of the catalog read them on this node, for settling one resource.
pub(super) struct NodeValues {
    sources: Arc<Sources>,
    /// Exports being read, outermost first.
    reading: RefCell<Vec<String>>,
    /// The first output that was read and is not known.
    unread: RefCell<Option<Unread>>,
}

impl NodeValues {
    fn new(sources: &Arc<Sources>) -> Self {
        Self { sources: Arc::clone(sources), reading: RefCell::default(), unread: RefCell::default() }
    }

    fn module(&self, id: &ResourceId) -> &Module {
        &self.sources.module(id).module
    }

    fn resource(&self, id: &ResourceId) -> Option<&Resource> {
        self.sources.resource(id)
    }

    fn read_output(&self, id: &ResourceId, output: &Output) -> Result<Value, String> {
        self.sources.outputs.read(id, output).map_err(|unread| {
            let words = unread.words();
            self.unread.borrow_mut().get_or_insert(unread);
            words
        })
    }
}

/// The scope of an expression: `NodeValues` behind a reference count, so that exports can be read through definitions.
pub(super) struct Scope(pub(super) Rc<NodeValues>);

impl NodeScope for Scope {
    fn fact(&self, path: &[String]) -> Option<Json> {
        facts::get(&self.0.sources.facts, path).cloned()
    }

    fn export(&self, id: &ResourceId, name: &str) -> Result<Value, String> {
        if self.0.resource(id).is_none() {
            return Err(format!("there is no resource `{id}`"));
        }
        let description = self.0.module(id).description();
        if let Some(output) = description.output(name) {
            return self.0.read_output(id, output);
        }
        let attribute = description.attribute(name).map_or(name, |attribute| attribute.name.as_str());
        let name = format!("{id}.{attribute}");
        if self.0.reading.borrow().len() >= MAX_EXPORT_DEPTH || self.0.reading.borrow().contains(&name) {
            return Err(format!("`{name}` depends on itself, or exports nest more than {MAX_EXPORT_DEPTH} deep"));
        }
        self.0.reading.borrow_mut().push(name);
        let parameters = Rc::new(NodeParameters::new(Rc::clone(&self.0), id.clone()));
        let read = self.0.module(id).resolve_export(id, attribute, Rc::clone(&parameters) as Rc<dyn Parameters>);
        self.0.reading.borrow_mut().pop();
        let json = read.map_err(|error| parameters.explain(error).message)?;
        Ok(Value { json, sensitive: false })
    }
}

/// The attributes of one deferred resource, evaluated on this node when they are first read.
struct NodeParameters {
    node: Rc<NodeValues>,
    id: ResourceId,
    known: RefCell<BTreeMap<String, Option<Json>>>,
    failure: RefCell<Option<String>>,
}

impl NodeParameters {
    fn new(node: Rc<NodeValues>, id: ResourceId) -> Self {
        Self { node, id, known: RefCell::default(), failure: RefCell::default() }
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
        let value = value.map_err(|error| self.fail(format!("{} ({})", error.summary, error.place)))?;
        if value.sensitive {
            return Err(self.fail(format!("the sensitive value of `{name}` cannot be handed to a module by this version")));
        }
        attribute.check(value.json).map_err(|mismatch| self.fail(mismatch.to_string()))
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
