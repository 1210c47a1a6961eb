//! Canonical JSON (RFC 8785): the one text that a value has, and values that are kept as that text.
//!
//! `serde_jcs` is what defines it here. It writes each object apart and sorts it by UTF-16, which costs several times what writing costs. Most of what
//! is written in a run has names in ASCII, in order already, and small integers: of that the plain text is the canonical one.

use std::fmt;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value as Json;

/// The largest integer, in either direction, that canonical JSON keeps exact: 2^53.
pub const MAX_EXACT_INTEGER: u64 = 1 << 53;

/// The canonical text of `json`.
///
/// # Errors
/// If `serde_jcs` cannot write it.
pub fn text(json: &Json) -> Result<String, serde_json::Error> {
    let is_plain = is_canonical_as_written(json, usize::MAX).unwrap_or(false);
    if is_plain { serde_json::to_string(json) } else { serde_jcs::to_string(json) }
}

/// The same of what may nest no more than `levels` deep, and hold no integer that is not exact.
///
/// # Errors
/// [`Unfit`], before anything is written.
pub fn text_of_bounded(json: &Json, levels: usize) -> Result<String, Unfit> {
    let is_plain = is_canonical_as_written(json, levels)?;
    let written = if is_plain { serde_json::to_string(json) } else { serde_jcs::to_string(json) };
    written.map_err(|error| Unfit::Unwritable(error.to_string()))
}

/// Why a value has no canonical text within bounds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// It nests deeper than it may.
    #[error("JSON that nests too deep")]
    TooDeep,
    /// It holds an integer that not every reader keeps exact.
    #[error("an integer beyond 2^53")]
    Inexact,
    /// It cannot be written.
    #[error("not canonical JSON: {0}")]
    Unwritable(String),
}

/// The canonical text of anything that was read from JSON, and so holds no number that JSON cannot.
///
/// # Errors
/// If it cannot be written.
pub fn text_of_read<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    text(&serde_json::to_value(value)?)
}

/// Whether `serde_json` writes `json` as RFC 8785 wants it. Where it says no, it may do so all the same. One walk finds that and what is unfit.
fn is_canonical_as_written(json: &Json, levels: usize) -> Result<bool, Unfit> {
    match json {
        Json::Null | Json::Bool(_) | Json::String(_) => Ok(true),
        Json::Number(number) => match number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs)) {
            Some(size) if size > MAX_EXACT_INTEGER => Err(Unfit::Inexact),
            size => Ok(size.is_some()),
        },
        Json::Array(items) => all_canonical_as_written(items, levels),
        Json::Object(members) => {
            // The order of bytes is that of UTF-16 as long as all are ASCII.
            let is_sorted = members.keys().all(|name| name.is_ascii()) && members.keys().is_sorted_by(|left, right| left < right);
            Ok(all_canonical_as_written(members.values(), levels)? && is_sorted)
        }
    }
}

fn all_canonical_as_written<'j>(members: impl IntoIterator<Item = &'j Json>, levels: usize) -> Result<bool, Unfit> {
    members.into_iter().try_fold(true, |all, member| {
        let levels = levels.checked_sub(1).ok_or(Unfit::TooDeep)?;
        Ok(is_canonical_as_written(member, levels)? && all)
    })
}

/// A value as its canonical text, which is a fraction of its size in memory, and what guests and the database take. Its debug output does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct CanonicalJson(Arc<str>);

impl CanonicalJson {
    /// The text of `json`.
    ///
    /// # Errors
    /// As [`text`].
    pub fn new(json: &Json) -> Result<Self, serde_json::Error> {
        text(json).map(Self::from_canonical)
    }

    /// That `text` is JSON in canonical form its giver has made sure of.
    pub fn from_canonical(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The canonical text.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The value.
    ///
    /// # Panics
    /// Only if it was made of a text that is no JSON.
    pub fn json(&self) -> Json {
        serde_json::from_str(&self.0).expect("its giver has made sure that it is JSON")
    }
}

/// As the value that it is.
impl Serialize for CanonicalJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

/// From any text of the value.
impl<'de> Deserialize<'de> for CanonicalJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&Json::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Debug for CanonicalJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CanonicalJson({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn json_strategy() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i64>().prop_map(Json::from),
            (-3_i64..3).prop_map(Json::from),
            any::<u64>().prop_map(Json::from),
            any::<f64>().prop_map(Json::from),
            any::<String>().prop_map(Json::from),
            "[\u{0}-\u{7f}]{0,6}".prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            let name = prop_oneof!["[\u{0}-\u{7f}]{0,4}", any::<String>()];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
                prop::collection::btree_map(name, inner, 0..6).prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_is_the_text_of_serde_jcs_whichever_way_it_is_made(json in json_strategy()) {
            prop_assert_eq!(text(&json).unwrap(), serde_jcs::to_string(&json).unwrap());
        }
    }

    #[test]
    fn a_text_gives_back_what_it_was_made_of_and_does_not_show_it() {
        let json = json!({"path": "/etc/motd", "mode": 420, "a": [true, null, 1.5]});
        let kept = CanonicalJson::new(&json).unwrap();
        assert_eq!(kept.text(), r#"{"a":[true,null,1.5],"mode":420,"path":"/etc/motd"}"#);
        assert_eq!(kept.json(), json);
        assert!(!format!("{kept:?}").contains("motd"));
        assert_eq!(serde_json::to_value(&kept).unwrap(), json);
        let read: CanonicalJson =
            serde_json::from_str(" {\"path\":\"/etc/m\\u006ftd\", \"mode\":4.2e2, \"a\":[true,null,1.5]}").unwrap();
        assert_eq!(read.text(), kept.text(), "whatever form it is read from");
    }

    #[test]
    fn what_plain_text_gets_wrong_is_not_written_plainly() {
        for json in [json!({"\u{10000}": 1, "\u{ffff}": 2}), json!(1e21), json!(1.0), json!([u64::MAX]), json!({"a": {"é": 0}})]
        {
            assert_ne!(is_canonical_as_written(&json, usize::MAX), Ok(true), "{json}");
        }
        let plain = json!({"a": [1, -5, null, true, "\u{1}\u{7f}\"\\\n é"], "b": {}});
        assert_eq!(is_canonical_as_written(&plain, usize::MAX), Ok(true));
        assert_eq!(text(&plain).unwrap(), serde_jcs::to_string(&plain).unwrap());
    }

    #[test]
    fn what_nests_too_deep_or_is_not_exact_is_unfit_wherever_it_stands() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!([inner]));
        assert_eq!(text_of_bounded(&nested(3), 3).unwrap(), "[[[1]]]");
        assert_eq!(text_of_bounded(&json!({"é": nested(3)}), 3), Err(Unfit::TooDeep), "also behind what is not plain");
        for inexact in [json!((1_u64 << 53) + 1), json!(-(1_i64 << 53) - 1), json!({"é": 1, "x": [1.5, u64::MAX]})] {
            assert_eq!(text_of_bounded(&inexact, 3), Err(Unfit::Inexact), "{inexact}");
        }
        let exact = json!([1_u64 << 53, -(1_i64 << 53), 1e300, {"\u{10000}": 1, "\u{ffff}": 2}]);
        assert_eq!(text_of_bounded(&exact, 3).unwrap(), serde_jcs::to_string(&exact).unwrap());
    }
}
