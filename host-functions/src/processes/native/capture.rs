//! Watches a program: keeps what it writes, up to a limit, until it ends, its time is over, or the host is gone.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;
use zeroize::Zeroizing;

use super::launch::{Launched, ended_as};
use super::order::{Bytes, Ended, Failure, Leftovers, Order, Report};
use super::{control_group, tree};

/// How long what a program leaves behind may take to end by itself: the last of a pipeline, a message on its way.
const GRACE: Duration = Duration::from_millis(500);

/// How often it is looked whether what is left has ended.
const STEP: Duration = Duration::from_millis(5);

/// The longest message about a failed start.
const MAX_FAILURE: usize = 16 * 1024;

/// Awaits the end of `launched`, and of everything that it started.
pub(super) fn watch(order: &Order, launched: Launched, host: BorrowedFd<'_>, deadline: Instant) -> Result<Report, Failure> {
    let Launched { child, handle, stdout, stderr, failures, status } = launched;
    let limit = order.output_limit as usize;
    let mut streams = [Stream::new(stdout, limit)?, Stream::new(stderr, limit)?, Stream::new(failures, MAX_FAILURE)?];
    let mut status = status.map(|status| Stream::new(status, MAX_FAILURE)).transpose()?;
    let why = until_ended(&mut streams, handle.as_fd(), host, deadline);
    let mut ended = None;
    let mut left_processes = false;
    if why == Why::Ended {
        let reaped = tree::reap(Some(child));
        ended = reaped.status.and_then(ended_as);
        left_processes = reaped.more && order.leftovers == Leftovers::End && !end_by_themselves(&mut streams, deadline);
    }
    if why != Why::Ended || left_processes {
        if let Some(group) = &order.control_group {
            control_group::kill_all(group);
        }
        tree::end().map_err(|processes| Failure::Living { processes })?;
    }
    streams.iter_mut().chain(&mut status).for_each(Stream::read);
    let [stdout, stderr, failures] = streams;
    if let Ok(failure) = serde_json::from_slice(&failures.kept) {
        return Err(failure);
    }
    let ended = match (why, status) {
        (Why::HostGone, _) => return Err(Failure::other("watching the program", "the host is gone")),
        (Why::Late, _) => Some(Ended::TimedOut),
        (Why::Ended, Some(status)) => serde_json::from_slice(&status.kept).ok(),
        (Why::Ended, None) => ended,
    };
    let ended = ended.ok_or_else(|| Failure::other("watching the program", "it ended without a status"))?;
    let cut = stdout.cut || stderr.cut;
    Ok(Report { ended, stdout: stdout.kept, stderr: stderr.kept, cut, left_processes })
}

/// Why the watch over the program itself is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Ended,
    Late,
    HostGone,
}

fn until_ended(streams: &mut [Stream; 3], child: BorrowedFd<'_>, host: BorrowedFd<'_>, deadline: Instant) -> Why {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let watched = [PollFd::from_borrowed_fd(child, PollFlags::IN), PollFd::from_borrowed_fd(host, PollFlags::empty())];
        let [child_ended, host_gone] = wait(streams, watched, left);
        if host_gone {
            return Why::HostGone;
        }
        if child_ended {
            return Why::Ended;
        }
        if left.is_zero() {
            return Why::Late;
        }
    }
}

/// Whether what the program left ends within its grace.
fn end_by_themselves(streams: &mut [Stream; 3], deadline: Instant) -> bool {
    let until = deadline.min(Instant::now() + GRACE);
    while tree::reap(None).more {
        if Instant::now() >= until {
            return false;
        }
        let [] = wait(streams, [], STEP);
        // A stream that is always ready must not make this a busy loop for long: the time above ends it.
    }
    true
}

/// Waits for something to happen, reads what has been written, and says what of `watched` has happened.
fn wait<const N: usize>(streams: &mut [Stream; 3], watched: [PollFd<'_>; N], limit: Duration) -> [bool; N] {
    let mut happened = [false; N];
    let mut ready = [false; 3];
    {
        let mut polled: Vec<PollFd<'_>> = watched.into();
        let open = streams.iter().filter_map(|stream| stream.end.as_ref());
        polled.extend(open.map(|end| PollFd::from_borrowed_fd(end.as_fd(), PollFlags::IN)));
        let seconds = i64::try_from(limit.as_secs()).unwrap_or(i64::MAX);
        let limit = Timespec { tv_sec: seconds, tv_nsec: limit.subsec_nanos().into() };
        match poll(&mut polled, Some(&limit)) {
            Ok(_) => {
                for (happened, polled) in happened.iter_mut().zip(&polled) {
                    *happened = !polled.revents().is_empty();
                }
                let mut rest = polled[N..].iter();
                for (ready, stream) in ready.iter_mut().zip(streams.iter()) {
                    *ready = stream.end.is_some() && rest.next().is_some_and(|polled| !polled.revents().is_empty());
                }
            }
            Err(_) => std::thread::sleep(STEP),
        }
    }
    for (stream, _) in streams.iter_mut().zip(ready).filter(|(_, ready)| *ready) {
        stream.read();
    }
    happened
}

/// The reading end of a pipe.
struct Stream {
    /// None once it has ended.
    end: Option<OwnedFd>,
    kept: Bytes,
    limit: usize,
    cut: bool,
}

impl Stream {
    fn new(end: OwnedFd, limit: usize) -> Result<Self, Failure> {
        fcntl_getfl(&end)
            .and_then(|flags| fcntl_setfl(&end, flags | OFlags::NONBLOCK))
            .map_err(|errno| Failure::other("watching the program", errno))?;
        Ok(Self { end: Some(end), kept: Bytes::default(), limit, cut: false })
    }

    /// Reads what there is, at most a few buffers of it, so that one that writes without end does not keep this from looking at the time.
    fn read(&mut self) {
        let mut buffer = Zeroizing::new([0; 64 * 1024]);
        for _ in 0..16 {
            let Some(end) = &self.end else { return };
            match rustix::io::read(end, &mut buffer[..]) {
                Ok(0) => self.end = None,
                Ok(length) => self.keep(&buffer[..length]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.end = None,
            }
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.kept.len()).min(bytes.len());
        self.kept.extend_from_slice(&bytes[..room]);
        self.cut |= room < bytes.len();
    }
}
