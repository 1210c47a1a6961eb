//! Handles on places, and what was seen there.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{FileType, Stat};

use super::path::NodePath;
use crate::assets::AssetName;
use crate::error::CallError;
use crate::node::identity::Fingerprint;

/// A guest's handle on a place. It holds nothing open.
#[derive(Debug)]
pub struct Object {
    pub(super) path: NodePath,
    pub(super) seen: SharedSeen,
}

impl Object {
    pub(super) fn new(path: NodePath) -> Self {
        Self { path, seen: SharedSeen::default() }
    }

    #[cfg(test)]
    pub(crate) fn at(path: &str) -> Self {
        Self::new(NodePath::parse(path.into()).unwrap())
    }
}

/// What kind of object is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A named pipe.
    Fifo,
    /// A socket.
    Socket,
    /// A block device.
    BlockDevice,
    /// A character device.
    CharacterDevice,
}

/// An object as it was at one moment; see the WIT.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each field is named after its field in the WIT")]
pub struct Observation {
    pub kind: Kind,
    pub owner: u32,
    pub group: u32,
    pub mode: u32,
    pub size: u64,
    pub links: u64,
    pub target: Option<Vec<u8>>,
    pub digest: Option<ContentName>,
}

/// What is told of a file's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentName {
    /// That it is this asset, or else its digest.
    Asset(AssetName),
    /// Nothing: it may be a sensitive value.
    Hidden,
}

impl fmt::Display for ContentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asset(name) => name.fmt(f),
            Self::Hidden => f.write_str("hidden"),
        }
    }
}

impl Kind {
    pub(super) fn of(stat: &Stat) -> Result<Self, CallError> {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(Kind::File),
            FileType::Directory => Ok(Kind::Directory),
            FileType::Symlink => Ok(Kind::Symlink),
            FileType::Fifo => Ok(Kind::Fifo),
            FileType::Socket => Ok(Kind::Socket),
            FileType::BlockDevice => Ok(Kind::BlockDevice),
            FileType::CharacterDevice => Ok(Kind::CharacterDevice),
            FileType::Unknown => Err(CallError::Other("the object is of a kind that is not known here".to_owned())),
        }
    }

    /// The kind with its article, for messages.
    pub(super) fn a(self) -> &'static str {
        match self {
            Kind::File => "a file",
            Kind::Directory => "a directory",
            Kind::Symlink => "a symbolic link",
            Kind::Fifo => "a named pipe",
            Kind::Socket => "a socket",
            Kind::BlockDevice => "a block device",
            Kind::CharacterDevice => "a character device",
        }
    }
}

/// What a handle last knew to be at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Seen {
    /// It never looked.
    #[default]
    Never,
    /// Nothing was there.
    Nothing,
    /// This was.
    There(Fingerprint),
}

/// How much of an object must be as it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sameness {
    /// It is the same object, whatever is in it and whoever owns it: its attributes are to be set, or it is a directory.
    Identity,
    /// Nothing about it has changed: it is to be replaced or removed.
    State,
}

impl Seen {
    /// What a look at the place gave.
    pub(super) fn from(stat: Option<&Stat>) -> Self {
        stat.map_or(Seen::Nothing, |stat| Seen::There(Fingerprint::of(stat)))
    }

    /// Fails unless what is there now is what was seen.
    pub(super) fn expect(self, now: Option<&Stat>, sameness: Sameness, shown: &str) -> Result<(), CallError> {
        let changed = |what: &str| Err(CallError::Changed(format!("{what} at `{shown}` since it was observed")));
        match (self, now.map(Fingerprint::of)) {
            (Seen::Never, _) => {
                Err(CallError::invalid(format!("`{shown}` must be observed through the same handle before it is changed")))
            }
            (Seen::Nothing, None) => Ok(()),
            (Seen::Nothing, Some(_)) => changed("something has appeared"),
            (Seen::There(_), None) => changed("what was there is gone"),
            (Seen::There(seen), Some(now)) => {
                let same = match sameness {
                    Sameness::Identity => seen.identity == now.identity && seen.kind == now.kind,
                    Sameness::State => seen == now,
                };
                if same { Ok(()) } else { changed("something has changed") }
            }
        }
    }
}

/// What a handle knows, shared with what it staged.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedSeen(Arc<Mutex<Seen>>);

impl SharedSeen {
    pub(super) fn get(&self) -> Seen {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, seen: Seen) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = seen;
    }
}
