//! Compiled code on disk, so that a run does not compile what an earlier one did.
//!
//! What is read from here becomes machine code in our process. So the folder is used only if nobody else could have written to it,
//! and each file is named after the component and everything that decides the code, and begins with its own digest. Whatever is
//! wrong with a file or the folder, the component is compiled anew: the cache is never the cause of a failure.

use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::model::digest::ComponentDigest;

/// The largest file that is read back.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// A folder of compiled components that is private to us.
pub(super) struct CodeCache {
    folder: PathBuf,
    /// Of the engine's configuration, the target and the full version of wasmtime.
    compatibility: String,
}

impl CodeCache {
    /// The cache in `folder`, made if need be; none if others could write it, which is logged.
    pub(super) fn open(folder: &Path, engine: &Engine) -> Option<Self> {
        let mut hasher = DigestHasher::default();
        engine.precompile_compatibility_hash().hash(&mut hasher);
        let compatibility = hex::encode(hasher.0.finalize());
        match crate::store::folder::create_private(folder) {
            Ok(folder) => Some(Self { folder, compatibility }),
            Err(error) => {
                let reason = told(&error);
                tracing::warn!(folder = %folder.display(), reason, "the code cache is not used");
                None
            }
        }
    }

    /// The folder, which nobody else can write.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The compiled component, if an intact one is there.
    pub(super) fn get(&self, engine: &Engine, digest: ComponentDigest) -> Option<Component> {
        let bytes = read_checked(&self.path(digest))?;
        match deserialize(engine, &bytes) {
            Ok(component) => Some(component),
            Err(error) => {
                tracing::warn!(%digest, %error, "a file of the code cache is not used");
                None
            }
        }
    }

    /// Keeps a compiled component; that it cannot be kept is logged.
    pub(super) fn put(&self, digest: ComponentDigest, component: &Component) {
        let kept = component.serialize().map_err(|error| error.to_string());
        let kept = kept.and_then(|code| write_checked(&self.path(digest), &code).map_err(|error| error.to_string()));
        if let Err(reason) = kept {
            tracing::warn!(%digest, reason, "compiled code could not be kept");
        }
    }

    fn path(&self, digest: ComponentDigest) -> PathBuf {
        self.folder.join(format!("{}-{}.cwasm", digest.hex(), &self.compatibility[..32]))
    }
}

/// An error with what caused it.
fn told(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |told, cause| format!("{told}: {cause}"))
}

#[expect(unsafe_code, reason = "the one place where bytes become machine code: they come from a folder that only we can write")]
fn deserialize(engine: &Engine, bytes: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `bytes` were made by `Component::serialize` of this program: the folder is checked from `/` down to be ours and
    // writable by no other, the file's own digest is right, and its name holds the hash of everything that decides the format.
    unsafe { Component::deserialize(engine, bytes) }
}

#[expect(clippy::disallowed_methods, reason = "the code cache reads its own folder")]
pub(super) fn read_checked(path: &Path) -> Option<Vec<u8>> {
    if fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?.len() > MAX_FILE_BYTES {
        return None;
    }
    let mut bytes = fs::read(path).ok()?;
    let code = bytes.split_off(bytes.len().min(32));
    (Sha256::digest(&code).as_slice() == bytes).then_some(code)
}

#[expect(clippy::disallowed_methods, reason = "the code cache writes its own folder")]
pub(super) fn write_checked(path: &Path, code: &[u8]) -> std::io::Result<()> {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
        file.write_all(&Sha256::digest(code))?;
        file.write_all(code)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    if written.is_err() {
        // It may not exist; a leftover only costs space, and the next process has another name.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Feeds a stable digest from `Hash`.
#[derive(Default)]
pub(super) struct DigestHasher(Sha256);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        u64::from_le_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
    }
}
