//! What compiling one component may take: generous for honest components on slow machines, and an end for all others.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};

/// How much later than by its processor time the kernel ends a process that goes on regardless, in seconds.
const GRACE_SECONDS: u64 = 10;

/// The largest code that is taken back, in bytes; as in the code cache.
pub(super) const CODE_BYTES: u64 = 512 << 20;

/// What compiling one component may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// Time of all processors together, in seconds.
    pub cpu_seconds: u64,
    /// Address space, in bytes.
    pub memory_bytes: u64,
    /// How long it may take in all.
    pub wall: Duration,
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self { cpu_seconds: 600, memory_bytes: 4 << 30, wall: Duration::from_secs(900) }
    }
}

impl CompileLimits {
    /// As arguments of the compiler, which holds itself to what it can.
    pub(super) fn arguments(self) -> [String; 2] {
        [self.cpu_seconds.to_string(), self.memory_bytes.to_string()]
    }
}

/// Holds this process to the limits that its arguments say, for good.
pub(super) fn hold(arguments: &[OsString]) -> io::Result<()> {
    let number = |index: usize| arguments.get(index).and_then(|text| text.to_str()?.parse::<u64>().ok());
    let (Some(cpu), Some(memory)) = (number(0), number(1)) else { return Err(io::ErrorKind::InvalidInput.into()) };
    for (resource, limit, maximum) in [
        (Resource::As, memory, memory),
        (Resource::Cpu, cpu, cpu + GRACE_SECONDS),
        (Resource::Core, 0, 0),
        // Pipes are no files to this limit.
        (Resource::Fsize, 0, 0),
    ] {
        setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(maximum) })?;
    }
    Ok(())
}
