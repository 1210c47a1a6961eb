//! Names of assets, as guests write them: a digest, or `secret:` and a slot.

use std::fmt;
use std::str::FromStr;

use crate::digest::{Digest, DigestError};

/// What the name of a sensitive asset begins with.
const SECRET: &str = "secret:";

/// The longest slot, in bytes.
const MAX_SLOT: usize = 512;

/// Names an asset. Clones of a slot's name copy it; a slot is a place in a catalog and tells nothing of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AssetName {
    /// Bytes that anyone may see, by digest.
    Plain(Digest),
    /// Bytes that only the host sees, by slot.
    Secret(String),
}

/// A text that names no asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AssetNameError {
    /// It is no digest.
    #[error(transparent)]
    Digest(#[from] DigestError),
    /// It begins as a slot and is none.
    #[error("a slot has letters, digits, `_`, `-`, `.`, `:`, `/` and `#`, at most {MAX_SLOT} bytes")]
    Slot,
}

impl FromStr for AssetName {
    type Err = AssetNameError;

    fn from_str(text: &str) -> Result<Self, AssetNameError> {
        let Some(slot) = text.strip_prefix(SECRET) else { return Ok(Self::Plain(text.parse()?)) };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/#".contains(&byte);
        match !slot.is_empty() && slot.len() <= MAX_SLOT && slot.bytes().all(plain) {
            true => Ok(Self::Secret(slot.to_owned())),
            false => Err(AssetNameError::Slot),
        }
    }
}

impl fmt::Display for AssetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(digest) => digest.fmt(f),
            Self::Secret(slot) => write!(f, "{SECRET}{slot}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_digests_or_slots() {
        for name in [Digest([7; 32]).to_string(), "secret:file.motd/content#0".to_owned()] {
            assert_eq!(name.parse::<AssetName>().unwrap().to_string(), name);
        }
        let long = format!("secret:{}", "a".repeat(513));
        for bad in ["", "secret:", "secret:a b", "secret:\n", "sha256:", "file.motd/content", &long] {
            assert!(bad.parse::<AssetName>().is_err(), "{bad}");
        }
    }
}
