//! Between values and what a module sees of them: a slot in the place of each sensitive part (I7).
//!
//! [`conceal`] takes a known value apart into JSON for a module and sensitive values by slot, and [`reveal`] puts an answer of the module
//! together again. Who keeps the values, and where they travel, is for others.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use super::value::{Data, Marks, Value, ValueError};
use crate::model::attribute_path::AttributePath;
use crate::model::expression::{Expression, Kind, Place};
use crate::model::ids::{NameError, ResourceId, SecretSlot};
use crate::model::secret::{self, ReservedKey, SECRET_FUNCTION, SecretReads, Secrets};

/// Sensitive values that a module was told of, by slot.
pub type Told = BTreeMap<SecretSlot, Value>;

/// Where a value stands in a catalog: a resource's attribute, or a part of one.
#[derive(Debug, Clone)]
pub struct SlotPath(String);

impl SlotPath {
    /// An attribute of a resource or of a child block of it: `file.motd/content`, `site.www/vhost/0/page`.
    pub fn attribute(resource: &ResourceId, path: &AttributePath) -> Self {
        let own = Self(resource.to_string());
        let part = match &path.block {
            None => own,
            Some((block, place)) => own.member(block).member(&place.to_string()),
        };
        path.name.as_deref().map_or(part.clone(), |name| part.member(name))
    }

    /// A member of it. What a slot cannot hold is written as `:` and two hex digits a byte.
    #[must_use]
    pub fn member(&self, name: &str) -> Self {
        let mut path = self.0.clone();
        path.push('/');
        for byte in name.bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' => path.push(char::from(byte)),
                // Writing to a string cannot fail.
                _ => drop(write!(path, ":{byte:02x}")),
            }
        }
        Self(path)
    }

    /// A part of what the node evaluates there, counted from 0.
    #[must_use]
    pub fn part(&self, number: usize) -> Self {
        Self(format!("{}#{number}", self.0))
    }

    /// The slot of this place.
    ///
    /// # Errors
    /// If its name would be too long.
    pub fn slot(&self) -> Result<SecretSlot, NameError> {
        self.0.parse()
    }
}

/// `value` as a module may see it, and its sensitive parts in `told`; none if something in it is not known. `sensitive` says whether all of
/// it is sensitive, whatever its marks. A sensitive null stays null.
///
/// # Errors
/// If the name of a slot would be too long.
pub fn conceal(value: &Value, sensitive: bool, path: &SlotPath, told: &mut Told) -> Result<Option<Json>, NameError> {
    if !value.is_known() {
        return Ok(None);
    }
    if !sensitive && !value.marks().is_sensitive() {
        return Ok(value.json());
    }
    match value.data() {
        Data::Null => Ok(Some(Json::Null)),
        _ if sensitive || value.own_marks().is_sensitive() => {
            let slot = path.slot()?;
            let json = secret::placeholder(&slot);
            told.insert(slot, value.clone().marked(&Marks::sensitive()));
            Ok(Some(json))
        }
        Data::List(items) => {
            let items = items.iter().enumerate().map(|(at, item)| conceal(item, false, &path.member(&at.to_string()), told));
            Ok(items.collect::<Result<Option<Vec<_>>, _>>()?.map(Json::Array))
        }
        Data::Object(members) => {
            let mut concealed = Map::new();
            for (name, member) in members.iter() {
                let Some(json) = conceal(member, false, &path.member(name), told)? else { return Ok(None) };
                concealed.insert(name.clone(), json);
            }
            Ok(Some(Json::Object(concealed)))
        }
        _ => Ok(value.json()),
    }
}

/// An expression that gives `value` on the node, marked as sensitive there where it is here; `sensitive` says whether all of it is.
///
/// The marks of a value may come from what decided it, such as a condition, and is not in its expression any more.
pub fn travelling(value: &Value, sensitive: bool, place: &Place) -> Expression {
    let sensitive = sensitive || value.own_marks().is_sensitive();
    match value.data() {
        _ if value.is_known() => value.residual_within(place, sensitive),
        _ if sensitive => marked(value.residual_within(place, true), place),
        Data::List(items) => {
            let items = items.iter().map(|item| travelling(item, false, place)).collect();
            Expression::new(Kind::List(items), place)
        }
        Data::Object(members) => {
            let key = |name: &String| Expression::new(Kind::Literal(Json::String(name.clone())), place);
            let members = members.iter().map(|(name, member)| (key(name), travelling(member, false, place)));
            Expression::new(Kind::Object(members.collect()), place)
        }
        _ => value.residual_within(place, false),
    }
}

fn marked(expression: Expression, place: &Place) -> Expression {
    match &expression.kind {
        Kind::Call { name, .. } if name == "sensitive" || name == SECRET_FUNCTION => expression,
        _ => {
            let kind = Kind::Call { name: "sensitive".to_owned(), arguments: vec![expression], expand: false };
            Expression::new(kind, place)
        }
    }
}

/// `expression` with a slot in the place of each sensitive value that is known, and those values in `secrets`.
///
/// # Errors
/// If the name of a slot would be too long.
pub fn extract(expression: Expression, path: &SlotPath, secrets: &mut Secrets) -> Result<Expression, NameError> {
    let (mut number, mut failed) = (0, None);
    let extracted = expression.map_leaves(&mut |leaf| match leaf {
        Kind::Hidden(value) => match path.part(number).slot() {
            Ok(slot) => {
                number += 1;
                secrets.insert(slot.clone(), value);
                Kind::Secret(slot)
            }
            Err(error) => {
                failed = Some(error);
                Kind::Hidden(value)
            }
        },
        leaf => leaf,
    });
    failed.map_or(Ok(extracted), Err)
}

