//! What a component may do to the node: the only code that changes it.
//!
//! Every host function builds a [`call::HostCall`], which one function, [`authorize::authorize`], holds against what the module
//! asks for, what policy grants, what the resource declared and the phase, before anything is looked at. Each interface is a
//! folder with `mod.rs` (what it is), `host.rs` (the generated traits) and `policy.rs` (what may be asked).
//!
//! To add an interface: its WIT file, a folder here, a variant in `HostCall` for each function, and a line in [`linker`]. A test walks
//! the WIT and fails for a function without a variant.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make the files that they are about"))]

pub mod grant;

pub mod objects;

pub mod effects;

pub mod rights;

pub mod phase;

pub mod gate;

pub mod call;

pub mod authorize;

pub mod audit;

pub mod error;

pub mod digest;

pub mod text;

pub mod node;

pub mod context;

pub mod bindings;

mod convert;

pub mod linker;

#[cfg(test)]
pub(crate) mod testing;

pub mod files;

pub mod assets;

pub mod accounts;

pub mod processes;

pub mod facts;

pub mod openrc;

pub mod systemd;

pub mod packages;

pub mod log;

pub mod backends;

pub use context::{HostContext, HostView};
pub use linker::add_to_linker;
pub use node::Node;
pub use phase::Phase;
