//! Tool: the bytes that a manifest names, on the controller only: files in folders and at `https` addresses.
//!
//! Each acquisition is confined to what the person at the command line allows, bounded in size and time, and hashed while it streams.
//! No source is ever wholly in memory, and nothing half-written stays behind. What this does not know: manifests, places in them and resource
//! types. Who asks turns an [`AcquireError`] into a message of its own.

mod error;
mod fetch;
mod local;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use crate::model::digest::AssetDigest;

pub use error::{AcquireError, RedirectError};
pub use fetch::{Address, Prefix, PrefixError, ProxySettings};

/// The largest source, unless the command line says otherwise: 1 GiB.
pub const DEFAULT_MAX_SIZE: u64 = 1 << 30;

/// The longest time for one address, unless the command line says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// How much of a source is in memory at a time.
const CHUNK: usize = 128 << 10;

/// What may be acquired, and how.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Folders beside the manifest's own that files may lie beneath, as absolute paths.
    pub folders: Vec<PathBuf>,
    /// Addresses that may be fetched begin with one of these.
    pub addresses: Vec<Prefix>,
    /// The most bytes that one source may have.
    pub max_size: u64,
    /// The longest that one address may take, with everything that has to be done again.
    pub timeout: Duration,
    /// Certificates that are trusted beside the system's, in PEM.
    pub ca_file: Option<PathBuf>,
    /// How addresses are reached.
    pub proxy: ProxySettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            folders: Vec::new(),
            addresses: Vec::new(),
            max_size: DEFAULT_MAX_SIZE,
            timeout: DEFAULT_TIMEOUT,
            ca_file: None,
            proxy: ProxySettings::default(),
        }
    }
}

/// Where fetched bytes are kept.
#[derive(Debug, Clone, Default)]
pub struct Places {
    /// The cache folder, in which they stay for the next time.
    pub cache: Option<PathBuf>,
    /// Where a folder for this process alone can be made, if the cache cannot be used.
    pub scratch: PathBuf,
}

/// Bytes that were acquired and hashed.
#[derive(Debug, Clone)]
pub struct Acquired {
    /// Their digest.
    pub digest: AssetDigest,
    /// How many there are.
    pub size: u64,
    /// Where they can be read again.
    pub stored: Stored,
}

/// Opens stored bytes, from the start.
type Open = dyn Fn() -> io::Result<Box<dyn Read + Send>> + Send + Sync;

/// Where acquired bytes are. Who reads them hashes them again: a file can change.
#[derive(Clone)]
pub struct Stored {
    /// The path, for messages.
    pub path: PathBuf,
    /// Opens them, from the start.
    pub open: Arc<Open>,
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.path, f)
    }
}

/// Gets bytes that a manifest names.
pub trait Acquire: Send + Sync {
    /// Whether the address may be fetched. Looks at nothing but the text.
    ///
    /// # Errors
    /// If not.
    fn permits(&self, address: &str) -> Result<(), AcquireError>;

    /// The file at a path, which is relative to the manifest's folder.
    ///
    /// # Errors
    /// If it may not be read, or cannot be.
    fn local(&self, path: &str) -> Result<Acquired, AcquireError>;

    /// The bytes at an address, if they have this digest.
    ///
    /// # Errors
    /// If they may not be fetched, or cannot be.
    fn fetch(&self, address: &str, checksum: AssetDigest) -> Result<Acquired, AcquireError>;
}

/// Hears of downloads, for a person who waits.
pub trait Progress: Send + Sync {
    /// One begins, or begins anew, of as many bytes as the server says.
    fn begun(&self, address: &str, size: Option<u64>);

    /// So many bytes are there.
    fn received(&self, bytes: u64);

    /// It has ended, well or not.
    fn ended(&self);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn begun(&self, _address: &str, _size: Option<u64>) {}

    fn received(&self, _bytes: u64) {}

    fn ended(&self) {}
}

/// Gets bytes from folders and addresses as the settings allow.
pub struct Acquirer {
    local: local::Local,
    fetcher: fetch::Fetcher,
}

impl Acquirer {
    /// For a manifest in `folder`, an absolute path. Nothing is fetched or made yet.
    ///
    /// # Errors
    /// If an allowed folder cannot be opened.
    pub fn new(folder: &Path, settings: Settings, places: Places, progress: Arc<dyn Progress>) -> Result<Self, AcquireError> {
        let local = local::Local::new(folder, &settings)?;
        Ok(Self { local, fetcher: fetch::Fetcher::new(settings, places, progress) })
    }
}

impl Acquire for Acquirer {
    fn permits(&self, address: &str) -> Result<(), AcquireError> {
        self.fetcher.permitted(address).map(|_| ())
    }

    fn local(&self, path: &str) -> Result<Acquired, AcquireError> {
        self.local.acquire(path)
    }

    fn fetch(&self, address: &str, checksum: AssetDigest) -> Result<Acquired, AcquireError> {
        self.fetcher.fetch(address, checksum)
    }
}

/// Whether a source is an address and not the path of a file: it begins with a scheme and `://`, whatever the scheme.
pub fn is_address(source: &str) -> bool {
    let is_scheme = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    source.split_once("://").is_some_and(|(scheme, _)| is_scheme(scheme))
}

/// The digest and size of what a reader gives.
///
/// # Errors
/// If it cannot be read, or has more than `max_size` bytes.
fn hash(mut content: impl Read, max_size: u64) -> Result<(AssetDigest, u64), AcquireError> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; CHUNK];
    let mut size = 0;
    loop {
        let count = match content.read(&mut buffer) {
            Ok(0) => return Ok((AssetDigest::from_bytes(hasher.finalize().into()), size)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(AcquireError::Unreadable(error)),
        };
        size += count as u64;
        if size > max_size {
            return Err(AcquireError::TooLarge { limit: max_size });
        }
        hasher.update(&buffer[..count]);
    }
}
