//! Types of attributes.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::text_form::TextForm;
use crate::model::kind::kind_of;

/// How deep the type of an attribute may nest.
const MAX_TYPE_DEPTH: usize = 8;

/// How many members a union or an enum may have.
const MAX_TYPE_MEMBERS: usize = 256;

/// The type of an attribute. Values are checked against it and never coerced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeType {
    /// `true` or `false`.
    Boolean,
    /// A whole number within 2^53.
    Integer,
    /// A number.
    Number,
    /// Text.
    String,
    /// The address of a resource of the catalog, as text.
    Resource,
    /// Anything.
    Any,
    /// A list whose members all have this type.
    List(Box<AttributeType>),
    /// A map from text to this type.
    Map(Box<AttributeType>),
    /// A value of any of these types.
    Union(Vec<AttributeType>),
    /// One of these words.
    Enum(Vec<String>),
    /// Text of a form.
    Text(TextForm),
}

/// A type that cannot be, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not an attribute type: {reason}")]
pub struct TypeError {
    /// What is wrong with it.
    pub reason: String,
}

impl AttributeType {
    /// Reads the JSON form of the contract, of at most 8 levels.
    ///
    /// # Errors
    /// If it is no type, nests too deep, or has an empty or too large union or enum.
    pub fn parse(json: &Json) -> Result<Self, TypeError> {
        if nesting(json) > 2 * MAX_TYPE_DEPTH {
            return Err(TypeError { reason: format!("it nests more than {MAX_TYPE_DEPTH} levels") });
        }
        let parsed: Self = serde_json::from_value(json.clone()).map_err(|error| TypeError { reason: error.to_string() })?;
        parsed.check_members()?;
        Ok(parsed)
    }

    fn check_members(&self) -> Result<(), TypeError> {
        let check_count = |count: usize| match count {
            0 => Err(TypeError { reason: "a union or enum needs a member".into() }),
            n if n > MAX_TYPE_MEMBERS => Err(TypeError { reason: format!("more than {MAX_TYPE_MEMBERS} members") }),
            _ => Ok(()),
        };
        match self {
            Self::List(member) | Self::Map(member) => member.check_members(),
            Self::Union(members) => {
                check_count(members.len())?;
                members.iter().try_for_each(Self::check_members)
            }
            Self::Enum(words) => {
                check_count(words.len())?;
                let different: std::collections::BTreeSet<&String> = words.iter().collect();
                if different.len() == words.len() { Ok(()) } else { Err(TypeError { reason: "an enum has a word twice".into() }) }
            }
            Self::Text(form) => form.check(),
            Self::Boolean | Self::Integer | Self::Number | Self::String | Self::Resource | Self::Any => Ok(()),
        }
    }

    /// What a value that is not of this type is, for people, and without the value: what kind it is, or what within it is of another type.
    pub fn found(&self, value: &Json) -> String {
        match (self, value) {
            (Self::Enum(_), Json::String(_)) => "another word".to_owned(),
            (Self::Text(_), Json::String(_)) => "another text".to_owned(),
            (Self::Integer, Json::Number(_)) => "another number".to_owned(),
            (Self::List(member), Json::Array(items)) => {
                let wrong = items.iter().enumerate().find(|(_, item)| !member.accepts(item));
                wrong.map_or_else(
                    || kind_of(value).to_owned(),
                    |(at, item)| format!("a list whose item {at} is {}", member.found(item)),
                )
            }
            (Self::Map(member), Json::Object(entries)) => {
                let wrong = entries.values().find(|entry| !member.accepts(entry));
                wrong.map_or_else(
                    || kind_of(value).to_owned(),
                    |entry| format!("an object with an entry that is {}", member.found(entry)),
                )
            }
            (Self::Union(members), _) => {
                let closer = members.iter().map(|member| member.found(value)).find(|found| found != kind_of(value));
                closer.unwrap_or_else(|| kind_of(value).to_owned())
            }
            _ => kind_of(value).to_owned(),
        }
    }

    /// Whether `value` is of this type. A sensitive value's slot (`{"$secret":…}`) is of every type: its content is checked
    /// where it is known.
    pub fn accepts(&self, value: &Json) -> bool {
        match self {
            Self::Any => true,
            _ if is_secret_slot(value) => true,
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_i64().is_some(),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Resource => value.as_str().is_some_and(|text| text.parse::<crate::model::ids::ResourceId>().is_ok()),
            Self::List(member) => value.as_array().is_some_and(|list| list.iter().all(|v| member.accepts(v))),
            Self::Map(member) => value.as_object().is_some_and(|map| map.values().all(|v| member.accepts(v))),
            Self::Union(members) => members.iter().any(|member| member.accepts(value)),
            Self::Enum(words) => value.as_str().is_some_and(|text| words.iter().any(|word| word == text)),
            Self::Text(form) => value.as_str().is_some_and(|text| form.matches(text)),
        }
    }
}

impl AttributeType {
    /// The addresses in a value of this type: texts that are there as addresses of resources. Text that the type takes as text too is none.
    pub fn addresses<'v>(&self, value: &'v Json) -> Vec<&'v str> {
        match (self, value) {
            (Self::Resource, Json::String(text)) => vec![text],
            (Self::List(of), Json::Array(items)) => items.iter().flat_map(|item| of.addresses(item)).collect(),
            (Self::Map(of), Json::Object(members)) => members.values().flat_map(|member| of.addresses(member)).collect(),
            (Self::Union(types), _) => {
                let fitting = || types.iter().filter(|of| of.accepts(value));
                match fitting().any(|of| !of.holds_addresses()) {
                    true => Vec::new(),
                    false => fitting().next().map(|of| of.addresses(value)).unwrap_or_default(),
                }
            }
            _ => Vec::new(),
        }
    }

    /// Whether a resource's address can be, or be in, a value of this type.
    pub fn holds_addresses(&self) -> bool {
        match self {
            Self::Resource => true,
            Self::List(of) | Self::Map(of) => of.holds_addresses(),
            Self::Union(types) => types.iter().any(Self::holds_addresses),
            Self::Boolean | Self::Integer | Self::Number | Self::String | Self::Any | Self::Enum(_) | Self::Text(_) => false,
        }
    }
}

