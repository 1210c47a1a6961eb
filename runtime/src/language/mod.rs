//! The expression language: from HCL text to trees, and from trees to values.
//!
//! A tool that `manifest/`, `compile/` and `apply/` use. It knows nothing of blocks or resource types, opens no file (the caller gives it
//! [`evaluate::Scope`]), and prints nothing. docs/reference/language.md is its manual.

pub mod diagnostic;
pub mod evaluate;
pub mod functions;
pub mod names;
pub mod number;
pub mod parse;
pub mod slots;
pub mod source;
pub mod suggest;
pub mod value;

mod lower;
mod marks;
mod members;
mod node;
mod references;
mod templates;

pub use self::lower::{Lowering, address_hint};
pub use self::node::{NodeError, NodeScope, Settled, TravelError, check_travelled, evaluate_on_node};
