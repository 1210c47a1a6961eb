//! Everything below this process: found, and ended to the last.
//!
//! This process is the reaper of its descendants: one whose parent ends becomes a child of this process, however often it has forked and
//! whatever group or session it has made. So all of them can be found from here, and when there is no child left, nothing lives.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, wait};

/// How long ending a tree is tried. A process that hangs in the kernel does not end before the kernel lets it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most rounds of stopping before the killing begins: each finds what the one before let fork.
const MAX_ROUNDS: usize = 50;

/// How a child ended, if it was the one that was asked for.
pub(super) struct Reaped {
    /// How that child ended.
    pub(super) status: Option<WaitStatus>,
    /// Whether there are further children.
    pub(super) more: bool,
}

/// Takes notice of all children that have ended. `of` is the one to tell of.
pub(super) fn reap(of: Option<Pid>) -> Reaped {
    let mut status = None;
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, ended))) if Some(pid) == of => status = Some(ended),
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Reaped { status, more: true },
            Err(_) => return Reaped { status, more: false },
        }
    }
}

/// Ends every descendant of this process.
///
/// They are stopped first, from the top, so that none can fork while others are being killed; then all are killed.
///
/// # Errors
/// The number of those that still live.
pub(super) fn end() -> Result<(), usize> {
    let until = Instant::now() + PATIENCE;
    stop();
    loop {
        let living = descendants();
        for pid in &living {
            // One that is gone, or belongs to somebody whom this process may not signal, is counted below.
            let _ = kill_process(*pid, Signal::KILL);
        }
        if !reap(None).more {
            return Ok(());
        }
        if Instant::now() >= until {
            return Err(descendants().len().max(1));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn stop() {
    let mut stopped = BTreeSet::new();
    for _ in 0..MAX_ROUNDS {
        let new: Vec<Pid> = descendants().into_iter().filter(|pid| stopped.insert(pid.as_raw_nonzero())).collect();
        if new.is_empty() {
            return;
        }
        for pid in new {
            let _ = kill_process(pid, Signal::STOP);
        }
    }
}

/// The descendants of this process that are not known to have ended, parents before their children.
fn descendants() -> Vec<Pid> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for (pid, parent) in processes() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = vec![getpid().as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        next += 1;
        found.extend(children.remove(pid).unwrap_or_default());
    }
    found.into_iter().skip(1).filter_map(Pid::from_raw).collect()
}

/// Every process that is not a zombie, with its parent.
#[allow(clippy::disallowed_methods, reason = "the kernel's own list of processes")]
fn processes() -> Vec<(i32, i32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    names
        .filter_map(|pid: i32| {
            let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
            let (state, parent) = parse_stat(&stat)?;
            (state != b'Z' || has_threads(pid)).then_some((pid, parent))
        })
        .collect()
}

/// Whether a process whose first thread has ended has others that run on.
#[allow(clippy::disallowed_methods, reason = "the kernel's own list of threads")]
fn has_threads(pid: i32) -> bool {
    std::fs::read_dir(format!("/proc/{pid}/task")).is_ok_and(|tasks| tasks.count() > 1)
}

/// State and parent in `PID (NAME) STATE PARENT …`; the name may hold anything, so they are after the last `)`.
fn parse_stat(stat: &[u8]) -> Option<(u8, i32)> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = stat.get(end + 1..)?.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let state = *fields.next()?.first()?;
    let parent = std::str::from_utf8(fields.next()?).ok()?.parse().ok()?;
    Some((state, parent))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_pretend_another_parent() {
        assert_eq!(parse_stat(b"12 (a b) S 7 12 12 0"), Some((b'S', 7)));
        assert_eq!(parse_stat(b"12 (x) Z 1 ) R 7 12"), Some((b'R', 7)));
        assert_eq!(parse_stat(b"12 (x"), None);
        assert_eq!(parse_stat(b"12 (x)"), None);
    }

    #[test]
    fn this_process_is_among_the_children_of_its_parent() {
        let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        assert!(processes().contains(&(getpid().as_raw_nonzero().get(), parent)));
    }
}
