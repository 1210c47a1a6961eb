//! What whole-system tests share: nodes of their own, what commands gave, hostile guests, and ways to look at what a run left.
//!
//! [`TestNode`] knows the program from outside, as a command; [`Scene`] runs the pipeline in the test's own process; [`machine`] has whole
//! machines for the program to run in.

#![allow(clippy::disallowed_methods, reason = "the test kit makes folders, files and processes for tests")]

pub use command_output::CommandOutput;
pub use ledger::Ledger;
pub use scene::Scene;
pub use tamper::tamper;
/// Real machines: a Debian, booted or not, and an Alpine.
pub use test_machine as machine;
pub use test_node::TestNode;
pub use tree::Tree;

pub mod account_tools;
pub mod guests;
pub mod https;
pub mod ledger;
pub mod scene;
pub mod steps;
pub mod tree;
pub mod warm;

mod command_output;
mod tamper;
mod test_node;
