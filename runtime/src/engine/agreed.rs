//! What was recomputed on this node before: that a catalog and its components agree.
//!
//! Whether they do follows from their bytes alone, since definitions are pure, and from the program that asks. So it is asked once, and kept beside
//! compiled code, in the folder that nobody else can write. What decides it otherwise (policy, facts, who holds what) is not kept, and is asked in
//! every run. Without a cache everything is.

use std::hash::{Hash as _, Hasher as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::cache::{self, DigestHasher};
use crate::model::digest::{BundleDigest, ComponentDigest};

/// How many are kept: the last that were found.
const KEPT: usize = 64;

/// A bundle with those of its components that may run here: what is asked to agree.
#[derive(Debug, Clone)]
pub struct Agreement(Sha256);

impl Agreement {
    /// Of the catalog and components of `bundle`, of which these are asked.
    pub fn new(bundle: BundleDigest, components: impl IntoIterator<Item = ComponentDigest>) -> Self {
        let mut said = Sha256::new();
        said.update(b"agreement 1\0");
        said.update(bundle.to_string());
        for component in components {
            said.update(component.to_string());
        }
        Self(said)
    }

    /// What it is kept under by this very program with this engine.
    fn key(&self, by: &str) -> String {
        let mut said = self.0.clone();
        said.update(by);
        hex::encode(said.finalize())
    }
}

/// The agreements that were found on this node.
pub(super) struct Agreed {
    file: PathBuf,
    /// Names program and engine.
    by: String,
}

impl Agreed {
    /// Those in `folder`, a private one; none where the program cannot be told from another version of it.
    pub(super) fn open(folder: &Path, engine: &wasmtime::Engine) -> Option<Self> {
        let mut engine_hash = DigestHasher::default();
        engine.precompile_compatibility_hash().hash(&mut engine_hash);
        let by = format!("{} {:016x}", this_program().ok()?, engine_hash.finish());
        Some(Self { file: folder.join("agreed"), by })
    }

    pub(super) fn has(&self, agreement: &Agreement) -> bool {
        let key = agreement.key(&self.by);
        self.keys().contains(&key)
    }

    /// Keeps it; that it cannot be kept is logged.
    pub(super) fn note(&self, agreement: &Agreement) {
        let mut keys = self.keys();
        keys.push(agreement.key(&self.by));
        let first = keys.len().saturating_sub(KEPT);
        if let Err(error) = cache::write_checked(&self.file, keys[first..].join("\n").as_bytes()) {
            tracing::warn!(file = %self.file.display(), %error, "what was found to agree could not be kept");
        }
    }

    /// Oldest first. A file that is not intact holds none.
    fn keys(&self) -> Vec<String> {
        let bytes = cache::read_checked(&self.file).unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

/// The file that runs: another build is another file, or was written at another time.
#[expect(clippy::disallowed_methods, reason = "looks at our own program")]
fn this_program() -> std::io::Result<String> {
    let file = std::fs::metadata("/proc/self/exe")?;
    let (seconds, nanoseconds) = (file.mtime(), file.mtime_nsec());
    Ok(format!("{} {} {} {} {seconds}.{nanoseconds}", env!("CARGO_PKG_VERSION"), file.dev(), file.ino(), file.size()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests damage a file of their own")]
mod tests {
    use super::*;

    fn agreement(bundle: u8, components: &[u8]) -> Agreement {
        Agreement::new(BundleDigest::of(&[bundle]), components.iter().map(|component| ComponentDigest::of(&[*component])))
    }

    fn agreed(folder: &Path, by: &str) -> Agreed {
        Agreed { file: folder.join("agreed"), by: by.to_owned() }
    }

    #[test]
    fn what_was_found_is_known_for_these_very_bytes_and_this_program_alone() {
        let folder = tempfile::tempdir().unwrap();
        let ours = agreed(folder.path(), "ours");
        assert!(!ours.has(&agreement(1, &[1, 2])));
        ours.note(&agreement(1, &[1, 2]));
        assert!(ours.has(&agreement(1, &[1, 2])));
        for other in [agreement(2, &[1, 2]), agreement(1, &[1]), agreement(1, &[2, 1]), agreement(1, &[])] {
            assert!(!ours.has(&other), "{other:?}");
        }
        assert!(!agreed(folder.path(), "another program").has(&agreement(1, &[1, 2])));
    }

    #[test]
    fn the_oldest_are_forgotten_and_a_damaged_file_holds_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let ours = agreed(folder.path(), "ours");
        for bundle in 0..=64 {
            ours.note(&agreement(bundle, &[]));
        }
        assert!(!ours.has(&agreement(0, &[])) && ours.has(&agreement(1, &[])) && ours.has(&agreement(64, &[])));
        let mut bytes = std::fs::read(folder.path().join("agreed")).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(folder.path().join("agreed"), bytes).unwrap();
        assert!(!ours.has(&agreement(64, &[])));
    }

    #[test]
    fn this_program_has_a_name() {
        assert_eq!(this_program().unwrap(), this_program().unwrap());
    }
}
