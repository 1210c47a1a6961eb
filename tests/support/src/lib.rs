//! What whole-system tests share: scratch nodes, guests, and ways to look at what a run left.

mod command_output;
pub mod guests;
pub mod ledger;
pub mod scene;
mod test_node;
pub mod tree;

pub use command_output::CommandOutput;
pub use ledger::Ledger;
pub use scene::Scene;
pub use test_node::TestNode;
pub use tree::Tree;
