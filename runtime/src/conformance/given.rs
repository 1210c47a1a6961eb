//! A declaration from memory, as a definition reads it. It keeps which names were read.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::sample::Sample;
use crate::engine::{Child, ParameterError, Parameters};
use crate::model::description::Description;

/// What was read of a declaration. Attributes of a block are told as `block.attribute`.
#[derive(Debug, Default)]
pub(super) struct Reads {
    /// Names that `describe` has.
    pub(super) known: RefCell<BTreeSet<String>>,
    /// Names that it does not.
    pub(super) unknown: RefCell<BTreeSet<String>>,
    /// Those that wait for the node.
    pub(super) waiting: RefCell<BTreeSet<String>>,
}

/// A child block with its label, if it has one.
type Labelled = (Option<String>, Rc<Given>);

/// The attributes of a declaration or of one child block.
pub(super) struct Given {
    prefix: String,
    names: BTreeSet<String>,
    values: BTreeMap<String, Json>,
    waiting: BTreeSet<String>,
    /// By name of block, for each that `describe` has.
    children: BTreeMap<String, Vec<Labelled>>,
    reads: Rc<Reads>,
}

impl Given {
    /// A declaration; the attributes in `waiting` are settled on the node.
    pub(super) fn new(sample: &Sample, description: &Description, waiting: &[&str]) -> (Rc<Self>, Rc<Reads>) {
        let reads = Rc::new(Reads::default());
        let mut children: BTreeMap<String, Vec<Labelled>> =
            description.blocks.iter().map(|block| (block.name.clone(), Vec::new())).collect();
        for child in &sample.blocks {
            let Some(block) = description.block(&child.name) else { continue };
            let given = Self {
                prefix: format!("{}.", child.name),
                names: block.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
                values: child.attributes.clone(),
                waiting: BTreeSet::new(),
                children: BTreeMap::new(),
                reads: Rc::clone(&reads),
            };
            children.entry(child.name.clone()).or_default().push((child.label.clone(), Rc::new(given)));
        }
        let given = Self {
            prefix: String::new(),
            names: description.attributes.iter().map(|attribute| attribute.name.clone()).collect(),
            values: sample.attributes.clone(),
            waiting: waiting.iter().map(|name| (*name).to_owned()).collect(),
            children,
            reads: Rc::clone(&reads),
        };
        (Rc::new(given), reads)
    }

    fn unknown(&self, name: &str) -> ParameterError {
        let shown: String = crate::model::key::escape(name).chars().take(80).collect();
        self.reads.unknown.borrow_mut().insert(format!("{}{shown}", self.prefix));
        ParameterError::Unknown
    }
}

impl Parameters for Given {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        if !self.names.contains(name) {
            return Err(self.unknown(name));
        }
        self.reads.known.borrow_mut().insert(format!("{}{name}", self.prefix));
        if self.waiting.contains(name) {
            self.reads.waiting.borrow_mut().insert(name.to_owned());
            return Err(ParameterError::Deferred);
        }
        Ok(self.values.get(name).cloned())
    }

    fn children(&self, block: &str) -> Result<Vec<Child>, ParameterError> {
        let Some(children) = self.children.get(block) else { return Err(self.unknown(block)) };
        self.reads.known.borrow_mut().insert(block.to_owned());
        let child = |(label, given): &Labelled| Child { label: label.clone(), given: Rc::clone(given) as Rc<dyn Parameters> };
        Ok(children.iter().map(child).collect())
    }
}
