//! Values with marks: where they came from, whether they are sensitive, and what of them is not known yet.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::diagnostic::Diagnostic;
pub use super::marks::Marks;
use super::number;
use crate::model::expression::{Expression, Kind, MAX_EXPRESSION_DEPTH, Place};
use crate::model::secret::SecretValue;

/// The most that a value may weigh: roughly its bytes as JSON, shared parts counted each time that they occur.
pub const MAX_WEIGHT: u64 = 64 << 20;

/// The most that an expression for the node may weigh.
pub const MAX_LEFT_OVER: u64 = 16 << 20;

/// How deep lists and objects may nest in a value.
pub const MAX_VALUE_DEPTH: u32 = 48;

/// What a value is. Its debug output says what kind it is, and no more.
#[derive(Clone, PartialEq)]
pub enum Data {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number that `number::check` accepts.
    Number(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<Vec<Value>>),
    /// An object; also what Terraform calls a map.
    Object(Arc<BTreeMap<String, Value>>),
    /// Settled on the node, by this expression.
    Deferred(Arc<Expression>),
    /// A member of a list or object that could not be evaluated. Using it is the error; nothing need use it.
    Failed(Arc<Diagnostic>),
}

impl Data {
    /// What kind of value it is, with its article.
    fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
            Self::Deferred(_) => "a value that only the node knows",
            Self::Failed(_) => "an error",
        }
    }
}

impl fmt::Debug for Data {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

/// A value with its marks. Clones are cheap: contents are shared. Its debug output shows the marks and what kind it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    data: Data,
    marks: Marks,
    weight: u64,
    depth: u32,
    /// Whether nothing in it is deferred, nor failed.
    known: bool,
    /// Whether something in it failed.
    failed: bool,
}

/// A value grew beyond [`MAX_WEIGHT`] or [`MAX_VALUE_DEPTH`], or holds a number that cannot be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// Too large.
    #[error("the value grows beyond {} MiB", MAX_WEIGHT >> 20)]
    TooLarge,
    /// Too large an expression.
    #[error("what the node has to evaluate grows beyond {} MiB", MAX_LEFT_OVER >> 20)]
    ExpressionTooLarge,
    /// Too deep.
    #[error("the value is nested deeper than {MAX_VALUE_DEPTH}")]
    TooDeep,
    /// An expression for the node that is too deep.
    #[error("what the node has to evaluate is nested deeper than {MAX_EXPRESSION_DEPTH}")]
    ExpressionTooDeep,
    /// A number beyond 2^53.
    #[error("{}", number::TOO_LARGE)]
    Number,
}

impl Value {
    fn scalar(data: Data, weight: u64) -> Self {
        Self { data, marks: Marks::default(), weight, depth: 0, known: true, failed: false }
    }

    /// `null`.
    pub fn null() -> Self {
        Self::scalar(Data::Null, 4)
    }

    /// A boolean.
    pub fn bool(flag: bool) -> Self {
        Self::scalar(Data::Bool(flag), 5)
    }

    /// A number.
    ///
    /// # Errors
    /// If it cannot be held.
    pub fn number(number: f64) -> Result<Self, ValueError> {
        number::check(number).map(|number| Self::scalar(Data::Number(number), 8)).map_err(|_| ValueError::Number)
    }

    /// A count of something in memory.
    pub fn count(count: usize) -> Self {
        Self::scalar(Data::Number(count as f64), 8)
    }

    /// Text.
    ///
    /// # Errors
    /// If it is too large.
    pub fn text(text: impl Into<Arc<str>>) -> Result<Self, ValueError> {
        let text = text.into();
        let weight = text.len() as u64 + 2;
        Self::scalar(Data::Text(text), weight).checked()
    }

    /// A list.
    ///
    /// # Errors
    /// If it is too large or too deep.
    pub fn list(items: Vec<Value>) -> Result<Self, ValueError> {
        Self::composite(measure(items.iter(), 0), Data::List(Arc::new(items)))
    }

