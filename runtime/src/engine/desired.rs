//! A desired state as guests get it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use super::convert;

/// A desired state in canonical JSON, made once for all calls that an attempt makes and all that hold it. Its debug output does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Desired(Arc<str>);

impl Desired {
    /// That of `json`.
    ///
    /// # Errors
    /// In words, if it nests too deep, or holds an integer beyond 2^53.
    pub fn new(json: &Json) -> Result<Self, String> {
        convert::canonical(json).map(|text| Self(text.into()))
    }

    /// The canonical JSON.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// As a value.
    ///
    /// # Panics
    /// Never: it was made of one.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.0).expect("it was written from JSON")
    }
}

impl fmt::Debug for Desired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Desired({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_canonical_gives_back_what_it_was_made_of_and_does_not_show_it() {
        let json = json!({"path": "/etc/motd", "mode": 420, "a": [true, null, 1.5]});
        let desired = Desired::new(&json).unwrap();
        assert_eq!(desired.text(), r#"{"a":[true,null,1.5],"mode":420,"path":"/etc/motd"}"#);
        assert_eq!(desired.json(), json);
        assert!(!format!("{desired:?}").contains("motd"));
        assert!(Desired::new(&json!(1_u64 << 60)).is_err());
    }
}
