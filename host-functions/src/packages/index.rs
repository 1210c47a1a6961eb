//! How old a manager's index is.
//!
//! A manager writes more beside an index than what it fetches, links and notes of its own, and a fetch that failed leaves traces too. So each
//! manager says what tells of a fetch ([`Index`]); whatever else changes there makes no index younger.

use std::time::{Duration, SystemTime};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use crate::error::CallError;
use crate::node::Root;
use crate::node::resolve::{Target, open};

/// The most entries of an index that are looked at; more say nothing new about its age.
const MAX_ENTRIES: usize = 20_000;

/// How deep an index may be.
const MAX_DEPTH: usize = 4;

/// Where a manager has its index, and what of it has the time of the last fetch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Index {
    pub folders: &'static [&'static str],
    pub dated: Dated,
}

/// What has the time of the last fetch.
#[derive(Debug, Clone, Copy)]
pub(super) enum Dated {
    /// The folder, and the files in it but none deeper. Of managers whose files have the times that their server gave them, so that the folder is
    /// marked after each fetch.
    Folder,
    /// Files with one of these words in their names, however deep. Of managers that date such a file by themselves when a fetch brought nothing new.
    Files(&'static [&'static str]),
}

impl Dated {
    fn counts(self, name: &[u8]) -> bool {
        match self {
            Dated::Folder => name != b"lock",
            Dated::Files(words) => words.iter().any(|word| name.windows(word.len()).any(|part| part == word.as_bytes())),
        }
    }
}