/// Whether an expression has a sensitive value in it, or reads a secret.
pub fn holds_secret(expression: &Expression) -> bool {
    let mut reads = SecretReads::default();
    reads.add(expression);
    let mut hidden = false;
    expression.walk(&mut |part| hidden |= matches!(part.kind, Kind::Hidden(_)));
    hidden || !reads.is_empty()
}

/// Why an answer of a module is not a value. It quotes none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RevealError {
    /// A slot that the module was not told.
    #[error("it names the slot `{0}`, which it was not given")]
    NotTold(SecretSlot),
    /// The reserved key, used otherwise.
    #[error(transparent)]
    Reserved(#[from] ReservedKey),
    /// It cannot be held.
    #[error(transparent)]
    Value(#[from] ValueError),
}

/// The value that `json` is with the slots that the module was told of, sensitive where it was.
///
/// # Errors
/// See [`RevealError`].
pub fn reveal(json: &Json, told: &Told) -> Result<Value, RevealError> {
    if let Some(slot) = secret::slot_of(json)? {
        return told.get(&slot).cloned().ok_or(RevealError::NotTold(slot));
    }
    match json {
        Json::Array(items) => Ok(Value::list(items.iter().map(|item| reveal(item, told)).collect::<Result<_, _>>()?)?),
        Json::Object(members) => {
            let members = members.iter().map(|(name, member)| Ok((name.clone(), reveal(member, told)?)));
            Ok(Value::object(members.collect::<Result<_, RevealError>>()?)?)
        }
        scalar => Ok(Value::from_json(scalar)?),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(text: &str) -> Value {
        Value::text(text).unwrap()
    }

    fn hidden(value: Value) -> Value {
        value.marked(&Marks::sensitive())
    }

    fn path() -> SlotPath {
        SlotPath::attribute(&"file.motd".parse().unwrap(), &"content".parse().unwrap())
    }

    fn object(members: &[(&str, Value)]) -> Value {
        Value::object(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()).unwrap()
    }

    #[test]
    fn each_sensitive_part_has_a_slot_and_the_rest_is_plain() {
        let value = object(&[
            ("plain", text("p")),
            ("a key", hidden(text("hunter2"))),
            ("null", hidden(Value::null())),
            ("list", Value::list(vec![text("q"), hidden(object(&[("in", text("hunter3"))]))]).unwrap()),
        ]);
        let mut told = Told::new();
        let json = conceal(&value, false, &path(), &mut told).unwrap().unwrap();
        let expected = json!({
            "plain": "p", "a key": {"$secret": "file.motd/content/a:20key"}, "null": null,
            "list": ["q", {"$secret": "file.motd/content/list/1"}],
        });
        assert_eq!(json, expected);
        assert_eq!(reveal(&json, &told).unwrap().json(), value.json());
        assert!(reveal(&json, &told).unwrap().marks().is_sensitive());
        let json = conceal(&text("p"), true, &path(), &mut told).unwrap().unwrap();
        assert_eq!(json, json!({"$secret": "file.motd/content"}), "a sensitive attribute hides whatever is given");
        assert_eq!(conceal(&Value::null(), true, &path(), &mut told).unwrap(), Some(Json::Null));
    }

    #[test]
    fn a_module_can_only_name_slots_that_it_was_told() {
        let error = reveal(&json!(["x", {"$secret": "file.other/content"}]), &Told::new()).unwrap_err();
        assert_eq!(error, RevealError::NotTold("file.other/content".parse().unwrap()));
        assert!(matches!(reveal(&json!({"$secret": 1}), &Told::new()), Err(RevealError::Reserved(_))));
    }

    #[test]
    fn what_travels_is_marked_again_and_holds_slots() {
        let place = Place { file: "site.hcl".into(), line: 1, column: 1, length: 1 };
        let fact = Expression::new(Kind::Fact(vec!["hostname".into()]), &place);
        let deferred = |marks| Value::deferred(fact.clone(), marks).unwrap();
        let value = Value::list(vec![deferred(Marks::sensitive()), hidden(text("hunter2")), deferred(Marks::default())]).unwrap();
        let mut secrets = Secrets::new();
        let expression = extract(travelling(&value, false, &place), &path(), &mut secrets).unwrap();
        let expected = json!([
            "list",
            "site.hcl:1:1+1",
            ["call", "1:1+1", "sensitive", ["fact", "1:1+1", "hostname"]],
            ["secret", "1:1+1", "file.motd/content#0"],
            ["fact", "1:1+1", "hostname"],
        ]);
        assert_eq!(serde_json::to_value(&expression).unwrap(), expected);
        assert_eq!(secrets[&"file.motd/content#0".parse().unwrap()].json(), json!("hunter2"));
        let whole = extract(travelling(&value, true, &place), &path(), &mut secrets).unwrap();
        assert!(matches!(&whole.kind, Kind::Call { name, .. } if name == "sensitive"));
        let within = hidden(Value::list(vec![text("hunter3"), deferred(Marks::default())]).unwrap());
        let whole = extract(travelling(&within, false, &place), &path(), &mut secrets).unwrap();
        assert!(!serde_json::to_string(&whole).unwrap().contains("hunter3"), "what holds it makes it sensitive");
    }

    #[test]
    fn a_slot_of_a_block_says_which() {
        let path = SlotPath::attribute(&"site.www".parse().unwrap(), &"vhost[1].page".parse().unwrap());
        assert_eq!(path.slot().unwrap().as_str(), "site.www/vhost/1/page");
    }

    #[test]
    fn a_slot_whose_name_would_be_too_long_is_an_error() {
        let value = object(&[("k".repeat(600).as_str(), hidden(text("hunter2")))]);
        assert!(conceal(&value, false, &path(), &mut Told::new()).is_err());
    }
}
