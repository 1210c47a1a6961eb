//! What the resource type `service` and its providers share: the shapes that pass between them, and the order of what is done.
//!
//! A provider reads an [`Observation`] and takes [`Step`]s one by one; which steps and in which order is the same for all of them. No
//! comparison is here: what counts as a difference is the type's to say.

mod desired;
mod name;
mod observation;
mod steps;
mod unit_files;

pub use desired::{Desired, Ensure, OnRefresh};
pub use name::ServiceName;
pub use observation::{Activity, Boot, Identity, Mask, Observation};
pub use steps::{Step, converge, refresh, steps};
pub use unit_files::{UNIT_FOLDERS, is_unit_file};

/// The key of the shared action that has systemd read the files of all units again.
pub const DAEMON_RELOAD: &str = "systemd.daemon_reload.v1";
