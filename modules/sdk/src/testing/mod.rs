//! Tests of a definition without WebAssembly: declarations from memory, held against the descriptors as the host does, and the agreements
//! that every definition must keep.
//!
//! Functions that check panic with the reason, as assertions do. What the node does is tested with the component itself.

mod agreement;

mod described;

mod description;

mod given;

mod peers;

use serde_json::Value;

use crate::{Definition, DefinitionResult, Digest, Footprint, Parameters};

pub use agreement::agree;
pub use description::check_description;
pub use given::Given;
pub use peers::{Peers, foreign};

use described::{Described, Reach};

/// The footprint, with only identity attributes to read, as the host has it.
///
/// # Errors
/// What the host refuses, or the definition.
pub fn footprint<T: Definition>(given: &Given) -> DefinitionResult<Footprint> {
    described::check::<T>(given)?;
    T::footprint(&Parameters::new(given.id(), &Described::of::<T>(given, Reach::Identity)))
}

/// The desired state, with a digest put in for every asset: the one that `digest` gives for a slot.
///
/// # Errors
/// What the host refuses (unknown attributes, both spellings of one, null where it may not be, values of another type), or the definition.
pub fn compile<T: Definition>(given: &Given, digest: impl Fn(&str) -> Digest) -> DefinitionResult<T::Desired> {
    described::check::<T>(given)?;
    let source = Described::of::<T>(given, Reach::All);
    let mut compiled = T::compile(&Parameters::new(given.id(), &source))?;
    for asset in &compiled.assets {
        T::assign_asset(&mut compiled.desired, &asset.slot, digest(&asset.slot))?;
    }
    Ok(compiled.desired)
}

/// The value of an exported attribute, by its name or an alias.
///
/// # Errors
/// What the host refuses, or the definition.
pub fn export<T: Definition>(attribute: &str, given: &Given) -> DefinitionResult<Value> {
    described::check::<T>(given)?;
    let source = Described::of::<T>(given, Reach::All);
    let name = T::attributes().iter().find(|it| it.spellings().any(|name| name == attribute)).map(|it| it.name().to_owned());
    T::resolve_export(name.as_deref().unwrap_or(attribute), &Parameters::new(given.id(), &source))
}

/// A digest for tests, made of the slot's name.
pub fn any_digest(slot: &str) -> Digest {
    let hex: String = slot.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex:0<64.64}")
}

#[cfg(test)]
mod tests;
