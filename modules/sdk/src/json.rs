//! Canonical JSON (RFC 8785), the form in which values cross the boundary.
//!
//! Writing refuses what another reader could round: integers beyond 2^53. Reading a desired state is strict: its text must be
//! just what writing the value back gives, so that there is one text for each state.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The largest integer that may be written, and in the negative the smallest: 2^53.
pub const MAX_INTEGER: u64 = 1 << 53;

/// Why a value cannot be written, or a text not be read.
#[derive(Debug, thiserror::Error)]
pub enum JsonError {
    /// The value has no JSON form (a map whose keys are not strings, a NaN).
    #[error("the value has no JSON form")]
    Write(#[source] serde_json::Error),
    /// An integer beyond 2^53.
    #[error("an integer is beyond 2^53")]
    Integer,
    /// The text is not JSON of this shape.
    #[error("the JSON has another shape: {}", category(.0))]
    Read(#[source] serde_json::Error),
    /// The text has the right shape, but is not the canonical form.
    #[error("the JSON is not in canonical form")]
    NotCanonical,
}

/// What kind of mistake it is, without the text of serde, which quotes values.
fn category(error: &serde_json::Error) -> &'static str {
    match error.classify() {
        serde_json::error::Category::Io => "it cannot be read",
        serde_json::error::Category::Syntax => "a syntax error",
        serde_json::error::Category::Data => "a field is unknown, missing or of another type",
        serde_json::error::Category::Eof => "it ends too soon",
    }
}

/// The canonical text of a value.
pub fn canonical<T: Serialize + ?Sized>(value: &T) -> Result<String, JsonError> {
    let value = serde_json::to_value(value).map_err(JsonError::Write)?;
    check_integers(&value)?;
    serde_jcs::to_string(&value).map_err(JsonError::Write)
}

/// The value of a text in which unknown fields are whatever `T` makes of them. Integers beyond 2^53 are refused.
pub fn parse<T: DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    let value: Value = serde_json::from_str(text).map_err(JsonError::Read)?;
    check_integers(&value)?;
    T::deserialize(value).map_err(JsonError::Read)
}

/// The value of a text that must be the canonical form of that value, to the byte.
pub fn parse_canonical<T: Serialize + DeserializeOwned>(text: &str) -> Result<T, JsonError> {
    let value: T = serde_json::from_str(text).map_err(JsonError::Read)?;
    if canonical(&value)? == text { Ok(value) } else { Err(JsonError::NotCanonical) }
}

/// Depth is bounded: serde_json reads and makes at most 128 levels.
fn check_integers(value: &Value) -> Result<(), JsonError> {
    match value {
        Value::Number(number) => {
            let magnitude = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
            if magnitude.is_some_and(|magnitude| magnitude > MAX_INTEGER) { Err(JsonError::Integer) } else { Ok(()) }
        }
        Value::Array(items) => items.iter().try_for_each(check_integers),
        Value::Object(fields) => fields.values().try_for_each(check_integers),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Pair {
        b: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<String>,
    }

    #[test]
    fn writes_the_canonical_form() {
        // The order is that of UTF-16 units, in which U+10000 comes before U+FFFD.
        let value = json!({"b": 1.0, "a": "\u{7}é\"", "\u{fffd}": [], "\u{10000}": null});
        assert_eq!(canonical(&value).unwrap(), "{\"a\":\"\\u0007é\\\"\",\"b\":1,\"\u{10000}\":null,\"\u{fffd}\":[]}");
    }

    #[test]
    fn refuses_integers_that_others_would_round() {
        assert_eq!(canonical(&json!(9_007_199_254_740_992_u64)).unwrap(), "9007199254740992");
        assert_eq!(canonical(&json!(-9_007_199_254_740_992_i64)).unwrap(), "-9007199254740992");
        assert!(matches!(canonical(&json!([9_007_199_254_740_993_u64])), Err(JsonError::Integer)));
        assert!(matches!(canonical(&json!({"a": i64::MIN})), Err(JsonError::Integer)));
        assert!(matches!(parse::<i64>("9007199254740993"), Err(JsonError::Integer)));
    }

    #[test]
    fn reads_one_text_for_each_value() {
        let read = parse_canonical::<Pair>;
        assert_eq!(read(r#"{"a":"x","b":1}"#).unwrap(), Pair { a: Some("x".into()), b: 1 });
        for other in [r#"{"b":1,"a":"x"}"#, r#"{ "b":1}"#, r#"{"a":null,"b":1}"#, "{\"b\":1}\n", r#"{"a":"\u0078","b":1}"#] {
            assert!(matches!(read(other), Err(JsonError::NotCanonical)), "{other}");
        }
        for wrong in [r#"{"b":1,"c":2}"#, r#"{"a":"x"}"#, r#"{"b":1,"b":1}"#, r#"{"b":"1"}"#, "", "[1]"] {
            assert!(matches!(read(wrong), Err(JsonError::Read(_))), "{wrong}");
        }
    }

    #[test]
    fn messages_do_not_quote_values() {
        let error = parse_canonical::<Pair>(r#"{"b":"hunter2"}"#).unwrap_err();
        assert_eq!(error.to_string(), "the JSON has another shape: a field is unknown, missing or of another type");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = "[".repeat(100_000);
        assert!(matches!(parse::<Value>(&deep), Err(JsonError::Read(_))));
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back_alone(b in -(1_i64 << 53)..=(1_i64 << 53), a in proptest::option::of(".*")) {
            let pair = Pair { a, b };
            let text = canonical(&pair).unwrap();
            prop_assert_eq!(parse_canonical::<Pair>(&text).unwrap(), pair);
        }
    }
}
