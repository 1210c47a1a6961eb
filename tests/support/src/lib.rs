//! Placeholder.

pub mod guests;
