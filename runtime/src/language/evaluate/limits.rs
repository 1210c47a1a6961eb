//! What evaluation may cost.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number of steps that evaluations share. A step is one node of an expression, or 64 bytes of a value that is made; a byte that a regular
/// expression searches is one too.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
    given: u64,
}

impl Budget {
    /// What a whole manifest may cost on the controller: seconds, not minutes.
    pub const MANIFEST: u64 = 10_000_000;

    /// What one expression may cost on the node.
    pub const NODE: u64 = 5_000_000;

    /// A budget of that many steps.
    pub fn new(steps: u64) -> Self {
        Self { left: AtomicU64::new(steps), given: steps }
    }

    /// Takes steps from it.
    ///
    /// # Errors
    /// With a message once it is used up.
    pub fn spend(&self, steps: u64) -> Result<(), String> {
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(steps));
        taken.map(|_| ()).map_err(|_| format!("evaluation takes more than {} steps", self.given))
    }
}