    /// An object.
    ///
    /// # Errors
    /// If it is too large or too deep.
    pub fn object(members: BTreeMap<String, Value>) -> Result<Self, ValueError> {
        let keys = members.keys().map(|key| key.len() as u64 + 4).sum();
        Self::composite(measure(members.values(), keys), Data::Object(Arc::new(members)))
    }

    /// A value that an expression settles on the node. Lists and objects in what it becomes are not counted in its depth.
    ///
    /// # Errors
    /// If the expression is too large or too deep.
    pub fn deferred(expression: Expression, marks: Marks) -> Result<Self, ValueError> {
        if expression.depth() > MAX_EXPRESSION_DEPTH {
            return Err(ValueError::ExpressionTooDeep);
        }
        let weight = weigh(&expression);
        check_left_over(weight)?;
        Self { data: Data::Deferred(Arc::new(expression)), marks, weight, depth: 0, known: false, failed: false }.checked()
    }

    /// A member that could not be evaluated.
    pub fn failed(error: Diagnostic) -> Self {
        let weight = 48 + error.summary.len() as u64;
        Self { failed: true, known: false, ..Self::scalar(Data::Failed(Arc::new(error)), weight) }
    }

    fn composite(measured: Measured, data: Data) -> Result<Self, ValueError> {
        let Measured { weight, depth, known, failed } = measured;
        Self { data, marks: Marks::default(), weight, depth, known, failed }.checked()
    }

    /// A known value of JSON, without marks.
    ///
    /// # Errors
    /// If it is too large, too deep, or holds a number that cannot be held.
    pub fn from_json(json: &Json) -> Result<Self, ValueError> {
        Self::from_json_at(json, 0)
    }

    fn from_json_at(json: &Json, depth: u32) -> Result<Self, ValueError> {
        if depth > MAX_VALUE_DEPTH {
            return Err(ValueError::TooDeep);
        }
        match json {
            Json::Null => Ok(Self::null()),
            Json::Bool(flag) => Ok(Self::bool(*flag)),
            Json::Number(number) => Self::number(number::from_json(number).map_err(|_| ValueError::Number)?),
            Json::String(text) => Self::text(text.as_str()),
            Json::Array(items) => {
                let items = items.iter().map(|item| Self::from_json_at(item, depth + 1));
                Self::list(items.collect::<Result<_, _>>()?)
            }
            Json::Object(members) => {
                let members = members.iter().map(|(key, value)| Ok((key.clone(), Self::from_json_at(value, depth + 1)?)));
                Self::object(members.collect::<Result<_, ValueError>>()?)
            }
        }
    }

    fn checked(self) -> Result<Self, ValueError> {
        if self.weight > MAX_WEIGHT {
            return Err(ValueError::TooLarge);
        }
        if self.depth > MAX_VALUE_DEPTH {
            return Err(ValueError::TooDeep);
        }
        Ok(self)
    }

    /// The same with more marks.
    #[must_use]
    pub fn marked(mut self, marks: &Marks) -> Self {
        self.marks.join(marks);
        self
    }

    /// The same without being sensitive, all through.
    #[must_use]
    pub fn revealed(&self) -> Self {
        let data = match &self.data {
            Data::List(items) => Data::List(Arc::new(items.iter().map(Self::revealed).collect())),
            Data::Object(members) => {
                Data::Object(Arc::new(members.iter().map(|(key, value)| (key.clone(), value.revealed())).collect()))
            }
            other => other.clone(),
        };
        let Self { weight, depth, known, failed, .. } = *self;
        Self { data, marks: self.marks.without_sensitivity(), weight, depth, known, failed }
    }

    /// What it is.
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The marks of the value itself, not of what it holds.
    pub fn own_marks(&self) -> &Marks {
        &self.marks
    }

    /// The marks of the value and of everything that it holds.
    pub fn marks(&self) -> Marks {
        let mut marks = self.marks.clone();
        match &self.data {
            Data::List(items) => items.iter().for_each(|item| marks.join(&item.marks())),
            Data::Object(members) => members.values().for_each(|value| marks.join(&value.marks())),
            _ => {}
        }
        marks
    }

