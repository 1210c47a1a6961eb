//! Opening the database file.
//!
//! Write-ahead log with `synchronous=FULL`: a commit appends to the log and waits until that is on disk, one wait a commit, where
//! a rollback journal needs three or four. `locking_mode=EXCLUSIVE`, since the run's lock already keeps others out: the log's
//! index is then in our memory, and no shared-memory file appears beside the database.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::error::{StoreError, database};
use super::folder::{failed, own_file, sync};
use super::schema::{Content, RootIdentity, create, identify, verify};

pub(super) const FILE_NAME: &str = "state.db";

/// How much of the log is held at once.
const CHUNK: usize = 256 << 10;

/// SQLite's name for the log.
fn log_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-wal");
    name.into()
}

/// Opens the database for a run that holds the exclusive lock, and creates it if there is none.
pub(super) fn open_exclusive(folder: &Path, path: &Path, root: &RootIdentity) -> Result<Connection, StoreError> {
    create_file(folder, path)?;
    let failed = database(path.into(), "open");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags).map_err(&failed)?;
    harden(&connection).map_err(&failed)?;
    take_alone(&connection).map_err(&failed)?;
    let content = identify(&connection, folder, path)?;
    // Only now may it be written to: a database that is refused stays as it is.
    write_again(&log_of(path))?;
    set_durable(&connection).map_err(&failed)?;
    if let Content::New = content {
        create(&mut connection, root).map_err(database(path.into(), "create the tables"))?;
    }
    verify(&connection, folder, path, root)?;
    // The log has its name by now. SQLite waits for that too, but goes on where waiting fails.
    sync(folder)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map_err(&failed)?;
    Ok(connection)
}

/// An empty file is an empty database to SQLite; made here, it is private from the start, and the log gets the same rights.
fn create_file(folder: &Path, path: &Path) -> Result<(), StoreError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR) {
        Ok(_) => sync(folder)?,
        Err(Errno::EXIST) => {}
        Err(error) => return Err(failed("create the state database", path, error)),
    }
    own_file(folder, path)?;
    own_file(folder, &log_of(path)).map(drop)
}

/// Writes the log of a lost run once more, as it is. Where waiting for the disk failed, Linux goes on to show what was never written, and says the next
/// time that all is well: commits behind such a gap would be gone with the power. What is written anew is waited for anew.
fn write_again(log: &Path) -> Result<(), StoreError> {
    let failed = |error: std::io::Error| failed("write to disk the log", log, error);
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = match rustix::fs::open(log, flags, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(failed(errno.into())),
    };
    let mut bytes = vec![0; CHUNK];
    let mut offset = 0;
    loop {
        let count = file.read_at(&mut bytes, offset).map_err(failed)?;
        if count == 0 {
            break;
        }
        file.write_all_at(&bytes[..count], offset).map_err(failed)?;
        offset += count as u64;
    }
    if offset == 0 { Ok(()) } else { file.sync_data().map_err(failed) }
}

fn harden(connection: &Connection) -> rusqlite::Result<()> {
    // Until the database is known to be ours, closing must not tidy up in it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cell_size_check", true)
}

fn take_alone(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))
}

fn set_durable(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)
}

/// Opens the database for a run that holds the shared lock; none if nothing was ever committed.
pub(super) fn open_to_read(
    folder: &Path,
    path: &Path,
    root: &RootIdentity,
    scratch: &Path,
) -> Result<Option<Connection>, StoreError> {
    let size = |stat: Option<rustix::fs::Stat>| stat.map_or(0, |stat| stat.st_size);
    let (main, log) = (size(own_file(folder, path)?), size(own_file(folder, &log_of(path))?));
    let connection = match (main, log) {
        (0, 0) => return Ok(None),
        (_, 0) => open_immutable(path).map_err(database(path.into(), "open"))?,
        _ => open_copy(folder, path, root, scratch)?,
    };
    match identify(&connection, folder, path)? {
        Content::New => Ok(None),
        Content::Ours => verify(&connection, folder, path, root).map(|()| Some(connection)),
    }
}

/// Refuses a folder with a database but without the file that runs lock.
pub(super) fn refuse_unlocked(folder: &Path) -> Result<(), StoreError> {
    match own_file(folder, &folder.join(FILE_NAME))? {
        Some(stat) if stat.st_size > 0 => Err(StoreError::LockFileMissing { folder: folder.into() }),
        _ => Ok(()),
    }
}

/// `immutable` has SQLite neither lock nor look for a log: no file beside the database is touched.
fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = String::from("file:");
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(byte)),
            _ => write!(uri, "%{byte:02x}").expect("a string takes any text"),
        }
    }
    uri.push_str("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags)?;
    harden(&connection)?;
    Ok(connection)
}

/// Reads a database whose run was lost from a private copy, which SQLite may put right, and which has no name from then on.
fn open_copy(folder: &Path, path: &Path, root: &RootIdentity, scratch: &Path) -> Result<Connection, StoreError> {
    refuse_scratch_inside(folder, root, scratch)?;
    let failed_here = |error: std::io::Error| failed("make a copy of the state in", scratch, error);
    let private = tempfile::Builder::new().prefix("runtime-state-").tempdir_in(scratch).map_err(failed_here)?;
    let copy = private.path().join(FILE_NAME);
    std::fs::copy(path, &copy).map_err(failed_here)?;
    std::fs::copy(log_of(path), log_of(&copy)).map_err(failed_here)?;
    let failed = database(path.into(), "read a copy");
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&copy, flags).map_err(&failed)?;
    harden(&connection).map_err(&failed)?;
    take_alone(&connection).map_err(&failed)?;
    // The first read opens the log, after which neither file needs its name.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map_err(&failed)?;
    connection.pragma_update(None, "query_only", true).map_err(&failed)?;
    private.close().map_err(failed_here)?;
    Ok(connection)
}

fn refuse_scratch_inside(folder: &Path, root: &RootIdentity, scratch: &Path) -> Result<(), StoreError> {
    let real = scratch.canonicalize().map_err(|error| failed("use as scratch folder", scratch, error))?;
    let whole_node = root.path() == Path::new("/");
    let within = [Some(folder), (!whole_node).then(|| root.path())].into_iter().flatten().find(|path| real.starts_with(path));
    match within {
        Some(within) => Err(StoreError::ScratchInside { scratch: scratch.into(), within: within.into() }),
        None => Ok(()),
    }
}
