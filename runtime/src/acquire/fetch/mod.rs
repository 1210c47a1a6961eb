//! `https` addresses: asked only where a prefix allows it, followed only where one does, verified by a checksum, and kept by digest.

mod address;
mod client;
mod download;
mod keep;
mod proxy;
mod trust;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::{AcquireError, Acquired, Places, Progress, Settings, Stored};
use crate::model::digest::AssetDigest;

pub use address::{Address, Prefix, PrefixError};
pub use proxy::ProxySettings;

use client::Client;
use keep::Keep;

/// Fetches addresses. Folder, certificates and connections are only looked for once there is something to fetch.
pub(super) struct Fetcher {
    settings: Settings,
    places: Places,
    progress: Arc<dyn Progress>,
    session: Mutex<Option<Arc<Session>>>,
}

/// What all fetches of one process share.
struct Session {
    client: Client,
    keep: Arc<Keep>,
}

impl Fetcher {
    pub(super) fn new(settings: Settings, places: Places, progress: Arc<dyn Progress>) -> Self {
        Self { settings, places, progress, session: Mutex::default() }
    }

    /// The address, if it may be fetched.
    pub(super) fn permitted(&self, text: &str) -> Result<Address, AcquireError> {
        let address = Address::parse(text).map_err(|reason| AcquireError::NotAnAddress { reason })?;
        if self.settings.addresses.iter().any(|prefix| prefix.covers(&address)) {
            Ok(address)
        } else {
            Err(AcquireError::NotAllowed { prefix: address.suggested_prefix() })
        }
    }

    pub(super) fn fetch(&self, text: &str, checksum: AssetDigest) -> Result<Acquired, AcquireError> {
        // Asked first: what a manifest may name must not depend on what an earlier one left in the cache.
        let address = self.permitted(text)?;
        let session = self.session()?;
        let size = match session.keep.size(checksum, self.settings.max_size)? {
            Some(size) => size,
            None => self.download(&session, &address, checksum)?,
        };
        let keep = Arc::clone(&session.keep);
        let open = move || keep.open_file(checksum);
        let stored = Stored { path: session.keep.path(checksum), open: Arc::new(open) };
        Ok(Acquired { digest: checksum, size, stored })
    }

    fn download(&self, session: &Session, address: &Address, checksum: AssetDigest) -> Result<u64, AcquireError> {
        let limits = download::Limits {
            max_size: self.settings.max_size,
            timeout: self.settings.timeout,
            deadline: Instant::now() + self.settings.timeout,
        };
        let mut part = session.keep.part().map_err(|source| AcquireError::Keep { source })?;
        let allowed = |next: &Address| self.settings.addresses.iter().any(|prefix| prefix.covers(next));
        let source = client::Source { client: &session.client, address, allowed: &allowed };
        let downloaded = download::run(&source, &limits, self.progress.as_ref(), part.as_file_mut());
        self.progress.ended();
        let (found, size) = downloaded?;
        if found != checksum {
            return Err(AcquireError::Mismatch { found });
        }
        session.keep.put(part, checksum).map_err(|source| AcquireError::Keep { source })?;
        Ok(size)
    }

    fn session(&self) -> Result<Arc<Session>, AcquireError> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = &*session {
            return Ok(Arc::clone(session));
        }
        let roots = trust::roots(self.settings.ca_file.as_deref())?;
        let made = Arc::new(Session {
            client: Client::new(roots, self.settings.proxy.clone()),
            keep: Arc::new(Keep::open(&self.places).map_err(|source| AcquireError::Keep { source })?),
        });
        Ok(Arc::clone(session.insert(made)))
    }
}