/// Whether `value` stands for a sensitive one.
pub fn is_secret_slot(value: &Json) -> bool {
    value.as_object().is_some_and(|map| map.len() == 1 && map.get("$secret").is_some_and(Json::is_string))
}

/// Whether something in `value` has the key by which sensitive values are told, which no other value may have.
pub fn holds_reserved_key(value: &Json) -> bool {
    match value {
        Json::Array(list) => list.iter().any(holds_reserved_key),
        Json::Object(map) => map.iter().any(|(key, value)| key == "$secret" || holds_reserved_key(value)),
        _ => false,
    }
}

fn nesting(json: &Json) -> usize {
    match json {
        Json::Array(list) => 1 + list.iter().map(nesting).max().unwrap_or(0),
        Json::Object(map) => 1 + map.values().map(nesting).max().unwrap_or(0),
        _ => 0,
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("boolean"),
            Self::Integer => f.write_str("integer"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::Resource => f.write_str("resource"),
            Self::Any => f.write_str("any"),
            Self::List(member) => write!(f, "list of {member}"),
            Self::Map(member) => write!(f, "map of {member}"),
            Self::Union(members) => {
                let names: Vec<String> = members.iter().map(ToString::to_string).collect();
                f.write_str(&names.join(" or "))
            }
            Self::Text(form) => form.fmt(f),
            Self::Enum(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                f.write_str(&quoted.join(" | "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_parse_print_and_check_without_coercion() {
        let parse = |json: Json| AttributeType::parse(&json).unwrap();
        assert!(parse(json!("string")).accepts(&json!("1")) && !parse(json!("string")).accepts(&json!(1)));
        assert!(parse(json!("integer")).accepts(&json!(1)) && !parse(json!("integer")).accepts(&json!(1.5)));
        let list = parse(json!({"list": {"union": ["string", "integer"]}}));
        assert!(list.accepts(&json!(["a", 1])) && !list.accepts(&json!([true])));
        assert_eq!(list.to_string(), "list of string or integer");
        assert!(parse(json!({"enum": ["a", "b"]})).accepts(&json!("b")));
        assert!(parse(json!("integer")).accepts(&json!({"$secret": "s0"})));
        let hex = parse(json!({"text": {"pattern": "[0-9a-f]+", "is": "a number in hex"}}));
        assert!(hex.accepts(&json!("1f")) && !hex.accepts(&json!("1g")) && !hex.accepts(&json!(1)));
        assert_eq!((hex.to_string(), hex.found(&json!("hush"))), ("a number in hex".into(), "another text".into()));
    }

    #[test]
    fn addresses_are_found_by_their_type_and_never_by_their_looks() {
        let of = |json: Json, value: &Json| -> Vec<String> {
            AttributeType::parse(&json).unwrap().addresses(value).into_iter().map(str::to_owned).collect()
        };
        let address = json!("file.a");
        assert_eq!(of(json!("resource"), &address), ["file.a"]);
        assert!(of(json!("string"), &address).is_empty() && of(json!("any"), &address).is_empty());
        assert_eq!(of(json!({"map": {"list": "resource"}}), &json!({"x": ["file.a", "file.b"]})), ["file.a", "file.b"]);
        assert!(of(json!({"union": ["resource", "string"]}), &address).is_empty(), "it may be text");
        assert_eq!(of(json!({"union": ["integer", "resource"]}), &address), ["file.a"]);
        assert!(!AttributeType::parse(&json!({"list": "string"})).unwrap().holds_addresses());
    }

    #[test]
    fn what_was_found_is_told_without_the_value() {
        let found = |text: &str, value: Json| AttributeType::parse(&serde_json::from_str(text).unwrap()).unwrap().found(&value);
        assert_eq!(found(r#"{"enum":["a","b"]}"#, json!("hush")), "another word");
        assert_eq!(found(r#"{"enum":["a","b"]}"#, json!(1)), "a number");
        assert_eq!(found(r#""integer""#, json!(1.5)), "another number");
        assert_eq!(found(r#"{"list":"string"}"#, json!(["x", 1])), "a list whose item 1 is a number");
        assert_eq!(
            found(r#"{"map":{"list":"integer"}}"#, json!({"k": ["x"]})),
            "an object with an entry that is a list whose item 0 is a string"
        );
        assert_eq!(found(r#"{"union":["integer",{"enum":["a"]}]}"#, json!("hush")), "another word");
        assert_eq!(found(r#""string""#, json!([])), "a list");
    }

    #[test]
    fn bad_types_are_refused() {
        let mut deep = json!("string");
        for _ in 0..64 {
            deep = json!({ "list": deep });
        }
        for bad in [
            json!("text"),
            json!({"list": "x"}),
            json!({"enum": []}),
            json!({"enum": ["a", "a"]}),
            json!({"union": []}),
            json!({"list": {"text": {"pattern": "(", "is": "a word"}}}),
            json!({"text": {"pattern": "a"}}),
            json!(3),
            deep,
        ] {
            assert!(AttributeType::parse(&bad).is_err(), "{bad}");
        }
    }
}
