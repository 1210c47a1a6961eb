//! The desired state, and what it touches.

use runtime_sdk::{Asset, Effect, Footprint, Principal};
use serde::{Deserialize, Serialize};

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
    /// The path itself; with `parents` each folder above it may be made, which holds none of them; with `backup` the names of what is replaced; with `force` also all beneath it, where a directory may have to go. A directory that is wanted never has
    /// to: only other kinds are replaced by it, and they hold nothing.
    pub fn footprint(&self) -> Footprint {
        let own = Footprint::empty().effect(Effect::write_path(self.path)).affects(self.path);
        let parents = folders_above(self.path).filter(|_| self.parents);
        let own = parents.fold(own, |own, folder| own.effect(Effect::make_directory(folder)));
        let versions = if self.backup > 0 { 0..self.backup + 1 } else { 0..0 };
        let own = versions.fold(own, |own, number| own.effect(kept(self.path, number)));
        let own = match self.validate {
            Some(program) => own.effect(Effect::program(program, &["query"])),
            None => own,
        };
        if self.force && self.ensure != Ensure::Directory {
            own.effect(Effect::write_path(format!("{}/**", self.path)))
        } else {
            own
        }
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
    #[serde(default, skip_serializing_if = "is_none")]
    pub backup: u32,
    /// What looks at a new file before it is put in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validate: Option<Validation>,
    /// Where it points, for a symbolic link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

fn is_none(count: &u32) -> bool {
    *count == 0
}

impl Desired {
    /// What decides about claims and effects.
    pub fn identity(&self) -> Identity<'_> {
        let validate = self.validate.as_ref().map(Validation::program);
        let Self { path, ensure, force, parents, backup, .. } = self;
        Identity { path, ensure: *ensure, force: *force, parents: *parents, backup: *backup, validate }
    }

    /// The name of the content, if it is managed and known: a digest, or the slot of a sensitive value.
    pub fn content_name(&self) -> Option<&str> {
        self.content.as_ref().and_then(Asset::name)
    }
}
