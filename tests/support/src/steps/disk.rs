//! What a folder has in it after the power fails, at worst: only what was waited for is there.
//!
//! Bytes count when their file was written to disk after them, names when their folder was. Where waiting fails, what was written before is lost for
//! good, as it is on Linux: it can still be read, and waiting again says that all is well. Removals count at once, which is the worse case for
//! whoever keeps records.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::calls::{Change, Step};

/// One folder without folders in it.
#[derive(Debug)]
pub struct Disk {
    folder: PathBuf,
    /// By the name that each has now.
    files: BTreeMap<PathBuf, Content>,
    /// The names that are on disk.
    names: BTreeSet<PathBuf>,
}

#[derive(Debug, Default)]
struct Content {
    on_disk: Vec<u8>,
    /// Not yet waited for.
    pending: Vec<Change>,
}

impl Disk {
    /// The folder as it is, all of it on disk. It may not be there yet.
    ///
    /// # Panics
    /// If it cannot be read.
    pub fn new(folder: &Path) -> Self {
        let content = |path: &PathBuf| Content { on_disk: fs::read(path).expect("a file can be read"), pending: Vec::new() };
        let names = names(folder);
        let files = names.iter().map(|path| (path.clone(), content(path))).collect();
        Self { folder: folder.to_owned(), files, names }
    }

    /// Follows a step that is about to be done.
    pub fn done(&mut self, step: &Step) {
        if step.path == self.folder && step.change == Change::Sync {
            self.names = names(&self.folder);
        }
        if step.path.parent() != Some(&self.folder) {
            return;
        }
        match (&step.change, &step.to) {
            (Change::Open { truncate }, _) => {
                let file = self.files.entry(step.path.clone()).or_default();
                if *truncate {
                    file.pending.push(Change::Truncate(0));
                }
            }
            (change @ (Change::Write { .. } | Change::Truncate(_)), _) => {
                self.files.entry(step.path.clone()).or_default().pending.push(change.clone());
            }
            (Change::Sync, _) => self.files.entry(step.path.clone()).or_default().write_to_disk(),
            (Change::Remove, _) => drop(self.files.remove(&step.path)),
            (Change::Rename, Some(to)) => {
                let file = self.files.remove(&step.path).unwrap_or_default();
                self.files.insert(to.clone(), file);
            }
            (Change::Rename | Change::Other, _) => {}
        }
    }

    /// Follows a step that fails.
    pub fn failed(&mut self, step: &Step) {
        if let (Change::Sync, Some(file)) = (&step.change, self.files.get_mut(&step.path)) {
            file.pending.clear();
        }
    }

    /// What is left, in a folder of its own.
    ///
    /// # Panics
    /// If there is no room for it.
    #[must_use]
    pub fn after_a_power_failure(&self) -> tempfile::TempDir {
        let left = tempfile::tempdir().expect("a temporary folder can be made");
        for path in self.names.iter().filter(|path| self.files.contains_key(*path)) {
            let name = path.file_name().expect("a file has a name");
            fs::write(left.path().join(name), &self.files[path].on_disk).expect("a file can be written");
        }
        left
    }
}

/// Paths of what is in a folder now.
fn names(folder: &Path) -> BTreeSet<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    entries.map(|entry| entry.expect("a folder can be listed").path()).collect()
}

impl Content {
    fn write_to_disk(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            match change {
                Change::Write { offset, bytes } => {
                    let start = usize::try_from(offset).expect("it is small");
                    let end = start + bytes.len();
                    self.on_disk.resize(self.on_disk.len().max(end), 0);
                    self.on_disk[start..end].copy_from_slice(&bytes);
                }
                Change::Truncate(length) => self.on_disk.resize(usize::try_from(length).expect("it is small"), 0),
                Change::Open { .. } | Change::Sync | Change::Remove | Change::Rename | Change::Other => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(folder: &Path, name: &str, change: Change) -> Step {
        Step { number: 1, call: "test", path: folder.join(name), to: None, change }
    }

    fn written(bytes: &[u8]) -> Change {
        Change::Write { offset: 0, bytes: bytes.to_vec() }
    }

    fn left(disk: &Disk, name: &str) -> Option<Vec<u8>> {
        fs::read(disk.after_a_power_failure().path().join(name)).ok()
    }

    #[test]
    fn bytes_count_once_their_file_was_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "old").unwrap();
        let mut disk = Disk::new(folder.path());
        disk.done(&step(folder.path(), "a", written(b"new")));
        assert_eq!(left(&disk, "a").unwrap(), b"old");
        disk.done(&step(folder.path(), "a", Change::Sync));
        assert_eq!(left(&disk, "a").unwrap(), b"new");
    }

    #[test]
    fn what_was_not_on_disk_when_waiting_failed_never_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "old").unwrap();
        let mut disk = Disk::new(folder.path());
        disk.done(&step(folder.path(), "a", written(b"new")));
        disk.failed(&step(folder.path(), "a", Change::Sync));
        disk.done(&step(folder.path(), "a", Change::Sync));
        assert_eq!(left(&disk, "a").unwrap(), b"old");
    }

    #[test]
    fn names_count_once_their_folder_was_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut disk = Disk::new(folder.path());
        disk.done(&step(folder.path(), "a", Change::Open { truncate: false }));
        fs::write(folder.path().join("a"), "new").unwrap();
        disk.done(&step(folder.path(), "a", written(b"new")));
        disk.done(&step(folder.path(), "a", Change::Sync));
        assert_eq!(left(&disk, "a"), None);
        disk.done(&step(folder.path(), "", Change::Sync));
        assert_eq!(left(&disk, "a").unwrap(), b"new");
    }
}
