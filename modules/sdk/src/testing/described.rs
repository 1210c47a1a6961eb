//! A declaration held against the descriptors, as the host holds it: what the host refuses, the definition never sees.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::given::{Given, Written, text};
use crate::block::BlockKind;
use crate::parameters::{ParameterError, Source, SourceChild};
use crate::{Attribute, Block, Definition, Diagnostic};

/// Which attributes may be read.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// Those flagged identity.
    Identity,
    /// Every one that is described.
    All,
}

/// The attributes of a declaration or a child block by canonical name.
pub(super) struct Described<'a> {
    given: &'a Given,
    attributes: Vec<Attribute>,
    blocks: Vec<Block>,
    reach: Reach,
}

impl<'a> Described<'a> {
    pub(super) fn of<T: Definition>(given: &'a Given, reach: Reach) -> Self {
        Self { given, attributes: T::attributes(), blocks: T::blocks(), reach }
    }

    fn value(&self, name: &str) -> Result<Option<Value>, ParameterError> {
        let unknown = || ParameterError::Unknown(name.into());
        let attribute = self.attributes.iter().find(|attribute| attribute.name() == name).ok_or_else(unknown)?;
        if self.reach == Reach::Identity && !attribute.is_identity() {
            return Err(unknown());
        }
        match attribute.spellings().find_map(|spelling| self.given.written(spelling)) {
            None => Ok(None),
            Some(Written::Deferred) => Err(ParameterError::Deferred),
            Some(Written::Value(Value::Null)) if attribute.is_nullable() => Ok(None),
            Some(Written::Value(value)) if attribute.is_sensitive() && !is_slot(value) => {
                Ok(Some(json!({ "$secret": format!("{}/{name}", self.given.id()) })))
            }
            Some(Written::Value(value)) => Ok(Some(value.clone())),
        }
    }
}

fn is_slot(value: &Value) -> bool {
    crate::values::secret_slot(value).is_some()
}

impl Source for Described<'_> {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        self.given.note_asked(name);
        Ok(self.value(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<String>, ParameterError> {
        self.given.note_read(name);
        self.value(name)?.as_ref().map(text).transpose()
    }

    fn children<'a>(&'a self, name: &str) -> Result<Vec<SourceChild<'a>>, ParameterError> {
        let block = self.blocks.iter().find(|block| block.name() == name);
        let block = block.ok_or_else(|| ParameterError::Unknown(name.into()))?;
        let children = self.given.blocks().get(name).map_or(&[][..], Vec::as_slice);
        let child = |(label, given): &'a (Option<String>, Given)| {
            let attributes = block.described().to_vec();
            let given = Described { given, attributes, blocks: Vec::new(), reach: self.reach };
            SourceChild { label: label.clone(), given: Box::new(given) }
        };
        Ok(children.iter().map(child).collect())
    }
}

/// Refuses what the host refuses before it asks the definition anything.
pub(super) fn check<T: Definition>(given: &Given) -> Result<(), Diagnostic> {
    check_attributes(given, &T::attributes())?;
    let blocks = T::blocks();
    for (name, children) in given.blocks() {
        let block = blocks.iter().find(|block| block.name() == name);
        let block = block.ok_or_else(|| Diagnostic::at(name, format!("there is no block `{name}`")))?;
        check_children(block, children)?;
    }
    match blocks.iter().find(|block| block.is_required() && !given.blocks().contains_key(block.name())) {
        Some(block) => Err(Diagnostic::at(block.name(), format!("the block `{}` is missing", block.name()))),
        None => Ok(()),
    }
}

fn check_children(block: &Block, children: &[(Option<String>, Given)]) -> Result<(), Diagnostic> {
    let name = block.name();
    let refuse = |what: &str| Err(Diagnostic::at(name, format!("the block `{name}` {what}")));
    if block.kind() == BlockKind::Single && children.len() > 1 {
        return refuse("stands twice");
    }
    let mut labels = BTreeSet::new();
    for (label, child) in children {
        match (block.kind(), label) {
            (BlockKind::Labelled, None) => return refuse("has no label"),
            (BlockKind::Single | BlockKind::Repeated, Some(_)) => return refuse("has a label"),
            (BlockKind::Labelled, Some(label)) if !labels.insert(label) => return refuse("has a label that stands twice"),
            _ => {}
        }
        if !child.blocks().is_empty() {
            return refuse("holds a block");
        }
        check_attributes(child, block.described())
            .map_err(|error| Diagnostic::at(name, format!("in the block `{name}`: {}", error.message)))?;
    }
    Ok(())
}

fn check_attributes(given: &Given, attributes: &[Attribute]) -> Result<(), Diagnostic> {
    let unknown = given.names().find(|name| !attributes.iter().any(|attribute| attribute.spellings().any(|it| it == *name)));
    if let Some(name) = unknown {
        return Err(Diagnostic::at(name, format!("there is no attribute `{name}`")));
    }
    attributes.iter().try_for_each(|attribute| check_attribute(given, attribute))
}

fn check_attribute(given: &Given, attribute: &Attribute) -> Result<(), Diagnostic> {
    let name = attribute.name();
    let spelled: Vec<&str> = attribute.spellings().filter(|spelling| given.written(spelling).is_some()).collect();
    let value = match spelled.as_slice() {
        [] if attribute.is_required() => return Err(Diagnostic::at(name, format!("`{name}` is missing"))),
        [] => return Ok(()),
        [spelling] => given.written(spelling),
        [first, second, ..] => {
            let message = format!("`{first}` and `{second}` are one attribute, and both are given");
            return Err(Diagnostic::at(name, message).hint("keep one of them"));
        }
    };
    match value {
        Some(Written::Deferred)
            if attribute.is_identity() || attribute.is_source() || attribute.source_of_checksum().is_some() =>
        {
            Err(Diagnostic::at(name, format!("`{name}` cannot wait for the node")))
        }
        Some(Written::Value(Value::Null)) if !attribute.is_nullable() => {
            Err(Diagnostic::at(name, format!("`{name}` may not be null")))
        }
        Some(Written::Value(value)) if !value.is_null() && !attribute.kind().accepts(value) => {
            Err(Diagnostic::at(name, format!("`{name}` has a value of another type")))
        }
        _ => Ok(()),
    }
}
