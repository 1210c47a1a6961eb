//! Starts the compiler for one component, and waits for it: no longer than it may take.

use std::io::{self, Read, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use super::limits::{CODE_BYTES, CompileLimits};
use super::role::{CODE, COMPILER_ARGUMENT, MAX_REASON, REASON};
use crate::engine::error::EngineError;
use crate::model::digest::ComponentDigest;
use crate::model::key::escape;

/// How many threads compile one component at most.
const THREADS: &str = "4";

/// Why there is no code.
#[derive(Debug)]
pub(super) enum Failure {
    /// The component is none, in wasmtime's words.
    Invalid(String),
    /// Compiling it took more than it may, in words.
    Limit(String),
    /// The compiler did not do its work.
    Compiler(&'static str, io::Error),
}

impl Failure {
    pub(super) fn of(self, digest: ComponentDigest) -> EngineError {
        match self {
            Self::Invalid(reason) => EngineError::Invalid { digest, source: wasmtime::Error::msg(reason) },
            Self::Limit(limit) => EngineError::Costly { digest, limit },
            Self::Compiler(doing, source) => EngineError::Compiler { digest, doing, source },
        }
    }
}

/// The machine code of a component, or why there is none.
pub(super) fn compile(program: &Path, limits: CompileLimits, component: &[u8]) -> Result<Vec<u8>, Failure> {
    let failed = |doing| move |error| Failure::Compiler(doing, error);
    let child = command(program, limits).spawn().map_err(failed("starting the compiler"))?;
    let mut compiler = Compiler(child);
    let mut input = compiler.0.stdin.take().expect("it is a pipe");
    let output = compiler.0.stdout.take().expect("it is a pipe");
    let mut output = Patient { from: output, until: Instant::now() + limits.wall };
    // It reads all of it before it writes anything. If it is gone already, that shows below.
    let _ = input.write_all(component);
    drop(input);
    let answer = read(&mut output);
    if output.until <= Instant::now() {
        return Err(Failure::Limit(format!("{} s", limits.wall.as_secs())));
    }
    let status = compiler.0.wait().map_err(failed("awaiting the end of the compiler"))?;
    match answer {
        Ok((CODE, code)) if status.success() => Ok(code),
        Ok((REASON, reason)) if status.success() => Err(Failure::Invalid(String::from_utf8_lossy(&reason).into_owned())),
        Ok(_) => Err(Failure::Compiler("awaiting code", io::Error::other(ended(status)))),
        Err(error) => Err(of_status(status, limits, error)),
    }
}

#[expect(clippy::disallowed_methods, reason = "this executable, started again to compile; nothing else is run")]
fn command(program: &Path, limits: CompileLimits) -> Command {
    let mut command = Command::new(program);
    command.arg(COMPILER_ARGUMENT).args(limits.arguments()).env_clear().current_dir("/");
    // Each thread more takes address space, which is limited.
    command.env("RAYON_NUM_THREADS", THREADS).env("MALLOC_ARENA_MAX", THREADS);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// The file that this process was started from, whatever stands at its path now.
#[cfg(target_os = "linux")]
pub(super) fn this_program() -> PathBuf {
    "/proc/self/exe".into()
}

#[cfg(not(target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "this executable, to be started again")]
pub(super) fn this_program() -> PathBuf {
    std::env::current_exe().unwrap_or_default()
}

fn read(from: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let (mut kind, mut length) = ([0], [0; 8]);
    from.read_exact(&mut kind)?;
    from.read_exact(&mut length)?;
    let length = u64::from_le_bytes(length);
    let most = if kind == [CODE] { CODE_BYTES } else { MAX_REASON as u64 };
    if length > most {
        return Err(io::Error::other(format!("an answer of {length} bytes, more than {most}")));
    }
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok((kind[0], bytes)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// What it means that no answer came: which limit, if it was one.
fn of_status(status: ExitStatus, limits: CompileLimits, error: io::Error) -> Failure {
    let is = |signal: Signal| status.signal() == Some(signal.as_raw());
    if is(Signal::XCPU) {
        return Failure::Limit(format!("{} s of processor time", limits.cpu_seconds));
    }
    if is(Signal::KILL) {
        return Failure::Limit("the memory that the machine has left".into());
    }
    // A process that gets no memory ends itself, and one that has no room for its stack is ended.
    if is(Signal::ABORT) || is(Signal::SEGV) {
        return Failure::Limit(format!("{} MiB of memory", limits.memory_bytes >> 20));
    }
    if status.success() {
        return Failure::Compiler("awaiting code", error);
    }
    Failure::Compiler("awaiting code", io::Error::other(ended(status)))
}

fn ended(status: ExitStatus) -> String {
    escape(&format!("it ended by itself: {status}"))
}

/// A compiler that does not outlive its use.
struct Compiler(Child);

impl Drop for Compiler {
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
            Ok(0) => Err(io::ErrorKind::TimedOut.into()),
            Ok(_) => self.from.read(buffer),
            Err(errno) => Err(errno.into()),
        }
    }
}
