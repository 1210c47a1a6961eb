//! Reading what a program writes until it ends, with a cap and a deadline.

use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStderr, ChildStdout};
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::MAX_OUTPUT;

/// A stream of a program.
pub(super) struct Stream<F> {
    file: Option<F>,
    pub bytes: Vec<u8>,
    pub cut: bool,
}

impl<F: Read + AsFd> Stream<F> {
    fn of(file: Option<F>) -> Result<Self, Errno> {
        if let Some(file) = &file {
            let flags = rustix::fs::fcntl_getfl(file)?;
            rustix::fs::fcntl_setfl(file, flags | rustix::fs::OFlags::NONBLOCK)?;
        }
        Ok(Self { file, bytes: Vec::new(), cut: false })
    }

    /// Takes what is there now.
    fn take(&mut self) {
        let mut block = [0; 64 * 1024];
        while let Some(file) = &mut self.file {
            match file.read(&mut block) {
                Ok(0) => self.file = None,
                Ok(read) => {
                    let room = MAX_OUTPUT.saturating_sub(self.bytes.len()).min(read);
                    self.bytes.extend_from_slice(&block[..room]);
                    self.cut |= room < read;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(_) => self.file = None,
            }
        }
    }
}

/// A program and its streams.
pub(super) struct Watched {
    process: OwnedFd,
    pub stdout: Stream<ChildStdout>,
    pub stderr: Stream<ChildStderr>,
}

impl Watched {
    pub(super) fn of(child: &mut Child) -> Result<Self, Errno> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let process = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { process, stdout: Stream::of(child.stdout.take())?, stderr: Stream::of(child.stderr.take())? })
    }

    /// Reads until the program has ended: true; or until `deadline`: false.
    pub(super) fn until(&mut self, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let timeout = Timespec { tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
            let ended = {
                let mut fds = vec![PollFd::new(&self.process, PollFlags::IN)];
                fds.extend(self.stdout.file.as_ref().map(|file| PollFd::new(file, PollFlags::IN)));
                fds.extend(self.stderr.file.as_ref().map(|file| PollFd::new(file, PollFlags::IN)));
                match poll(&mut fds, Some(&timeout)) {
                    Ok(_) | Err(Errno::INTR) => !fds[0].revents().is_empty(),
                    Err(_) => return false,
                }
            };
            self.drain();
            if ended {
                return true;
            }
        }
    }

    pub(super) fn drain(&mut self) {
        self.stdout.take();
        self.stderr.take();
    }
}
