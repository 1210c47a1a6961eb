//! The executable's other role: it compiles one component, and is gone.
//!
//! The component comes by standard input. To standard output goes a byte that says what follows, its length, and the code or why there is none.

use std::ffi::OsString;
use std::io::{self, Read as _, Write};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use super::{CAN_BE_STARTED_AGAIN, limits};
use crate::engine::{MAX_COMPONENT_BYTES, configuration};

/// The first argument with which this executable is the compiler. No command of a command line can look like it.
pub(super) const COMPILER_ARGUMENT: &str = "\u{1}compile";

/// What follows is code.
pub(super) const CODE: u8 = 1;

/// What follows says why the component is none.
pub(super) const REASON: u8 = 2;

/// The longest reason, in bytes.
pub(super) const MAX_REASON: usize = 4 << 10;

/// Compiles one component if these arguments, with the program's name first, make this process the compiler; else none, and engines of this process
/// compile components of strangers in processes of this executable. `main` begins with this, before it starts a thread.
pub fn compiler(arguments: &[OsString]) -> Option<ExitCode> {
    if arguments.get(1).is_none_or(|first| first != COMPILER_ARGUMENT) {
        CAN_BE_STARTED_AGAIN.store(true, Ordering::Relaxed);
        return None;
    }
    // There is nobody to tell of an error: who waits for the code sees that none comes.
    Some(if serve(&arguments[2..]).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn serve(arguments: &[OsString]) -> io::Result<()> {
    limits::hold(arguments)?;
    end_with_parent()?;
    let mut component = Vec::new();
    io::stdin().lock().take(MAX_COMPONENT_BYTES as u64 + 1).read_to_end(&mut component)?;
    let engine = wasmtime::Engine::new(&configuration()).map_err(io::Error::other)?;
    match engine.precompile_component(&component) {
        Ok(code) => answer(CODE, &code),
        Err(error) => {
            let reason = format!("{error:#}");
            answer(REASON, &reason.as_bytes()[..reason.floor_char_boundary(MAX_REASON)])
        }
    }
}

fn answer(kind: u8, bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(&[kind])?;
    out.write_all(&(bytes.len() as u64).to_le_bytes())?;
    out.write_all(bytes)?;
    out.flush()
}

/// Has the kernel end this process when the one that started it is gone.
#[cfg(target_os = "linux")]
fn end_with_parent() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

/// The processor time ends it, at the latest.
#[cfg(not(target_os = "linux"))]
fn end_with_parent() -> io::Result<()> {
    Ok(())
}
