//! Manages a machine by declared state, with resource types that are sandboxed WebAssembly components.
//!
//! Steps, in the order in which a run takes them; only [`run`] and [`cli`] know that order.

/// The nouns that steps share: data only.
pub mod model;

/// The expression language.
pub mod language;

/// What a person writes.
pub mod manifest;
