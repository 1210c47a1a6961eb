//! Machines for tests: a real Debian or Alpine in namespaces of its own, with process 1, network and devices of its own.
//!
//! The root is made once a computer and kept in the user's cache; a machine sees it through a layer of its own, in memory, that goes with it.
//! [`Machine::boot`] runs systemd as process 1, [`Machine::enter`] one that does nothing but wait. Neither can change this computer: what is not a
//! namespace's own is read-only in there. Whatever ends a test ends its machines.
//!
//! It needs root, `mmdebstrap` (for Alpine: `pip` and `qemu-img`), and the network for the first time a root is made. What is missing fails the
//! test, and says so; nothing is skipped.
//!
//! [`swapper`] needs no machine: it is here because every test can use this crate.
#![allow(clippy::disallowed_methods, reason = "a test kit: it makes folders and runs programs, never on a node")]

pub use control_group::ControlGroup;
pub use machine::{Machine, Setup};
pub use output::Finished;
pub use system::System;

mod alpine;
mod control_group;
mod debian;
mod machine;
mod output;
mod program;
pub mod repositories;
pub mod swapper;
mod system;

#[cfg(test)]
mod tests;
