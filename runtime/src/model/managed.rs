//! What a resource should be, whole: the desired state of its type, and for a type with providers the provider and its options.
//!
//! It is what the journal holds of an operation and what a run records, so that whoever takes either up later has all of it, and a change of
//! options is a change of what is desired.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::digest::ComponentDigest;
use super::ids::ProviderName;

/// A desired state with its provider. It has no debug output: all of it is values.
#[derive(Clone, PartialEq)]
pub struct Managed {
    /// The type's desired state.
    pub desired: Json,
    /// For types with providers.
    pub backend: Option<ManagedBackend>,
}

/// The provider that brings it about.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManagedBackend {
    /// Its name.
    pub provider: ProviderName,
    /// Its component.
    pub component: ComponentDigest,
    /// The schema version of `options`.
    pub schema_version: u32,
    /// Its options.
    pub options: Json,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope {
    backend: ManagedBackend,
    desired: Json,
}

impl Managed {
    /// As it is recorded: the desired state itself, or an object of `backend` and `desired`.
    ///
    /// # Panics
    /// Never: names, digests, numbers and JSON have a JSON form.
    pub fn json(&self) -> Json {
        match &self.backend {
            None => self.desired.clone(),
            Some(backend) => {
                let backend = serde_json::to_value(backend).expect("it is plain data");
                json!({ "backend": backend, "desired": self.desired })
            }
        }
    }

    /// From what was recorded of a type that has providers, or has none.
    ///
    /// # Errors
    /// In words that quote no value, if it was recorded otherwise.
    pub fn read(recorded: Json, has_providers: bool) -> Result<Self, String> {
        if !has_providers {
            return Ok(Self { desired: recorded, backend: None });
        }
        let envelope = serde_json::from_value::<Envelope>(recorded);
        let Envelope { backend, desired } = envelope.map_err(|_| "it was recorded without a provider".to_owned())?;
        Ok(Self { desired, backend: Some(backend) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_reads_back() {
        let backend = ManagedBackend {
            provider: "apt".parse().unwrap(),
            component: ComponentDigest::from_bytes([7; 32]),
            schema_version: 2,
            options: json!({"a": 1}),
        };
        let managed = Managed { desired: json!({"name": "nginx"}), backend: Some(backend) };
        assert!(Managed::read(managed.json(), true) == Ok(managed.clone()));
        let plain = Managed { backend: None, ..managed.clone() };
        assert!(plain.json() == json!({"name": "nginx"}) && Managed::read(plain.json(), false) == Ok(plain));
        assert!(Managed::read(json!({"name": "nginx"}), true).is_err(), "an older version's, without a provider");
        assert!(Managed::read(managed.json(), false) != Ok(managed));
    }
}
