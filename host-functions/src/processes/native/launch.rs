//! From the helper to the program: the processes in between, and what is set on them.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::unistd::ForkResult;
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{MemfdFlags, Mode, memfd_create};
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, pidfd_open, set_parent_process_death_signal};

use super::confine;
use super::order::{Ended, Failure, Identity, Manner, Order, starting};

/// A program on its way, and what is heard of it.
pub(super) struct Launched {
    /// The child of this process: the program, or the first process of its namespaces.
    pub(super) child: Pid,
    /// A handle that becomes readable when that child ends.
    pub(super) handle: OwnedFd,
    /// What the program writes.
    pub(super) stdout: OwnedFd,
    /// What it writes there.
    pub(super) stderr: OwnedFd,
    /// Why it did not start, as JSON; nothing if it did.
    pub(super) failures: OwnedFd,
    /// How it ended, where it is not the child itself.
    pub(super) status: Option<OwnedFd>,
}

/// The ends of pipes that the program's side has.
struct Ends {
    stdin: File,
    stdout: OwnedFd,
    stderr: OwnedFd,
    failures: OwnedFd,
    status: OwnedFd,
}

/// Starts the program of `order`.
pub(super) fn launch(order: &Order) -> Result<Launched, Failure> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(|errno| Failure::other("making a pipe", errno));
    let (stdout, stdout_end) = pipe()?;
    let (stderr, stderr_end) = pipe()?;
    let (failures, failures_end) = pipe()?;
    let (status, status_end) = pipe()?;
    let stdin = input(&order.stdin).map_err(|error| Failure::other("keeping the program's input", error))?;
    let ends = Ends { stdin, stdout: stdout_end, stderr: stderr_end, failures: failures_end, status: status_end };
    let confined = order.manner == Manner::Confined;
    if confined {
        nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWPID)
            .map_err(|errno| Failure::confine("making a process namespace", errno))?;
    }
    let child = in_child(|| if confined { first_of_namespace(order, ends) } else { program(order, ends) })?;
    let handle = pidfd_open(child, PidfdFlags::empty()).map_err(|errno| Failure::other("watching the program", errno))?;
    Ok(Launched { child, handle, stdout, stderr, failures, status: confined.then_some(status) })
}

/// Runs `child` in a new process, which ends with it.
#[allow(unsafe_code, reason = "fork: this process has one thread, so its child may do anything")]
fn in_child(child: impl FnOnce()) -> Result<Pid, Failure> {
    // SAFETY: the helper never starts a thread.
    match unsafe { nix::unistd::fork() }.map_err(|errno| Failure::other("making a process", errno))? {
        ForkResult::Parent { child } => Ok(Pid::from_raw(child.as_raw()).expect("a child has an id")),
        ForkResult::Child => {
            child();
            // SAFETY: it only ends the process, without what the parent has to do at its own end.
            unsafe { libc::_exit(127) }
        }
    }
}

/// The bytes as a file in memory that begins at its start.
fn input(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Becomes the program. Comes back only if that fails, and then the failure has been told.
fn program(order: &Order, ends: Ends) {
    let failures = ends.failures.as_fd().try_clone_to_owned();
    let Err(failure) = start(order, ends);
    if let Ok(failures) = failures {
        tell(failures, &failure);
    }
}

/// The first process of the program's namespaces: closes the program in, starts it, reaps what it leaves, and tells how it ended. When this
/// process ends, the kernel ends all others of the namespace.
fn first_of_namespace(order: &Order, ends: Ends) {
    let prepared = follow_parent(ends.failures.as_fd()).and_then(|()| confine::enclose(order.root.as_deref()));
    if let Err(failure) = prepared {
        return tell(ends.failures, &failure);
    }
    let status = ends.status.try_clone();
    let copies = ends.failures.try_clone();
    match (in_child(|| program(order, ends)), status, copies) {
        (Ok(child), Ok(status), Ok(failures)) => {
            drop(failures);
            await_program(child, status);
        }
        (Err(failure), _, Ok(failures)) => tell(failures, &failure),
        _ => {}
    }
}

fn await_program(program: Pid, status: OwnedFd) {
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, ended))) if pid == program => {
                if let Some(ended) = ended_as(ended) {
                    let _ = File::from(status).write_all(&encode(ended));
                    return;
                }
            }
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// How a child ended; none if it only stopped.
pub(super) fn ended_as(status: WaitStatus) -> Option<Ended> {
    let code = status.exit_status().and_then(|code| u8::try_from(code).ok()).map(Ended::Exited);
    code.or_else(|| status.terminating_signal().and_then(|signal| u32::try_from(signal).ok()).map(Ended::Killed))
}

