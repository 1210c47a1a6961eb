//! Manages a machine by declared state, with resource types that are sandboxed WebAssembly components.
//!
//! Steps come first, in the order in which a run takes them; only `run` and `cli` know that order. Tools that steps call follow.

/// The nouns that steps share: data only.
pub mod model;

/// What a person writes, read and evaluated.
pub mod manifest;

/// One file that holds a catalog, its components and its assets.
pub mod bundle;

/// Runs components within their limits; the one place, beside host-functions, that knows wasmtime.
pub mod engine;

/// Intents on disk before a change, settlements after it.
pub mod journal;

/// What the node remembers between runs: the one place that opens the database.
pub mod store;

/// The node owner's rules: which modules may run, and what they may do.
pub mod policy;

/// The components that the program was built with.
pub mod builtins;

/// The expression language, on the controller and on the node.
pub mod language;
