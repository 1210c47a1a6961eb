//! Resources that are compiled on the node: what of them can be held to the catalog before that.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::ReceiptError;
use crate::engine::{Child, Module, ParameterError, Parameters};
use crate::language::check_travelled;
use crate::model::catalog::{DeferredBlock, Resource, State};
use crate::model::description::{Attribute, BlockKind, Description};
use crate::model::expression::{Expression, Kind};
use crate::model::provider::ProviderDescription;

/// # Errors
/// If an attribute or block does not exist or cannot be evaluated on a node, or if the module gives another footprint than the catalog.
pub(super) fn check(resource: &Resource, module: &Module) -> Result<(), ReceiptError> {
    check_blocks(resource, module.description())?;
    check_attributes(resource, module.description())?;
    let footprint = module.footprint(&resource.id, Rc::new(Literals { state: Rc::new(resource.state.clone()), block: None }));
    let footprint = footprint.map_err(|source| ReceiptError::Definition { resource: resource.id.clone(), source })?;
    let same = [
        ("claims", footprint.claims == resource.claims),
        ("effects", footprint.effects == resource.effects),
        ("affected paths", footprint.affected_paths == resource.affected_paths),
    ];
    match same.into_iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(ReceiptError::Disagrees { resource: resource.id.clone(), what }),
        None => Ok(()),
    }
}

/// Attributes that the type has, with expressions that mean something on a node.
fn check_attributes(resource: &Resource, description: &Description) -> Result<(), ReceiptError> {
    for (block, attributes) in resource.state.deferred_parts() {
        let known = description.attributes_of(block.map(|block| block.name.as_str()));
        for (name, expression) in attributes {
            let reason = match known.iter().any(|attribute| attribute.name == *name) {
                true => check_travelled(expression).err().map(|error| error.to_string()),
                false => Some("its type has no such attribute".to_owned()),
            };
            if let Some(reason) = reason {
                let within = block.map_or_else(String::new, |block| format!("{}.", block.name));
                return Err(unusable(resource, &format!("{within}{name}"), reason));
            }
        }
    }
    Ok(())
}

/// Options that the provider has, with expressions that mean something on a node.
///
/// # Errors
/// With the first that is not so.
pub(super) fn check_options(
    resource: &Resource,
    provider: &ProviderDescription,
    attributes: &BTreeMap<String, Expression>,
) -> Result<(), ReceiptError> {
    for (name, expression) in attributes {
        let reason = match provider.options.iter().any(|option| option.name == *name) {
            true => check_travelled(expression).err().map(|error| error.to_string()),
            false => Some("its provider has no such option".to_owned()),
        };
        if let Some(reason) = reason {
            return Err(unusable(resource, &format!("{}.{name}", provider.name), reason));
        }
    }
    match provider.options.iter().find(|option| option.required && !attributes.contains_key(&option.name)) {
        Some(missing) => Err(unusable(resource, &format!("{}.{}", provider.name, missing.name), "it must be given".into())),
        None => Ok(()),
    }
}

/// Deferred options as far as they are known without the node.
pub(super) struct OptionLiterals {
    attributes: BTreeMap<String, Expression>,
    options: Vec<Attribute>,
}

impl OptionLiterals {
    pub(super) fn new(attributes: BTreeMap<String, Expression>, options: Vec<Attribute>) -> Self {
        Self { attributes, options }
    }
}

impl Parameters for OptionLiterals {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        if !self.options.iter().any(|option| option.name == name) {
            return Err(ParameterError::Unknown);
        }
        literal(self.attributes.get(name))
    }

    fn children(&self, _block: &str) -> Result<Vec<Child>, ParameterError> {
        Err(ParameterError::Unknown)
    }
}

/// What is known of an expression without the node.
fn literal(expression: Option<&Expression>) -> Result<Option<Json>, ParameterError> {
    match expression.map(|expression| &expression.kind) {
        None | Some(Kind::Literal(Json::Null)) => Ok(None),
        Some(Kind::Literal(value)) => Ok(Some(value.clone())),
        Some(_) => Err(ParameterError::Deferred),
    }
}

/// Blocks that the type has, as often as it has them, with the labels that it wants.
fn check_blocks(resource: &Resource, description: &Description) -> Result<(), ReceiptError> {
    let parts = resource.state.deferred_parts();
    let mut seen: BTreeSet<(&str, Option<&str>)> = BTreeSet::new();
    for block in parts.iter().filter_map(|(block, _)| *block) {
        let (name, label) = (block.name.as_str(), block.label.as_deref());
        let Some(described) = description.block(name) else {
            return Err(unusable(resource, name, "its type has no such block".into()));
        };
        if label.is_some() != (described.kind == BlockKind::Labelled) {
            return Err(unusable(resource, name, "a label is missing, or is one too many".into()));
        }
        let first = seen.insert((name, label));
        if !first && described.kind != BlockKind::Repeated {
            return Err(unusable(resource, name, "it is there twice".into()));
        }
    }
    match description.blocks.iter().find(|block| block.required && !seen.iter().any(|(name, _)| *name == block.name)) {
        Some(missing) => Err(unusable(resource, &missing.name, "its type needs such a block".into())),
        None => Ok(()),
    }
}

/// # Errors
/// If a condition of the gate cannot be evaluated on a node.
pub(super) fn check_gate(resource: &Resource) -> Result<(), ReceiptError> {
    let Some(control) = &resource.control else { return Ok(()) };
    for (word, condition) in [("control.if", &control.if_), ("control.unless", &control.unless)] {
        if let Some(error) = condition.as_ref().and_then(|condition| check_travelled(condition).err()) {
            return Err(unusable(resource, word, error.to_string()));
        }
    }
    Ok(())
}

fn unusable(resource: &Resource, attribute: &str, reason: String) -> ReceiptError {
    ReceiptError::Deferred { resource: resource.id.clone(), attribute: crate::model::key::escape(attribute), reason }
}

/// The attributes of a deferred resource, or of one of its blocks, as far as they are known without the node.
struct Literals {
    state: Rc<State>,
    /// The place of the block.
    block: Option<usize>,
}

impl Literals {
    fn expression(&self, name: &str) -> Option<&Expression> {
        match (&*self.state, self.block) {
            (State::Compiled { .. }, _) => None,
            (State::Deferred { attributes, .. }, None) => attributes.get(name),
            (State::Deferred { blocks, .. }, Some(place)) => blocks.get(place)?.attributes.get(name),
        }
    }

    fn blocks(&self) -> &[DeferredBlock] {
        match (&*self.state, self.block) {
            (State::Deferred { blocks, .. }, None) => blocks,
            _ => &[],
        }
    }
}

impl Parameters for Literals {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        literal(self.expression(name))
    }

    fn children(&self, name: &str) -> Result<Vec<Child>, ParameterError> {
        let named = self.blocks().iter().enumerate().filter(|(_, block)| block.name == name);
        let child = |(place, block): (usize, &DeferredBlock)| Child {
            label: block.label.clone(),
            given: Rc::new(Self { state: Rc::clone(&self.state), block: Some(place) }),
        };
        Ok(named.map(child).collect())
    }
}
