//! A resource type that misbehaves as its attribute `behaviour` says: `spin@compile`, `write-other@check`.
//!
//! Without a behaviour it is a modest type: it makes an empty file at `path` if nothing is there. It implements the contract itself, not by
//! the SDK's traits, which would not let it misbehave. README.md lists what it can do.

mod acts;

mod asks;

mod behaviour;

mod calls;

mod definition;

mod desired;

mod lifecycle;

mod outputs;

mod spoil;

mod storm;

mod wasi;

pub use behaviour::{Act, Behaviour, Place};

/// The component.
pub struct Hostile;

runtime_sdk::export_component!(Hostile);
