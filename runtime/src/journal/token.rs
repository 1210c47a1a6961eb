//! Proof that an intent is on disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::staging::StagingName;
use super::status::IntentId;
use crate::model::ids::ResourceId;

/// Proves that an intent is on disk and not yet settled. Only the journal makes one, after its commit, and settling takes it
/// back, so a run cannot settle an intent twice.
///
/// Dropped without being settled it shuts its witnesses; the intent stays open on disk.
#[must_use = "an intent that is not settled stays open and blocks its resource"]
#[derive(Debug)]
pub struct IntentToken {
    intent: IntentId,
    resource: ResourceId,
    staging_name: StagingName,
    open: Arc<AtomicBool>,
}

impl IntentToken {
    pub(super) fn new(intent: IntentId, resource: ResourceId, staging_name: StagingName) -> Self {
        Self { intent, resource, staging_name, open: Arc::new(AtomicBool::new(true)) }
    }

    /// Its intent.
    pub fn intent(&self) -> IntentId {
        self.intent
    }

    /// What the intent is about.
    pub fn resource(&self) -> &ResourceId {
        &self.resource
    }

    /// Where its change stages.
    pub fn staging_name(&self) -> &StagingName {
        &self.staging_name
    }

    /// Whether changes may still be made: as long as this value lives.
    pub fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// A witness for those who make the change.
    pub fn witness(&self) -> IntentWitness {
        IntentWitness(Arc::clone(&self.open))
    }
}

impl Drop for IntentToken {
    fn drop(&mut self) {
        self.open.store(false, Ordering::Release);
    }
}

/// Tells whether an intent is open, without holding it.
#[derive(Debug, Clone)]
pub struct IntentWitness(Arc<AtomicBool>);

impl IntentWitness {
    /// Whether changes may still be made under its intent.
    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
