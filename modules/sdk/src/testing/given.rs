//! A declaration in memory, which notes what is asked of it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::parameters::{ParameterError, Source, SourceChild};
use crate::{Parameters, ResourceId, json as canonical_json};

/// What is written for one attribute.
#[derive(Clone)]
pub(super) enum Written {
    Value(Value),
    /// It is settled on the node.
    Deferred,
}

/// The attributes and child blocks of a declaration, by the names that it uses.
#[derive(Clone)]
pub struct Given {
    id: ResourceId,
    values: BTreeMap<String, Written>,
    children: BTreeMap<String, Vec<(Option<String>, Given)>>,
    asked: RefCell<BTreeSet<String>>,
    read: RefCell<BTreeSet<String>>,
}

impl Default for Given {
    fn default() -> Self {
        Self::new()
    }
}

impl Given {
    /// A declaration without attributes, of the resource `test.it`; or a child block.
    pub fn new() -> Self {
        Self {
            id: ResourceId { type_name: "test".into(), name: "it".into() },
            values: BTreeMap::new(),
            children: BTreeMap::new(),
            asked: RefCell::default(),
            read: RefCell::default(),
        }
    }

    /// Of the resource `type_name.name`.
    #[must_use]
    pub fn named(mut self, type_name: &str, name: &str) -> Self {
        self.id = ResourceId { type_name: type_name.into(), name: name.into() };
        self
    }

    /// With an attribute. Null is null: what it means is the descriptor's matter.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.values.insert(name.into(), Written::Value(value.into()));
        self
    }

    /// Without the attribute, if it had it.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Self {
        self.values.remove(name);
        self
    }

    /// With an attribute that is settled on the node.
    #[must_use]
    pub fn deferred(mut self, name: &str) -> Self {
        self.values.insert(name.into(), Written::Deferred);
        self
    }

    /// With an attribute that has a sensitive value, which the host keeps under `slot`.
    #[must_use]
    pub fn sensitive(self, name: &str, slot: &str) -> Self {
        self.set(name, json!({ "$secret": slot }))
    }

    /// With a child block without a label.
    #[must_use]
    pub fn child(mut self, block: &str, child: Given) -> Self {
        self.children.entry(block.into()).or_default().push((None, child));
        self
    }

    /// With a child block with a label.
    #[must_use]
    pub fn labelled(mut self, block: &str, label: &str, child: Given) -> Self {
        self.children.entry(block.into()).or_default().push((Some(label.into()), child));
        self
    }

    /// The attributes as they stand, without the host's checks and under the names that are written: for a reader on its own. Null counts
    /// as omitted.
    pub fn parameters(&self) -> Parameters<'_> {
        Parameters::new(&self.id, self)
    }

    /// The names of attributes whose values were read so far, by any function of [`testing`](crate::testing). Attributes of child blocks are
    /// among those of their own `Given`, and here as `BLOCK.NAME`.
    pub fn values_read(&self) -> Vec<String> {
        self.noted(&self.read, Self::values_read)
    }

    /// As [`values_read`](Self::values_read), with those of which only the presence was asked. The host counts either: the result then
    /// comes from what the attribute comes from.
    pub fn asked(&self) -> Vec<String> {
        self.noted(&self.asked, Self::asked)
    }

    /// Forgets what was asked so far.
    pub fn forget(&self) {
        self.asked.borrow_mut().clear();
        self.read.borrow_mut().clear();
        self.children.values().flatten().for_each(|(_, child)| child.forget());
    }

    fn noted(&self, own: &RefCell<BTreeSet<String>>, of: fn(&Self) -> Vec<String>) -> Vec<String> {
        let mut names = own.borrow().clone();
        for (block, children) in &self.children {
            names.extend(children.iter().flat_map(|(_, child)| of(child)).map(|name| format!("{block}.{name}")));
        }
        names.into_iter().collect()
    }

    pub(super) fn id(&self) -> &ResourceId {
        &self.id
    }

    pub(super) fn written(&self, name: &str) -> Option<&Written> {
        self.values.get(name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    pub(super) fn blocks(&self) -> &BTreeMap<String, Vec<(Option<String>, Given)>> {
        &self.children
    }

    pub(super) fn note_asked(&self, name: &str) {
        self.asked.borrow_mut().insert(name.into());
    }

    pub(super) fn note_read(&self, name: &str) {
        self.note_asked(name);
        self.read.borrow_mut().insert(name.into());
    }
}

/// The text of a value, as the host hands it over.
pub(super) fn text(value: &Value) -> Result<String, ParameterError> {
    canonical_json::canonical(value).map_err(|_| ParameterError::Failed)
}

impl Source for Given {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        self.note_asked(name);
        match self.values.get(name) {
            None | Some(Written::Value(Value::Null)) => Ok(false),
            Some(Written::Deferred) => Err(ParameterError::Deferred),
            Some(Written::Value(_)) => Ok(true),
        }
    }

    fn read(&self, name: &str) -> Result<Option<String>, ParameterError> {
        self.note_read(name);
        match self.values.get(name) {
            None | Some(Written::Value(Value::Null)) => Ok(None),
            Some(Written::Deferred) => Err(ParameterError::Deferred),
            Some(Written::Value(value)) => text(value).map(Some),
        }
    }

    fn children<'a>(&'a self, block: &str) -> Result<Vec<SourceChild<'a>>, ParameterError> {
        let children = self.children.get(block).map_or(&[][..], Vec::as_slice);
        Ok(children.iter().map(|(label, child)| SourceChild { label: label.clone(), given: Box::new(Reading(child)) }).collect())
    }
}

/// A child block that is read where it stands.
struct Reading<'a>(&'a Given);

impl Source for Reading<'_> {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        self.0.has(name)
    }

    fn read(&self, name: &str) -> Result<Option<String>, ParameterError> {
        self.0.read(name)
    }

    fn children<'a>(&'a self, block: &str) -> Result<Vec<SourceChild<'a>>, ParameterError> {
        self.0.children(block)
    }
}
