//! Content that travels with the bundle, given out by digest to the resources that listed it.

mod host;
pub(crate) mod policy;

use std::io::{self, Read};

use crate::digest::Digest;

/// Where the bytes of assets come from. The engine supplies the opened bundle.
pub trait AssetSource: Send + Sync {
    /// The size of an asset in bytes; none if there is no such asset.
    fn size(&self, digest: &Digest) -> Option<u64>;

    /// The bytes of an asset, from the start.
    ///
    /// # Errors
    /// If there is no such asset, or its bytes cannot be had.
    fn open(&self, digest: &Digest) -> io::Result<Box<dyn Read + Send>>;
}

/// A bundle without assets.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAssets;

impl AssetSource for NoAssets {
    fn size(&self, _: &Digest) -> Option<u64> {
        None
    }

    fn open(&self, digest: &Digest) -> io::Result<Box<dyn Read + Send>> {
        Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no asset {digest}")))
    }
}
