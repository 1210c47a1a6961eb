//! The program from outside: what is typed, what comes back, with which exit code. One file a subject.

mod help;

/// A node of its own for one test.
fn node() -> testkit::TestNode {
    testkit::TestNode::new(env!("CARGO_BIN_EXE_runtime"))
}
