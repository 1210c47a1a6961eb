//! What whole-system tests share: nodes of their own, what commands gave, and hostile guests.
//!
//! It knows the program from outside only, and depends on nothing of it.

#![allow(clippy::disallowed_methods, reason = "the test kit makes folders, files and processes for tests")]

pub use command_output::CommandOutput;
pub use test_node::TestNode;

pub mod guests;

mod command_output;
mod test_node;
