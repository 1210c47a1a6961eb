//! Files on a real file system: each sentence of the WIT that the kernel has a say in.

mod change;
mod confine;
mod destination;
mod diff;
mod extended;
mod faults;
mod keep;
mod limits;
mod links;
mod observe;
mod parents;
mod race;
mod remove;
mod secret;
mod storm;

use std::sync::Arc;

use crate::rights::Rights;
use crate::testing::{Attempt, TestAssets, attempt_on, digest_of};

/// An attempt with these rights, where the bundle has one asset more.
fn with_sensitive(rights: Rights, asset: &[u8]) -> Attempt {
    let attempt = Attempt::new();
    let assets = TestAssets([(digest_of(asset), asset.to_vec())].into());
    let context = attempt_on(attempt.context.node().clone(), rights, Arc::new(assets), attempt.gate.clone());
    Attempt { context, gate: attempt.gate, folder: attempt.folder }
}
