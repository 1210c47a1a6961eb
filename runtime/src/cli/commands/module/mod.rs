//! `runtime module`: for authors of resource types.

pub(super) mod build;
pub(super) mod inspect;
pub(super) mod new;
