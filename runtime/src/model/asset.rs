//! Names of bytes that travel with a bundle.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::digest::{AssetDigest, DigestError};
use super::ids::{NameError, SecretSlot};

/// What marks the name of sensitive bytes.
const SECRET: &str = "secret:";

/// Names bytes that a resource needs on the node: by digest, or by slot where they are sensitive, whose digest is never told.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AssetRef {
    /// Bytes that anyone may see.
    Plain(AssetDigest),
    /// Bytes that only the host sees.
    Secret(SecretSlot),
}

impl AssetRef {
    /// What stands in a draft for the bytes of a slot, before they are acquired: a digest of its own for each slot, which no bytes have.
    pub fn placeholder(slot: &str) -> Self {
        Self::Plain(AssetDigest::of(format!("runtime: the asset of the slot {slot:?} is not acquired yet").as_bytes()))
    }

    /// The digest, of bytes that anyone may see.
    pub fn digest(&self) -> Option<AssetDigest> {
        match self {
            Self::Plain(digest) => Some(*digest),
            Self::Secret(_) => None,
        }
    }

    /// The slot, of bytes that only the host sees.
    pub fn slot(&self) -> Option<&SecretSlot> {
        match self {
            Self::Plain(_) => None,
            Self::Secret(slot) => Some(slot),
        }
    }
}

/// Text that names no asset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssetRefError {
    /// It is no digest.
    #[error(transparent)]
    Digest(#[from] DigestError),
    /// It begins as a slot and is none.
    #[error(transparent)]
    Slot(#[from] NameError),
}

impl FromStr for AssetRef {
    type Err = AssetRefError;

    fn from_str(text: &str) -> Result<Self, AssetRefError> {
        match text.strip_prefix(SECRET) {
            Some(slot) => Ok(Self::Secret(slot.parse()?)),
            None => Ok(Self::Plain(text.parse()?)),
        }
    }
}

impl fmt::Display for AssetRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(digest) => digest.fmt(f),
            Self::Secret(slot) => write!(f, "{SECRET}{slot}"),
        }
    }
}

impl Serialize for AssetRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for AssetRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_has_a_placeholder_of_its_own() {
        assert_eq!(AssetRef::placeholder("a"), AssetRef::placeholder("a"));
        assert_ne!(AssetRef::placeholder("a"), AssetRef::placeholder("b"));
    }

    #[test]
    fn names_are_digests_or_slots() {
        let plain = AssetDigest::of(b"x").to_string();
        assert_eq!(plain.parse::<AssetRef>().unwrap().to_string(), plain);
        let secret = "secret:file.motd/content";
        assert_eq!(secret.parse::<AssetRef>().unwrap().to_string(), secret);
        for bad in ["", "secret:", "secret:a b", "sha256:", "file.motd/content"] {
            assert!(bad.parse::<AssetRef>().is_err(), "{bad}");
        }
    }
}
