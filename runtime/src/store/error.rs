use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rusqlite::ffi;

use super::claims::Conflicts;
use crate::journal::{IllegalOrder, IntentId};
use crate::model::ids::ResourceId;
use crate::model::key::escape;

/// Why state could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another run is at work: exit code 75.
    #[error("another run{} holds the lock of the state folder `{}`", holder(*pid), show(folder))]
    Locked {
        /// The state folder.
        folder: PathBuf,
        /// The process that holds it, if that is known.
        pid: Option<u32>,
    },
    /// Another program than ours has the database open: exit code 75.
    #[error("another program has the state database `{}` open", show(path))]
    Busy {
        /// The database.
        path: PathBuf,
    },
    /// Others could change what lies in a folder of ours, or put another in its place.
    #[error("the folder `{}` is not safe to use: `{}` {problem}", show(folder), show(path))]
    Unsafe {
        /// The folder, as given.
        folder: PathBuf,
        /// What is not safe.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// A file or folder could not be used.
    #[error("cannot {doing} `{}`", show(path))]
    File {
        /// What was tried.
        doing: &'static str,
        /// With what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The scratch folder lies where nothing may be written.
    #[error("the scratch folder `{}` lies within `{}`, where a dry run writes nothing", show(scratch), show(within))]
    ScratchInside {
        /// The scratch folder.
        scratch: PathBuf,
        /// The root or the state folder.
        within: PathBuf,
    },
    /// There is a database, but not the file that a run locks.
    #[error("the state folder `{}` has a database but no lock file", show(folder))]
    LockFileMissing {
        /// The state folder.
        folder: PathBuf,
    },
    /// The state describes another root.
    #[error("the state folder `{}` belongs to the root {recorded}, not to {given}", show(folder))]
    OtherRoot {
        /// The state folder.
        folder: PathBuf,
        /// The root for which it was created.
        recorded: String,
        /// The root of this run.
        given: String,
    },
    /// Written in another format.
    #[error("the state in `{}` has format {found}, and this program has format {supported} only{}", show(folder), open_note(open.as_ref()))]
    OtherVersion {
        /// The state folder.
        folder: PathBuf,
        /// Its format.
        found: i64,
        /// Ours.
        supported: u32,
        /// Open intents and obligations in it, if they could be counted.
        open: Option<(u64, u64)>,
    },
    /// A database of another program.
    #[error("`{}` is not a state database of this program", show(path))]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The database is not what was written.
    #[error("the state database `{}` is damaged: {detail}", show(path))]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found, escaped.
        detail: String,
    },
    /// No space.
    #[error("no space is left to {doing} in the state database `{}`", show(path))]
    Full {
        /// The database.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
    },
    /// It may not be written.
    #[error("cannot {doing}: the state database `{}` cannot be written", show(path))]
    NotWritable {
        /// The database.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// Anything else that SQLite says, input and output errors among them.
    #[error("cannot {doing} in the state database `{}`", show(path))]
    Database {
        /// The database.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// Claims that are held by others: the run is refused, exit code 4.
    #[error("claims conflict")]
    Conflicts(#[source] Conflicts),
    /// An intent of this resource is open.
    #[error("`{resource}` has an unresolved change, intent {intent} of an earlier operation")]
    Blocked {
        /// The resource.
        resource: ResourceId,
        /// The open intent.
        intent: IntentId,
    },
    /// An event that cannot follow: a fault of this program.
    #[error("intent {intent} was given an event out of order")]
    IllegalOrder {
        /// The intent.
        intent: IntentId,
        /// What could not follow what.
        #[source]
        source: IllegalOrder,
    },
    /// A run ends only its own intents, and resolves only those of earlier runs: a fault of this program.
    #[error("intent {intent} is not of the run that it should be of")]
    WrongRun {
        /// The intent.
        intent: IntentId,
    },
    /// A number that SQLite cannot hold.
    #[error("{what} {value} is greater than {}", i64::MAX)]
    TooLarge {
        /// What it counts.
        what: &'static str,
        /// The number.
        value: u64,
    },
    /// Something that is not on record, or is over: a fault of this program.
    #[error("{what} is not on record, or is over")]
    NotOnRecord {
        /// What was looked for.
        what: String,
    },
}

impl StoreError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Locked { .. } => Some("wait for it to end: the lock ends with the process".into()),
            Self::Busy { .. } => Some("close the program that has it open".into()),
            Self::Unsafe { .. } => {
                Some("every folder from `/` down must belong to root or to you and be writable by no other".into())
            }
            Self::ScratchInside { .. } => Some("set `TMPDIR` to a folder outside".into()),
            Self::LockFileMissing { .. } => Some("`runtime recover` makes it again".into()),
            Self::OtherRoot { .. } => Some("name the root that it belongs to with `--root`, or another folder with `--state-dir`".into()),
            Self::OtherVersion { open: Some((0, 0)), .. } => Some(
                "nothing is open in it: move the folder away, and the next apply takes the claims anew; what was recorded of drift is then lost".into(),
            ),
            Self::OtherVersion { .. } => Some("run `runtime recover` with the version that wrote it".into()),
            Self::Foreign { .. } => Some("name another folder with `--state-dir`".into()),
            Self::Damaged { .. } => Some(
                "restore the folder from a backup, or move it away: what it knew of claims and of unfinished changes is then lost".into(),
            ),
            Self::Full { .. } => Some("make room, then run again: what was committed before is kept".into()),
            Self::NotWritable { .. } => Some("check that the file system is not mounted read-only".into()),
            Self::Blocked { .. } => Some("run `runtime recover`".into()),
            Self::Conflicts(_) => Some("let one manifest manage the object, or `runtime release` the owner that no longer does".into()),
            Self::File { .. } | Self::Database { .. } | Self::TooLarge { .. } => None,
            Self::IllegalOrder { .. } | Self::WrongRun { .. } | Self::NotOnRecord { .. } => Some("this is a bug in runtime".into()),
        }
    }

    /// Whether another holds the state just now, so that trying later may succeed: exit code 75.
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Locked { .. } | Self::Busy { .. })
    }

    /// Whether a request was refused before anything was written, so that others in its transaction are not touched.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(self, Self::Blocked { .. } | Self::IllegalOrder { .. } | Self::WrongRun { .. } | Self::NotOnRecord { .. })
    }
}

/// `path` for people.
pub(super) fn show(path: &Path) -> String {
    escape(&path.to_string_lossy())
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

fn open_note(open: Option<&(u64, u64)>) -> String {
    match open {
        Some((0, 0)) | None => String::new(),
        Some((intents, obligations)) => format!("; open in it: {intents} intents and {obligations} obligations"),
    }
}

/// For `map_err`: sorts what SQLite says into the cases above.
pub(super) fn database(path: PathBuf, doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |source| {
        let path = path.clone();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full { path, doing },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                StoreError::Damaged { path, detail: escape(&source.to_string()) }
            }
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                StoreError::NotWritable { path, doing, source }
            }
            Some(ErrorCode::SystemIoFailure) if is_short_read(&source) => {
                StoreError::Damaged { path, detail: "it is shorter than it says".into() }
            }
            None if is_unreadable_value(&source) => StoreError::Damaged { path, detail: escape(&source.to_string()) },
            _ => StoreError::Database { path, doing, source },
        }
    }
}

fn is_short_read(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_IOERR_SHORT_READ)
}

fn is_unreadable_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        error,
        E::FromSqlConversionFailure(..) | E::IntegralValueOutOfRange(..) | E::InvalidColumnType(..) | E::Utf8Error(..)
    )
}