fn encode(ended: Ended) -> Vec<u8> {
    serde_json::to_vec(&ended).unwrap_or_default()
}

fn tell(to: OwnedFd, failure: &Failure) {
    if let Ok(text) = serde_json::to_vec(failure) {
        // The helper is all that could read it.
        let _ = File::from(to).write_all(&text);
    }
}

/// This process ends when its parent does.
fn follow_parent(failures: BorrowedFd<'_>) -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|errno| Failure::other("following the helper", errno))?;
    // It may have ended just before: then nobody has the other end.
    let mut poll = [PollFd::from_borrowed_fd(failures, PollFlags::OUT)];
    let _ = rustix::event::poll(&mut poll, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }));
    if poll[0].revents().contains(PollFlags::ERR) {
        return Err(Failure::other("following the helper", "it has ended"));
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "this is the interface that runs programs")]
fn start(order: &Order, ends: Ends) -> Result<std::convert::Infallible, Failure> {
    let failed = |doing: &str, errno: Errno| Failure::start(doing, errno);
    // A session of its own: it has no terminal, and no signal to a group reaches anybody else.
    rustix::process::setsid().map_err(|errno| failed("making a session", errno))?;
    follow_parent(ends.failures.as_fd())?;
    join_group(order)?;
    let confined = order.manner == Manner::Confined;
    if let (false, Some(root)) = (confined, &order.root) {
        let failed = |errno| Failure::other("entering the root of the node", errno);
        rustix::process::chroot(root).map_err(failed)?;
        rustix::process::chdir("/").map_err(failed)?;
    }
    if confined {
        confine::give_up_capabilities()?;
    }
    become_user(order.identity.as_ref())?;
    follow_parent(ends.failures.as_fd())?;
    if confined {
        confine::restrict()?;
    } else if order.manner == Manner::NoNewRights {
        rustix::thread::set_no_new_privs(true).map_err(|errno| failed("giving up new rights", errno))?;
    }
    rustix::process::umask(Mode::from_raw_mode(order.umask));
    rustix::process::chdir(order.directory.as_str())
        .map_err(|errno| Failure::start(format!("entering the directory `{}`", order.directory), errno))?;
    let mut command = Command::new(&order.program);
    command.env_clear().stdin(ends.stdin).stdout(ends.stdout).stderr(ends.stderr);
    command.args(order.arguments.iter().map(|argument| os(argument)));
    command.envs(order.environment.iter().map(|(name, value)| (name, os(value))));
    Err(Failure::start(starting(&order.program), command.exec()))
}

fn os(bytes: &[u8]) -> &std::ffi::OsStr {
    std::os::unix::ffi::OsStrExt::from_bytes(bytes)
}

#[allow(clippy::disallowed_methods, reason = "this is the interface that runs programs")]
fn join_group(order: &Order) -> Result<(), Failure> {
    let Some(group) = &order.control_group else { return Ok(()) };
    std::fs::write(group.join("cgroup.procs"), "0").map_err(|error| Failure::other("entering the control group", error))
}

/// Gives up the ids of this process. What is set here cannot be taken back by the program.
fn become_user(identity: Option<&Identity>) -> Result<(), Failure> {
    let Some(Identity { user, group, groups }) = identity else { return Ok(()) };
    let groups: Vec<_> = groups.iter().map(|group| nix::unistd::Gid::from_raw(*group)).collect();
    let (user, group) = (nix::unistd::Uid::from_raw(*user), nix::unistd::Gid::from_raw(*group));
    nix::unistd::setgroups(&groups)
        .and_then(|()| nix::unistd::setresgid(group, group, group))
        .and_then(|()| nix::unistd::setresuid(user, user, user))
        .map_err(|errno| Failure::start("becoming another user", errno))
}
