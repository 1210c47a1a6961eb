//! The resource type `package` on real machines, whole: the program compiles a manifest and applies it to a machine with a repository of its own.

#![allow(clippy::disallowed_methods, reason = "tests make files and run programs, in machines of their own")]

mod reads;

mod rogue;

mod converge;

mod interrupted;

#[path = "../services/lost.rs"]
mod lost;

mod on;
