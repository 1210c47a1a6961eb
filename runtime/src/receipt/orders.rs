//! Orders of a catalog, held against what its modules derive and what its expressions read.
//!
//! What a manifest orders itself (`require`, `before`, and references whose values were known when it was compiled) stands in the catalog
//! alone: nothing on a node can tell that such an edge is missing.

use std::collections::{BTreeMap, BTreeSet};

use super::{AdmittedModule, ReceiptError};
use crate::model::catalog::{Catalog, Edge, EdgeReason, Resource, State};
use crate::model::expression::{Expression, Kind};
use crate::model::ids::{ResourceId, TypeName};
use crate::model::key::escape;
use crate::relations::{RelationError, Relations};

/// An order of a catalog that is not as it must be. Both ends are named.
#[derive(Debug, thiserror::Error)]
pub enum OrderError {
    /// A module derives it, and the catalog does not have it.
    #[error("the catalog lacks that `{}` goes before `{}`, which a module derives: {} ({})", .0.prerequisite, .0.dependent, .0.reason, .0.source)]
    Missing(Box<Edge>),
    /// The catalog has it as derived, and no module derives it.
    #[error("the catalog says that `{}` goes before `{}`, which no module derives: {} ({})", .0.prerequisite, .0.dependent, .0.reason, .0.source)]
    Fabricated(Box<Edge>),
    /// The catalog and the module give different reasons.
    #[error(
        "the catalog has another reason why `{}` goes before `{}` than its module: {} ({}), not {} ({})",
        said.prerequisite, said.dependent, said.reason, said.source, derived.reason, derived.source
    )]
    Changed {
        /// By the catalog.
        said: Box<Edge>,
        /// By the module.
        derived: Box<Edge>,
    },
    /// Something is read on the node, and the catalog does not order it.
    #[error(
        "the catalog lacks that `{prerequisite}` goes before `{dependent}`, which reads `{prerequisite}.{}` on the node",
        escape(name)
    )]
    Unordered {
        /// What is read.
        prerequisite: ResourceId,
        /// What reads it.
        dependent: ResourceId,
        /// The attribute or output.
        name: String,
    },
    /// What is to be refreshed takes no refresh.
    #[error("the catalog says that `{subscriber}` is refreshed after `{prerequisite}`, and it takes no refresh")]
    NoRefresh {
        /// What changes.
        prerequisite: ResourceId,
        /// What is to be refreshed.
        subscriber: ResourceId,
    },
    /// A module derives what it may not.
    #[error(transparent)]
    Relation(RelationError),
}

type Modules = BTreeMap<TypeName, AdmittedModule>;

/// Compares the edges that modules derive with those of the catalog.
///
/// # Errors
/// With the first that differs.
pub(super) fn check_derived(catalog: &Catalog, modules: &Modules) -> Result<(), ReceiptError> {
    let (edges, errors) = Relations::new(&catalog.resources).derive(|id| &modules[&id.type_name].module);
    if let Some(error) = errors.into_iter().next() {
        return Err(match error {
            RelationError::Definition { deriving, source } => ReceiptError::Definition { resource: deriving, source },
            error => ReceiptError::Order(OrderError::Relation(error)),
        });
    }
    let derived: BTreeSet<Edge> = edges.into_sorted().into_iter().collect();
    let said: BTreeSet<Edge> = catalog.edges.iter().filter(|edge| edge.reason.is_derived()).cloned().collect();
    match difference(&derived, &said) {
        Some(error) => Err(ReceiptError::Order(error)),
        None => Ok(()),
    }
}

/// The first edge of which modules and catalog say different things. Pure.
fn difference(derived: &BTreeSet<Edge>, said: &BTreeSet<Edge>) -> Option<OrderError> {
    let same_ends = |edge: &Edge, other: &&Edge| (&edge.prerequisite, &edge.dependent) == (&other.prerequisite, &other.dependent);
    let boxed = |edge: &Edge| Box::new(edge.clone());
    let missing = derived.difference(said).next();
    if let Some(missing) = missing {
        let instead = said.difference(derived).find(|other| same_ends(missing, other));
        return Some(match instead {
            Some(said) => OrderError::Changed { said: boxed(said), derived: boxed(missing) },
            None => OrderError::Missing(boxed(missing)),
        });
    }
    said.difference(derived).next().map(|extra| OrderError::Fabricated(boxed(extra)))
}

