//! Which resource of the run changes which object, by what the object is.
//!
//! Claims are compared as text before the run. Two texts may still name one object, through a symbolic link or a bind mount in
//! a parent; this is where that is found out, before the second change.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::identity::FolderIdentity;

/// The objects that the run has changed or is about to.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    held: Mutex<HashMap<(FolderIdentity, Vec<u8>), Holder>>,
}

/// Who holds an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The resource, `file.motd`.
    pub resource: String,
    /// The path under which it declared the object.
    pub path: Vec<u8>,
}

impl Registry {
    /// Holds the object `name` in `folder`. Two resources that declare the same path were judged by their claims; two that
    /// reach one object by different paths are not let through.
    ///
    /// # Errors
    /// The holder that was first.
    pub(crate) fn hold(&self, folder: FolderIdentity, name: &[u8], holder: Holder) -> Result<(), Holder> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let first = held.entry((folder, name.to_vec())).or_insert_with(|| holder.clone());
        if first.resource == holder.resource || first.path == holder.path { Ok(()) } else { Err(first.clone()) }
    }
}
