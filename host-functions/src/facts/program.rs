//! Programs that print facts of the node's owner.
//!
//! Each runs as any query does, so that it can change nothing, and never otherwise: no policy row accepts one that cannot be confined, since its fact
//! can as well be written into a file. What it prints is looked at elsewhere.

use std::time::{Duration, Instant};

use super::MAX_FILE;
use crate::error::CallError;
use crate::files::path::split;
use crate::node::Root;
use crate::node::resolve::{self, Target};
use crate::processes;
use crate::processes::native::{Ended, RunError, Runner};

/// How long one may take.
const TIME: Duration = Duration::from_secs(5);

/// How long all of them may take together.
pub(super) const ALL_TIME: Duration = Duration::from_secs(30);

/// Why a file tells nothing.
pub(super) enum Unasked {
    /// It cannot be looked at.
    Call(CallError),
    /// It is a program that cannot be run.
    Run(RunError),
    /// It is no fact; why, and what to do.
    Refused(String),
}

/// What the program at `path`, which has no symbolic links, prints until its time is over, or that of all programs.
pub(super) fn ask(root: &Root, runner: &Runner, path: &[u8], until: Instant) -> Result<Vec<u8>, Unasked> {
    let refused = |what: String| Err(Unasked::Refused(what));
    if !is_in_safe_folders(root, path).map_err(Unasked::Call)? {
        return refused(
            "is a program in a folder that others can write: give it and all above it to root, and `chmod go-w` them".to_owned(),
        );
    }
    let time = TIME.min(until.saturating_duration_since(Instant::now()));
    let program = String::from_utf8_lossy(path).into_owned();
    let mut report = processes::ask(root, runner, program, time).map_err(Unasked::Run)?;
    match report.ended {
        Ended::Exited(0) if report.cut || report.stdout.len() as u64 > MAX_FILE => {
            refused(format!("prints more than {MAX_FILE} bytes"))
        }
        Ended::Exited(0) => Ok(std::mem::take(&mut *report.stdout)),
        Ended::Exited(code) => refused(format!("is a program that ended with code {code}")),
        Ended::Killed(signal) => refused(format!("is a program that was ended by signal {signal}")),
        Ended::TimedOut => refused(format!(
            "is a program that did not end in time: each has {} s, all together {} s",
            TIME.as_secs(),
            ALL_TIME.as_secs()
        )),
    }
}

/// Whether nobody else could put another program at `path`.
fn is_in_safe_folders(root: &Root, path: &[u8]) -> Result<bool, CallError> {
    let mut at = path;
    while let Some((folder, _)) = split(at) {
        let Target::Opened { fd, .. } = resolve::open_directory(root, folder)? else { return Ok(false) };
        let stat = rustix::fs::fstat(&fd).map_err(|errno| CallError::system(errno, "looking at its folder"))?;
        if !resolve::is_trusted_folder(root, &stat) {
            return Ok(false);
        }
        at = folder;
    }
    Ok(true)
}
