//! Which database is ours: its tables, format version and root.

use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::error::{StoreError, database, show};

/// The one state format that this program reads and writes.
pub const FORMAT_VERSION: u32 = 2;

/// SQLite's `application_id` of a state database: `rnst`.
const APPLICATION_ID: i64 = 0x726e_7374;

const TABLES: &str = include_str!("schema.sql");

/// Which root a state folder describes.
///
/// The canonical path and, but for `/`, the inode of the root: a folder that was removed and made again is another root. The
/// device is kept for people only, since its number may change with every mount. `/` is known by its path alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RootIdentity {
    path: PathBuf,
    device: i64,
    inode: i64,
}

impl RootIdentity {
    pub(super) fn of(root: &Path) -> Result<Self, StoreError> {
        let failed = |source| StoreError::File { doing: "use as root", path: root.into(), source };
        let path = root.canonicalize().map_err(failed)?;
        let metadata = path.metadata().map_err(failed)?;
        if !metadata.is_dir() {
            return Err(failed(std::io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { path, device: metadata.dev().cast_signed(), inode: metadata.ino().cast_signed() })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn is(&self, other: &Self) -> bool {
        self.path == other.path && (self.inode == other.inode || self.path == Path::new("/"))
    }

    fn describe(&self) -> String {
        format!("`{}` (device {}, inode {})", show(&self.path), self.device, self.inode)
    }
}

/// What a database file turned out to be.
pub(super) enum Content {
    /// Nothing was ever committed to it.
    New,
    /// A state database of our format.
    Ours,
}

/// Tells what `connection` is, from its header and its list of tables alone.
pub(super) fn identify(connection: &Connection, folder: &Path, path: &Path) -> Result<Content, StoreError> {
    let failed = database(path.into(), "read the format");
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0)).map_err(&failed);
    let (application, version) = (number("application_id")?, number("user_version")?);
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(&failed)?;
    match (application, version, tables) {
        (0, 0, 0) => Ok(Content::New),
        (APPLICATION_ID, version, _) if version == i64::from(FORMAT_VERSION) => Ok(Content::Ours),
        (APPLICATION_ID, found, _) => {
            Err(StoreError::OtherVersion { folder: folder.into(), found, supported: FORMAT_VERSION, open: open_work(connection) })
        }
        _ => Err(StoreError::Foreign { path: path.into() }),
    }
}

/// Every format has this view; where it cannot be read, nothing is said.
fn open_work(connection: &Connection) -> Option<(u64, u64)> {
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
    let (intents, obligations) = connection.query_row("SELECT intents, obligations FROM open_work", [], read).ok()?;
    Some((u64::try_from(intents).ok()?, u64::try_from(obligations).ok()?))
}

/// Makes a new database a state database of `root`, in one commit.
pub(super) fn create(connection: &mut Connection, root: &RootIdentity) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    transaction.execute_batch(TABLES)?;
    transaction.execute(
        "INSERT INTO binding (only, root, device, inode) VALUES (1, ?1, ?2, ?3)",
        params![root.path.as_os_str().as_bytes(), root.device, root.inode],
    )?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
    transaction.commit()
}

/// An empty state in memory, of no root.
pub(super) fn in_memory() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(TABLES)?;
    Ok(connection)
}

/// Checks that a database of our format is whole and describes `root`.
pub(super) fn verify(connection: &Connection, folder: &Path, path: &Path, root: &RootIdentity) -> Result<(), StoreError> {
    let failed = database(path.into(), "check the tables");
    let damaged = |detail: &str| StoreError::Damaged { path: path.into(), detail: crate::model::key::escape(detail) };
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(&failed)?;
    if found != "ok" {
        return Err(damaged(&found));
    }
    let expected = in_memory().and_then(|expected| tables(&expected)).map_err(&failed)?;
    if tables(connection).map_err(&failed)? != expected {
        return Err(damaged("its tables are not those of its format"));
    }
    let bound = bound_root(connection).map_err(&failed)?.ok_or_else(|| damaged("it does not say which root it describes"))?;
    if bound.is(root) {
        return Ok(());
    }
    Err(StoreError::OtherRoot { folder: folder.into(), recorded: bound.describe(), given: root.describe() })
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    connection
        .prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY type, name")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}

fn bound_root(connection: &Connection) -> rusqlite::Result<Option<RootIdentity>> {
    connection
        .query_row("SELECT root, device, inode FROM binding", [], |row| {
            let path = std::ffi::OsString::from_vec(row.get(0)?).into();
            Ok(RootIdentity { path, device: row.get(1)?, inode: row.get(2)? })
        })
        .optional()
}
