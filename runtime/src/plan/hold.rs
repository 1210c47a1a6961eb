//! What a resource became on this node, held to the catalog: a definition that gives anything else here than there is refused.

use serde_json::Value as Json;

use super::sources::Sources;
use crate::engine::{Footprint, Validated};
use crate::model::catalog::{Edge, EdgeReason, Resource};
use crate::model::key::escape;

/// Holds a resource that was compiled here to its declaration.
///
/// # Errors
/// With what is not as in the catalog, in words.
pub(super) fn hold(sources: &Sources, resource: &Resource, desired: &Json, validated: &Validated) -> Result<(), String> {
    footprint(resource, &validated.footprint)?;
    actions(sources, resource, &validated.semantics.prerequisites)?;
    derived(sources, resource, desired)
}

fn footprint(resource: &Resource, footprint: &Footprint) -> Result<(), String> {
    let same = [
        ("claims", footprint.claims == resource.claims),
        ("effects", footprint.effects == resource.effects),
        ("affected paths", footprint.affected_paths == resource.affected_paths),
    ];
    match same.into_iter().find(|(_, same)| !same) {
        Some((what, _)) => Err(format!("on this node the module gives other {what} than the bundle says")),
        None => Ok(()),
    }
}

/// An action for which it has been ordered must be among its prerequisites, which are known only now.
fn actions(sources: &Sources, resource: &Resource, prerequisites: &[String]) -> Result<(), String> {
    for edge in sources.actions_of(&resource.id) {
        if let EdgeReason::Action(key) = &edge.reason
            && !prerequisites.contains(key)
        {
            let (before, key) = (&edge.prerequisite, escape(key));
            return Err(format!("it goes after `{before}` for the action `{key}`, which is not among its prerequisites here"));
        }
    }
    Ok(())
}

/// With its desired state known its module may derive no order that the catalog does not have. One less does no harm.
fn derived(sources: &Sources, resource: &Resource, desired: &Json) -> Result<(), String> {
    let module = &sources.module(&resource.id).module;
    let derived = sources.relations().of(&resource.id, module, Some(desired)).map_err(|error| told(&error))?;
    let edges = &sources.catalog.edges;
    let is_known = |edge: &Edge| edges.binary_search_by(|known| known.key().cmp(&edge.key())).is_ok();
    match derived.into_iter().find(|edge| !is_known(edge)) {
        Some(Edge { prerequisite, dependent, reason, .. }) => Err(format!(
            "on this node the module derives that `{prerequisite}` goes before `{dependent}`, which the bundle does not say: {reason}"
        )),
        None => Ok(()),
    }
}

/// An error with its causes.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text += &format!(": {cause}");
        source = cause.source();
    }
    text
}
