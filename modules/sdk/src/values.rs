//! Values that occur in desired and observed states: sensitive ones, assets, bytes.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{AssetRef, ResourceId};

/// The key of the object that stands in a sensitive value's place.
const SECRET: &str = "$secret";

/// The slot that `value` names, if it stands for a sensitive value.
pub fn secret_slot(value: &Value) -> Option<&str> {
    match value.as_object() {
        Some(fields) if fields.len() == 1 => fields.get(SECRET)?.as_str(),
        _ => None,
    }
}

/// A value that may be sensitive. A sensitive one is never here: the host keeps it and resolves its slot inside host calls. `Debug` shows the
/// slot, and of a plain value only that there is one: whoever writes the manifest may hold it for a secret that the language does not know of.
#[derive(Clone, PartialEq, Eq)]
pub enum Sensitive<T> {
    /// An ordinary value.
    Plain(T),
    /// The slot of a sensitive value.
    Slot(String),
}

impl<T> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(_) => f.write_str("Plain(..)"),
            Self::Slot(slot) => f.debug_tuple("Slot").field(slot).finish(),
        }
    }
}

impl<T: Serialize> Serialize for Sensitive<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Plain(value) => value.serialize(serializer),
            Self::Slot(slot) => json!({ SECRET: slot }).serialize(serializer),
        }
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Sensitive<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match secret_slot(&value) {
            Some(slot) => Ok(Self::Slot(slot.to_owned())),
            // The text of serde quotes values.
            None => T::deserialize(value).map(Self::Plain).map_err(|_| D::Error::custom("a value of another type")),
        }
    }
}

/// As text: `TYPE.NAME`.
impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.type_name, self.name)
    }
}

impl FromStr for ResourceId {
    type Err = NotAnAddress;

    fn from_str(text: &str) -> Result<Self, NotAnAddress> {
        match text.split_once('.') {
            Some((type_name, name)) if !type_name.is_empty() && !name.is_empty() => {
                Ok(Self { type_name: type_name.into(), name: name.into() })
            }
            _ => Err(NotAnAddress),
        }
    }
}

/// A text that is not `TYPE.NAME`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is not the address of a resource: `TYPE.NAME`")]
pub struct NotAnAddress;

impl Serialize for ResourceId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ResourceId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// The name of an asset in a desired state, empty until [`assign_asset`](crate::Definition::assign_asset) puts it in.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Asset(String);

impl Asset {
    /// The placeholder that `compile` leaves.
    pub fn pending() -> Self {
        Self::default()
    }

    /// Puts the name in.
    pub fn assign(&mut self, asset: AssetRef) {
        self.0 = asset;
    }

    /// The name; none if it is still pending or names no asset.
    pub fn name(&self) -> Option<&str> {
        is_asset_ref(&self.0).then_some(self.0.as_str())
    }
}

/// Whether the text names an asset: a digest, or `secret:` and a slot.
pub fn is_asset_ref(text: &str) -> bool {
    is_digest(text) || text.strip_prefix("secret:").is_some_and(|slot| !slot.is_empty())
}

/// Whether the text is `sha256:` and 64 lower-case hex digits.
pub fn is_digest(text: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hex))
}

/// Bytes that are usually text, such as where a link points. As JSON: a string where they are UTF-8, else `{"$bytes":"BASE64"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => json!({ "$bytes": STANDARD.encode(&self.0) }).serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensitive_values_are_slots() {
        let slot: Sensitive<String> = serde_json::from_str(r#"{"$secret":"s0"}"#).unwrap();
        assert_eq!(slot, Sensitive::Slot("s0".into()));
        assert_eq!(serde_json::to_string(&slot).unwrap(), r#"{"$secret":"s0"}"#);
        let plain: Sensitive<String> = serde_json::from_str(r#""x""#).unwrap();
        assert_eq!(plain, Sensitive::Plain("x".into()));
        assert!(serde_json::from_str::<Sensitive<String>>(r#"{"$secret":"s0","a":1}"#).is_err());
    }

    #[test]
    fn debug_shows_no_value() {
        #[derive(Debug)]
        #[expect(dead_code, reason = "only its `Debug` is looked at")]
        struct Desired {
            password: Sensitive<String>,
        }
        let debug = |password| format!("{:?}", Desired { password });
        assert_eq!(debug(Sensitive::Plain("hunter2".into())), "Desired { password: Plain(..) }");
        assert_eq!(debug(Sensitive::Slot("user.web/password".into())), r#"Desired { password: Slot("user.web/password") }"#);
        let error = serde_json::from_str::<Sensitive<u8>>(r#""hunter2""#).unwrap_err().to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }

    #[test]
    fn an_address_is_type_and_name() {
        let id: ResourceId = serde_json::from_str(r#""file.motd""#).unwrap();
        assert_eq!((id.type_name.as_str(), id.name.as_str()), ("file", "motd"));
        assert_eq!(serde_json::to_string(&id).unwrap(), r#""file.motd""#);
        assert!(["file", ".motd", "file.", ""].iter().all(|text| text.parse::<ResourceId>().is_err()));
    }

    #[test]
    fn an_asset_has_a_name_once_assigned() {
        let mut asset = Asset::pending();
        assert_eq!(asset.name(), None);
        asset.assign(format!("sha256:{}", "0a".repeat(32)));
        assert!(asset.name().is_some());
        asset.assign("secret:file.motd/content".to_owned());
        assert_eq!(asset.name(), Some("secret:file.motd/content"));
        asset.assign("secret:".to_owned());
        assert_eq!(asset.name(), None);
        for wrong in ["sha256:", &format!("sha256:{}", "0A".repeat(32)), &"0a".repeat(32), &format!("sha512:{}", "0a".repeat(32))]
        {
            assert!(!is_digest(wrong), "{wrong}");
        }
    }

    #[test]
    fn bytes_are_text_where_they_can_be() {
        assert_eq!(serde_json::to_string(&Bytes(b"/etc".to_vec())).unwrap(), r#""/etc""#);
        assert_eq!(serde_json::to_string(&Bytes(vec![b'/', 0xff])).unwrap(), r#"{"$bytes":"L/8="}"#);
    }
}
