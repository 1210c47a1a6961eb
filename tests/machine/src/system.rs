//! The roots of machines: made once, kept in the user's cache, never written to afterwards.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::{alpine, debian};

/// What a machine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Debian 12 with systemd, D-Bus, apt, the shadow tools, and, from Debian's own packages, dnf, rpm, zypper and pacman with
    /// what makes their repositories. No package source is configured; `/srv/packages` has the package of a small web server.
    Debian,
    /// Alpine with apk, OpenRC and busybox. It has the GNU C library beside its own, so that programs of this computer run.
    Alpine,
}

impl System {
    /// Its root, made by the first who asks while all others wait.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn root(self) -> PathBuf {
        let folder = cache();
        fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("cannot make {}: {error}", folder.display()));
        let root = folder.join(self.name());
        if root.is_dir() {
            return root;
        }
        let lock = File::create(folder.join(format!("{}.lock", self.name()))).expect("a lock file can be made");
        lock.lock().expect("a file can be locked");
        if !root.is_dir() {
            let partial = folder.join(format!("{}.partial", self.name()));
            if partial.exists() {
                fs::remove_dir_all(&partial).expect("what a lost process left can be removed");
            }
            self.make(&partial);
            fs::rename(&partial, &root).expect("a folder can be renamed");
        }
        root
    }

    /// The name of its folder. The number goes up with whatever changes the root.
    fn name(self) -> &'static str {
        match self {
            System::Debian => "debian-12-2",
            System::Alpine => "alpine-3.23-1",
        }
    }

    fn make(self, folder: &Path) {
        match self {
            System::Debian => debian::make(folder),
            System::Alpine => alpine::make(folder),
        }
    }
}

/// An empty folder that machines cover in their own view of this computer.
pub(crate) fn mount_point() -> PathBuf {
    let folder = cache().join("mount");
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("cannot make {}: {error}", folder.display()));
    folder
}

fn cache() -> PathBuf {
    let given = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = given("XDG_CACHE_HOME").or_else(|| given("HOME").map(|home| home.join(".cache")));
    cache.expect("`HOME` or `XDG_CACHE_HOME` names a folder").join("runtime-tests")
}

/// Writes a file of a root that is being made, with the folders above it.
pub(crate) fn write(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
    fs::write(&path, content).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}
