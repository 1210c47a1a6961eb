//! Resources whose values wait for the outputs of others: they are settled at their turn, as the rest is in admission.

use std::sync::Arc;

use host_functions::Node;

use super::inspect::Inspection;
use super::ready::ready;
use super::resolve::{self, Settled};
use super::sources::Sources;
use super::{Groups, Ready, RunAssets};
use crate::engine::on_large_stack;
use crate::model::ids::ResourceId;
use crate::model::report::ResourceReport;

/// A resource that waits. Its claims, effects and order are those of the catalog.
pub struct Waiting {
    /// Its address.
    pub id: ResourceId,
    place: usize,
    settler: Arc<Settler>,
}

/// What settling at a turn works with.
pub(super) struct Settler {
    pub(super) sources: Arc<Sources>,
    pub(super) node: Arc<Node>,
    pub(super) assets: Arc<RunAssets>,
    pub(super) groups: Groups,
}

impl Waiting {
    pub(super) fn new(settler: &Arc<Settler>, place: usize) -> Self {
        Self { id: settler.sources.catalog.resources[place].id.clone(), place, settler: Arc::clone(settler) }
    }

    /// Settles it with what the others have put out: gate, values, and what the module says about the node. Runs definitions and an
    /// inspection, so it blocks.
    ///
    /// # Errors
    /// With the report of a resource that has thereby ended.
    pub async fn settle(&self) -> Result<Box<Ready>, Box<ResourceReport>> {
        let Settler { sources, node, assets, groups } = &*self.settler;
        let resource = &sources.catalog.resources[self.place];
        let (settled, made) = on_large_stack(|| resolve::settle_one(sources, resource));
        let state = match settled {
            Settled::Known(state) => state,
            Settled::Ended(report) => return Err(report),
            Settled::Waiting(unread) => return Err(unread.report(resource)),
        };
        assets.add(made);
        let mut ready = Box::new(ready(sources, self.place, *state)?);
        Inspection { node, assets, groups }.late(&mut ready).await?;
        Ok(ready)
    }
}
