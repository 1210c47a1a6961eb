//! Sensitive values as data: kept where only the host looks, redacted wherever they could be shown, and wiped when they go.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;
use zeroize::Zeroizing;

use super::canonical::CanonicalJson;
use super::expression::{Expression, Kind};
use super::ids::SecretSlot;

/// The key of the object that stands in a sensitive value's place: `{"$secret":"SLOT"}`.
pub const SECRET_KEY: &str = "$secret";

/// A sensitive value, as canonical JSON. Clones share it; the last one wipes it. Its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(Arc<Zeroizing<String>>);

impl SecretValue {
    /// A value of the language.
    ///
    /// # Panics
    /// Never for values of the language: they hold no number that JSON cannot.
    pub fn of(json: &Json) -> Self {
        let text = serde_jcs::to_string(json).expect("a value of the language has a JSON form");
        Self(Arc::new(Zeroizing::new(text)))
    }

    /// The value.
    ///
    /// # Panics
    /// Never: it was made of JSON.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.0).expect("it was made of JSON")
    }

    /// Its canonical JSON. For the one place that it is written to.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// What a file gets of it: its bytes, if it is text.
    pub fn content(&self) -> Option<Zeroizing<Vec<u8>>> {
        match self.json() {
            Json::String(text) => Some(Zeroizing::new(text.into_bytes())),
            _ => None,
        }
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue(not shown)")
    }
}

/// Sensitive values by slot.
pub type Secrets = BTreeMap<SecretSlot, SecretValue>;

/// What stands in a sensitive value's place.
pub fn placeholder(slot: &SecretSlot) -> Json {
    serde_json::json!({ SECRET_KEY: slot })
}

/// The slot that `json` names, if it stands for a sensitive value.
///
/// # Errors
/// If it has the reserved key and is no such object.
pub fn slot_of(json: &Json) -> Result<Option<SecretSlot>, ReservedKey> {
    let Some(members) = json.as_object().filter(|members| members.contains_key(SECRET_KEY)) else { return Ok(None) };
    let slot = members.get(SECRET_KEY).filter(|_| members.len() == 1).and_then(Json::as_str);
    slot.and_then(|slot| slot.parse().ok()).map(Some).ok_or(ReservedKey)
}

/// An object has the key `$secret` and does not stand for a sensitive value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the key `$secret` is reserved: it stands for sensitive values, as `{{\"$secret\":\"SLOT\"}}`")]
pub struct ReservedKey;

/// Adds every slot that `json` names to `slots`.
///
/// # Errors
/// If the reserved key is used otherwise.
pub fn add_slots(json: &Json, slots: &mut BTreeSet<SecretSlot>) -> Result<(), ReservedKey> {
    if let Some(slot) = slot_of(json)? {
        slots.insert(slot);
        return Ok(());
    }
    match json {
        Json::Array(items) => items.iter().try_for_each(|item| add_slots(item, slots)),
        Json::Object(members) => members.values().try_for_each(|member| add_slots(member, slots)),
        _ => Ok(()),
    }
}

/// The same of a value that is kept as text, most of which name none.
///
/// # Errors
/// As [`add_slots`].
pub fn add_slots_of_text(json: &CanonicalJson, slots: &mut BTreeSet<SecretSlot>) -> Result<(), ReservedKey> {
    // The canonical text of the key has nothing escaped in it.
    if json.text().contains(SECRET_KEY) { add_slots(&json.json(), slots) } else { Ok(()) }
}

/// What an expression of a catalog reads of secrets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SecretReads<'e> {
    /// Slots of the bundle's layer.
    pub slots: BTreeSet<&'e SecretSlot>,
    /// First arguments of `secret()`; none for one that is not a constant, which no catalog may have.
    pub names: BTreeSet<Option<&'e str>>,
}

impl<'e> SecretReads<'e> {
    /// Adds what `expression` reads.
    pub fn add(&mut self, expression: &'e Expression) {
        expression.walk(&mut |part| match &part.kind {
            Kind::Secret(slot) => {
                self.slots.insert(slot);
            }
            Kind::Call { name, arguments, .. } if name == SECRET_FUNCTION => {
                self.names.insert(constant(arguments));
            }
            _ => {}
        });
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty() && self.names.is_empty()
    }
}

/// The function that reads a secret of the node.
pub const SECRET_FUNCTION: &str = "secret";

fn constant(arguments: &[Expression]) -> Option<&str> {
    match arguments {
        [Expression { kind: Kind::Literal(Json::String(name)), .. }] => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_shows_a_value() {
        let value = SecretValue::of(&json!({"a": "hunter2"}));
        assert_eq!(format!("{value:?}"), "SecretValue(not shown)");
        assert_eq!((value.json(), value.content()), (json!({"a": "hunter2"}), None));
        assert_eq!(SecretValue::of(&json!("x")).content().unwrap().as_slice(), b"x");
    }

    #[test]
    fn slots_are_found_wherever_they_stand_and_the_key_means_nothing_else() {
        let mut slots = BTreeSet::new();
        add_slots(&json!({"a": [{"$secret": "file.a/x"}], "b": "$secret"}), &mut slots).unwrap();
        assert_eq!(slots.len(), 1);
        for bad in [json!({"$secret": 1}), json!([{"$secret": "a", "b": 1}]), json!({"x": {"$secret": "a b"}})] {
            assert_eq!(add_slots(&bad, &mut slots), Err(ReservedKey), "{bad}");
        }
    }
}
