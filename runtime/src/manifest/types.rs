//! Types of variables.

use std::collections::BTreeMap;
use std::fmt;

use hcl_edit::Span;
use hcl_edit::expr::{Expression, FuncCall, Object, ObjectKey};
use serde_json::Value as Json;

use crate::language::diagnostic::Diagnostic;
use crate::language::number;
use crate::language::source::Source;
use crate::language::suggest;

const SIMPLE: [&str; 5] = ["string", "number", "integer", "bool", "any"];
const COMPOSITE: [&str; 3] = ["list", "map", "object"];

/// What a variable may hold. Values are checked against it and never converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// Anything.
    Any,
    /// Text.
    String,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Bool,
    /// `list(T)`.
    List(Box<Type>),
    /// `map(T)`: an object of any keys.
    Map(Box<Type>),
    /// `object({a = T})`: an object of just these keys.
    Object(BTreeMap<String, Type>),
}

/// Where a value departs from its type. It quotes names and types, no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}it must be {wanted}, not {found}", at(path))]
pub struct TypeError {
    /// The part: `.a[0]`, empty for the whole.
    pub path: String,
    /// What it must be, with its article.
    pub wanted: String,
    /// What it is, with its article.
    pub found: String,
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("at `{path}` ") }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::String => f.write_str("string"),
            Self::Number => f.write_str("number"),
            Self::Integer => f.write_str("integer"),
            Self::Bool => f.write_str("bool"),
            Self::List(of) => write!(f, "list({of})"),
            Self::Map(of) => write!(f, "map({of})"),
            Self::Object(members) => {
                let members: Vec<String> = members.iter().map(|(name, of)| format!("{name} = {of}")).collect();
                write!(f, "object({{ {} }})", members.join(", "))
            }
        }
    }
}

impl Type {
    /// The type that an expression such as `list(string)` spells.
    ///
    /// # Errors
    /// With a message at the wrong part.
    pub fn parse(source: &Source, expression: &Expression) -> Result<Self, Box<Diagnostic>> {
        let place = source.place(expression.span().unwrap_or(0..0));
        match expression {
            Expression::Variable(name) => match name.as_str() {
                "any" => Ok(Self::Any),
                "string" => Ok(Self::String),
                "number" => Ok(Self::Number),
                "integer" => Ok(Self::Integer),
                "bool" => Ok(Self::Bool),
                name if COMPOSITE.contains(&name) => {
                    let error = Diagnostic::error(&place, format!("the type `{name}` does not say of what"));
                    Err(Box::new(error.hint(example())))
                }
                name => {
                    let known = SIMPLE.into_iter().chain(COMPOSITE);
                    Err(Box::new(Diagnostic::error(&place, format!("unknown type `{name}`")).hint(suggest::one_of(name, known))))
                }
            },
            Expression::FuncCall(call) => Self::composite(source, call, &place),
            Expression::String(name) if SIMPLE.contains(&name.as_str()) => {
                let error = Diagnostic::error(&place, "a type is written without quotes");
                Err(Box::new(error.hint(format!("write `{}`", name.as_str()))))
            }
            _ => Err(Box::new(Diagnostic::error(&place, "this is not a type").hint(example()))),
        }
    }

    fn composite(source: &Source, call: &FuncCall, place: &crate::model::expression::Place) -> Result<Self, Box<Diagnostic>> {
        let name = call.name.name.as_str();
        let mut arguments = call.args.iter();
        let (first, more) = (arguments.next(), arguments.next());
        match (name, first, more) {
            ("list", Some(of), None) => Ok(Self::List(Box::new(Self::parse(source, of)?))),
            ("map", Some(of), None) => Ok(Self::Map(Box::new(Self::parse(source, of)?))),
            ("object", Some(Expression::Object(members)), None) => Self::members(source, members),
            _ => {
                let error = Diagnostic::error(place, "this is not a type");
                Err(Box::new(
                    error.hint(suggest::did_you_mean(name, COMPOSITE).filter(|_| first.is_some()).or_else(|| Some(example()))),
                ))
            }
        }
    }

