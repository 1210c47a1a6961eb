//! Content that the resources of one run name: blobs of the bundle, and what deferred values became on this node.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, PoisonError, RwLock};

use host_functions::assets::AssetSource;
use host_functions::digest::Digest;

use zeroize::Zeroizing;

use super::secrets::RunSecrets;
use crate::bundle::Bundle;
use crate::model::digest::AssetDigest;

/// Where host functions get assets from.
pub struct RunAssets {
    bundle: Bundle,
    made: RwLock<Made>,
    secrets: Arc<RunSecrets>,
}

/// Content that deferred values became, by digest.
pub(super) type Made = BTreeMap<AssetDigest, Arc<[u8]>>;

impl RunAssets {
    pub(super) fn new(bundle: Bundle, made: Made, secrets: Arc<RunSecrets>) -> Self {
        Self { bundle, made: RwLock::new(made), secrets }
    }

    /// Adds what a resource became at its turn.
    pub(super) fn add(&self, made: Made) {
        self.made.write().unwrap_or_else(PoisonError::into_inner).extend(made);
    }

    /// The sensitive ones.
    pub fn secrets(&self) -> &Arc<RunSecrets> {
        &self.secrets
    }

    fn made(&self, digest: AssetDigest) -> Option<Arc<[u8]>> {
        self.made.read().unwrap_or_else(PoisonError::into_inner).get(&digest).cloned()
    }
}

fn asset(digest: &Digest) -> AssetDigest {
    AssetDigest::from_bytes(digest.0)
}

impl AssetSource for RunAssets {
    fn size(&self, digest: &Digest) -> Option<u64> {
        match self.made(asset(digest)) {
            Some(bytes) => Some(bytes.len() as u64),
            None => self.bundle.asset_size(asset(digest)).ok(),
        }
    }

    fn secret(&self, slot: &str) -> Option<Zeroizing<Vec<u8>>> {
        self.secrets.content(slot)
    }

    fn open(&self, digest: &Digest) -> io::Result<Box<dyn Read + Send>> {
        if let Some(bytes) = self.made(asset(digest)) {
            return Ok(Box::new(Cursor::new(bytes)));
        }
        let reader = self.bundle.asset_reader(asset(digest)).map_err(|error| io::Error::new(io::ErrorKind::NotFound, error))?;
        Ok(Box::new(reader))
    }
}
