//! What expressions and definitions of a catalog read on this node: facts, exports of other resources, and the attributes of resources
//! that are compiled here.

use std::cell::{Cell, Ref, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use super::outputs::Unread;
use super::resolve::Unsettled;
use super::sources::Sources;
use crate::engine::{Child, DefinitionError, Module, ParameterError, Parameters};
use crate::language::slots::{self, SlotPath, Told};
use crate::language::value::{Marks, Value};
use crate::language::{NodeScope, evaluate_on_node};
use crate::model::attribute_path::AttributePath;
use crate::model::catalog::{Candidate, DeferredBlock, EdgeReason, Resource, State};
use crate::model::description::{Attribute, Output};
use crate::model::expression::Expression;
use crate::model::ids::{ProviderName, ResourceId, SecretName, SecretSlot, TypeName};

/// How deep reading exports of other resources may nest.
const MAX_EXPORT_DEPTH: usize = 64;

/// Facts, exports and outputs as expressions of the catalog read them on this node, for settling one resource.
pub(super) struct NodeValues {
    pub(super) sources: Arc<Sources>,
    /// The type of the resource being settled, which uses whatever is read for it; none for a gate.
    pub(super) settling: RefCell<Option<TypeName>>,
    /// Exports being read, outermost first.
    reading: RefCell<Vec<String>>,
    /// The first output that was read and is not known.
    pub(super) unread: RefCell<Option<Unread>>,
}

impl NodeValues {
    pub(super) fn new(sources: &Arc<Sources>) -> Self {
        Self {
            sources: Arc::clone(sources),
            settling: RefCell::default(),
            reading: RefCell::default(),
            unread: RefCell::default(),
        }
    }

    pub(super) fn module(&self, id: &ResourceId) -> &Module {
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
        self.0.sources.facts.get(path)
    }

    fn slot(&self, slot: &SecretSlot) -> Result<Json, String> {
        let value = self.0.sources.secrets.slot(slot);
        value.map(|value| value.json()).ok_or_else(|| format!("the bundle has no secret `{slot}`"))
    }

    fn secret(&self, name: &SecretName) -> Result<Json, String> {
        self.0.sources.secrets.of_node(name, self.0.settling.borrow().as_ref()).map(|value| value.json())
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
        let json = match read {
            Ok(_) if parameters.has_failed() => return Err(parameters.explain(DefinitionError::Parameter).message),
            read => read.map_err(|error| parameters.explain(error).message)?,
        };
        let value = slots::reveal(&json, &parameters.told());
        let value = value.map_err(|error| format!("`{id}.{attribute}` cannot be read: {error}"))?;
        // Whatever the module made of a sensitive value is sensitive too.
        Ok(if parameters.reads.sensitive.get() { value.marked(&Marks::sensitive()) } else { value })
    }
}

/// The attributes of one deferred resource or one of its blocks, evaluated on this node when they are first read.
pub(super) struct NodeParameters {
    node: Rc<NodeValues>,
    id: ResourceId,
    /// The place of the child block whose attributes they are.
    block: Option<usize>,
    /// The provider whose options they are.
    options: Option<ProviderName>,
    known: RefCell<BTreeMap<String, Option<Json>>>,
    reads: Rc<Reads>,
}

/// What came of everything that was read of one resource; shared by all its parts.
#[derive(Default)]
struct Reads {
    /// Why something could not be read.
    failure: RefCell<Option<String>>,
    /// The sensitive values that reading gave slots for.
    told: RefCell<Told>,
    /// Whether something that was read is sensitive.
    sensitive: Cell<bool>,
}

impl NodeParameters {
    pub(super) fn new(node: Rc<NodeValues>, id: ResourceId) -> Self {
        Self { node, id, block: None, options: None, known: RefCell::default(), reads: Rc::default() }
    }

    /// The options of a provider that may serve a resource.
    pub(super) fn of_options(node: Rc<NodeValues>, id: ResourceId, provider: ProviderName) -> Self {
        Self { options: Some(provider), ..Self::new(node, id) }
    }

    fn of(&self, block: Option<usize>) -> Self {
        let (node, reads) = (Rc::clone(&self.node), Rc::clone(&self.reads));
        Self { node, id: self.id.clone(), block, options: None, known: RefCell::default(), reads }
    }

    /// The sensitive values that the module has slots for.
    pub(super) fn told(&self) -> Ref<'_, Told> {
        self.reads.told.borrow()
    }

    /// The place in the catalog of an attribute.
    fn path(&self, name: &str) -> AttributePath {
        if let Some(provider) = &self.options {
            return AttributePath { block: Some((provider.to_string(), 0)), name: Some(name.to_owned()) };
        }
        let blocks = self.blocks();
        let block = self.block.and_then(|place| {
            let own = &blocks.get(place)?.name;
            Some((own.clone(), blocks[..place].iter().filter(|block| block.name == *own).count()))
        });
        AttributePath { block, name: Some(name.to_owned()) }
    }

    /// The value of the attribute that a path leads to.
    pub(super) fn read_path(&self, path: &str) -> Result<Option<Json>, ParameterError> {
        let unknown = || self.fail(format!("the module wants `{}`, which is no attribute", crate::model::key::escape(path)));
        let path: AttributePath = path.parse().map_err(|_| unknown())?;
        if self.options.is_some() {
            return self.read(path.name.as_deref().filter(|_| path.block.is_none()).ok_or_else(unknown)?);
        }
        let block = match &path.block {
            None => None,
            Some((name, place)) => {
                let mut named = self.blocks().iter().enumerate().filter(|(_, block)| block.name == *name);
                Some(named.nth(*place).ok_or_else(unknown)?.0)
            }
        };
        self.of(block).read(path.name.as_deref().ok_or_else(unknown)?)
    }

    fn blocks(&self) -> &[DeferredBlock] {
        match self.node.resource(&self.id).map(|resource| &resource.state) {
            Some(State::Deferred { blocks, .. }) => blocks,
            _ => &[],
        }
    }

    /// An attribute's descriptor, and what is given for it.
    fn attribute(&self, name: &str) -> Result<(&Attribute, Option<&Expression>), ParameterError> {
        let resource = self.node.resource(&self.id).ok_or(ParameterError::Unknown)?;
        if let Some(provider) = &self.options {
            return self.option(resource, provider, name);
        }
        let State::Deferred { attributes, blocks, .. } = &resource.state else {
            return Err(self.fail(format!("`{}` is settled, so its attributes are not in the bundle", self.id)));
        };
        let block = self.block.and_then(|place| blocks.get(place));
        let descriptors = self.node.module(&self.id).description().attributes_of(block.map(|block| block.name.as_str()));
        let descriptor = descriptors.iter().find(|attribute| attribute.name == name).ok_or(ParameterError::Unknown)?;
        Ok((descriptor, block.map_or(attributes, |block| &block.attributes).get(name)))
    }

    /// An option's descriptor, and what is given for it.
    fn option<'r>(
        &'r self,
        resource: &'r Resource,
        provider: &ProviderName,
        name: &str,
    ) -> Result<(&'r Attribute, Option<&'r Expression>), ParameterError> {
        let admitted = self.node.sources.providers(&self.id).and_then(|known| known.get(provider));
        let options = &admitted.ok_or(ParameterError::Unknown)?.provider.description().options;
        let descriptor = options.iter().find(|option| option.name == name).ok_or(ParameterError::Unknown)?;
        let candidate = resource.backends.as_ref().and_then(|backends| backends.candidates.get(provider));
        Ok((descriptor, candidate.and_then(Candidate::deferred).and_then(|attributes| attributes.get(name))))
    }

    fn evaluate(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        let (attribute, expression) = self.attribute(name)?;
        let Some(expression) = expression else { return Ok(None) };
        let value = evaluate_on_node(expression, &Scope(Rc::clone(&self.node)));
        let settled = value.map_err(|error| self.fail(format!("{} ({})", error.summary, error.place)))?;
        let sensitive = settled.sensitive || attribute.sensitive;
        self.reads.sensitive.set(self.reads.sensitive.get() || sensitive);
        // The value itself is checked; what the module gets has a slot in the place of each sensitive part.
        let value = attribute.check(settled.json).map_err(|mismatch| self.fail(mismatch.to_string()))?;
        let mut addresses = value.iter().flat_map(|value| attribute.attribute_type.addresses(value));
        if addresses.any(|address| !self.goes_after(address)) {
            return Err(self.fail(format!("`{name}` names a resource on this node that it does not wait for")));
        }
        if value.is_none() {
            return Ok(None);
        }
        let path = SlotPath::attribute(&self.id, &self.path(name));
        let concealed = slots::conceal(&settled.value, attribute.sensitive, &path, &mut self.reads.told.borrow_mut());
        concealed.map_err(|_| self.fail(format!("a sensitive part of `{name}` is nested too deep, or its keys are too long")))
    }

    /// Whether a resource that is named goes before this one. The controller saw to that for all that it could know to be named.
    fn goes_after(&self, address: &str) -> bool {
        self.node.sources.catalog.edges.iter().any(|edge| {
            edge.dependent == self.id && edge.reason == EdgeReason::Reference && edge.prerequisite.to_string() == address
        })
    }

    fn fail(&self, message: String) -> ParameterError {
        *self.reads.failure.borrow_mut() = Some(message);
        ParameterError::Failed
    }

    /// Whether something could not be read, whatever the module made of that.
    pub(super) fn has_failed(&self) -> bool {
        self.reads.failure.borrow().is_some()
    }

    /// A definition's error in words; where it could not read a parameter, why.
    pub(super) fn explain(&self, error: DefinitionError) -> Unsettled {
        match error {
            DefinitionError::Parameter => {
                let why = self.reads.failure.borrow_mut().take();
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
        self.node.module(&self.id).description().block(block).ok_or(ParameterError::Unknown)?;
        if self.block.is_some() || self.options.is_some() {
            return Err(ParameterError::Unknown);
        }
        let named = self.blocks().iter().enumerate().filter(|(_, given)| given.name == block);
        let child =
            |(place, given): (usize, &DeferredBlock)| Child { label: given.label.clone(), given: Rc::new(self.of(Some(place))) };
        Ok(named.map(child).collect())
    }
}
