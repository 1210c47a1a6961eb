//! Everything that a catalog says on behalf of a module, asked of the module again.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::AdmittedModule;
use super::error::{Difference, ReceiptError};
use crate::engine::{Footprint, Module, ParameterError, Parameters, Peer};
use crate::language::check_travelled;
use crate::model::catalog::{Catalog, Edge, EdgeReason, Resource, State};
use crate::model::expression::{Expression, Kind};
use crate::model::ids::TypeName;

/// Checks every resource and the derived order. To be called on a large stack.
pub(super) fn check(catalog: &Catalog, modules: &BTreeMap<TypeName, AdmittedModule>) -> Result<(), ReceiptError> {
    for resource in &catalog.resources {
        let module = &modules[&resource.id.type_name].module;
        match &resource.state {
            State::Compiled { desired, semantics } => {
                let validated = module
                    .validate(desired)
                    .map_err(|source| ReceiptError::Validate { resource: resource.id.clone(), source })?;
                check_footprint(resource, &validated.footprint)?;
                if validated.semantics != *semantics {
                    return Err(ReceiptError::Differs { resource: resource.id.clone(), what: Difference::Semantics });
                }
            }
            State::Deferred { attributes, .. } => check_deferred(resource, module, attributes)?,
        }
        check_gate(resource)?;
    }
    check_order(catalog, modules)
}

fn check_footprint(resource: &Resource, found: &Footprint) -> Result<(), ReceiptError> {
    let differs = |what| Err(ReceiptError::Differs { resource: resource.id.clone(), what });
    if found.claims != resource.claims {
        differs(Difference::Claims)
    } else if found.effects != resource.effects {
        differs(Difference::Effects)
    } else if found.affected_paths != resource.affected_paths {
        differs(Difference::AffectedPaths)
    } else {
        Ok(())
    }
}

/// What waits for the node must be evaluable there, and its identity must be known already.
fn check_deferred(resource: &Resource, module: &Module, attributes: &BTreeMap<String, Expression>) -> Result<(), ReceiptError> {
    for (name, expression) in attributes {
        let known = module.description().attributes.iter().any(|attribute| attribute.name == *name);
        let reason = if known {
            check_travelled(expression).err().map(|error| error.to_string())
        } else {
            Some("the type has no such attribute".into())
        };
        if let Some(reason) = reason {
            return Err(ReceiptError::Deferred { resource: resource.id.clone(), attribute: name.clone(), reason });
        }
    }
    let identity = Rc::new(Literals(attributes.clone()));
    let footprint = module
        .footprint(&resource.id, identity)
        .map_err(|source| ReceiptError::Validate { resource: resource.id.clone(), source })?;
    check_footprint(resource, &footprint)
}

fn check_gate(resource: &Resource) -> Result<(), ReceiptError> {
    let Some(control) = &resource.control else { return Ok(()) };
    for (word, condition) in [("if", &control.if_), ("unless", &control.unless)] {
        if let Some(error) = condition.as_ref().and_then(|condition| check_travelled(condition).err()) {
            let attribute = format!("control.{word}");
            return Err(ReceiptError::Deferred { resource: resource.id.clone(), attribute, reason: error.to_string() });
        }
    }
    Ok(())
}

fn check_order(catalog: &Catalog, modules: &BTreeMap<TypeName, AdmittedModule>) -> Result<(), ReceiptError> {
    let peers = Rc::new(catalog.resources.iter().map(peer).collect::<Vec<_>>());
    let mut derived = BTreeSet::new();
    for peer in peers.iter() {
        let module = &modules[&peer.id.type_name].module;
        let edges = module
            .relationships(&peer.id, peer.desired.as_ref(), Rc::clone(&peers))
            .map_err(|source| ReceiptError::Validate { resource: peer.id.clone(), source })?;
        derived.extend(edges.into_iter().map(|edge| Edge {
            prerequisite: edge.prerequisite,
            dependent: edge.dependent,
            reason: EdgeReason::Derived(edge.reason),
        }));
    }
    let is_derived = |edge: &&Edge| matches!(edge.reason, EdgeReason::Derived(_));
    let held: BTreeSet<Edge> = catalog.edges.iter().filter(is_derived).cloned().collect();
    let problem = |edge: &Edge, problem| {
        Err(ReceiptError::Order { edge: format!("`{}` -> `{}`", edge.prerequisite, edge.dependent), problem })
    };
    match (derived.difference(&held).next(), held.difference(&derived).next()) {
        (Some(missing), _) => problem(missing, "missing"),
        (_, Some(fabricated)) => problem(fabricated, "made up"),
        (None, None) => Ok(()),
    }
}

fn peer(resource: &Resource) -> Peer {
    Peer {
        id: resource.id.clone(),
        desired: match &resource.state {
            State::Compiled { desired, .. } => Some(desired.clone()),
            State::Deferred { .. } => None,
        },
        claims: resource.claims.clone(),
        effects: resource.effects.clone(),
        affected_paths: resource.affected_paths.clone(),
    }
}

/// The attributes of a deferred resource as far as they are known without the node.
struct Literals(BTreeMap<String, Expression>);

impl Parameters for Literals {
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
