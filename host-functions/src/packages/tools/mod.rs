//! How the managers' programs are run: a clean environment, no input, capped output, an end at the deadline.
//!
//! A program that only reads runs where the whole file system is read-only, so that it leaves neither caches nor logs behind.
//! With another root than `/` programs run inside it. What runs here is the managers' own choice; no word of a guest gets this far
//! without having passed a grammar.

mod place;
mod watch;

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::error::CallError;
use crate::node::Root;
use crate::text::{cut, escape_bytes};
use place::Place;
use watch::Watched;

/// The most bytes kept of what a program writes on one stream.
pub(super) const MAX_OUTPUT: usize = 64 * 1024 * 1024;

/// How long a program that changes the node has to end by itself once it was told to.
const GRACE: Duration = Duration::from_secs(5);

/// Whether a program changes the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// It reads.
    Read,
    /// It may change whatever it likes.
    Change,
}

/// A program to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    /// Where it may be, the first that is there.
    pub programs: &'static [&'static str],
    pub arguments: Vec<String>,
    /// Beyond what every program gets.
    pub environment: &'static [(&'static str, &'static str)],
    pub mode: Mode,
    /// Folders that a program must be able to write to even when it only reads: what it writes there is thrown away.
    pub scratch: &'static [&'static str],
}

impl Order {
    pub(super) fn new(mode: Mode, programs: &'static [&'static str], arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        Self { programs, arguments, environment: &[], mode, scratch: &[] }
    }

    /// The name of the program, for messages.
    pub(super) fn name(&self) -> &'static str {
        self.programs.first().and_then(|path| path.rsplit('/').next()).unwrap_or("the program")
    }

    /// Lets the program write to these folders, for nobody to see.
    pub(super) fn scratch(mut self, folders: &'static [&'static str]) -> Self {
        self.scratch = folders;
        self
    }

    /// Adds arguments.
    pub(super) fn and(mut self, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }
}

/// How a program ended, and what it wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Finished {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl Finished {
    /// What it wrote for its caller, as text.
    pub(super) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// What it wrote on both streams.
    pub(super) fn everything(&self) -> String {
        format!("{}\n{}", String::from_utf8_lossy(&self.stdout), String::from_utf8_lossy(&self.stderr))
    }

    /// This failure as an error: how `program` ended, and the end of what it complained about.
    pub(super) fn failure(&self, program: &str) -> CallError {
        let complaint = if self.stderr.iter().all(u8::is_ascii_whitespace) { &self.stdout } else { &self.stderr };
        let start = complaint.len().saturating_sub(600);
        let shown = escape_bytes(complaint[start..].trim_ascii()).replace("\\u{a}", "; ");
        let end = self.code.map_or_else(|| "a signal ended it".to_owned(), |code| format!("exit code {code}"));
        CallError::Other(cut(format!("{program} failed ({end}): {shown}"), crate::error::MAX_ERROR_TEXT))
    }
}

/// What runs programs; a double in tests.
pub(super) trait Tools {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// `unsupported` if the program is not on the node, `deadline` if it had to be ended.
    fn run(&self, order: &Order) -> Result<Finished, CallError>;

    /// The root of the node.
    fn root(&self) -> &Root;

    /// The moment by which all must be done.
    fn deadline(&self) -> Instant;
}

/// The programs of a node.
pub(super) struct NodeTools<'r> {
    pub root: &'r Root,
    pub deadline: Instant,
}

impl Tools for NodeTools<'_> {
    fn run(&self, order: &Order) -> Result<Finished, CallError> {
        for program in order.programs {
            match self.start(program, order) {
                Ok(child) => return self.attend(child, order),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(CallError::Other(format!("{program} cannot be started: {error}"))),
            }
        }
        Err(CallError::Unsupported(format!("`{}` is not installed on this node", order.name())))
    }

    fn root(&self) -> &Root {
        self.root
    }

    fn deadline(&self) -> Instant {
        self.deadline
    }
}

impl NodeTools<'_> {
    fn start(&self, program: &str, order: &Order) -> std::io::Result<Child> {
        #[expect(clippy::disallowed_methods, reason = "this is where the managers' programs are run")]
        let mut command = Command::new(program);
        command.args(&order.arguments).env_clear();
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/root").env("LC_ALL", "C.UTF-8").env("COLUMNS", "250");
        command.envs(order.environment.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let place = Place::of(self.root, order)?;
        #[allow(unsafe_code, reason = "between fork and exec only system calls are made, on what was allocated before")]
        // SAFETY: `enter` allocates nothing and takes no lock.
        unsafe {
            command.pre_exec(move || place.enter().map_err(Into::into));
        }
        command.spawn()
    }

    /// Reads what a program writes until it ends, or ends it at the deadline.
    fn attend(&self, mut child: Child, order: &Order) -> Result<Finished, CallError> {
        let watched = Watched::of(&mut child).map_err(|errno| CallError::system(errno, "watching a program"));
        let mut watched = match watched {
            Ok(watched) => watched,
            Err(error) => {
                end(&mut child, Duration::ZERO);
                return Err(error);
            }
        };
        let in_time = watched.until(self.deadline);
        if !in_time {
            let grace = if order.mode == Mode::Change { GRACE } else { Duration::ZERO };
            end(&mut child, grace);
            return Err(CallError::Deadline);
        }
        let status = child.wait().map_err(|error| CallError::Other(format!("waiting for {}: {error}", order.name())))?;
        // A daemon that a package has started may hold the streams for ever: what is there now is all.
        watched.drain();
        let Watched { stdout, stderr, .. } = watched;
        if stdout.cut || stderr.cut {
            let told = format!("{} wrote more than {MAX_OUTPUT} bytes", order.name());
            return Err(CallError::TooLarge(told));
        }
        tracing::debug!(program = order.name(), code = ?status.code(), signal = ?status.signal(), "a package manager's program ended");
        Ok(Finished { code: status.code(), stdout: stdout.bytes, stderr: stderr.bytes })
    }
}

/// Ends a program with all of its process group, and waits for it. With a grace it may end by itself first.
fn end(child: &mut Child, grace: Duration) {
    let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    let until = Instant::now() + grace;
    // A group that is gone already is no error, and there is nobody to tell of another one.
    let _ = kill_process_group(group, Signal::TERM);
    while Instant::now() < until && matches!(child.try_wait(), Ok(None)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = kill_process_group(group, Signal::KILL);
    let _ = child.wait();
}
