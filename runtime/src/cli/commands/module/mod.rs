//! `runtime module`: for authors of resource types.

pub(super) mod inspect;