    /// Whether all of it is known.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// The errors in it: of its members that could not be evaluated.
    pub fn failures(&self) -> Vec<&Diagnostic> {
        match &self.data {
            _ if !self.failed => Vec::new(),
            Data::Failed(error) => vec![error],
            Data::List(items) => items.iter().flat_map(Self::failures).collect(),
            Data::Object(members) => members.values().flat_map(Self::failures).collect(),
            _ => Vec::new(),
        }
    }

    /// Roughly its bytes as JSON.
    pub fn weight(&self) -> u64 {
        self.weight
    }

    /// Whether two known values are equal, whatever their marks. Values of different types differ.
    pub fn same(&self, other: &Value) -> bool {
        match (&self.data, &other.data) {
            (Data::List(left), Data::List(right)) => {
                left.len() == right.len() && left.iter().zip(right.iter()).all(|(left, right)| left.same(right))
            }
            (Data::Object(left), Data::Object(right)) => {
                let pairs = || left.iter().zip(right.iter());
                left.len() == right.len() && pairs().all(|(left, right)| left.0 == right.0 && left.1.same(right.1))
            }
            (left, right) => left == right,
        }
    }

    /// What kind of value it is, with its article, for messages.
    pub fn type_name(&self) -> &'static str {
        self.data.kind()
    }

    /// The value as JSON, if all of it is known.
    pub fn json(&self) -> Option<Json> {
        Some(match &self.data {
            Data::Null => Json::Null,
            Data::Bool(flag) => Json::Bool(*flag),
            Data::Number(number) => number::to_json(*number).ok()?,
            Data::Text(text) => Json::String(text.to_string()),
            Data::List(items) => Json::Array(items.iter().map(Self::json).collect::<Option<_>>()?),
            Data::Object(members) => {
                let members = members.iter().map(|(key, value)| Some((key.clone(), value.json()?)));
                Json::Object(members.collect::<Option<Map<_, _>>>()?)
            }
            Data::Deferred(_) | Data::Failed(_) => return None,
        })
    }

    /// An expression that gives the value on the node: known parts are literals, and those that are sensitive [`Kind::Hidden`].
    pub fn residual(&self, place: &Place) -> Expression {
        self.residual_within(place, false)
    }

    /// As [`Self::residual`], where `sensitive` says whether what holds the value is.
    pub(super) fn residual_within(&self, place: &Place, sensitive: bool) -> Expression {
        let sensitive = sensitive || self.marks.is_sensitive();
        if self.known && (sensitive || !self.marks().is_sensitive()) {
            return Expression::new(self.known_kind(sensitive), place);
        }
        match &self.data {
            Data::List(items) => {
                let items = items.iter().map(|item| item.residual_within(place, sensitive)).collect();
                Expression::new(Kind::List(items), place)
            }
            Data::Object(members) => {
                let key = |key: &String| Expression::new(Kind::Literal(Json::String(key.clone())), place);
                let member = |(name, value): (&String, &Value)| (key(name), value.residual_within(place, sensitive));
                Expression::new(Kind::Object(members.iter().map(member).collect()), place)
            }
            Data::Deferred(expression) => expression.as_ref().clone(),
            Data::Failed(error) => Expression::new(Kind::Fail(error.summary.clone()), error.place.as_ref().unwrap_or(place)),
            // Everything else is known.
            _ => Expression::new(Kind::Literal(Json::Null), place),
        }
    }

    fn known_kind(&self, sensitive: bool) -> Kind {
        match self.json().unwrap_or(Json::Null) {
            // That there is no value is no secret.
            Json::Null => Kind::Literal(Json::Null),
            json if sensitive => Kind::Hidden(SecretValue::of(&json)),
            json => Kind::Literal(json),
        }
    }
}

struct Measured {
    weight: u64,
    depth: u32,
    known: bool,
    failed: bool,
}