/// Whatever is to be refreshed must take refreshes. What is compiled on the node is asked at its turn.
///
/// # Errors
/// With the first that does not.
pub(super) fn check_subscriptions(catalog: &Catalog) -> Result<(), ReceiptError> {
    let is_deaf = |state: &State| matches!(state, State::Compiled { semantics, .. } if !semantics.accepts_refresh);
    let deaf: BTreeSet<&ResourceId> =
        catalog.resources.iter().filter(|resource| is_deaf(&resource.state)).map(|resource| &resource.id).collect();
    let wrong = catalog.edges.iter().find(|edge| edge.reason.is_subscription() && deaf.contains(&edge.dependent));
    match wrong {
        Some(Edge { prerequisite, dependent, .. }) => {
            let (prerequisite, subscriber) = (prerequisite.clone(), dependent.clone());
            Err(ReceiptError::Order(OrderError::NoRefresh { prerequisite, subscriber }))
        }
        None => Ok(()),
    }
}

/// Whatever an expression reads of another resource on the node must be there to be read, and that resource must have its turn before.
///
/// # Errors
/// With the first that is not so.
pub(super) fn check_reads(catalog: &Catalog, modules: &Modules) -> Result<(), ReceiptError> {
    let references = catalog.edges.iter().filter(|edge| edge.reason == EdgeReason::Reference);
    let references: BTreeSet<(&ResourceId, &ResourceId)> = references.map(|edge| (&edge.prerequisite, &edge.dependent)).collect();
    for resource in &catalog.resources {
        for (attribute, expression) in expressions(resource) {
            for (read, name) in reads(expression) {
                let description = modules[&read.type_name].module.description();
                let exported = description.attribute(name).is_some_and(|found| found.exported);
                if !exported && description.output(name).is_none() {
                    let reason = format!("it reads `{read}.{}`, which is no export and no output of its type", escape(name));
                    return Err(ReceiptError::Deferred { resource: resource.id.clone(), attribute: escape(attribute), reason });
                }
                if !references.contains(&(read, &resource.id)) {
                    let (prerequisite, dependent) = (read.clone(), resource.id.clone());
                    return Err(ReceiptError::Order(OrderError::Unordered { prerequisite, dependent, name: name.to_owned() }));
                }
            }
        }
    }
    Ok(())
}

/// The expressions of a resource that are evaluated on the node, each with the attribute that it is for.
fn expressions(resource: &Resource) -> Vec<(&str, &Expression)> {
    let mut all = Vec::new();
    if let Some(control) = &resource.control {
        all.extend(control.if_.iter().map(|condition| ("control.if", condition)));
        all.extend(control.unless.iter().map(|condition| ("control.unless", condition)));
    }
    all.extend(resource.deferred());
    all
}

fn reads(expression: &Expression) -> Vec<(&ResourceId, &str)> {
    let mut found = Vec::new();
    expression.walk(&mut |part| {
        if let Kind::Export { resource, attribute } = &part.kind {
            found.push((resource, attribute.as_str()));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::catalog::Source;

    fn edge(dependent: &str, reason: EdgeReason, line: u32) -> Edge {
        let source = Source { file: "site.hcl".into(), line, column: 1 };
        Edge { prerequisite: "file.a".parse().unwrap(), dependent: dependent.parse().unwrap(), reason, source }
    }

    fn told(derived: &[Edge], said: &[Edge]) -> String {
        let set = |edges: &[Edge]| edges.iter().cloned().collect();
        difference(&set(derived), &set(said)).map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn each_difference_is_told_with_both_ends() {
        let order = |words: &str| edge("file.b", EdgeReason::Derived(words.into()), 3);
        let action = edge("file.b", EdgeReason::Action("reload".into()), 3);
        insta::assert_snapshot!(told(&[order("x")], &[]), @"the catalog lacks that `file.a` goes before `file.b`, which a module derives: x (site.hcl:3:1)");
        insta::assert_snapshot!(told(&[], std::slice::from_ref(&action)), @"the catalog says that `file.a` goes before `file.b`, which no module derives: it needs the action `reload` after it (site.hcl:3:1)");
        insta::assert_snapshot!(told(&[order("x")], std::slice::from_ref(&action)), @"the catalog has another reason why `file.a` goes before `file.b` than its module: it needs the action `reload` after it (site.hcl:3:1), not x (site.hcl:3:1)");
        let elsewhere = edge("file.b", EdgeReason::Derived("x".into()), 4);
        insta::assert_snapshot!(told(&[order("x")], &[elsewhere]), @"the catalog has another reason why `file.a` goes before `file.b` than its module: x (site.hcl:4:1), not x (site.hcl:3:1)");
        assert_eq!(told(&[order("x"), action.clone()], &[action, order("x")]), "");
        assert!(!told(&[], &[order("\u{1b}c")]).contains('\u{1b}'));
    }
}
