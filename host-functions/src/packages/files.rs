//! A package file that came as an asset, while its manager reads it.

use std::io::Read as _;
use std::time::Instant;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags};
use sha2::{Digest as _, Sha256};

use crate::assets::AssetSource;
use crate::digest::Digest;
use crate::error::CallError;
use crate::node::Root;
use crate::node::resolve::{Target, open_directory};

/// The largest package file, in bytes.
const MAX_PACKAGE: u64 = 4 * 1024 * 1024 * 1024;

/// Where a package file waits for its manager. No one but root may write there.
const WAITING: &[u8] = b"/var/cache";

/// A package file in the node's file system; it is gone when this is dropped.
pub(super) struct WaitingFile {
    folder: OwnedFd,
    name: String,
}

impl WaitingFile {
    /// Writes an asset to where the manager can read it. `name` is one that nothing else has.
    pub(super) fn write(
        root: &Root,
        name: String,
        assets: &dyn AssetSource,
        digest: &Digest,
        deadline: Instant,
    ) -> Result<Self, CallError> {
        let Target::Opened { fd: folder, .. } = open_directory(root, WAITING)? else {
            return Err(CallError::NotFound);
        };
        let failed = |errno| CallError::system(errno, "writing a package file to `/var/cache`");
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&folder, name.as_str(), flags, Mode::from_raw_mode(0o644)).map_err(failed)?;
        let waiting = Self { folder, name };
        copy(file, assets, digest, deadline)?;
        Ok(waiting)
    }

    /// Its path on the node.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", String::from_utf8_lossy(WAITING), self.name)
    }
}

impl Drop for WaitingFile {
    fn drop(&mut self) {
        if let Err(errno) = rustix::fs::unlinkat(&self.folder, self.name.as_str(), AtFlags::empty()) {
            tracing::warn!(name = %self.name, %errno, "a package file could not be removed from /var/cache");
        }
    }
}

/// Copies an asset, whose bytes must have the digest by which it is named.
fn copy(file: OwnedFd, assets: &dyn AssetSource, digest: &Digest, deadline: Instant) -> Result<(), CallError> {
    let failed = |error: std::io::Error| CallError::Other(format!("copying a package file: {}", error.kind()));
    let mut content = assets.open(digest).map_err(failed)?.take(MAX_PACKAGE + 1);
    let mut file = std::fs::File::from(file);
    let (mut hasher, mut size, mut block) = (Sha256::new(), 0, vec![0; 256 * 1024]);
    loop {
        crate::context::check_deadline(deadline)?;
        let read = content.read(&mut block).map_err(failed)?;
        if read == 0 {
            break;
        }
        size += read as u64;
        if size > MAX_PACKAGE {
            return Err(CallError::TooLarge(format!("a package file has at most {MAX_PACKAGE} bytes")));
        }
        hasher.update(&block[..read]);
        std::io::Write::write_all(&mut file, &block[..read]).map_err(failed)?;
    }
    if Digest(hasher.finalize().into()) == *digest {
        Ok(())
    } else {
        Err(CallError::Other("the bundle's bytes of the package file are not those of its digest".into()))
    }
}