    fn members(source: &Source, members: &Object) -> Result<Self, Box<Diagnostic>> {
        let mut types = BTreeMap::new();
        for (key, value) in members.iter() {
            let ObjectKey::Ident(name) = key else {
                let place = source.place(key.span().unwrap_or(0..0));
                return Err(Box::new(Diagnostic::error(&place, "the members of an object type are plain names")));
            };
            types.insert(name.as_str().to_owned(), Self::parse(source, value.expr())?);
        }
        Ok(Self::Object(types))
    }

    /// Checks a value.
    ///
    /// # Errors
    /// With the first part that departs.
    pub fn check(&self, value: &Json) -> Result<(), TypeError> {
        self.check_at(value, "")
    }

    fn check_at(&self, value: &Json, path: &str) -> Result<(), TypeError> {
        match (self, value) {
            (Self::Any, _) | (Self::String, Json::String(_)) | (Self::Number, Json::Number(_)) | (Self::Bool, Json::Bool(_)) => {
                Ok(())
            }
            (Self::Integer, Json::Number(found)) if number::from_json(found).is_ok_and(|found| found.fract() == 0.0) => Ok(()),
            (Self::List(of), Json::Array(items)) => {
                items.iter().enumerate().try_for_each(|(index, item)| of.check_at(item, &format!("{path}[{index}]")))
            }
            (Self::Map(of), Json::Object(members)) => {
                // The keys of a map are values too: they are not named.
                members.values().try_for_each(|value| of.check_at(value, &format!("{path}[…]")))
            }
            (Self::Object(types), Json::Object(members)) => check_members(types, members, path),
            _ => Err(TypeError { path: path.to_owned(), wanted: self.with_article(), found: found(value).to_owned() }),
        }
    }

    fn with_article(&self) -> String {
        match self {
            Self::Any => "anything".to_owned(),
            Self::String => "a string".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Integer => "a whole number".to_owned(),
            Self::Bool => "a boolean".to_owned(),
            Self::List(_) | Self::Map(_) => format!("a `{self}`"),
            Self::Object(_) => format!("an `{self}`"),
        }
    }
}

fn check_members(types: &BTreeMap<String, Type>, members: &serde_json::Map<String, Json>, path: &str) -> Result<(), TypeError> {
    for (name, of) in types {
        let path = format!("{path}.{name}");
        match members.get(name) {
            Some(value) => of.check_at(value, &path)?,
            None => return Err(TypeError { path, wanted: of.with_article(), found: "left out".to_owned() }),
        }
    }
    if members.keys().all(|name| types.contains_key(name)) {
        return Ok(());
    }
    let wanted = Type::Object(types.clone()).with_article();
    Err(TypeError { path: path.to_owned(), wanted, found: "an object with other members".to_owned() })
}

fn found(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

fn example() -> String {
    "types are `string`, `number`, `integer`, `bool`, `any`, `list(T)`, `map(T)` and `object({ name = T })`".to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Type, Box<Diagnostic>> {
        Type::parse(&Source::new("a", text.to_owned()), &text.parse().unwrap())
    }

    #[test]
    fn types_are_parsed_and_printed() {
        for text in ["any", "list(string)", "map(list(integer))", "object({ a = bool, b = object({ c = number }) })"] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        assert_eq!(parse("strng").unwrap_err().hint, Some("did you mean `string`?".into()));
        assert_eq!(parse("\"string\"").unwrap_err().hint, Some("write `string`".into()));
        for bad in ["list", "list()", "list(string, string)", "object(string)", "1", "set(string)"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn values_are_checked_and_not_quoted() {
        let of = |text: &str, value: Json| parse(text).unwrap().check(&value).map_err(|error| error.to_string());
        assert_eq!(of("list(string)", json!(["a"])), Ok(()));
        assert_eq!(of("integer", json!(1)), Ok(()));
        assert_eq!(of("integer", json!(1.5)), Err("it must be a whole number, not a number".into()));
        assert_eq!(of("list(string)", json!(["a", 1])), Err("at `[1]` it must be a string, not a number".into()));
        assert_eq!(of("map(bool)", json!({"secret": 1})), Err("at `[…]` it must be a boolean, not a number".into()));
        assert_eq!(of("object({ a = string })", json!({})), Err("at `.a` it must be a string, not left out".into()));
        let more = of("object({ a = string })", json!({"a": "x", "secret": 1})).unwrap_err();
        assert_eq!(more, "it must be an `object({ a = string })`, not an object with other members");
        assert_eq!(of("string", Json::Null), Err("it must be a string, not null".into()));
    }
}
