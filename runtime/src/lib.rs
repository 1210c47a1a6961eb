//! Manages a machine by declared state, with resource types that are sandboxed WebAssembly components.
//!
//! Steps, in the order in which a run takes them; only [`run`] and [`cli`] know that order.

/// The nouns that steps share: data only.
pub mod model;

/// Intents on disk before a change, settlements after it.
pub mod journal;

/// What the node remembers between runs: the one place that opens the database.
pub mod store;
