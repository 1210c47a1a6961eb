//! The names that a manifest declares, for resolving what its expressions refer to.

use std::collections::{BTreeMap, BTreeSet};

use hcl_edit::expr as hcl;

use super::diagnostic::Diagnostic;
use super::references::resource_step;
use super::suggest;
use crate::model::expression::Place;
use crate::model::ids::ResourceId;

/// First words of references that have a meaning of their own; no resource type can be called so.
pub const RESERVED: [&str; 10] = ["var", "local", "facts", "path", "self", "each", "count", "data", "module", "output"];

/// Every name that can be referred to.
#[derive(Debug, Default)]
pub struct Names {
    /// `variable` blocks.
    pub variables: BTreeSet<String>,
    /// Members of `locals` blocks.
    pub locals: BTreeSet<String>,
    /// `resource` blocks: names by type.
    pub resources: BTreeMap<String, BTreeSet<String>>,
    /// Types and names of `resource` blocks whose header is wrong, which has been told: of references to them nothing more is.
    pub refused: BTreeSet<(String, String)>,
}

impl Names {
    /// Whether a resource is declared.
    pub fn has_resource(&self, id: &ResourceId) -> bool {
        self.resources.get(id.type_name.as_str()).is_some_and(|names| names.contains(id.name.as_str()))
    }

    /// Whether an expression begins with the address of a resource whose header is wrong.
    pub fn is_refused(&self, expression: &hcl::Expression) -> bool {
        let hcl::Expression::Traversal(traversal) = expression else { return false };
        let hcl::Expression::Variable(type_name) = &traversal.expr else { return false };
        let name = traversal.operators.first().and_then(resource_step);
        name.is_some_and(|name| self.refused.contains(&(type_name.as_str().to_owned(), name.to_owned())))
    }

    /// The message for `var.NAME` that does not exist.
    pub fn unknown_variable(&self, place: &Place, name: &str) -> Diagnostic {
        let names = || self.variables.iter().map(String::as_str);
        Diagnostic::error(place, format!("unknown variable `{name}`"))
            .label("not declared in this manifest")
            .hint(suggest::one_of(name, names()).or_else(|| Some(format!("declare it: `variable \"{name}\" {{}}`"))))
    }

    /// The message for `local.NAME` that does not exist.
    pub fn unknown_local(&self, place: &Place, name: &str) -> Diagnostic {
        let names = || self.locals.iter().map(String::as_str);
        Diagnostic::error(place, format!("unknown local `{name}`"))
            .label("not defined in a `locals` block")
            .hint(suggest::one_of(name, names()))
    }

    /// The message for a resource that does not exist.
    pub fn unknown_resource(&self, place: &Place, id: &ResourceId) -> Diagnostic {
        let message = Diagnostic::error(place, format!("unknown resource `{id}`")).label("not declared in this manifest");
        let Some(names) = self.resources.get(id.type_name.as_str()) else {
            let types = self.resources.keys().map(String::as_str);
            return message.hint(suggest::did_you_mean(id.type_name.as_str(), types));
        };
        message.hint(suggest::one_of(id.name.as_str(), names.iter().map(String::as_str)))
    }

    /// The message for a first word that means nothing, where `bound` are the names that `for` expressions bind.
    pub fn unknown_root(&self, place: &Place, name: &str, bound: &[String]) -> Diagnostic {
        let message = Diagnostic::error(place, format!("unknown name `{name}`"));
        if self.variables.contains(name) {
            return message.hint(format!("a variable is read as `var.{name}`"));
        }
        if self.locals.contains(name) {
            return message.hint(format!("a local is read as `local.{name}`"));
        }
        let roots = ["var", "local", "facts"];
        let candidates = bound.iter().map(String::as_str).chain(roots).chain(self.resources.keys().map(String::as_str));
        message
            .label("neither bound by a `for`, nor the type of a declared resource")
            .hint(suggest::did_you_mean(name, candidates).or_else(|| Some("a string is written in double quotes".to_owned())))
    }
}
