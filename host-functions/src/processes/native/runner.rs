//! The host's end: starts a helper for one program, gives it the order, and awaits its report.

use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::helper::HELPER_ARGUMENT;
use super::order::{Failure, Order, Report, read_report};

/// How much longer than the program's own time its report is waited for: ending a tree takes time.
const PATIENCE: Duration = Duration::from_secs(15);

/// Runs programs of the node.
#[derive(Debug, Clone)]
pub struct Runner {
    helper: PathBuf,
}

/// Why a program did not run to an end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It did not start.
    #[error("{doing}")]
    Start {
        /// What failed: starting it, entering its directory.
        doing: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A program that may change nothing cannot be held to that on this node.
    #[error("{doing}: {why}")]
    Confine {
        /// What failed.
        doing: String,
        /// Why.
        why: String,
    },
    /// Something of it goes on living, although it was killed.
    #[error("{processes} of its processes do not end, although they are killed: they hang in the kernel")]
    Living {
        /// How many.
        processes: usize,
    },
    /// The helper did not do its work.
    #[error("{doing}: {why}")]
    Helper {
        /// What failed.
        doing: String,
        /// Why.
        why: String,
    },
}

impl Runner {
    /// With this executable as the helper. It must begin with [`super::helper()`].
    pub fn this_program() -> Self {
        Self::with_helper("/proc/self/exe".into())
    }

    /// With another executable as the helper.
    pub fn with_helper(helper: PathBuf) -> Self {
        Self { helper }
    }

    /// Runs the program to its end. Blocks until nothing of it lives, or what lives may.
    ///
    /// # Errors
    /// If it does not start, cannot be confined as ordered, or cannot be ended.
    #[allow(clippy::disallowed_methods, reason = "this is the interface that runs programs")]
    pub fn run(&self, order: &Order) -> Result<Report, RunError> {
        let failed = |doing: &str, error: io::Error| RunError::Helper { doing: doing.into(), why: error.to_string() };
        let mut command = Command::new(&self.helper);
        command.arg(HELPER_ARGUMENT).env_clear().current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| failed("starting a helper", error))?;
        let mut helper = Helper(child);
        // It stays open until the report is here: its end tells the helper that the host is gone.
        let mut orders = helper.0.stdin.take().expect("it is a pipe");
        order.write(&mut orders).map_err(|error| failed("giving an order to a helper", error))?;
        let reports = helper.0.stdout.take().expect("it is a pipe");
        let mut reports = Patient { from: reports, until: Instant::now() + order.timeout + PATIENCE };
        let report = read_report(&mut reports).map_err(|error| failed("awaiting the report of a helper", error))?;
        helper.0.wait().map_err(|error| failed("awaiting the end of a helper", error))?;
        drop(orders);
        report.map_err(RunError::from)
    }
}

/// A helper that does not outlive its use.
struct Helper(Child);

impl Drop for Helper {
    fn drop(&mut self) {
        if !matches!(self.0.try_wait(), Ok(Some(_))) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

/// A pipe that is waited for until a moment.
struct Patient {
    from: ChildStdout,
    until: Instant,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        let limit = Timespec { tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        let mut polled = [PollFd::from_borrowed_fd(self.from.as_fd(), PollFlags::IN)];
        match poll(&mut polled, Some(&limit)) {
            Ok(0) => Err(io::Error::other("it does not answer")),
            Ok(_) => self.from.read(buffer),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl From<Failure> for RunError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Start { doing, errno } => RunError::Start { doing, source: io::Error::from_raw_os_error(errno) },
            Failure::Confine { doing, why } => RunError::Confine { doing, why },
            Failure::Living { processes } => RunError::Living { processes },
            Failure::Other { doing, why } => RunError::Helper { doing, why },
        }
    }
}