impl Index {
    /// How long ago it was fetched; none if there is none.
    pub(super) fn age(&self, root: &Root) -> Result<Option<Duration>, CallError> {
        let mut newest = Newest { dated: self.dated, seconds: 0, has_files: false, entries: 0 };
        for folder in self.open(root)? {
            newest.look_into(folder, 0).map_err(|errno| CallError::system(errno, "looking at the index"))?;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        Ok(newest.has_files.then(|| Duration::from_secs(now.saturating_sub(newest.seconds))))
    }

    /// Remembers how old it is, for when a fetch fails.
    pub(super) fn before(&self, root: &Root) -> Result<Before, CallError> {
        let time = |folder: OwnedFd| {
            let stat = rustix::fs::fstat(&folder)?;
            Ok((folder, Timespec { tv_sec: stat.st_mtime, tv_nsec: 0 }))
        };
        let times: Result<_, Errno> = self.dated_folders(root)?.into_iter().map(time).collect();
        times.map(Before).map_err(|errno| CallError::system(errno, "looking at the index"))
    }

    /// Marks it as fetched now: what has not changed at its source is otherwise as old as before.
    pub(super) fn mark_fetched(&self, root: &Root) -> Result<(), CallError> {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        self.dated_folders(root)?
            .iter()
            .try_for_each(|folder| date(folder, now))
            .map_err(|errno| CallError::system(errno, "marking the index as fetched"))
    }

    /// Its folders, if their times count.
    fn dated_folders(&self, root: &Root) -> Result<Vec<OwnedFd>, CallError> {
        match self.dated {
            Dated::Folder => self.open(root),
            Dated::Files(_) => Ok(Vec::new()),
        }
    }

    fn open(&self, root: &Root) -> Result<Vec<OwnedFd>, CallError> {
        let mut folders = Vec::new();
        for folder in self.folders {
            if let Target::Opened { fd, .. } = open(root, folder.as_bytes(), OFlags::RDONLY | OFlags::DIRECTORY)? {
                folders.push(fd);
            }
        }
        Ok(folders)
    }
}

/// The folders of an index, with their times before a fetch.
pub(super) struct Before(Vec<(OwnedFd, Timespec)>);

impl Before {
    /// Makes the index as old again as it was: a fetch that failed is none.
    pub(super) fn restore(&self) {
        for (folder, time) in &self.0 {
            if let Err(errno) = date(folder, *time) {
                tracing::warn!(%errno, "an index that was not fetched cannot be dated back");
            }
        }
    }
}

fn date(folder: &OwnedFd, time: Timespec) -> Result<(), Errno> {
    rustix::fs::futimens(folder, &Timestamps { last_access: time, last_modification: time })
}

struct Newest {
    dated: Dated,
    seconds: u64,
    has_files: bool,
    entries: usize,
}

impl Newest {
    fn look_into(&mut self, folder: OwnedFd, depth: usize) -> Result<(), Errno> {
        let is_deep = matches!(self.dated, Dated::Files(_));
        if !is_deep {
            self.see(rustix::fs::fstat(&folder)?.st_mtime);
        }
        for entry in rustix::fs::Dir::read_from(&folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Ok(());
            }
            let Ok(stat) = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile if self.dated.counts(name.to_bytes()) => {
                    self.has_files = true;
                    self.see(stat.st_mtime);
                }
                FileType::Directory if is_deep && depth < MAX_DEPTH => {
                    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                    let inner = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
                    self.look_into(inner, depth + 1)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn see(&mut self, seconds: i64) {
        self.seconds = self.seconds.max(seconds.try_into().unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{create_dir_all, write};
    use std::path::Path;

    use super::*;

    const FOLDER: Index = Index { folders: &["/lists"], dated: Dated::Folder };
    const FILES: Index = Index { folders: &["/raw"], dated: Dated::Files(&["repomd.xml"]) };

    /// More than eleven days.
    const OLD: Duration = Duration::from_secs(1_000_000);

    fn make_old(path: &Path) {
        let old = Timespec { tv_sec: 1_000_000, tv_nsec: 0 };
        let times = Timestamps { last_access: old, last_modification: old };
        rustix::fs::utimensat(rustix::fs::CWD, path, &times, AtFlags::empty()).unwrap();
    }

    fn node() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        (folder, root)
    }

    #[test]
    fn an_index_without_files_was_never_fetched() {
        let (folder, root) = node();
        let lists = folder.path().join("lists");
        assert_eq!(FOLDER.age(&root).unwrap(), None);
        create_dir_all(lists.join("partial")).unwrap();
        write(lists.join("lock"), "").unwrap();
        write(lists.join("partial/x_Packages"), "").unwrap();
        assert_eq!(FOLDER.age(&root).unwrap(), None, "what broke off is no index");
        write(lists.join("x_Packages"), "").unwrap();
        assert!(FOLDER.age(&root).unwrap().unwrap() < Duration::from_secs(60));
    }

    #[test]
    fn a_fetch_that_brought_nothing_new_counts_and_one_that_failed_does_not() {
        let (folder, root) = node();
        let lists = folder.path().join("lists");
        create_dir_all(&lists).unwrap();
        write(lists.join("x_Packages"), "").unwrap();
        make_old(&lists.join("x_Packages"));
        make_old(&lists);
        let age = || FOLDER.age(&root).unwrap().unwrap();
        let before = FOLDER.before(&root).unwrap();
        create_dir_all(lists.join("partial")).unwrap();
        assert!(age() < Duration::from_secs(60), "it may have been a fetch by others");
        before.restore();
        assert!(age() > OLD);
        FOLDER.mark_fetched(&root).unwrap();
        assert!(age() < Duration::from_secs(60));
    }

    #[test]
    fn only_what_the_manager_dates_tells_of_a_fetch() {
        let (folder, root) = node();
        let repository = folder.path().join("raw/local");
        let index = repository.join("repodata/repomd.xml");
        create_dir_all(repository.join("repodata")).unwrap();
        write(repository.join("note"), "").unwrap();
        assert_eq!(FILES.age(&root).unwrap(), None);
        write(&index, "").unwrap();
        assert!(FILES.age(&root).unwrap().unwrap() < Duration::from_secs(60));
        make_old(&index);
        assert!(FILES.age(&root).unwrap().unwrap() > OLD, "folders and notes are new");
        FILES.mark_fetched(&root).unwrap();
        assert!(FILES.age(&root).unwrap().unwrap() > OLD, "that is the manager's to say");
    }
}
