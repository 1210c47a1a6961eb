//! A provider that misbehaves as its option `behaviour` says. It implements the contract itself, not by the SDK's traits, which would not let it
//! misbehave. README.md lists what it can do.

mod act;
#[path = "../../hostile/src/asks/parameters.rs"]
mod asks;
mod backend;
mod definition;

/// The component.
pub struct Shelf;

runtime_sdk::provider::bindings::export!(Shelf with_types_in runtime_sdk::provider::bindings);
