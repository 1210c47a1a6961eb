//! What the resource type `package` and its providers share: the shapes that pass between them, and what every provider does alike with
//! the host interface `packages`.
//!
//! A provider of its own kind needs the shapes alone. Those that work with a manager that the host knows are made of [`Working`]: they
//! differ in their manager, their options and the systems that they serve. No comparison and no policy about held packages is here:
//! these are the type's.

mod desired;
mod observation;
mod plan;
mod source;
mod working;

pub use desired::{ConfigurationFiles, Desired, Ensure, WhenHeld, check_name};
pub use observation::{Observation, Order, State};
pub use plan::{Step, steps};
pub use source::{Source, SourceError};
pub use working::{Working, capabilities, perform, recover};

/// The key of the shared action that fetches a manager's index.
pub const REFRESH_INDEX: &str = "package.refresh_index.v1";
