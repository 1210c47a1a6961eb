//! Resources that are compiled on the node: what of them can be held to the catalog before that.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::ReceiptError;
use crate::engine::{Child, Module, ParameterError, Parameters};
use crate::language::check_travelled;
use crate::model::catalog::Resource;
use crate::model::expression::{Expression, Kind};

/// # Errors
/// If an attribute does not exist or cannot be evaluated on a node, or if the module gives another footprint than the catalog.
pub(super) fn check(resource: &Resource, attributes: &BTreeMap<String, Expression>, module: &Module) -> Result<(), ReceiptError> {
    for (name, expression) in attributes {
        let known = module.description().attributes.iter().any(|attribute| attribute.name == *name);
        let reason = match known {
            true => check_travelled(expression).err().map(|error| error.to_string()),
            false => Some("its type has no such attribute".to_owned()),
        };
        if let Some(reason) = reason {
            return Err(unusable(resource, name, reason));
        }
    }
    let footprint = module.footprint(&resource.id, Rc::new(Literals(attributes.clone())));
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

/// The attributes of a deferred resource as far as they are known without the node.
struct Literals(BTreeMap<String, Expression>);

impl Parameters for Literals {
    fn children(&self, _: &str) -> Result<Vec<Child>, ParameterError> {
        Ok(Vec::new())
    }

    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        match self.0.get(name).map(|expression| &expression.kind) {
            None | Some(Kind::Literal(Json::Null)) => Ok(None),
            Some(Kind::Literal(value)) => Ok(Some(value.clone())),
            Some(_) => Err(ParameterError::Deferred),
        }
    }
}
