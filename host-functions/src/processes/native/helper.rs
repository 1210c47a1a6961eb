//! The program's other role: the reaper of one program and all that it starts.
//!
//! It has one thread, reads its order from its standard input, and writes the report to its standard output. That its input ends means that the
//! host is gone: then it ends everything and itself. It leads a session of its own, so that what a terminal sends to the host does not
//! reach it first.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, RawFd};
use std::process::ExitCode;
use std::time::Instant;

use rustix::io::{Errno, FdFlags, fcntl_setfd};
use rustix::process::{getpid, set_child_subreaper, setsid};

use super::order::{Failure, Order, Report, write_report};
use super::{capture, launch};

/// The first argument with which this executable is the helper. No command of a command line can look like it.
pub const HELPER_ARGUMENT: &str = "\u{1}process";

/// Serves one order if these arguments, with the program's name first, make this process a helper; else none. Every executable that runs programs through
/// [`super::Runner::this_program`] begins with this, before it starts a thread.
pub fn helper(arguments: &[OsString]) -> Option<ExitCode> {
    if arguments.get(1).is_none_or(|first| first != HELPER_ARGUMENT) {
        return None;
    }
    // There is nobody to tell of an error: the host sees that no report comes.
    Some(if serve().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn serve() -> io::Result<()> {
    let stdin = io::stdin();
    let order = Order::read(&mut stdin.lock())?;
    let report = run(&order, stdin.as_fd());
    write_report(&mut io::stdout().lock(), &report)
}

/// Sees to it that the program gets none of the files that the host may have been started with: they close when it starts.
#[allow(unsafe_code, reason = "file descriptors by number")]
#[allow(clippy::disallowed_methods, reason = "the kernel's own list of this process's files")]
fn keep_files() -> io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number: Option<RawFd> = entry?.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(number) = number.filter(|number| *number > 2) else { continue };
        // SAFETY: it was open a moment ago, in this process with its one thread; if it is not any more, the call fails and nothing else happens.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        match fcntl_setfd(file, FdFlags::CLOEXEC) {
            Ok(()) | Err(Errno::BADF) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

fn run(order: &Order, host: BorrowedFd<'_>) -> Result<Report, Failure> {
    let deadline = Instant::now() + order.timeout;
    keep_files().map_err(|error| Failure::other("keeping the host's open files from the program", error))?;
    // It fails only in a process that leads a group, which is then no less apart.
    let _ = setsid();
    set_child_subreaper(Some(getpid())).map_err(|errno| Failure::other("becoming the reaper of the program", errno))?;
    let launched = launch::launch(order)?;
    capture::watch(order, launched, host, deadline)
}
