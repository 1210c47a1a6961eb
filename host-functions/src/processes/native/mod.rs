//! Runs one program of the node to its end, with everything that it starts.
//!
//! A program does not run as a child of this process, which has many threads and other children, but of a *helper*: this same
//! executable, started anew with a hidden first argument. The helper is the reaper of all that its program starts, so that
//! nothing escapes it: not by leaving the process group, not by leaving the session, not by becoming a daemon. What a program may do is decided
//! before it comes here (`policy`); how it is held is decided here.
//!
//! What this deliberately does not do: look up names of users, resolve secrets, or know what a resource is.

mod capture;
mod confine;
mod control_group;
mod helper;
mod launch;
mod order;
mod runner;
mod tree;

pub use control_group::{ControlGroup, ControlGroupError};
pub use helper::{HELPER_ARGUMENT, helper};
pub(crate) use order::starting;
pub use order::{Ended, Identity, Leftovers, Manner, Order, Report};
pub use runner::{RunError, Runner};
