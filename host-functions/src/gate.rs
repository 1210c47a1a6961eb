//! The proof that a change may begin: an intent of this attempt, on disk and not yet settled.

/// Asked before every host call that changes the node. The journal implements it.
pub trait IntentGate: Send + Sync {
    /// Whether an intent for this attempt is durable and open at this moment.
    fn is_open(&self) -> bool;
}

/// The gate of an attempt without an intent, as in noop: always shut.
#[derive(Debug, Clone, Copy, Default)]
pub struct Shut;

impl IntentGate for Shut {
    fn is_open(&self) -> bool {
        false
    }
}
