//! What expressions and definitions of a catalog read on this node: facts, exports of other resources, and the attributes of resources
//! that are compiled here.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use super::outputs::Unread;
use super::resolve::Unsettled;
use super::sources::Sources;
use crate::engine::{Child, DefinitionError, Module, ParameterError, Parameters};
use crate::language::{NodeScope, Settled, evaluate_on_node};
use crate::model::attribute_path::AttributePath;
use crate::model::catalog::{DeferredBlock, EdgeReason, Resource, State};
use crate::model::description::{Attribute, Output};
use crate::model::expression::Expression;
use crate::model::facts;
use crate::model::ids::ResourceId;

/// How deep reading exports of other resources may nest.
const MAX_EXPORT_DEPTH: usize = 64;

/// Facts, exports and outputs as expressions of the catalog read them on this node, for settling one resource.
pub(super) struct NodeValues {
    pub(super) sources: Arc<Sources>,
    /// Exports being read, outermost first.
    reading: RefCell<Vec<String>>,
    /// The first output that was read and is not known.
    pub(super) unread: RefCell<Option<Unread>>,
}

impl NodeValues {
    pub(super) fn new(sources: &Arc<Sources>) -> Self {
        Self { sources: Arc::clone(sources), reading: RefCell::default(), unread: RefCell::default() }
    }

    pub(super) fn module(&self, id: &ResourceId) -> &Module {
        &self.sources.module(id).module
    }

    fn resource(&self, id: &ResourceId) -> Option<&Resource> {
        self.sources.resource(id)
    }

    fn read_output(&self, id: &ResourceId, output: &Output) -> Result<Settled, String> {
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

    fn export(&self, id: &ResourceId, name: &str) -> Result<Settled, String> {
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
        match read {
            Ok(_) if parameters.has_failed() => Err(parameters.explain(DefinitionError::Parameter).message),
            Ok(json) => Ok(Settled { json, sensitive: false }),
            Err(error) => Err(parameters.explain(error).message),
        }
    }
}

/// The attributes of one deferred resource or one of its blocks, evaluated on this node when they are first read.
pub(super) struct NodeParameters {
    node: Rc<NodeValues>,
    id: ResourceId,
    /// The place of the child block whose attributes they are.
    block: Option<usize>,
    known: RefCell<BTreeMap<String, Option<Json>>>,
    /// Why something of this resource could not be read; shared by all its parts.
    failure: Rc<RefCell<Option<String>>>,
}

impl NodeParameters {
    pub(super) fn new(node: Rc<NodeValues>, id: ResourceId) -> Self {
        Self { node, id, block: None, known: RefCell::default(), failure: Rc::default() }
    }

    fn of(&self, block: Option<usize>) -> Self {
        let (node, failure) = (Rc::clone(&self.node), Rc::clone(&self.failure));
        Self { node, id: self.id.clone(), block, known: RefCell::default(), failure }
    }

    /// The value of the attribute that a path leads to.
    pub(super) fn read_path(&self, path: &str) -> Result<Option<Json>, ParameterError> {
        let unknown = || self.fail(format!("the module wants `{}`, which is no attribute", crate::model::key::escape(path)));
        let path: AttributePath = path.parse().map_err(|_| unknown())?;
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
        let State::Deferred { attributes, blocks, .. } = &resource.state else {
            return Err(self.fail(format!("`{}` is settled, so its attributes are not in the bundle", self.id)));
        };
        let block = self.block.and_then(|place| blocks.get(place));
        let descriptors = self.node.module(&self.id).description().attributes_of(block.map(|block| block.name.as_str()));
        let descriptor = descriptors.iter().find(|attribute| attribute.name == name).ok_or(ParameterError::Unknown)?;
        Ok((descriptor, block.map_or(attributes, |block| &block.attributes).get(name)))
    }

    fn evaluate(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        let (attribute, expression) = self.attribute(name)?;
        let Some(expression) = expression else { return Ok(None) };
        let value = evaluate_on_node(expression, &Scope(Rc::clone(&self.node)));
        let value = value.map_err(|error| self.fail(format!("{} ({})", error.summary, error.place)))?;
        if value.sensitive {
            return Err(self.fail(format!("the sensitive value of `{name}` cannot be handed to a module by this version")));
        }
        let value = attribute.check(value.json).map_err(|mismatch| self.fail(mismatch.to_string()))?;
        let mut addresses = value.iter().flat_map(|value| attribute.attribute_type.addresses(value));
        if addresses.any(|address| !self.goes_after(address)) {
            return Err(self.fail(format!("`{name}` names a resource on this node that it does not wait for")));
        }
        Ok(value)
    }

    /// Whether a resource that is named goes before this one. The controller saw to that for all that it could know to be named.
    fn goes_after(&self, address: &str) -> bool {
        self.node.sources.catalog.edges.iter().any(|edge| {
            edge.dependent == self.id && edge.reason == EdgeReason::Reference && edge.prerequisite.to_string() == address
        })
    }

    fn fail(&self, message: String) -> ParameterError {
        *self.failure.borrow_mut() = Some(message);
        ParameterError::Failed
    }

    /// Whether something could not be read, whatever the module made of that.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.borrow().is_some()
    }

    /// A definition's error in words; where it could not read a parameter, why.
    pub(super) fn explain(&self, error: DefinitionError) -> Unsettled {
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
        self.node.module(&self.id).description().block(block).ok_or(ParameterError::Unknown)?;
        if self.block.is_some() {
            return Err(ParameterError::Unknown);
        }
        let named = self.blocks().iter().enumerate().filter(|(_, given)| given.name == block);
        let child =
            |(place, given): (usize, &DeferredBlock)| Child { label: given.label.clone(), given: Rc::new(self.of(Some(place))) };
        Ok(named.map(child).collect())
    }
}
