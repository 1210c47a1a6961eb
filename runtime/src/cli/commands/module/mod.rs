//! `runtime module`: for authors of resource types.

pub(super) mod build;
pub(super) mod check;
pub(super) mod inspect;
pub(super) mod list;
pub(super) mod new;
pub(super) mod schema;
mod subject;
