//! Manifests: what a person writes.
//!
//! [`read()`] takes the text apart into declarations and refuses what is wrong without evaluating; [`Evaluation`] then gives the values of
//! attributes, each when it is asked for. Neither knows any resource type: which attributes there are, and what they mean, is for the
//! modules to say when a manifest is compiled.

mod blocks;
mod evaluation;
mod files;
mod inputs;
mod read;
mod resource;
mod types;

use std::collections::BTreeMap;

use serde_json::Value as Json;

pub use self::evaluation::{Evaluation, ExportError, Exported, Exports, Trail};
pub use self::files::{FileError, Files, Folder, MAX_FILE, NoFiles};
pub use self::inputs::Inputs;
pub use self::read::read;
pub use self::types::{Type, TypeError};
use crate::language::names::Names;
use crate::language::source::Sources;
use crate::model::expression::{Expression, Place};
use crate::model::ids::{OwnerName, ResourceId};

/// A manifest, read and found well formed.
#[derive(Debug)]
pub struct Manifest {
    /// Its name, which owns what its bundles manage.
    pub name: OwnerName,
    /// A number that the author raises with each release; 0 if none is given.
    pub serial: u64,
    /// Which nodes it is meant for, in the author's words.
    pub audience: Vec<String>,
    /// `variable` blocks by name.
    pub variables: BTreeMap<String, Variable>,
    /// Members of `locals` blocks.
    pub locals: BTreeMap<String, Expression>,
    /// `resource` blocks in the order of the text.
    pub resources: Vec<Declaration>,
    /// Where each of them stands in `resources`.
    places: BTreeMap<ResourceId, usize>,
    /// The texts that places point into.
    pub sources: Sources,
    /// Every name that can be referred to.
    pub names: Names,
}

impl Manifest {
    /// The declaration of a resource.
    pub fn resource(&self, id: &ResourceId) -> Option<&Declaration> {
        self.places.get(id).map(|place| &self.resources[*place])
    }
}

/// A `variable` block.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// What it may hold.
    pub type_: Type,
    /// What it holds if nothing is given.
    pub default: Option<Json>,
    /// Whether what comes of it must not be shown.
    pub sensitive: bool,
    /// For people.
    pub description: Option<String>,
    /// Where it is declared.
    pub place: Place,
}

/// A `resource` block.
#[derive(Debug, Clone, PartialEq)]
pub struct Declaration {
    /// Its address.
    pub id: ResourceId,
    /// Where it is declared.
    pub place: Place,
    /// The place of its type, for messages about that.
    pub type_place: Place,
    /// Given attributes, as they are spelled.
    pub attributes: BTreeMap<String, Attribute>,
    /// Its `meta` block.
    pub meta: Meta,
}

/// An attribute of a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct Attribute {
    /// Where its name stands.
    pub name_place: Place,
    /// What is given.
    pub value: Expression,
}

/// What a `meta` block says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Meta {
    /// What must go before it.
    pub require: Vec<(ResourceId, Place)>,
    /// What must go after it.
    pub before: Vec<(ResourceId, Place)>,
    /// The deadline of one attempt in milliseconds.
    pub timeout_ms: Option<u64>,
    /// When to leave it alone.
    pub control: Option<Gate>,
}

/// A `control` block: conditions as they are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Managed only if true.
    pub if_: Option<Expression>,
    /// Managed only if false.
    pub unless: Option<Expression>,
}
