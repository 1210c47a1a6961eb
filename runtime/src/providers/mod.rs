//! Tool: what steps on both sides need to know of providers.
//!
//! [`select()`] says which one serves a resource on a node, from data alone; [`NoOptions`] stands for an options block that is not there. Neither runs
//! a provider, and nothing here knows a provider or a type by name.

mod options;
mod select;

pub use options::{NoOptions, missing_option};
pub use select::{Excluded, Exclusion, NoSelection, NodeIdentity, Statement, candidates_of, select};
