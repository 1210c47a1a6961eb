//! Values of attributes, for people.

use serde_json::Value as Json;

use super::safe::{line, shortened};
use crate::model::description::is_secret_slot;

/// How many characters of a value are shown.
const SHOWN_CHARS: usize = 200;

/// `value` as JSON on one line, shortened; a sensitive value says only that it is one.
pub fn value(value: &Json) -> String {
    shortened(&line(&without_secrets(value).to_string()), SHOWN_CHARS)
}

/// Secret slots are names without meaning to a reader, wherever they stand.
fn without_secrets(value: &Json) -> Json {
    match value {
        slot if is_secret_slot(slot) => Json::String("(sensitive)".to_owned()),
        Json::Array(list) => list.iter().map(without_secrets).collect(),
        Json::Object(map) => map.iter().map(|(key, value)| (key.clone(), without_secrets(value))).collect(),
        plain => plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_json_without_slots() {
        assert_eq!(value(&json!("0644")), r#""0644""#);
        assert_eq!(value(&json!({"a": [1, {"$secret": "s0"}]})), r#"{"a":[1,"(sensitive)"]}"#);
        assert_eq!(value(&json!("\u{9b}31m")), r#""\u{9b}31m""#);
    }

    #[test]
    fn long_values_are_cut() {
        let shown = value(&json!("x".repeat(1000)));
        assert!(shown.ends_with("... (1002 characters)") && shown.len() < 230, "{shown}");
    }
}
