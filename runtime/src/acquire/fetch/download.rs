//! A body into a file: hashed as it comes, bounded in size and time, and gone on with where a connection broke off.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use super::client::{Answer, Rest, Source};
use super::{AcquireError, Progress};
use crate::acquire::CHUNK;
use crate::model::digest::AssetDigest;

/// How often a broken download is gone on with.
const MAX_RESUMES: u32 = 5;

/// The wait before the first attempt to go on; each further one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(100);

/// How much too early a connection may end at its deadline.
const TIMER_ERROR: Duration = Duration::from_millis(5);

/// What a download may cost.
pub(super) struct Limits {
    pub(super) max_size: u64,
    pub(super) timeout: Duration,
    pub(super) deadline: Instant,
}

/// Why an attempt ended without the whole body.
enum Stop {
    /// There is no sense in another.
    Final(AcquireError),
    /// Another may do better.
    Broken(String),
}

/// What is there already.
struct Received<'a> {
    file: &'a mut File,
    hasher: Sha256,
    size: u64,
    total: Option<u64>,
    validator: Option<String>,
}

/// Downloads to `file`, which is empty. Gives what it then holds.
pub(super) fn run(
    source: &Source<'_>,
    limits: &Limits,
    progress: &dyn Progress,
    file: &mut File,
) -> Result<(AssetDigest, u64), AcquireError> {
    let mut received = Received { file, hasher: Sha256::new(), size: 0, total: None, validator: None };
    let mut resumes = 0;
    loop {
        let reason = match attempt(source, limits, progress, &mut received, resumes > 0) {
            Ok(()) => return received.finish(),
            Err(Stop::Final(error)) => return Err(error),
            Err(Stop::Broken(reason)) => reason,
        };
        tracing::debug!(address = %source.address, received = received.size, reason, "a download broke off");
        if resumes == MAX_RESUMES {
            return Err(AcquireError::BrokenOff { received: received.size, resumes, reason });
        }
        limits.wait(FIRST_WAIT * 2_u32.pow(resumes))?;
        resumes += 1;
    }
}

fn attempt(
    source: &Source<'_>,
    limits: &Limits,
    progress: &dyn Progress,
    received: &mut Received<'_>,
    again: bool,
) -> Result<(), Stop> {
    let rest = received.rest();
    let answer = source.ask(rest.as_ref(), limits.deadline).map_err(|error| {
        if limits.is_over() {
            Stop::Final(limits.timed_out())
        } else if rest.is_some() && matches!(error, AcquireError::Status { status: 206 | 416 }) {
            // The rest is not to be had: begin anew.
            received.validator = None;
            Stop::Broken(error.to_string())
        } else if again && error.is_passing() {
            Stop::Broken(error.to_string())
        } else {
            Stop::Final(error)
        }
    })?;
    if answer.total.is_some_and(|total| total > limits.max_size) {
        return Err(Stop::Final(AcquireError::TooLarge { limit: limits.max_size }));
    }
    received.begin(&answer).map_err(keep_failed)?;
    progress.begun(&source.address.shown(), received.total);
    progress.received(received.size);
    copy(answer.body, limits, progress, received)
}

fn copy(mut body: Box<dyn Read>, limits: &Limits, progress: &dyn Progress, received: &mut Received<'_>) -> Result<(), Stop> {
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = match body.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) if limits.is_over() => return Err(Stop::Final(limits.timed_out())),
            Err(error) => return Err(Stop::Broken(error.to_string())),
        };
        if received.size + count as u64 > limits.max_size {
            return Err(Stop::Final(AcquireError::TooLarge { limit: limits.max_size }));
        }
        received.add(&buffer[..count]).map_err(keep_failed)?;
        progress.received(received.size);
        if limits.is_over() {
            return Err(Stop::Final(limits.timed_out()));
        }
    }
    match received.total {
        Some(total) if received.size < total => {
            Err(Stop::Broken(format!("the server ended it before the {total} bytes that it had promised")))
        }
        _ => Ok(()),
    }
}

fn keep_failed(source: io::Error) -> Stop {
    Stop::Final(AcquireError::Keep { source })
}

impl Received<'_> {
    /// What is still to be asked for; none for all of it.
    fn rest(&self) -> Option<Rest> {
        let validator = self.validator.clone().filter(|_| self.size > 0)?;
        Some(Rest { from: self.size, validator })
    }

    /// Takes what is there as it is, if the answer goes on from there, and else begins anew.
    fn begin(&mut self, answer: &Answer) -> io::Result<()> {
        if answer.from == 0 {
            self.file.set_len(0)?;
            self.file.seek(SeekFrom::Start(0))?;
            self.hasher = Sha256::new();
            self.size = 0;
        }
        self.total = answer.total;
        self.validator.clone_from(&answer.validator);
        Ok(())
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.hasher.update(bytes);
        self.size += bytes.len() as u64;
        Ok(())
    }

    fn finish(self) -> Result<(AssetDigest, u64), AcquireError> {
        self.file.sync_all().map_err(|source| AcquireError::Keep { source })?;
        Ok((AssetDigest::from_bytes(self.hasher.finalize().into()), self.size))
    }
}

impl Limits {
    /// Whether the time is up, give or take what timers are off by.
    fn is_over(&self) -> bool {
        Instant::now() + TIMER_ERROR >= self.deadline
    }

    fn timed_out(&self) -> AcquireError {
        AcquireError::TimedOut { limit: self.timeout }
    }

    fn wait(&self, time: Duration) -> Result<(), AcquireError> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        std::thread::sleep(time.min(left));
        if self.is_over() { Err(self.timed_out()) } else { Ok(()) }
    }
}
