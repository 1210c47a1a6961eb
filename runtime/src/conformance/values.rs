//! Values of a type, made up: for declarations, and for telling whether a value comes back in a message.

use serde_json::{Value as Json, json};

use crate::model::description::AttributeType;

/// Text that occurs nowhere by chance. It is looked for in messages.
pub(super) const MARK: &str = "zqx7mark";

/// A name that nothing has. Messages may quote names.
pub(super) const NO_NAME: &str = "no_such_name";

/// A number that occurs nowhere by chance.
const MARKED_NUMBER: i64 = 862_531_947;

/// Values that a type accepts, the likeliest to please a module first. Patterns cannot be guessed: a path and a word stand for all text.
pub(super) fn plausible(ty: &AttributeType) -> Vec<Json> {
    made(ty, &[json!("/srv/sample"), json!("sample")], &[json!(1)])
}

/// Values that a type accepts, each of which carries a mark, where the type has room for one.
pub(super) fn marked(ty: &AttributeType) -> Vec<Json> {
    let texts = [json!(MARK), json!(format!("/{MARK}/../x\u{1b}[31m")), json!(format!("{MARK} {MARK}\n"))];
    made(ty, &texts, &[json!(MARKED_NUMBER), json!(-MARKED_NUMBER)]).into_iter().filter(carries_mark).collect()
}

fn made(ty: &AttributeType, texts: &[Json], numbers: &[Json]) -> Vec<Json> {
    match ty {
        AttributeType::Boolean => vec![json!(true), json!(false)],
        AttributeType::Integer | AttributeType::Number => numbers.to_vec(),
        AttributeType::String | AttributeType::Any => texts.to_vec(),
        AttributeType::Resource => vec![json!("sample.other")],
        AttributeType::List(member) => made(member, texts, numbers).into_iter().map(|value| json!([value])).collect(),
        AttributeType::Map(member) => made(member, texts, numbers).into_iter().map(|value| json!({ "sample": value })).collect(),
        AttributeType::Union(members) => members.iter().flat_map(|member| made(member, texts, numbers)).collect(),
        AttributeType::Text(_) => texts.iter().filter(|text| ty.accepts(text)).cloned().collect(),
        AttributeType::Enum(words) => words.iter().map(|word| json!(word)).collect(),
    }
}

fn carries_mark(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains(MARK),
        Json::Number(number) => number.as_i64().is_some_and(|number| number.abs() == MARKED_NUMBER),
        Json::Array(list) => list.iter().any(carries_mark),
        Json::Object(map) => map.values().any(carries_mark),
        Json::Null | Json::Bool(_) => false,
    }
}

/// Whether a message quotes a marked value, in part or in another writing of it.
pub(super) fn quotes_mark(message: &str) -> bool {
    message.contains(MARK) || message.contains(&MARKED_NUMBER.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_values_are_of_their_type() {
        for json in [
            json!("boolean"),
            json!("integer"),
            json!("number"),
            json!("string"),
            json!("any"),
            json!("resource"),
            json!({"list": {"map": "string"}}),
            json!({"union": ["string", "integer"]}),
            json!({"enum": ["a", "b"]}),
            json!({"text": {"pattern": "[a-z/ ]+", "is": "letters"}}),
        ] {
            let ty = AttributeType::parse(&json).unwrap();
            let values = plausible(&ty);
            assert!(!values.is_empty() && values.iter().chain(&marked(&ty)).all(|value| ty.accepts(value)), "{json}");
        }
    }

    #[test]
    fn marks_are_found_in_messages() {
        let ty = AttributeType::parse(&json!({"union": [{"list": "string"}, "integer"]})).unwrap();
        assert_eq!(marked(&ty).len(), 5);
        assert!(marked(&ty).iter().all(|value| quotes_mark(&value.to_string())));
        assert!(!quotes_mark("`path` is not absolute"));
    }
}
