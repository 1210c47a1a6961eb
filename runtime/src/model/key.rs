//! Byte strings that are usually text: keys of claims, paths.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The bytes of a claim's key or of a path. As JSON it is a string where it is UTF-8, else `{"$bytes":"BASE64"}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Key(pub Vec<u8>);

impl Key {
    /// The key as text for people, with what is not text or is a control or bidi character escaped.
    pub fn display(&self) -> String {
        String::from_utf8_lossy(&self.0)
            .chars()
            .flat_map(|c| if needs_escape(c) { c.escape_unicode().collect::<Vec<_>>() } else { vec![c] })
            .collect()
    }
}

/// Whether `c` could mislead a reader of a terminal or a log: control characters, line and paragraph separators, bidi controls.
pub fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// `text` with every character of [`needs_escape`] written as `\u{…}`.
pub fn escape(text: &str) -> String {
    Key(text.as_bytes().to_vec()).display()
}

impl From<&str> for Key {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.display())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes(Bytes),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bytes {
    #[serde(rename = "$bytes")]
    bytes: String,
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Bytes { bytes: STANDARD.encode(&self.0) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(Self(text.into_bytes())),
            Form::Bytes(form) => {
                let bytes = STANDARD.decode(&form.bytes).map_err(D::Error::custom)?;
                if std::str::from_utf8(&bytes).is_ok() {
                    return Err(D::Error::custom("`$bytes` holds text: write it as a string"));
                }
                Ok(Self(bytes))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_json_form_for_each_key() {
        let text = serde_json::to_string(&Key::from("/etc/motd")).unwrap();
        assert_eq!(text, r#""/etc/motd""#);
        let bytes = Key(vec![b'/', 0xff]);
        let json = serde_json::to_string(&bytes).unwrap();
        assert_eq!(json, r#"{"$bytes":"L/8="}"#);
        assert_eq!(serde_json::from_str::<Key>(&json).unwrap(), bytes);
        assert!(serde_json::from_str::<Key>(r#"{"$bytes":"Lw=="}"#).is_err(), "text in the bytes form is refused");
    }

    #[test]
    fn display_escapes_what_misleads() {
        assert_eq!(Key::from("/a\u{1b}[0m\n\u{202e}b").display(), "/a\\u{1b}[0m\\u{a}\\u{202e}b");
    }
}
