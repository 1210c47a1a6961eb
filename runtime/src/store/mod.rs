//! State: what this node remembers between runs. The one place that opens the database.
//!
//! One SQLite file in one folder, bound to one root. [`Store`] is the exclusive hold of a run that may change something;
//! [`Snapshot`] is the shared hold of one that only looks, and writes nothing, not even where SQLite would. Both give a [`View`],
//! which has every query. docs/formats/state.md describes the tables.
//!
//! What it deliberately does not do: order anything by a clock, decide what an event may follow (that is `journal`), or read the
//! environment: folder, root and time are given.

/// Conflicts between owners, taking claims and letting go of them with a new version.
mod admission;
/// The write transaction: what is done to intents, obligations and recorded state.
mod batch;
/// Which claims overlap, without the database.
mod claims;
/// Opening, checking and creating the database file.
#[allow(clippy::disallowed_methods, reason = "it opens, and copies, the database file")]
mod database;
/// What can go wrong.
mod error;
/// Folders of our own: checked from `/` down, created private.
pub mod folder;
/// Queries about intents, obligations and events.
mod intents;
/// The lock of a run, which dies with it.
#[allow(clippy::disallowed_methods, reason = "it reads the kernel's table of locks")]
mod lock;
/// Queries about recorded state.
mod recorded;
/// Who holds what, and giving it up by hand.
mod release;
/// Values read from rows.
mod rows;
/// Runs, receipts and reports.
mod runs;
/// Tables, format version, identity.
#[allow(clippy::disallowed_methods, reason = "it looks at the root that state is bound to")]
mod schema;
/// Stamps of sensitive values.
mod stamp;

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files and processes to look at")]
pub(crate) mod hazard_tests;
#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files and processes to look at")]
mod tests;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

pub use admission::{Admission, Claimed};
pub use claims::{Conflict, Conflicts, Desired, DesiredDigest, MAX_CONFLICTS};
pub use error::StoreError;
pub use intents::{OpenIntent, OpenWork};
pub use recorded::Recorded;
pub use release::{HeldClaim, Holding, Object, Release, Released};
pub use runs::{RUNS_KEPT, Receipt, RunEnding, RunKind, RunRecord, RunStart};
pub use schema::FORMAT_VERSION;
pub use stamp::StampKey;

use crate::journal::Observer;
pub(crate) use batch::Batch;

/// Where state lies, and what it describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The state folder. It need not exist yet.
    pub folder: PathBuf,
    /// The root of the managed tree: `/`, or what `--root` names. It must exist.
    pub root: PathBuf,
}

/// Every query. What an empty or absent state folder holds is the same as what a new one holds: nothing.
#[derive(Debug)]
pub struct View {
    connection: Connection,
    path: PathBuf,
}

impl View {
    /// Names the file and sorts the reason of a failure.
    pub(crate) fn failed(&self, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
        error::database(self.path.clone(), doing)
    }
}

/// The exclusive hold on state, of a run that may change something. Every commit is on disk before it returns.
pub struct Store {
    view: View,
    observer: Option<Observer>,
    commits: u64,
    // After the connection, so that the database is closed before another run may open it.
    _lock: lock::RunLock,
}

impl Store {
    /// Takes the lock and opens the state of `location`, which is created if it does not exist.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if another run holds it; others if the folder is not safe, belongs to another root, has another
    /// format, is damaged, or cannot be read or written. Nothing is changed then, but that missing folders may have been created.
    pub fn open(location: &Location) -> Result<Self, StoreError> {
        let root = schema::RootIdentity::of(&location.root)?;
        let folder = folder::create_private(&location.folder)?;
        let lock = lock::RunLock::exclusive(&folder)?;
        let path = folder.join(database::FILE_NAME);
        let connection = database::open_exclusive(&folder, &path, &root)?;
        Ok(Self { view: View { connection, path }, observer: None, commits: 0, _lock: lock })
    }

    /// The same where there is state already; none if no run ever was.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_existing(location: &Location) -> Result<Option<Self>, StoreError> {
        match folder::existing(&location.folder)? {
            Some(_) => Self::open(location).map(Some),
            None => Ok(None),
        }
    }

    /// Has `observer` told of every entry of the journal from now on.
    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// Every query.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// How many transactions were committed through this value. Each costs one wait for the disk.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    pub(crate) fn batch(&mut self) -> Result<Batch<'_>, StoreError> {
        Batch::begin(&self.view, self.observer.as_ref(), &mut self.commits)
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("path", &self.view.path).field("commits", &self.commits).finish_non_exhaustive()
    }
}

/// The shared hold on state, of a run that only looks. Nothing is written in the state folder, and nothing is created.
#[derive(Debug)]
pub struct Snapshot {
    view: View,
    _lock: Option<lock::RunLock>,
}

impl Snapshot {
    /// Takes a shared lock and opens the state of `location` for reading. An absent folder is an empty state.
    ///
    /// Where a run was lost, SQLite would write to the folder to read it. Then a private copy is made in `scratch`, opened, and
    /// unlinked at once. `scratch` must lie outside the state folder and, unless that is `/`, outside the root.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open(location: &Location, scratch: &Path) -> Result<Self, StoreError> {
        let root = schema::RootIdentity::of(&location.root)?;
        let Some(folder) = folder::existing(&location.folder)? else {
            return Self::empty(&location.folder);
        };
        let Some(lock) = lock::RunLock::shared(&folder)? else {
            return database::refuse_unlocked(&folder).and_then(|()| Self::empty(&folder));
        };
        let path = folder.join(database::FILE_NAME);
        match database::open_to_read(&folder, &path, &root, scratch)? {
            Some(connection) => Ok(Self { view: View { connection, path }, _lock: Some(lock) }),
            None => Self::empty(&folder),
        }
    }

    fn empty(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(database::FILE_NAME);
        let connection = schema::in_memory().map_err(error::database(path.clone(), "prepare an empty state"))?;
        Ok(Self { view: View { connection, path }, _lock: None })
    }

    /// Every query.
    pub fn view(&self) -> &View {
        &self.view
    }
}
