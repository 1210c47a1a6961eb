//! The program from outside: what is typed, what comes back, with which exit code. One file a subject.
#![allow(clippy::disallowed_methods, reason = "a test reads and writes its own scratch folder")]

mod again;
mod blocks;
mod bundle;
mod compile;
mod converge;
mod examples;
mod graph;
mod guide;
mod help;
mod mixed_up;
mod module;
mod on_record;
mod orders;
mod permissions;
mod programs;
mod progress;
mod promises;
mod records;
mod scarce;
mod sources;
mod without_effect;

/// A node of its own for one test.
fn node() -> testkit::TestNode {
    testkit::TestNode::new(env!("CARGO_BIN_EXE_runtime"))
}
