//! Waiting until no other process holds a manager's lock, and saying which one does.
//!
//! Two kinds are known: a lock on a file (fcntl), whose holder the kernel tells, and a file that is there while somebody works.
//! The manager takes its own lock when it runs; this only waits in a way that can be told.

use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Flock, FlockType, fcntl_getlk};

use super::tools::Tools;
use crate::error::CallError;
use crate::node::Root;
use crate::node::resolve::{Target, open};
use crate::text::escape;

/// How often it is looked at.
const INTERVAL: Duration = Duration::from_millis(200);

/// Left for the work itself: a lock that is held until so near the deadline is told instead of the deadline.
const RESERVE: Duration = Duration::from_secs(1);

/// Waits until none of `files` is locked by another process.
///
/// # Errors
/// `busy`, which names the holder, when one is locked until shortly before the deadline.
pub(super) fn wait(tools: &dyn Tools, files: &[&str]) -> Result<(), CallError> {
    let until = tools.deadline().checked_sub(RESERVE).unwrap_or_else(Instant::now);
    loop {
        let Some(held) = files.iter().find_map(|path| holder(tools.root(), path).transpose()).transpose()? else { return Ok(()) };
        if Instant::now() >= until {
            return Err(CallError::Busy(held));
        }
        std::thread::sleep(INTERVAL.min(until.saturating_duration_since(Instant::now())));
    }
}

/// Who holds a lock, in words; none if nobody does or the file is not there.
fn holder(root: &Root, path: &str) -> Result<Option<String>, CallError> {
    // `PATH!`: that it is there is the lock.
    if let Some(path) = path.strip_suffix('!') {
        let there = matches!(open(root, path.as_bytes(), OFlags::PATH)?, Target::Opened { .. });
        return Ok(there.then(|| format!("`{path}` is there: another process uses the package database, or one broke off")));
    }
    let Target::Opened { fd, .. } = open(root, path.as_bytes(), OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY)? else {
        return Ok(None);
    };
    let lock =
        fcntl_getlk(&fd, &Flock::from(FlockType::WriteLock)).map_err(|errno| CallError::system(errno, "asking for a lock"))?;
    Ok(lock.map(|lock| match lock.pid {
        Some(pid) => format!("`{path}` is locked by process {} ({})", pid.as_raw_nonzero(), program(pid.as_raw_nonzero().get())),
        None => format!("`{path}` is locked by another process"),
    }))
}

/// The name of a running program.
fn program(pid: i32) -> String {
    #[expect(clippy::disallowed_methods, reason = "a few bytes of the kernel's own; the process may have gone")]
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
    name.map_or_else(|_| "gone since".to_owned(), |name| escape(name.trim_end()))
}
