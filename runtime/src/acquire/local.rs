//! Files: beneath the manifest's folder, or beneath one that the command line allows.
//!
//! Which folder a path belongs to is decided by its text; that it does not leave it, by links or otherwise, is seen to when it is opened.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{AcquireError, Acquired, Settings, Stored, hash};
use crate::manifest::{Files, Folder};

/// Folders that files may be taken from.
pub(super) struct Local {
    /// The manifest's own, as an absolute path.
    base: PathBuf,
    own: Arc<Folder>,
    allowed: Vec<(PathBuf, Arc<Folder>)>,
    max_size: u64,
}

impl Local {
    pub(super) fn new(folder: &Path, settings: &Settings) -> Result<Self, AcquireError> {
        let open = |path: &PathBuf| {
            let opened = Folder::open(path).map_err(|source| AcquireError::Folder { path: path.clone(), source })?;
            Ok((steps(path), Arc::new(opened)))
        };
        let (base, own) = open(&folder.to_owned())?;
        let allowed = settings.folders.iter().map(open).collect::<Result<_, AcquireError>>()?;
        Ok(Self { base, own, allowed, max_size: settings.max_size })
    }

    pub(super) fn acquire(&self, path: &str) -> Result<Acquired, AcquireError> {
        let (folder, inner) = self.find(path)?;
        let (digest, size) = hash(folder.open(&inner).map_err(AcquireError::File)?, self.max_size)?;
        let open = move || folder.open(&inner).map_err(std::io::Error::other);
        Ok(Acquired { digest, size, stored: Stored { path: self.base.join(path), open: Arc::new(open) } })
    }

    /// The folder that a path belongs to, and the path within it.
    fn find(&self, path: &str) -> Result<(Arc<Folder>, String), AcquireError> {
        let full = steps(&self.base.join(path));
        if !is_absolute(path) && full.starts_with(&self.base) {
            return Ok((Arc::clone(&self.own), path.to_owned()));
        }
        let within = |(allowed, folder): &(PathBuf, Arc<Folder>)| {
            let inner = full.strip_prefix(allowed).ok()?.to_str()?.to_owned();
            Some((Arc::clone(folder), inner))
        };
        let folder = full.parent().unwrap_or(&full).to_owned();
        self.allowed.iter().find_map(within).ok_or(AcquireError::Outside { folder })
    }
}

/// Also on a system where a path may lack a drive, and still not be relative to the folder.
fn is_absolute(path: &str) -> bool {
    Path::new(path).is_absolute() || path.starts_with(['/', '\\'])
}

/// The path with `.` and `..` worked in, by text alone.
fn steps(path: &Path) -> PathBuf {
    let mut full = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                full.pop();
            }
            other => full.push(other),
        }
    }
    full
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::FileError;
    use crate::model::digest::AssetDigest;

    struct Place {
        folder: tempfile::TempDir,
        local: Local,
    }

    fn place(allowed: &[&str], max_size: u64) -> Place {
        let folder = tempfile::tempdir().unwrap();
        for name in ["site/files", "shared/inner", "shared-not", "other"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        for name in ["site/files/a", "shared/inner/b", "shared-not/c", "other/d"] {
            std::fs::write(folder.path().join(name), name).unwrap();
        }
        std::os::unix::fs::symlink("../other/d", folder.path().join("shared/leaves")).unwrap();
        std::os::unix::fs::symlink("../shared/inner/b", folder.path().join("site/leaves")).unwrap();
        let folders = allowed.iter().map(|name| folder.path().join(name)).collect();
        let settings = Settings { folders, max_size, ..Settings::default() };
        let local = Local::new(&folder.path().join("site"), &settings).unwrap();
        Place { folder, local }
    }

    #[test]
    fn the_manifests_folder_needs_no_leave() {
        let place = place(&[], 100);
        let found = place.local.acquire("files/../files/a").unwrap();
        assert_eq!((found.digest, found.size), (AssetDigest::of(b"site/files/a"), 12));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut (found.stored.open)().unwrap(), &mut text).unwrap();
        assert_eq!(text, "site/files/a", "it can be read again");
    }

    #[test]
    fn other_folders_only_when_allowed() {
        let place = place(&["shared"], 100);
        let absolute = |name: &str| place.folder.path().join(name).to_str().unwrap().to_owned();
        for path in ["../shared/inner/b".to_owned(), absolute("shared/inner/b"), absolute("other/../shared/./inner/b")] {
            assert_eq!(place.local.acquire(&path).unwrap().digest, AssetDigest::of(b"shared/inner/b"), "{path}");
        }
        for path in
            ["../shared-not/c".to_owned(), absolute("shared-not/c"), absolute("shared/../other/d"), absolute("site/files/a")]
        {
            let error = place.local.acquire(&path).unwrap_err();
            let folder = steps(Path::new(&path)).parent().unwrap().file_name().unwrap().to_str().unwrap().to_owned();
            assert!(matches!(error, AcquireError::Outside { .. }), "{path}: {error}");
            let hint = error.hint().unwrap();
            assert!(hint.contains("--allow-source /") && hint.ends_with(&format!("/{folder}`")), "{hint}");
        }
    }

    #[test]
    fn links_that_leave_a_folder_are_refused_even_into_an_allowed_one() {
        let place = place(&["shared"], 100);
        for path in ["leaves", "../shared/leaves"] {
            let error = place.local.acquire(path).unwrap_err();
            assert!(matches!(error, AcquireError::File(FileError::Outside)), "{path}: {error}");
        }
    }

    #[test]
    fn size_is_bounded_and_a_folder_that_is_not_there_is_told() {
        let place = place(&[], 11);
        assert!(matches!(place.local.acquire("files/a"), Err(AcquireError::TooLarge { limit: 11 })));
        let settings = Settings { folders: vec!["/nonexistent/x".into()], ..Settings::default() };
        let error = Local::new(place.folder.path(), &settings).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "the allowed folder `/nonexistent/x` cannot be opened");
    }
}
