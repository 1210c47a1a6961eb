//! Files, directories and symbolic links of the node.
//!
//! A guest gets handles on places (a parent directory and a name in it). A place is resolved anew for each call, and what a change
//! replaces is compared with what the handle last observed. Every change is complete before it is visible: it is made under the staging
//! name beside its place, and put there by one rename. A file that is replaced leaves its extended attributes and access list to the new one.

mod attributes;
mod copy;
pub mod diff;
mod directory;
mod extended;
mod host;
mod keep;
mod object;
mod observe;
pub mod path;
mod pattern;
mod place;
pub mod policy;
mod proc_link;
mod remove;
mod stage;
mod swap;
mod symlink;
mod tree;
mod validate;

#[cfg(test)]
mod tests;

pub use object::{ContentName, Kind, Object, Observation};
pub use stage::Staged;

/// How much is read or written between two looks at the deadline, in bytes.
pub(crate) const CHUNK: usize = 256 * 1024;

/// The most that one `read` gives, in bytes.
pub const MAX_READ: u32 = 1024 * 1024;

/// The most that `content.inline` holds, in bytes.
pub const MAX_INLINE: usize = 1024 * 1024;
