//! A folder tree as a value, so that two looks at it can be compared.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Every object beneath a folder and the folder itself, by relative path. Nothing, where there is no such folder.
///
/// Its `Debug` is one line an object, for failed assertions.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Tree {
    entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone, PartialEq, Eq)]
struct Entry {
    mode: u32,
    owner: (u32, u32),
    content: String,
    trace: Option<Trace>,
}

/// What changes when an object is written, even with the same bytes, or replaced by its equal.
#[derive(Clone, PartialEq, Eq)]
struct Trace {
    inode: u64,
    links: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Tree {
    /// What an apply decides: kind, mode, owner, content. Two nodes can be compared by it.
    ///
    /// # Panics
    /// If something in it cannot be read.
    #[track_caller]
    pub fn state(folder: &Path) -> Self {
        Self::look(folder, false)
    }

    /// All that [`state`](Self::state) has, with inodes, links and times: equal only if nothing was written at all.
    ///
    /// # Panics
    /// If something in it cannot be read.
    #[track_caller]
    pub fn exact(folder: &Path) -> Self {
        Self::look(folder, true)
    }

    #[track_caller]
    fn look(folder: &Path, exact: bool) -> Self {
        let mut tree = Self::default();
        if fs::symlink_metadata(folder).is_ok() {
            tree.add(folder, PathBuf::new(), exact);
        }
        tree
    }

    #[track_caller]
    fn add(&mut self, folder: &Path, name: PathBuf, exact: bool) {
        let path = folder.join(&name);
        let metadata = fs::symlink_metadata(&path).unwrap_or_else(|error| panic!("cannot look at {}: {error}", path.display()));
        let trace = exact.then(|| Trace {
            inode: metadata.ino(),
            links: metadata.nlink(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        });
        let owner = (metadata.uid(), metadata.gid());
        let entry = Entry { mode: metadata.mode(), owner, content: content(&path, &metadata), trace };
        self.entries.insert(name.clone(), entry);
        if metadata.is_dir() {
            for child in fs::read_dir(&path).expect("a folder can be listed") {
                self.add(folder, name.join(child.expect("a folder can be listed").file_name()), exact);
            }
        }
    }

    /// Relative paths of everything in it.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys().map(PathBuf::as_path)
    }

    /// Names that a run stages under: nothing may be left under one.
    pub fn staged(&self) -> Vec<&Path> {
        let is_staged = |path: &&Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".runtime-"));
        self.paths().filter(is_staged).collect()
    }

    /// The paths at which the two differ.
    pub fn differences<'t>(&'t self, other: &'t Self) -> Vec<&'t Path> {
        let mut paths: Vec<&Path> = self.paths().chain(other.paths()).collect();
        paths.sort();
        paths.dedup();
        paths.retain(|path| self.entries.get(*path) != other.entries.get(*path));
        paths
    }
}

fn content(path: &Path, metadata: &fs::Metadata) -> String {
    if metadata.is_symlink() {
        return format!("-> {}", fs::read_link(path).expect("a link can be read").display());
    }
    if !metadata.is_file() {
        return String::new();
    }
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    hex::encode(Sha256::digest(bytes))
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (path, entry) in &self.entries {
            let Entry { mode, owner: (user, group), content, trace } = entry;
            write!(f, "\n{} {mode:o} {user}:{group} {content}", path.display())?;
            if let Some(Trace { inode, links, modified, changed }) = trace {
                write!(f, " inode {inode}, {links} links, {modified:?} {changed:?}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_content_written_again_is_another_exact_tree_and_the_same_state() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "x").unwrap();
        let (state, exact) = (Tree::state(folder.path()), Tree::exact(folder.path()));
        assert_eq!(Tree::exact(folder.path()), exact);
        fs::remove_file(&path).unwrap();
        fs::write(&path, "x").unwrap();
        assert_eq!(Tree::state(folder.path()), state);
        assert_ne!(Tree::exact(folder.path()), exact);
        fs::write(&path, "y").unwrap();
        assert_eq!(Tree::state(folder.path()).differences(&state), [Path::new("a")]);
    }

    #[test]
    fn no_folder_is_an_empty_tree() {
        assert_eq!(Tree::exact(Path::new("/nowhere/at/all")), Tree::default());
    }
}
