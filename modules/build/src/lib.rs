//! Builds guest crates into WebAssembly components, the same bytes from any folder.
//!
//! For build scripts (the components that the program embeds, the guests of the tests), for `runtime module build` and for
//! `cargo xtask setup`. In the order in which it is used: an [`Environment`] says what the caller's variables are, a
//! [`Toolchain`] is found in it, [`build`] runs cargo once for all guests and makes each core module a component.
//!
//! It deliberately does not look into a component beyond its imports and exports: what a resource type must be is the
//! engine's business. It never installs anything outside [`prepare()`], prints nothing itself, and reads no variable of the
//! process: cargo's own messages go to the standard error of the caller.
#![allow(
    clippy::disallowed_methods,
    reason = "runs compilers and reads what they wrote: it works on a developer's folders, never on a node"
)]

pub use embed::{EmbedError, Names, NamesError, embed, given};
pub use encode::{EncodeError, Interfaces, interfaces, to_component};
pub use environment::Environment;
pub use guests::{BuildError, Component, Guests, build, build_crate};
pub use prepare::{PrepareError, prepare};
pub use script::{Script, ScriptError, explain, nested_target_folder};
pub use toolchain::{FORCE_VARIABLE, Target, Toolchain, ToolchainError, Way};

mod embed;
mod encode;
mod environment;
mod guests;
mod prepare;
mod script;
mod toolchain;
