//! The step that converges: every resource at its turn, each change with an intent on disk before it.
//!
//! In noop the same walk ends each turn after the check. It does not decide what a resource should be (that is plan) nor how a
//! report looks (that is report).

mod deliveries;
mod gate;
mod group;
mod health;
mod recover;
mod run;
mod schedule;
mod seen;
mod stamps;
mod subscriptions;
mod turn;
mod verdict;
mod walk;

use crate::model::ids::ResourceId;
use crate::model::report::{Action, ResourceReport};

pub use deliveries::Deliveries;
pub use recover::{Modules, Recovery, Unresolved, recover};
pub use run::Run;
pub use stamps::Stamps;
pub use subscriptions::Subscriptions;
pub use walk::{Pace, walk};

/// Told of each resource as its turn begins and as it ends, in the order in which they do.
pub trait Observer: Send + Sync {
    /// The walk begins over `total` resources.
    fn begun(&self, total: usize);

    /// A resource has its turn. One that ended before its turn never has one.
    fn started(&self, _: &ResourceId) {}

    /// A resource has ended.
    fn resource(&self, report: &ResourceReport);
}

fn journal_action(action: Action) -> crate::journal::Action {
    use crate::journal::Action as Journal;
    match action {
        Action::Create => Journal::Create,
        Action::Replace => Journal::Replace,
        Action::Delete => Journal::Delete,
        Action::Update | Action::Unchanged | Action::Skip => Journal::Update,
    }
}
