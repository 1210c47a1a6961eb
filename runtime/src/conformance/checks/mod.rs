//! The rules, by what they are about. Each is tried on declarations that the module accepts.

pub(super) mod assets;

pub(super) mod describe;

pub(super) mod ensure;

pub(super) mod messages;

pub(super) mod omitted;

pub(super) mod purity;

pub(super) mod relationships;

pub(super) mod selectors;

pub(super) mod validate;

pub(super) mod view;
