//! Runs one account tool of the node: in its root, with nothing of this process's environment, and no longer than the deadline.
//!
//! What a tool says on its standard error is for people, and is cut. The tool that gets a hash on its standard input says nothing to anybody.

use std::io::{Read as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fd::{AsFd as _, OwnedFd};
use rustix::fs::{Mode, OFlags};
use zeroize::Zeroizing;

use super::{FOLDERS, Family, Step};
use crate::error::CallError;
use crate::node::Root;
use crate::node::resolve::{self, Target};
use crate::text::{cut, escape};

/// How much of a tool's standard error is kept, in bytes.
const MAX_STDERR: u64 = 4096;

/// How often a running tool is looked at.
const TICK: Duration = Duration::from_millis(2);

/// The path beneath the root at which a tool is, if it is there.
pub(super) fn find(root: &Root, tool: &str) -> Result<Option<String>, CallError> {
    for folder in FOLDERS {
        let path = format!("{folder}/{tool}");
        if let Target::Opened { .. } = resolve::open(root, path.as_bytes(), OFlags::PATH)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Runs one step.
pub(super) fn step(
    root: &Root,
    family: Family,
    step: &Step,
    hash: Option<&Zeroizing<Vec<u8>>>,
    deadline: Instant,
) -> Result<(), CallError> {
    let input = step.password.as_ref().map(|line| {
        let mut input = Zeroizing::new(format!("{}:{}", line.name, if line.locked { "!" } else { "" }).into_bytes());
        input.extend(hash.map_or(&b"!"[..], |hash| hash.as_slice()));
        input.push(b'\n');
        input
    });
    let (program, applet) = match family {
        Family::Shadow => (step.tool, None),
        Family::Busybox => ("busybox", Some(step.tool)),
    };
    let path = find(root, program)?.ok_or_else(|| CallError::Unsupported(format!("this node has no `{program}`")))?;
    let mut command = command(root, &path)?;
    command.args(applet).args(&step.arguments);
    let finished = run(command, step.tool, input.as_ref().map(|input| input.as_slice()), deadline)?;
    match finished.status.success() {
        true => Ok(()),
        false => Err(finished.failure(step)),
    }
}

/// The command for the program at `path` beneath the root, in a process group of its own.
#[allow(clippy::disallowed_methods, reason = "this is the interface that changes accounts")]
fn command(root: &Root, path: &str) -> Result<Command, CallError> {
    let mut command = Command::new(path);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C").current_dir("/");
    command.stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
    if !root.is_system() {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = rustix::fs::openat(root.fd(), ".", flags, Mode::empty());
        let folder = folder.map_err(|errno| CallError::system(errno, "opening the root of the node"))?;
        enter(&mut command, folder);
    }
    Ok(command)
}

/// Has the program started in `folder` as its root.
#[allow(unsafe_code, reason = "only a function that runs in the child can change its root")]
fn enter(command: &mut Command, folder: OwnedFd) {
    let enter = move || {
        rustix::process::fchdir(folder.as_fd())?;
        rustix::process::chroot(".")?;
        Ok(rustix::process::chdir("/")?)
    };
    // SAFETY: the function makes three system calls, and neither allocates nor takes a lock.
    unsafe { command.pre_exec(enter) };
}

/// How a tool ended.
struct Finished {
    status: ExitStatus,
    stderr: Vec<u8>,
}

fn run(mut command: Command, tool: &str, input: Option<&[u8]>, deadline: Instant) -> Result<Finished, CallError> {
    let failed = |error: std::io::Error| match error.raw_os_error() {
        Some(errno) => CallError::system(rustix::io::Errno::from_raw_os_error(errno), &format!("running `{tool}`")),
        None => CallError::Other(format!("running `{tool}`: {}", error.kind())),
    };
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    let mut child = command.spawn().map_err(failed)?;
    std::thread::scope(|scope| {
        let stderr = child.stderr.take();
        let reader = scope.spawn(move || stderr.map(keep_beginning).unwrap_or_default());
        if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
            // A line is far shorter than a pipe is long, and a tool that does not read it fails by itself.
            let _ = stdin.write_all(input);
        }
        let status = wait(&mut child, deadline).map_err(failed)?;
        let stderr = reader.join().unwrap_or_default();
        status.map(|status| Finished { status, stderr }).ok_or(CallError::Deadline)
    })
}

/// The beginning of what a tool says; the rest is read, so that the tool does not wait, and dropped.
fn keep_beginning(mut stderr: std::process::ChildStderr) -> Vec<u8> {
    let mut kept = Vec::new();
    let _ = stderr.by_ref().take(MAX_STDERR).read_to_end(&mut kept);
    let _ = std::io::copy(&mut stderr, &mut std::io::sink());
    kept
}

/// Waits for the child; none if it had to be ended at the deadline.
fn wait(child: &mut Child, deadline: Instant) -> std::io::Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
                let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
            }
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(TICK);
    }
}

