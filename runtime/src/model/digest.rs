//! SHA-256 digests, as typed values: a component's digest where an asset's is wanted does not compile.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// What a digest is not: `sha256:` and 64 lower-case hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a digest: it must be `sha256:` and 64 lower-case hex digits", found.escape_debug())]
pub struct DigestError {
    /// The text that was given, cut to 80 characters.
    pub found: String,
}

/// A SHA-256 digest of a `K`. Its text form is `sha256:` and 64 lower-case hex digits.
pub struct Digest<K> {
    bytes: [u8; 32],
    kind: PhantomData<fn() -> K>,
}

/// Marks digests of components.
pub enum Component {}

/// Marks digests of assets.
pub enum Asset {}

/// Marks digests of bundles: of their OCI manifest.
pub enum Bundle {}

/// Marks digests of catalogs.
pub enum Catalog {}

/// The digest of a component's bytes.
pub type ComponentDigest = Digest<Component>;

/// The digest of an asset's bytes.
pub type AssetDigest = Digest<Asset>;

/// The digest of a bundle's OCI manifest, which names everything else in it.
pub type BundleDigest = Digest<Bundle>;

/// The digest of a catalog's canonical JSON.
pub type CatalogDigest = Digest<Catalog>;

impl<K> Digest<K> {
    /// The digest of `content`.
    pub fn of(content: &[u8]) -> Self {
        Self::from_bytes(Sha256::digest(content).into())
    }

    /// A digest from its 32 bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self { bytes, kind: PhantomData }
    }

    /// The 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// The 64 hex digits, without the algorithm.
    pub fn hex(&self) -> String {
        hex::encode(self.bytes)
    }

    /// The first 12 hex digits, for people.
    pub fn short(&self) -> String {
        self.hex()[..12].to_owned()
    }

    /// A digest from its 64 lower-case hex digits, without the algorithm.
    ///
    /// # Errors
    /// If `text` is anything else.
    pub fn from_hex(text: &str) -> Result<Self, DigestError> {
        let error = || DigestError { found: text.chars().take(80).collect() };
        let lower = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if text.len() != 64 || !lower {
            return Err(error());
        }
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| error())?;
        Ok(Self::from_bytes(bytes))
    }
}

impl<K> FromStr for Digest<K> {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        let hex = text.strip_prefix("sha256:").ok_or_else(|| DigestError { found: text.chars().take(80).collect() })?;
        Self::from_hex(hex).map_err(|_| DigestError { found: text.chars().take(80).collect() })
    }
}

impl<K> fmt::Display for Digest<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl<K> fmt::Debug for Digest<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<K> Clone for Digest<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Digest<K> {}

impl<K> PartialEq for Digest<K> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<K> Eq for Digest<K> {}

impl<K> PartialOrd for Digest<K> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> Ord for Digest<K> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.bytes.cmp(&other.bytes)
    }
}

impl<K> std::hash::Hash for Digest<K> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}

impl<K> Serialize for Digest<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, K> Deserialize<'de> for Digest<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips_and_refuses_others() {
        let digest = AssetDigest::of(b"hello");
        assert_eq!(digest.to_string().parse::<AssetDigest>().unwrap(), digest);
        for bad in ["", "sha256:", "SHA256:00", &digest.hex(), &digest.to_string().to_uppercase(), "sha256:zz"] {
            assert!(bad.parse::<AssetDigest>().is_err(), "{bad}");
        }
    }
}
