//! Permission bits that new files do not get, as octal digits.

use std::fmt;

use runtime_sdk::{AttributeType, Diagnostic, Type, Value};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// 0 to 0o777. As JSON: four octal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Umask(pub u32);

impl Umask {
    fn parse(text: &str) -> Option<Self> {
        let is_octal = (1..=4).contains(&text.len()) && text.bytes().all(|digit| (b'0'..=b'7').contains(&digit));
        u32::from_str_radix(text, 8).ok().filter(|bits| is_octal && *bits <= 0o777).map(Self)
    }
}

impl fmt::Display for Umask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

impl AttributeType for Umask {
    fn attribute_type() -> Type {
        Type::String
    }

    fn from_value(attribute: &str, value: Value) -> Result<Self, Diagnostic> {
        let text = String::from_value(attribute, value)?;
        let refusal = || {
            Diagnostic::at(attribute, format!("`{attribute}` is not a umask"))
                .hint("write octal digits as `0022`, at most `0777`")
        };
        Self::parse(&text).ok_or_else(refusal)
    }
}

impl Serialize for Umask {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Umask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .filter(|umask| umask.to_string() == text)
            .ok_or_else(|| D::Error::custom("not a umask of four octal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spellings_of_one_umask_are_equal() {
        for text in ["22", "022", "0022"] {
            assert_eq!(Umask::from_value("umask", json!(text)).unwrap(), Umask(0o22), "{text}");
        }
        for wrong in ["", "8", "1000", "00022", "u=rwx", "+22"] {
            assert!(Umask::from_value("umask", json!(wrong)).is_err(), "{wrong}");
        }
        assert!(serde_json::from_value::<Umask>(json!("22")).is_err(), "a desired state has one spelling");
    }
}
