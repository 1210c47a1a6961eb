//! A resource type that has one of everything that a definition can have, and behaves. README.md says what it does.

mod definition;

mod description;

mod desired;

mod lifecycle;

pub use desired::{Desired, Ensure, Retry, Rule, Vhost};

/// The component.
pub struct Sampler;

runtime_sdk::export_component!(Sampler);
