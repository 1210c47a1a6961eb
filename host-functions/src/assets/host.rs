//! The functions of `assets`.

use std::io::{self, Read};

use super::{AssetName, AssetNameError};
use crate::bindings::runtime::host::assets;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::digest::Digest;
use crate::error::CallError;
use crate::files::{CHUNK, MAX_READ};

impl assets::Host for HostContext {
    fn size(&mut self, name: String) -> Result<u64, CallError> {
        let asset = parse(&name)?;
        self.authorize(&HostCall::AssetsSize { asset: asset.clone() })?;
        let digest = plain(&asset)?;
        self.assets().size(&digest).ok_or_else(|| missing(&digest))
    }

    fn read(&mut self, name: String, offset: u64, length: u32) -> Result<Vec<u8>, CallError> {
        let asset = parse(&name)?;
        self.authorize(&HostCall::AssetsRead { asset: asset.clone(), offset, length })?;
        let digest = plain(&asset)?;
        let failed = |error: io::Error| CallError::Other(format!("reading asset {digest}: {}", error.kind()));
        let size = self.assets().size(&digest).ok_or_else(|| missing(&digest))?;
        if offset >= size {
            return Ok(Vec::new());
        }
        let mut content = self.assets().open(&digest).map_err(failed)?;
        self.skip(&mut content, offset).map_err(|error| error.unwrap_or_else(failed))?;
        let mut bytes = Vec::new();
        content.take(u64::from(length.min(MAX_READ))).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }
}

/// An error of the host's own, or one of reading.
enum SkipError {
    Call(CallError),
    Read(io::Error),
}

impl SkipError {
    fn unwrap_or_else(self, failed: impl FnOnce(io::Error) -> CallError) -> CallError {
        match self {
            SkipError::Call(error) => error,
            SkipError::Read(error) => failed(error),
        }
    }
}

impl HostContext {
    /// Reads past `bytes` bytes, minding the deadline.
    fn skip(&self, content: &mut dyn Read, bytes: u64) -> Result<(), SkipError> {
        let mut left = bytes;
        while left > 0 {
            self.check_deadline().map_err(SkipError::Call)?;
            let skipped = io::copy(&mut content.take(left.min(CHUNK as u64)), &mut io::sink()).map_err(SkipError::Read)?;
            if skipped == 0 {
                break;
            }
            left -= skipped;
        }
        Ok(())
    }
}

fn parse(name: &str) -> Result<AssetName, CallError> {
    name.parse().map_err(|error: AssetNameError| CallError::invalid(error.to_string()))
}

/// The digest of an asset that is not sensitive, which authorising has made sure of.
fn plain(asset: &AssetName) -> Result<Digest, CallError> {
    match asset {
        AssetName::Plain(digest) => Ok(*digest),
        AssetName::Secret(_) => Err(CallError::Other(format!("the asset {asset} is sensitive"))),
    }
}

fn missing(digest: &Digest) -> CallError {
    CallError::Other(format!("asset {digest} is listed but not in the bundle"))
}
