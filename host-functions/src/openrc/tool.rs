//! Running OpenRC's own tools.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::OpenrcError;

/// The most that is kept of what a tool said, in bytes.
const MAX_SAID: usize = 2_048;

/// How often a tool is looked after.
const LOOK: Duration = Duration::from_millis(10);

/// Runs a tool to its end: none if it ended with 0, else the end of what it said.
///
/// What it leaves behind goes on: that is the service. So its error stream, which a daemon may keep open, is read only as far as it goes.
pub(super) fn run(program: &str, arguments: &[&str], deadline: Instant) -> Result<Option<String>, OpenrcError> {
    let failed = |source| OpenrcError::System { doing: "running a tool of OpenRC", source };
    let mut child = start(program, arguments).map_err(failed)?;
    let mut said = Said::new(child.stderr.take()).map_err(failed)?;
    loop {
        said.read();
        match child.try_wait().map_err(failed)? {
            Some(status) if status.success() => return Ok(None),
            Some(status) => {
                said.read();
                return Ok(Some(said.words().unwrap_or_else(|| status.to_string())));
            }
            None if Instant::now() >= deadline => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(OpenrcError::Deadline);
            }
            None => sleep(LOOK),
        }
    }
}

#[allow(
    clippy::disallowed_methods,
    reason = "a host function that has services started and stopped by the init system's own tools"
)]
fn start(program: &str, arguments: &[&str]) -> io::Result<Child> {
    Command::new(program)
        .args(arguments)
        .env_clear()
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C")
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

/// The end of what a tool says.
struct Said {
    stream: Option<ChildStderr>,
    end: Vec<u8>,
}

impl Said {
    fn new(stream: Option<ChildStderr>) -> io::Result<Self> {
        if let Some(stream) = &stream {
            let flags = rustix::fs::fcntl_getfl(stream)?;
            rustix::fs::fcntl_setfl(stream, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self { stream, end: Vec::new() })
    }

    /// Reads what there is, and keeps the end.
    fn read(&mut self) {
        let Some(stream) = &self.stream else { return };
        let mut buffer = [0; 4_096];
        // At most as much as a pipe holds, so that who writes for ever does not hold this up.
        for _ in 0..16 {
            match rustix::io::read(stream, &mut buffer) {
                Ok(length) if length > 0 => self.end.extend_from_slice(&buffer[..length]),
                _ => break,
            }
        }
        let surplus = self.end.len().saturating_sub(MAX_SAID);
        self.end.drain(..surplus);
    }

    fn words(&self) -> Option<String> {
        let text = String::from_utf8_lossy(&self.end);
        let lines: Vec<&str> =
            text.lines().map(|line| line.trim().trim_start_matches("* ")).filter(|line| !line.is_empty()).collect();
        (!lines.is_empty()).then(|| lines.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(10)
    }

    fn shell(script: &str, deadline: Instant) -> Result<Option<String>, OpenrcError> {
        run("/bin/sh", &["-c", script], deadline)
    }

    #[test]
    fn a_tool_that_fails_is_quoted() {
        assert!(matches!(shell("echo ignored; echo warning >&2", soon()), Ok(None)));
        let said = shell("echo ' * demo failed to start' >&2; echo why >&2; exit 3", soon()).unwrap();
        assert_eq!(said.as_deref(), Some("demo failed to start; why"));
        assert_eq!(shell("exit 3", soon()).unwrap().as_deref(), Some("exit status: 3"));
        let much = shell("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1", soon()).unwrap().unwrap();
        assert!(much.ends_with("xx; end") || much.ends_with("xxend"), "{} bytes", much.len());
        assert!(much.len() <= MAX_SAID + 2);
        assert!(matches!(run("/nonexistent", &[], soon()), Err(OpenrcError::System { .. })));
    }

    #[test]
    fn what_a_tool_leaves_behind_goes_on_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("done");
        let script = format!("(sleep 0.5; touch {}) & exit 0", file.display());
        let before = Instant::now();
        assert!(matches!(shell(&script, soon()), Ok(None)));
        assert!(before.elapsed() < Duration::from_millis(450));
        while !file.exists() {
            assert!(before.elapsed() < Duration::from_secs(10), "it goes on");
            sleep(LOOK);
        }
    }

    #[test]
    fn a_tool_that_is_late_is_ended() {
        let before = Instant::now();
        assert!(matches!(shell("sleep 60", before + Duration::from_millis(100)), Err(OpenrcError::Deadline)));
        assert!(before.elapsed() < Duration::from_secs(5));
    }
}