fn measure<'v>(values: impl Iterator<Item = &'v Value>, start: u64) -> Measured {
    let empty = Measured { weight: start + 2, depth: 1, known: true, failed: false };
    values.fold(empty, |sum, value| Measured {
        weight: sum.weight.saturating_add(value.weight + 1),
        depth: sum.depth.max(value.depth + 1),
        known: sum.known && value.known,
        failed: sum.failed || value.failed,
    })
}

/// Checks what an expression for the node will weigh, before it is put together.
///
/// # Errors
/// If that is too much.
pub fn check_left_over(weight: u64) -> Result<(), ValueError> {
    if weight > MAX_LEFT_OVER { Err(ValueError::ExpressionTooLarge) } else { Ok(()) }
}

/// Roughly the bytes of an expression as JSON.
fn weigh(expression: &Expression) -> u64 {
    let mut weight = 0_u64;
    expression.walk(&mut |part| {
        weight = weight.saturating_add(match &part.kind {
            Kind::Literal(json) => 24 + json_weight(json),
            Kind::Hidden(value) => 24 + value.text().len() as u64,
            Kind::Fail(message) => 24 + message.len() as u64,
            _ => 48,
        });
    });
    weight
}

fn json_weight(json: &Json) -> u64 {
    match json {
        Json::String(text) => text.len() as u64 + 2,
        Json::Array(items) => 2 + items.iter().map(|item| json_weight(item) + 1).sum::<u64>(),
        Json::Object(members) => 2 + members.iter().map(|(key, value)| key.len() as u64 + 4 + json_weight(value)).sum::<u64>(),
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::model::ids::{ResourceId, TypeName};

    use super::*;

    #[test]
    fn json_round_trips() {
        let json = json!({"a": [1, 2.5, null, true, "x"], "b": {}});
        let value = Value::from_json(&json).unwrap();
        assert!(value.is_known());
        assert_eq!(value.json().unwrap(), json);
    }

    #[test]
    fn marks_are_kept_at_the_part_that_has_them_and_gathered_from_all() {
        let id: ResourceId = "file.a".parse().unwrap();
        let secret = Value::text("s").unwrap().marked(&Marks::sensitive());
        let exported = Value::text("p").unwrap().marked(&Marks::resource(&id));
        let list = Value::list(vec![secret, exported, Value::bool(true)]).unwrap();
        assert!(!list.own_marks().is_sensitive());
        assert!(list.marks().is_sensitive());
        assert_eq!(list.marks().resources().collect::<Vec<_>>(), [&id]);
        assert_eq!(list.marks().modules().into_iter().map(TypeName::as_str).collect::<Vec<_>>(), ["file"]);
        let revealed = list.revealed();
        assert!(!revealed.marks().is_sensitive());
        assert_eq!(revealed.marks().resources().count(), 1, "only sensitivity is taken away");
    }

    #[test]
    fn debug_output_says_what_a_value_is_and_not_which() {
        let value = Value::from_json(&json!({"hush": ["hush", 4711]})).unwrap().marked(&Marks::sensitive());
        let place = Place { file: "a".into(), line: 1, column: 1, length: 1 };
        let (left_over, all) = (value.residual(&place), [value.clone(), Value::list(vec![value.clone()]).unwrap()]);
        let deferred = Value::deferred(left_over.clone(), Marks::default()).unwrap();
        let debug = format!("{value:?} {all:?} {left_over:?} {deferred:?} {:?}", value.data());
        assert!(!debug.contains("hush") && !debug.contains("4711"), "{debug}");
        assert!(debug.contains("an object") && debug.contains("sensitive: true"), "{debug}");
    }

    #[test]
    fn shared_parts_count_each_time() {
        let mut value = Value::text("x".repeat(1 << 20)).unwrap();
        for _ in 0..5 {
            value = Value::list(vec![value.clone(), value]).unwrap();
        }
        assert_eq!(Value::list(vec![value.clone(), value.clone(), value]), Err(ValueError::TooLarge));
        let deep = (0..MAX_VALUE_DEPTH).try_fold(Value::null(), |inner, _| Value::list(vec![inner])).unwrap();
        assert_eq!(Value::list(vec![deep]), Err(ValueError::TooDeep));
    }
}
