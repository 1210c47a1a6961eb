//! What the resource type `package` and its providers share: the shapes that pass between them, and what every provider does alike with
//! the host interface `packages`.
//!
//! A provider of its own kind needs the shapes alone. Those that work with a manager that the host knows are each a [`Provider`] of what is their
//! own ([`Native`]); what it does on the node is [`Working`]. No comparison and no policy about held packages is here: these are the type's.

pub mod cannot;
mod desired;
mod native;
mod observation;
mod options;
mod plan;
mod source;
mod working;

pub use desired::{ConfigurationFiles, Desired, Ensure, WhenHeld, check_name};
pub use native::{Native, Provider};
pub use observation::{Observation, Order, State};
pub use options::{Offers, Options};
pub use plan::{Step, steps};
pub use working::{Working, capabilities, perform, recover};

/// The key of the shared action that fetches a manager's index.
pub const REFRESH_INDEX: &str = "package.refresh_index.v1";
