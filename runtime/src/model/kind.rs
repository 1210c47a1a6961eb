//! What may be said of a value: what kind it is. Messages and debug output say that and nothing else.

use std::fmt;

use serde_json::Value as Json;

/// What kind of value `json` is, with its article.
pub fn kind_of(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// A value in debug output: its kind.
pub struct Unshown<'j>(pub &'j Json);

impl fmt::Debug for Unshown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(kind_of(self.0))
    }
}
