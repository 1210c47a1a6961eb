//! Programs of the node.
//!
//! `query` runs one that can change nothing, `run` one that may. What is said of a program is a [`Command`]; what may be said of it is held against policy
//! before anything is looked at; then [`native`] runs it. No shell, no search for a program, no inherited environment.

mod command;
mod host;
pub mod native;
pub(crate) mod policy;
mod start;

pub(crate) use start::ask;
pub use start::check_health;

pub use command::{Command, MAX_ARGUMENTS, MAX_OUTPUT, MAX_TEXT, MAX_VARIABLES, Text};
