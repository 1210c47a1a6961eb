//! Manifests: what a person writes.
//!
//! [`read()`] takes the text apart into declarations and finds what is wrong without evaluating; [`Evaluation`] then gives the values of
//! attributes, each when it is asked for. What could not be read is a hole: the rest of the manifest is looked at all the same, and nothing is
//! told of a hole but what is wrong there. Neither knows any resource type: which attributes there are, and what they mean, is for the
//! modules to say when a manifest is compiled.

mod blocks;
mod evaluation;
mod files;
mod health;
mod inputs;
mod read;
mod resource;
mod types;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Json;

pub use self::evaluation::{Evaluation, ExportError, Exported, Exports, Trail};
pub use self::files::{FileError, Files, Folder, MAX_FILE, NoFiles};
pub use self::inputs::Inputs;
pub use self::read::read;
pub use self::types::{Type, TypeError};
use crate::language::diagnostic::Diagnostic;
use crate::language::names::Names;
use crate::language::source::Sources;
use crate::model::attribute_path::AttributePath;
use crate::model::expression::{Expression, Place};
use crate::model::health::Health;
use crate::model::ids::{OwnerName, ProviderName, ResourceId};
use crate::model::kind::Unshown;

/// A manifest as far as it could be read.
#[derive(Debug)]
pub struct Manifest {
    /// What is wrong with it. Where something is, the manifest is refused in the end; those parts are holes until then.
    pub errors: Vec<Diagnostic>,
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

/// A `variable` block. Its debug output does not show the default.
#[derive(Clone, PartialEq)]
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
    /// Whether something is wrong with its declaration. It then has no value, and nothing more is told of it.
    pub is_hole: bool,
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Variable")
            .field("type_", &self.type_)
            .field("default", &self.default.as_ref().map(Unshown))
            .field("sensitive", &self.sensitive)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
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
    /// Its child blocks, in the order of the text.
    pub blocks: Vec<ChildBlock>,
    /// Its `meta` block.
    pub meta: Meta,
}

/// A child block of a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildBlock {
    /// Its name, as it is spelled.
    pub name: String,
    /// Its labels, each with its place.
    pub labels: Vec<(String, Place)>,
    /// Its header.
    pub place: Place,
    /// Given attributes, as they are spelled.
    pub attributes: BTreeMap<String, Attribute>,
}

/// Whose attributes are meant: the declaration's own, or those of a child block, by its place in [`Declaration::blocks`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The declaration's own.
    Own,
    /// Those of a child block.
    Block(usize),
}

impl Declaration {
    /// The attributes of a part, as they are spelled.
    pub fn attributes_of(&self, part: Part) -> Option<&BTreeMap<String, Attribute>> {
        match part {
            Part::Own => Some(&self.attributes),
            Part::Block(place) => self.blocks.get(place).map(|block| &block.attributes),
        }
    }

    /// The place of a part: of the header.
    pub fn place_of(&self, part: Part) -> &Place {
        match part {
            Part::Own => &self.place,
            Part::Block(place) => self.blocks.get(place).map_or(&self.place, |block| &block.place),
        }
    }

    /// The child blocks of one name, each with its part.
    pub fn blocks_named<'d>(&'d self, name: &'d str) -> impl Iterator<Item = (Part, &'d ChildBlock)> {
        self.blocks
            .iter()
            .enumerate()
            .filter(move |(_, block)| block.name == name)
            .map(|(place, block)| (Part::Block(place), block))
    }

    /// The path of an attribute.
    pub fn path(&self, part: Part, name: &str) -> AttributePath {
        let block = match part {
            Part::Own => None,
            Part::Block(place) => self.blocks.get(place).map(|block| {
                let earlier = self.blocks[..place].iter().filter(|other| other.name == block.name).count();
                (block.name.clone(), earlier)
            }),
        };
        AttributePath { block, name: Some(name.to_owned()) }
    }

    /// The part that a path leads to, if it is there.
    pub fn part(&self, path: &AttributePath) -> Option<Part> {
        match &path.block {
            None => Some(Part::Own),
            Some((name, place)) => self.blocks_named(name).nth(*place).map(|(part, _)| part),
        }
    }
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
    /// What it is refreshed after.
    pub subscribe: Vec<(ResourceId, Place)>,
    /// What is refreshed after it.
    pub notify: Vec<(ResourceId, Place)>,
    /// The deadline of one attempt in milliseconds.
    pub timeout_ms: Option<u64>,
    /// When to leave it alone.
    pub control: Option<Gate>,
    /// The provider that is to serve it, whatever the node would select.
    pub provider: Option<(ProviderName, Place)>,
    /// How to tell whether it works.
    pub health: Option<Health>,
}

/// A `control` block: conditions as they are written.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// Managed only if true.
    pub if_: Option<Expression>,
    /// Managed only if false.
    pub unless: Option<Expression>,
}
