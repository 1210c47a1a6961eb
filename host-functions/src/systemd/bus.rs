//! One connection to the bus of a node, and the thread that looks after it.
//!
//! Host functions block the thread of their attempt. What they ask for runs on a thread of its own, which all attempts of a run share, so that
//! they need not know how the engine calls them.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Instant;

use tokio::runtime::Runtime;
use zbus::Connection;

use super::error::{SystemdError, cut};
use super::manager::Manager;

/// The bus at one socket. Nothing is opened before something is asked.
pub(super) struct Bus {
    socket: PathBuf,
    thread: OnceLock<Result<Thread, SystemdError>>,
    connection: Arc<tokio::sync::Mutex<Option<Connection>>>,
}

impl Bus {
    pub(super) fn new(socket: PathBuf) -> Self {
        Self { socket, thread: OnceLock::new(), connection: Arc::default() }
    }

    pub(super) fn socket(&self) -> &Path {
        &self.socket
    }

    /// Does `work` with the manager of systemd, and waits for it; it must end by itself soon after `deadline`.
    pub(super) fn with_manager<W, F, T>(&self, deadline: Instant, work: W) -> Result<T, SystemdError>
    where
        W: FnOnce(Manager, tokio::time::Instant) -> F + Send + 'static,
        F: Future<Output = Result<T, SystemdError>> + Send,
        T: Send + 'static,
    {
        let thread = self.thread.get_or_init(Thread::new).as_ref().map_err(Clone::clone)?;
        let (sender, answer) = mpsc::sync_channel(1);
        let (held, socket, deadline) = (Arc::clone(&self.connection), self.socket.clone(), deadline.into());
        let task = async move {
            let connected = tokio::time::timeout_at(deadline, connection(&held, &socket)).await;
            let result = match connected {
                Ok(Ok(connection)) => work(Manager::new(connection), deadline).await,
                Ok(Err(error)) => Err(error),
                Err(_) => Err(SystemdError::Deadline),
            };
            // Who asked waits; only the end of the whole run could have stopped it.
            let _ = sender.send(result);
        };
        thread.runtime().spawn(task);
        answer.recv().unwrap_or_else(|_| Err(SystemdError::Bus("the thread of the bus has ended".to_owned())))
    }
}

/// Waits for `work`, but not beyond `deadline`.
pub(super) async fn until<T>(
    deadline: tokio::time::Instant,
    work: impl Future<Output = Result<T, SystemdError>>,
) -> Result<T, SystemdError> {
    tokio::time::timeout_at(deadline, work).await.unwrap_or(Err(SystemdError::Deadline))
}

/// The connection that there is, or a new one where it has ended.
async fn connection(held: &tokio::sync::Mutex<Option<Connection>>, socket: &Path) -> Result<Connection, SystemdError> {
    let mut held = held.lock().await;
    if let Some(connection) = held.as_ref().filter(|connection| !connection.is_closed()) {
        return Ok(connection.clone());
    }
    let address = format!("unix:path={}", escaped(socket));
    let connection = zbus::connection::Builder::address(address.as_str()).build().await.map_err(|error| {
        SystemdError::Bus(cut(&format!("`{}` cannot be used: {error}; is D-Bus installed and running?", socket.display())))
    })?;
    *held = Some(connection.clone());
    Ok(connection)
}

/// A path as addresses of D-Bus have it.
fn escaped(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_/.\\*".contains(&byte);
    let bytes = path.as_os_str().as_bytes().iter();
    bytes.map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02x}") }).collect()
}

/// The thread, which ends with the run.
struct Thread(Option<Runtime>);

impl Thread {
    fn new() -> Result<Self, SystemdError> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).thread_name("systemd-bus").enable_all().build();
        runtime.map(|runtime| Self(Some(runtime))).map_err(|error| SystemdError::Bus(format!("no thread for it: {error}")))
    }

    fn runtime(&self) -> &Runtime {
        self.0.as_ref().expect("it is there until it is dropped")
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // It may be dropped on a thread of another runtime, which must not wait.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_escaped_as_addresses_are() {
        assert_eq!(escaped(Path::new("/run/a b,c:d")), "/run/a%20b%2cc%3ad");
    }
}
