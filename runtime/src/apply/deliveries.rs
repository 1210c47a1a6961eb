//! Shared actions of one run: each is delivered once for all who asked for it before it began.
//!
//! A check that began before a delivery may ask for what has just been done; then nothing is done, and the check is made again.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};

use tokio::sync::{Mutex, OwnedMutexGuard};

/// When each action was last begun, on a clock of deliveries.
#[derive(Debug, Default)]
pub struct Deliveries {
    clock: AtomicU64,
    last: SyncMutex<BTreeMap<String, Arc<Mutex<u64>>>>,
}

/// The right to deliver one action, which nobody else delivers meanwhile.
pub(super) struct Delivery<'d> {
    clock: &'d AtomicU64,
    last: OwnedMutexGuard<u64>,
}

impl Deliveries {
    /// A moment before a check.
    pub(super) fn now(&self) -> u64 {
        self.clock.load(Ordering::SeqCst)
    }

    /// Waits for who delivers `action` now. None if it was delivered since `checked`, so that who checked then has to check again.
    pub(super) async fn take(&self, action: &str, checked: u64) -> Option<Delivery<'_>> {
        let lock = {
            let mut all = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(action.to_owned()).or_default())
        };
        let last = lock.lock_owned().await;
        (*last <= checked).then_some(Delivery { clock: &self.clock, last })
    }
}

impl Delivery<'_> {
    /// It begins now: whoever checked before this moment is served by it.
    pub(super) fn begin(&mut self) {
        *self.last = self.clock.fetch_add(1, Ordering::SeqCst) + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_checked_before_a_delivery_is_served_by_it() {
        let deliveries = Deliveries::default();
        let (early, also_early) = (deliveries.now(), deliveries.now());
        let mut delivery = deliveries.take("reload", early).await.expect("the first delivers");
        delivery.begin();
        drop(delivery);
        assert!(deliveries.take("reload", also_early).await.is_none(), "it was done for this one too");
        assert!(deliveries.take("reload", deliveries.now()).await.is_some(), "a later check may need it again");
        assert!(deliveries.take("update", also_early).await.is_some(), "another action is another matter");
    }

    #[tokio::test]
    async fn what_was_taken_and_never_begun_is_still_to_be_delivered() {
        let deliveries = Deliveries::default();
        let checked = deliveries.now();
        drop(deliveries.take("reload", checked).await);
        assert!(deliveries.take("reload", checked).await.is_some());
    }
}
