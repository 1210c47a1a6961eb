//! Whether the sensitive values of a resource are those of its last run, without any of them on record.

use std::sync::Arc;

use crate::plan::{Ready, RunSecrets};
use crate::store::StampKey;

/// Makes the stamps of one run.
pub struct Stamps {
    /// None in a noop on a node that has none, where no stamp can be right.
    pub key: Option<StampKey>,
    /// The sensitive values of the run.
    pub secrets: Arc<RunSecrets>,
}

impl Stamps {
    /// The stamp of the values that `ready` names; none if it names none.
    pub(super) fn of(&self, ready: &Ready) -> Option<String> {
        if ready.secrets.is_empty() {
            return None;
        }
        let values = ready.secrets.iter().map(|slot| (slot, self.secrets.slot(slot)));
        // Without a key it is one that no record has.
        Some(self.key.as_ref().map(|key| key.stamp(values)).unwrap_or_default())
    }
}