impl Finished {
    /// What the end of a tool that failed means. Codes are those of the shadow suite; where one says that nothing was changed, the error says so.
    fn failure(&self, step: &Step) -> CallError {
        let told = match step.password {
            Some(_) => String::new(),
            None => self.told(),
        };
        let text = match (self.status.code(), self.status.signal()) {
            (Some(code), _) => format!("`{}` ended with {code}{told}", step.tool),
            (None, signal) => format!("`{}` was ended by signal {}{told}", step.tool, signal.unwrap_or_default()),
        };
        let text = cut(text, crate::error::MAX_ERROR_TEXT);
        match (step.tool, self.status.code()) {
            ("useradd" | "usermod" | "groupadd" | "groupmod", Some(2 | 3 | 4 | 6 | 9)) | ("groupdel", Some(8)) => {
                CallError::InvalidArgument(text)
            }
            ("usermod" | "userdel", Some(8)) => CallError::Busy(text),
            _ => CallError::Other(text),
        }
    }

    fn told(&self) -> String {
        let text = String::from_utf8_lossy(&self.stderr);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        if lines.is_empty() { String::new() } else { format!(": {}", escape(&lines.join("; "))) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let root = Root::open(std::path::Path::new("/")).unwrap();
        let mut command = command(&root, "/bin/sh").unwrap();
        command.args(["-c", script]);
        command
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn a_tool_has_a_clean_environment_and_its_input() {
        let finished = run(shell("read line; env >&2; echo \"$line\" >&2"), "sh", Some(b"hello\n"), soon()).unwrap();
        let told = String::from_utf8(finished.stderr).unwrap();
        let mut lines: Vec<&str> = told.lines().filter(|line| !line.starts_with("_=") && !line.starts_with("PWD=")).collect();
        lines.sort_unstable();
        assert_eq!(lines, ["LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "hello"]);
    }

    #[test]
    fn much_output_neither_blocks_nor_is_kept() {
        let finished = run(shell("head -c 1000000 /dev/zero >&2"), "sh", None, soon()).unwrap();
        assert!(finished.status.success());
        assert_eq!(finished.stderr.len() as u64, MAX_STDERR);
    }

    #[test]
    fn a_tool_is_ended_at_the_deadline_with_what_it_started() {
        let begun = Instant::now();
        let result = run(shell("sleep 60 & sleep 60"), "sh", None, begun + Duration::from_millis(200));
        assert!(matches!(result, Err(CallError::Deadline)));
        assert!(begun.elapsed() < Duration::from_secs(20), "its standard error is closed, so its child is gone too");
    }

    #[test]
    fn failures_say_what_was_run_and_what_it_said() {
        let finished = run(shell("echo \"usermod: no 'x'\" >&2; exit 6"), "usermod", None, soon()).unwrap();
        let error = finished.failure(&Step::new("usermod", ["x"]));
        assert!(matches!(error, CallError::InvalidArgument(_)));
        assert_eq!(error.to_string(), "`usermod` ended with 6: usermod: no 'x'");
        let finished = run(shell("kill -9 $$"), "useradd", None, soon()).unwrap();
        let error = finished.failure(&Step::new("useradd", ["x"]));
        assert!(matches!(error, CallError::Other(_)) && error.to_string() == "`useradd` was ended by signal 9");
    }

    #[test]
    fn who_gets_a_hash_says_nothing() {
        let finished = run(shell("cat >&2; exit 1"), "chpasswd", Some(b"web:$6$abc$0123456789\n"), soon()).unwrap();
        let error = finished.failure(&Step::password("web", false));
        assert_eq!(error.to_string(), "`chpasswd` ended with 1");
    }
}
