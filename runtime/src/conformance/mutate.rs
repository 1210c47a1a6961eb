//! A desired state, spoilt in one place at a time.

use serde_json::{Value as Json, json};

use super::values::{MARK, NO_NAME};
use crate::model::description::is_secret_slot;
use crate::model::key::escape;

/// How many mutations of one state are made at most.
const MAX_MUTATIONS: usize = 1_500;

/// The largest text that is put in, in bytes.
const HUGE_BYTES: usize = 70_000;

/// What was done to a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A field was added that no state has.
    Unknown,
    /// A value was replaced by one of another JSON type.
    Type,
    /// A field or member was taken away.
    Removed,
    /// A value was replaced by another of its type.
    Value,
}

/// A spoilt state.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mutation {
    pub(super) kind: Kind,
    /// Where, as `.a[0].b`, and what was done. It quotes names, no values.
    pub(super) what: String,
    pub(super) state: Json,
}

/// A step from a value to a part of it.
#[derive(Debug, Clone)]
enum Step {
    Field(String),
    Member(usize),
}

/// Every mutation of `state`, up to a cap, in a fixed order.
pub(super) fn all(state: &Json) -> Vec<Mutation> {
    let mut made = Vec::new();
    let mut places = vec![Vec::new()];
    while let Some(path) = places.pop() {
        // Each mutation is a state of its own: none is made that would be left out.
        if made.len() >= MAX_MUTATIONS {
            break;
        }
        let Some(here) = get(state, &path) else { continue };
        let mut add = |kind, done: &str, state| {
            if made.len() < MAX_MUTATIONS {
                made.push(Mutation { kind, what: format!("`{}` {done}", shown(&path)), state });
            }
        };
        if let Json::Object(map) = here
            && !is_secret_slot(here)
        {
            let mut more = map.clone();
            more.insert(NO_NAME.to_owned(), json!(1));
            add(Kind::Unknown, "with an unknown field", put(state, &path, &Json::Object(more)));
        }
        if !path.is_empty() {
            add(Kind::Removed, "taken away", removed(state, &path));
        }
        others(here).iter().for_each(|(done, value)| add(Kind::Type, done, put(state, &path, value)));
        alike(here).iter().for_each(|(done, value)| add(Kind::Value, done, put(state, &path, value)));
        places.extend(members(here).into_iter().rev().map(|step| path.iter().cloned().chain([step]).collect()));
    }
    made
}

fn shown(path: &[Step]) -> String {
    let steps = path.iter().map(|step| match step {
        Step::Field(name) => format!(".{}", escape(name)),
        Step::Member(place) => format!("[{place}]"),
    });
    let shown: String = steps.collect();
    if shown.is_empty() { ".".to_owned() } else { shown }
}

fn members(value: &Json) -> Vec<Step> {
    match value {
        Json::Object(map) if !is_secret_slot(value) => map.keys().cloned().map(Step::Field).collect(),
        Json::Array(list) => (0..list.len()).map(Step::Member).collect(),
        _ => Vec::new(),
    }
}

fn get<'a>(value: &'a Json, path: &[Step]) -> Option<&'a Json> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Field(name) => value.get(name),
        Step::Member(place) => value.get(place),
    })
}

fn put(state: &Json, path: &[Step], value: &Json) -> Json {
    changed(state, path, |place| *place = value.clone())
}

fn removed(state: &Json, path: &[Step]) -> Json {
    let Some((last, parents)) = path.split_last() else { return state.clone() };
    changed(state, parents, |parent| match (last, parent) {
        (Step::Field(name), Json::Object(map)) => drop(map.remove(name)),
        (Step::Member(place), Json::Array(list)) if *place < list.len() => drop(list.remove(*place)),
        _ => {}
    })
}

fn changed(state: &Json, path: &[Step], change: impl FnOnce(&mut Json)) -> Json {
    let mut changed = state.clone();
    let place = path.iter().try_fold(&mut changed, |value, step| match step {
        Step::Field(name) => value.get_mut(name),
        Step::Member(place) => value.get_mut(place),
    });
    if let Some(place) = place {
        change(place);
    }
    changed
}

/// Values of other types.
fn others(value: &Json) -> Vec<(&'static str, Json)> {
    let all = [
        ("made null", json!(null)),
        ("made a truth value", json!(true)),
        ("made a number", json!(7)),
        ("made text", json!(MARK)),
        ("made a list", json!([MARK])),
        ("made an object", json!({ NO_NAME: MARK })),
    ];
    all.into_iter().filter(|(_, other)| std::mem::discriminant(other) != std::mem::discriminant(value)).collect()
}

/// Other values of the same type.
fn alike(value: &Json) -> Vec<(&'static str, Json)> {
    match value {
        Json::Bool(flag) => vec![("turned round", json!(!flag))],
        Json::Number(_) => vec![
            ("made negative", json!(-862_531_947)),
            ("made 2^53", json!(1_u64 << 53)),
            ("made a fraction", json!(0.5)),
            ("made 0", json!(0)),
        ],
        Json::String(text) => {
            let mut alike = vec![
                ("made empty", json!("")),
                ("made other text", json!(MARK)),
                ("with control characters", json!(format!("{text}\u{0}\u{1b}[31m\u{202e}"))),
                ("made huge", json!(MARK.repeat(HUGE_BYTES / MARK.len()))),
            ];
            if text.len() <= 32 {
                alike.push(("misspelt", json!(format!("{text}x"))));
            }
            alike
        }
        Json::Array(list) if !list.is_empty() => {
            vec![("made empty", json!([])), ("with its members twice", Json::Array(list.iter().chain(list).cloned().collect()))]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_spoilt_in_every_way() {
        let made = all(&json!({"a": {"b": [1]}, "s": {"$secret": "x"}}));
        let states = |kind| made.iter().filter(move |m| m.kind == kind).map(|m| m.state.to_string()).collect::<Vec<_>>();
        assert_eq!(
            states(Kind::Unknown),
            [
                r#"{"a":{"b":[1]},"no_such_name":1,"s":{"$secret":"x"}}"#,
                r#"{"a":{"b":[1],"no_such_name":1},"s":{"$secret":"x"}}"#
            ]
        );
        let removed = states(Kind::Removed);
        for wanted in [r#"{"s":{"$secret":"x"}}"#, r#"{"a":{},"s":{"$secret":"x"}}"#, r#"{"a":{"b":[]},"s":{"$secret":"x"}}"#] {
            assert!(removed.contains(&wanted.to_owned()), "{removed:?}");
        }
        assert!(made.iter().any(|m| m.what == "`.a.b[0]` made text"));
        assert!(made.iter().any(|m| m.what == "`.a.b[0]` made 2^53"));
        assert!(!made.iter().any(|m| m.what.contains("$secret")), "a slot is spoilt as a whole");
    }

    #[test]
    fn their_number_is_bounded() {
        let wide: Json = (0..5_000).map(|n| (n.to_string(), json!("x"))).collect::<serde_json::Map<_, _>>().into();
        assert_eq!(all(&wide).len(), MAX_MUTATIONS);
    }
}
