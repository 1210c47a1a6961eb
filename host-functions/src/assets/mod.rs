//! Content that travels with the bundle, given out by name to the resources that listed it. Sensitive content is given to no guest.

mod host;
mod name;
pub(crate) mod policy;

use std::io::{self, Read};

use zeroize::Zeroizing;

use crate::digest::Digest;

pub use name::{AssetName, AssetNameError};

/// Where the bytes of assets come from. The engine supplies the opened bundle.
pub trait AssetSource: Send + Sync {
    /// The size of an asset in bytes; none if there is no such asset.
    fn size(&self, digest: &Digest) -> Option<u64>;

    /// The bytes of an asset, from the start.
    ///
    /// # Errors
    /// If there is no such asset, or its bytes cannot be had.
    fn open(&self, digest: &Digest) -> io::Result<Box<dyn Read + Send>>;

    /// The bytes of a sensitive asset, by slot; none if there is no such value, or it is not text. They are wiped when they go.
    fn secret(&self, slot: &str) -> Option<Zeroizing<Vec<u8>>>;
}

/// A bundle without assets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAssets;

impl AssetSource for NoAssets {
    fn size(&self, _: &Digest) -> Option<u64> {
        None
    }

    fn secret(&self, _: &str) -> Option<Zeroizing<Vec<u8>>> {
        None
    }

    fn open(&self, digest: &Digest) -> io::Result<Box<dyn Read + Send>> {
        Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no asset {digest}")))
    }
}
