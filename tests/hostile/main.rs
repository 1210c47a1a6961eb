//! Modules that misbehave in every way that `tests/guests/hostile` knows: what they try is stopped and named, and nobody else suffers.
#![allow(clippy::disallowed_methods, reason = "looks at what guests did to folders of its own")]

mod answers;
mod attempts;
mod calls;
mod compile_time;
mod conformance;
mod definitions;
mod exports;
mod held;
mod imports;
mod limits;
mod output;
mod policy;
mod races;
mod rights;
mod secrets;
mod stage;
mod together;
mod wit;
