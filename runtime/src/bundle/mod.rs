//! `bundle.wasm.tar`: a catalog, its components and its assets in one file.
//!
//! The file is an OCI image layout in a tar archive with exactly one form for each content (docs/formats/bundle.md). [`write()`]
//! makes one; [`Bundle::open`] takes one from anybody, and believes nothing of it but what it has checked. It says whether a file
//! is a bundle and whole, not who made it or what it may do: that is for receipt. Nothing is unpacked.

mod archive;
mod canonical;
mod error;
mod invariants;
mod oci;
mod read;
mod secrets;
mod source;
mod write;

#[cfg(test)]
mod samples;

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files to look at")]
mod attacks;

#[cfg(test)]
mod forgeries;

#[cfg(test)]
mod inconsistencies;

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files to look at")]
mod round_trips;

/// The catalog's text.
pub mod catalog;

/// Sizes that a bundle may have.
pub mod limits;

pub use archive::looks_like_one;
pub use error::{ArchiveError, BundleError, DocumentError, ReferenceError};
pub use oci::{ARTIFACT_TYPE, CATALOG_TYPE, SECRETS_TYPE};
pub use read::{AssetReader, Bundle};
pub use secrets::{SALT_BYTES, SecretLayer};
pub use write::{AssetContent, AssetFile, AssetSource, WriteError, measure, write};
