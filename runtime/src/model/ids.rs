//! Names and identifiers, each parsed once at the edge. They are cloned wherever something is told of a resource, so clones share their text.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A name that breaks the grammar of its kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a valid {kind}: {rule}", found.escape_debug())]
pub struct NameError {
    /// What kind of name was wanted.
    pub kind: &'static str,
    /// The grammar, for people.
    pub rule: &'static str,
    /// The text that was given, cut to 80 characters.
    pub found: String,
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $rule:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                let check: fn(&str) -> bool = $check;
                if check(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(NameError { kind: $kind, rule: $rule, found: text.chars().take(80).collect() })
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    };
}

fn starts_lower(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
}

fn is_word(text: &str, more: &[u8]) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || more.contains(&byte))
}

name_type! {
    /// A resource type's name, and that of the module that serves it.
    TypeName, "resource type name", "lower-case letters, digits and `_`, starting with a letter, at most 63 bytes",
    |text| starts_lower(text) && text.len() <= 63 && is_word(text, b"") && !text.bytes().any(|b| b.is_ascii_uppercase())
}

name_type! {
    /// A provider's name, unique among those of its resource type, and that of its options block.
    ProviderName, "provider name", "lower-case letters, digits and `_`, starting with a letter, at most 63 bytes",
    |text| starts_lower(text) && text.len() <= 63 && is_word(text, b"") && !text.bytes().any(|b| b.is_ascii_uppercase())
}

name_type! {
    /// A resource's own name, unique within its type.
    ResourceName, "resource name", "letters, digits, `_`, `-`, `.` and `:`, starting with a letter, digit or `_`, at most 255 bytes",
    |text| !text.is_empty() && text.len() <= 255 && is_word(text, b"-.:") && !text.starts_with(['-', '.', ':'])
}

name_type! {
    /// The name of a manifest, which owns what its bundles manage on a node.
    OwnerName, "manifest name", "letters, digits, `_`, `-` and `.`, starting with a letter or digit, at most 127 bytes",
    |text| text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.len() <= 127 && is_word(text, b"-.")
}

name_type! {
    /// The place of a sensitive value in its catalog: `file.motd/content`.
    SecretSlot, "secret slot", "letters, digits, `_`, `-`, `.`, `:`, `/` and `#`, at most 512 bytes",
    |text| !text.is_empty() && text.len() <= 512 && is_word(text, b"-.:/#")
}

name_type! {
    /// The name of a secret that the node's owner keeps, and of its file.
    SecretName, "secret name", "letters, digits, `_`, `-` and `.`, starting with a letter, digit or `_`, at most 127 bytes",
    |text| !text.is_empty() && text.len() <= 127 && is_word(text, b"-.") && !text.starts_with(['-', '.'])
}

name_type! {
    /// A run's identifier: 32 lower-case hex digits, random.
    RunId, "run id", "32 lower-case hex digits",
    |text| text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl SecretSlot {
    /// The resource whose slot it is: what stands before the first `/`.
    pub fn resource(&self) -> Option<ResourceId> {
        self.0.split_once('/')?.0.parse().ok()
    }
}

/// A resource's address in its catalog, `file.motd`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId {
    /// The resource type.
    pub type_name: TypeName,
    /// The name within the type.
    pub name: ResourceName,
}

impl fmt::Display for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.type_name, self.name)
    }
}

impl fmt::Debug for ResourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ResourceId {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let (type_name, name) = text.split_once('.').ok_or_else(|| NameError {
            kind: "resource address",
            rule: "it must be TYPE.NAME",
            found: text.chars().take(80).collect(),
        })?;
        Ok(Self { type_name: type_name.parse()?, name: name.parse()? })
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_their_grammar() {
        for good in ["file", "nginx_vhost", "a1"] {
            assert!(good.parse::<TypeName>().is_ok(), "{good}");
        }
        for bad in ["", "File", "1a", "a-b", "ä", &"a".repeat(64)] {
            assert!(bad.parse::<TypeName>().is_err(), "{bad}");
        }
        for bad in ["", "-a", ".a", "a/b", "a b", "a\n"] {
            assert!(bad.parse::<ResourceName>().is_err(), "{bad}");
        }
        for bad in ["", ".", "..", "a/b", "-a", ".a", "a b", "a\0", &"a".repeat(128)] {
            assert!(bad.parse::<SecretName>().is_err(), "{bad}");
        }
        let slot = |text: &str| text.parse::<SecretSlot>().unwrap().resource().map(|id| id.to_string());
        assert_eq!(slot("file.a.b/content/0"), Some("file.a.b".into()));
        assert_eq!((slot("file.a"), slot("/content")), (None, None));
        assert_eq!("file.a.b".parse::<ResourceId>().unwrap().name.as_str(), "a.b");
        assert!("file".parse::<ResourceId>().is_err());
    }
}
