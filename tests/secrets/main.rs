//! Sensitive values (I7): where they may be, and that they are nowhere else.
#![allow(clippy::disallowed_methods, reason = "makes and looks at folders of its own")]

mod commands;
mod memory;
mod needles;
mod refusals;
