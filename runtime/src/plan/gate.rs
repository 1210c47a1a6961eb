//! `control { if, unless }`: whether a resource is managed on this node at all.

use std::rc::Rc;

use serde_json::Value as Json;

use super::values::{NodeValues, Scope};
use crate::language::evaluate_on_node;
use crate::model::catalog::Resource;
use crate::model::expression::Expression;
use crate::model::report::{Action, Outcome, ResourceReport};

/// Why the gate of `resource` is closed; none if it is open.
///
/// # Errors
/// In words, if a condition cannot be evaluated or is not true or false.
pub(super) fn closed(resource: &Resource, node: &Rc<NodeValues>) -> Result<Option<String>, String> {
    let Some(control) = &resource.control else { return Ok(None) };
    if let Some(condition) = &control.if_
        && !holds("if", condition, node)?
    {
        return Ok(Some("`control { if }` is false on this node".into()));
    }
    if let Some(condition) = &control.unless
        && holds("unless", condition, node)?
    {
        return Ok(Some("`control { unless }` is true on this node".into()));
    }
    Ok(None)
}

/// The report of a resource whose gate is closed.
pub(super) fn skipped(resource: &Resource, reason: String) -> Box<ResourceReport> {
    Box::new(ResourceReport {
        outcome: Outcome::Skipped,
        action: Action::Skip,
        reason: Some(reason),
        ..ResourceReport::untouched(resource.id.clone())
    })
}

fn holds(word: &str, condition: &Expression, node: &Rc<NodeValues>) -> Result<bool, String> {
    match evaluate_on_node(condition, &Scope(Rc::clone(node))).map(|settled| settled.json) {
        Ok(Json::Bool(holds)) => Ok(holds),
        Ok(_) => Err(format!("`control {{ {word} }}` is not true or false ({})", condition.place)),
        Err(error) => Err(format!("`control {{ {word} }}` cannot be evaluated: {error}")),
    }
}
