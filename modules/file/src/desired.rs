//! The desired state, and what it touches.

use runtime_sdk::{Asset, Effect, Footprint, Principal};
use serde::{Deserialize, Serialize};

use crate::links::Links;
use crate::mode::Mode;
use crate::validation::Validation;

/// What is to be at the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, runtime_sdk::Ensure)]
#[ensure(default = File, nullable)]
pub enum Ensure {
    /// A regular file; an empty one is made if neither content nor source is given and none is there.
    #[ensure(alias = "present")]
    File,
    /// A directory. What it holds is left alone.
    Directory,
    /// A symbolic link to `target`.
    Symlink,
    /// Nothing. A directory that is not empty needs `force`.
    Absent,
}

/// What decides about claims and effects.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    /// The absolute path.
    pub path: &'a str,
    /// What is to be there.
    pub ensure: Ensure,
    /// Whether another kind of object may be replaced.
    pub force: bool,
    /// Where a link at the path may lead.
    pub leads_to: &'a [String],
    /// Whether missing folders on the way are made.
    pub parents: bool,
    /// How many replaced versions are kept.
    pub backup: u32,
    /// The program that looks at a new file.
    pub validate: Option<&'a str>,
}

/// The folders above `path`, the nearest first, but for the root, which is always there.
pub fn folders_above(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').map(|(end, _)| &path[..end]).filter(|folder| !folder.is_empty())
}

/// Holding the name of a replaced version: 0 while it has no number yet.
fn kept(path: &str, number: u32) -> Effect {
    Effect { actions: vec!["write".into()], ..Effect::write_path(format!("{path}.~{number}~")) }
}

impl Identity<'_> {
    /// The path itself, and where a link there may lead; for each with `backup` the names of what is replaced, and with `force` also all beneath it,
    /// where a directory may have to go. A directory that is wanted never has to: only other kinds are replaced by it, and they hold nothing. With
    /// `parents` each folder above the path may be made, which holds none of them.
    pub fn footprint(&self) -> Footprint {
        let places = std::iter::once(self.path).chain(self.leads_to.iter().map(String::as_str));
        let own = places.fold(Footprint::empty(), |own, place| self.place(own, place));
        let parents = folders_above(self.path).filter(|_| self.parents);
        let own = parents.fold(own, |own, folder| own.effect(Effect::make_directory(folder)));
        match self.validate {
            Some(program) => own.effect(Effect::program(program, &["query"])),
            None => own,
        }
    }

    /// What is done at one place.
    fn place(&self, own: Footprint, place: &str) -> Footprint {
        let own = own.effect(Effect::write_path(place)).affects(place);
        let versions = if self.backup > 0 { 0..self.backup + 1 } else { 0..0 };
        let own = versions.fold(own, |own, number| own.effect(kept(place, number)));
        if self.force && self.ensure != Ensure::Directory { own.effect(Effect::write_path(format!("{place}/**"))) } else { own }
    }
}

/// The desired state. What is none is left as it is on the node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Desired {
    /// The absolute path.
    pub path: String,
    /// What is to be there.
    pub ensure: Ensure,
    /// Whether another kind of object may be replaced, and a directory removed with all that it holds.
    pub force: bool,
    /// What becomes of a link at the path.
    #[serde(default, skip_serializing_if = "Links::is_default")]
    pub links: Links,
    /// Where it may lead, if it is followed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leads_to: Vec<String>,
    /// Whether missing folders on the way are made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub parents: bool,
    /// The content, for a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Asset>,
    /// The owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Principal>,
    /// The group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Principal>,
    /// The permissions, for a file or a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// How many replaced versions are kept, for a file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub backup: u32,
    /// What looks at a new file before it is put in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validate: Option<Validation>,
    /// Where it points, for a symbolic link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

impl Desired {
    /// What decides about claims and effects.
    pub fn identity(&self) -> Identity<'_> {
        let validate = self.validate.as_ref().map(Validation::program);
        let Self { path, ensure, force, leads_to, parents, backup, .. } = self;
        Identity { path, ensure: *ensure, force: *force, leads_to, parents: *parents, backup: *backup, validate }
    }

    /// Whether the content is a sensitive value, of which the host keeps nothing.
    pub fn is_sensitive(&self) -> bool {
        self.content_name().is_some_and(|name| name.starts_with("secret:"))
    }

    /// The path, and where a link there may lead.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.path.as_str()).chain(self.leads_to.iter().map(String::as_str))
    }

    /// Whether an object of another kind that is a link, or is none, may be replaced.
    pub fn may_replace(&self, is_link: bool) -> bool {
        self.force || (is_link && self.links == Links::Replace)
    }

    /// The name of the content, if it is managed and known: a digest, or the slot of a sensitive value.
    pub fn content_name(&self) -> Option<&str> {
        self.content.as_ref().and_then(Asset::name)
    }
}
