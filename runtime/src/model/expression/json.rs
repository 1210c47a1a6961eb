//! The JSON form of an expression.
//!
//! One array a node, `[KIND, PLACE, MEMBER…]`, with lists of members laid out flat, so that JSON nests no deeper than the
//! expression does. `PLACE` is `LINE:COLUMN+LENGTH`, led by `FILE:` at the root and wherever the file differs from the parent's.
//! Every expression has exactly one such form.

use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value as Json, json};

use super::{Expression, For, ForForm, Kind, MAX_EXPRESSION_DEPTH, Operator, Place, json_depth};

/// Why JSON is not an expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpressionError {
    /// Deeper than [`MAX_EXPRESSION_DEPTH`].
    #[error("the expression is nested deeper than {MAX_EXPRESSION_DEPTH}")]
    TooDeep,
    /// A node that is not `[KIND, PLACE, MEMBER…]`.
    #[error("a node of an expression is not `[KIND, PLACE, …]`")]
    NotANode,
    /// A kind that does not exist, or does not travel.
    #[error("unknown kind of expression `{}`", _0.escape_debug())]
    UnknownKind(String),
    /// A node whose members are not those of its kind.
    #[error("wrong members in an expression of kind `{0}`")]
    Members(&'static str),
    /// A place that is not written as it must be.
    #[error("`{}` is not a place `FILE:LINE:COLUMN+LENGTH`", _0.escape_debug())]
    Place(String),
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut hidden = false;
        self.walk(&mut |part| hidden |= matches!(part.kind, Kind::Hidden(_)));
        if hidden {
            return Err(serde::ser::Error::custom("a sensitive value does not travel in an expression"));
        }
        encode(self, None).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Json::deserialize(deserializer)?;
        decode(json, None, 1).map_err(D::Error::custom)
    }
}

fn encode(expression: &Expression, file: Option<&Arc<str>>) -> Json {
    let own = &expression.place.file;
    let below = |child: &Expression| encode(child, Some(own));
    let members: Vec<Json> = match &expression.kind {
        Kind::Literal(value) => vec![value.clone()],
        Kind::Variable(name) | Kind::Local(name) | Kind::Iterator(name) => vec![json!(name)],
        Kind::Fact(path) => path.iter().map(|step| json!(step)).collect(),
        Kind::Export { resource, attribute } => vec![json!(resource), json!(attribute)],
        Kind::Address(resource) => vec![json!(resource)],
        Kind::Get { of, name } => vec![below(of), json!(name)],
        Kind::Index { of, key } => vec![below(of), below(key)],
        Kind::Splat { of, name, each } => vec![below(of), json!(name), below(each)],
        Kind::Call { name, arguments, .. } => std::iter::once(json!(name)).chain(arguments.iter().map(below)).collect(),
        Kind::If { condition, then, otherwise } => vec![below(condition), below(then), below(otherwise)],
        Kind::Not(of) | Kind::Negate(of) => vec![below(of)],
        Kind::Binary { left, right, .. } => vec![below(left), below(right)],
        Kind::Template(parts) | Kind::List(parts) => parts.iter().map(below).collect(),
        Kind::Object(members) => members.iter().flat_map(|(key, value)| [below(key), below(value)]).collect(),
        Kind::For(each) => encode_for(each, &below),
        Kind::Secret(slot) => vec![json!(slot)],
        // Refused before; its value is not for a text.
        Kind::Hidden(_) => Vec::new(),
        Kind::Fail(message) => vec![json!(message)],
        Kind::Hole => Vec::new(),
    };
    let mut node = vec![json!(expression.kind.name()), json!(encode_place(&expression.place, file))];
    node.extend(members);
    Json::Array(node)
}

impl Kind {
    /// The word that stands for it. A word that no reader takes stands for what does not travel.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Literal(_) => "literal",
            Self::Template(_) => "template",
            Self::Variable(_) => "variable",
            Self::Local(_) => "local",
            Self::Fact(_) => "fact",
            Self::Export { .. } => "export",
            Self::Address(_) => "address",
            Self::Iterator(_) => "iterator",
            Self::Get { .. } => "get",
            Self::Index { .. } => "index",
            Self::Splat { .. } => "splat",
            Self::Call { expand: false, .. } => "call",
            Self::Call { expand: true, .. } => "call_expand",
            Self::If { .. } => "if",
            Self::Not(_) => "not",
            Self::Negate(_) => "negate",
            Self::Binary { operator, .. } => operator.symbol(),
            Self::List(_) => "list",
            Self::Object(_) => "object",
            Self::For(each) => match &each.form {
                ForForm::List => "for_list",
                ForForm::Text => "for_text",
                ForForm::Object { group: false, .. } => "for_object",
                ForForm::Object { group: true, .. } => "for_group",
            },
            Self::Secret(_) => "secret",
            Self::Hidden(_) => "hidden",
            Self::Fail(_) => "fail",
            Self::Hole => "hole",
        }
    }
}

fn encode_for(each: &For, below: &dyn Fn(&Expression) -> Json) -> Vec<Json> {
    let mut members = vec![json!(each.key), json!(each.value), below(&each.of)];
    members.push(each.condition.as_ref().map_or(Json::Null, below));
    if let ForForm::Object { key, .. } = &each.form {
        members.push(below(key));
    }
    members.push(below(&each.body));
    members
}

fn encode_place(place: &Place, parent: Option<&Arc<str>>) -> String {
    let position = format!("{}:{}+{}", place.line, place.column, place.length);
    match parent {
        Some(file) if *file == place.file => position,
        _ => format!("{}:{position}", place.file),
    }
}

fn decode(json: Json, file: Option<&Arc<str>>, depth: usize) -> Result<Expression, ExpressionError> {
    if depth > MAX_EXPRESSION_DEPTH {
        return Err(ExpressionError::TooDeep);
    }
    let Json::Array(node) = json else { return Err(ExpressionError::NotANode) };
    let mut node = node.into_iter();
    let (Some(Json::String(kind)), Some(Json::String(place))) = (node.next(), node.next()) else {
        return Err(ExpressionError::NotANode);
    };
    let place = decode_place(&place, file).ok_or(ExpressionError::Place(place))?;
    let members = Members { kind: known_kind(&kind)?, rest: node, file: place.file.clone(), depth };
    Ok(Expression { kind: decode_kind(members)?, place })
}

fn decode_place(text: &str, parent: Option<&Arc<str>>) -> Option<Place> {
    let (rest, length) = text.rsplit_once('+')?;
    let (rest, column) = rest.rsplit_once(':').map_or((rest, None), |(rest, column)| (rest, Some(column)));
    let (file, line) = rest.rsplit_once(':').map_or((None, rest), |(file, line)| (Some(file), line));
    let file: Arc<str> = match (file, parent) {
        (None, Some(parent)) => parent.clone(),
        (Some(file), parent) if parent.is_none_or(|parent| **parent != *file) => file.into(),
        _ => return None,
    };
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| number.to_string() == text);
    Some(Place { file, line: number(line)?, column: number(column?)?, length: number(length)? })
}

const KINDS: [&str; 21] = [
    "literal",
    "template",
    "fact",
    "export",
    "iterator",
    "get",
    "index",
    "splat",
    "call",
    "call_expand",
    "if",
    "not",
    "negate",
    "list",
    "object",
    "for_list",
    "for_text",
    "for_object",
    "for_group",
    "secret",
    "fail",
];

fn known_kind(kind: &str) -> Result<&'static str, ExpressionError> {
    KINDS
        .into_iter()
        .chain(Operator::ALL.map(Operator::symbol))
        .find(|known| *known == kind)
        .ok_or_else(|| ExpressionError::UnknownKind(kind.chars().take(80).collect()))
}

/// The members of a node, taken one after another.
struct Members {
    kind: &'static str,
    rest: std::vec::IntoIter<Json>,
    file: Arc<str>,
    depth: usize,
}

impl Members {
    fn wrong(&self) -> ExpressionError {
        ExpressionError::Members(self.kind)
    }

    fn next(&mut self) -> Result<Json, ExpressionError> {
        self.rest.next().ok_or(ExpressionError::Members(self.kind))
    }

    fn text(&mut self) -> Result<String, ExpressionError> {
        match self.next()? {
            Json::String(text) => Ok(text),
            _ => Err(self.wrong()),
        }
    }

    fn expression(&mut self) -> Result<Expression, ExpressionError> {
        let json = self.next()?;
        decode(json, Some(&self.file), self.depth + 1)
    }

    fn boxed(&mut self) -> Result<Box<Expression>, ExpressionError> {
        self.expression().map(Box::new)
    }

    fn expressions(&mut self) -> Result<Vec<Expression>, ExpressionError> {
        (0..self.rest.len()).map(|_| self.expression()).collect()
    }

    fn optional<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, ExpressionError>) -> Result<Option<T>, ExpressionError> {
        if self.rest.as_slice().first() == Some(&Json::Null) {
            self.rest.next();
            return Ok(None);
        }
        parse(self).map(Some)
    }

    fn literal(&mut self) -> Result<Json, ExpressionError> {
        let json = self.next()?;
        if self.depth + json_depth(&json) > MAX_EXPRESSION_DEPTH {
            return Err(ExpressionError::TooDeep);
        }
        Ok(json)
    }
}

fn decode_kind(mut members: Members) -> Result<Kind, ExpressionError> {
    let m = &mut members;
    let kind = match m.kind {
        "literal" => Kind::Literal(m.literal()?),
        "template" => Kind::Template(m.expressions()?),
        "fact" if m.rest.len() > 0 => Kind::Fact((0..m.rest.len()).map(|_| m.text()).collect::<Result<_, _>>()?),
        "export" => {
            let resource = m.text()?.parse().map_err(|_| m.wrong())?;
            Kind::Export { resource, attribute: m.text()? }
        }
        "iterator" => Kind::Iterator(m.text()?),
        "get" => Kind::Get { of: m.boxed()?, name: m.text()? },
        "index" => Kind::Index { of: m.boxed()?, key: m.boxed()? },
        "splat" => Kind::Splat { of: m.boxed()?, name: m.text()?, each: m.boxed()? },
        "call" | "call_expand" => Kind::Call { name: m.text()?, expand: m.kind == "call_expand", arguments: m.expressions()? },
        "if" => Kind::If { condition: m.boxed()?, then: m.boxed()?, otherwise: m.boxed()? },
        "not" => Kind::Not(m.boxed()?),
        "negate" => Kind::Negate(m.boxed()?),
        "list" => Kind::List(m.expressions()?),
        "object" => decode_object(m)?,
        "secret" => Kind::Secret(m.text()?.parse().map_err(|_| m.wrong())?),
        "fail" => Kind::Fail(m.text()?),
        "for_list" | "for_text" | "for_object" | "for_group" => Kind::For(Box::new(decode_for(m)?)),
        symbol => {
            let operator = Operator::ALL.into_iter().find(|operator| operator.symbol() == symbol).ok_or_else(|| m.wrong())?;
            Kind::Binary { operator, left: m.boxed()?, right: m.boxed()? }
        }
    };
    if members.rest.len() > 0 { Err(members.wrong()) } else { Ok(kind) }
}

fn decode_object(members: &mut Members) -> Result<Kind, ExpressionError> {
    let mut object = Vec::with_capacity(members.rest.len() / 2);
    while members.rest.len() > 0 {
        object.push((members.expression()?, members.expression()?));
    }
    Ok(Kind::Object(object))
}

fn decode_for(members: &mut Members) -> Result<For, ExpressionError> {
    let key = members.optional(Members::text)?;
    let value = members.text()?;
    let of = members.expression()?;
    let condition = members.optional(Members::expression)?;
    let form = match members.kind {
        "for_list" => ForForm::List,
        "for_text" => ForForm::Text,
        kind => ForForm::Object { key: members.expression()?, group: kind == "for_group" },
    };
    Ok(For { key, value, of, condition, form, body: members.expression()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(file: &str, line: u32) -> Place {
        Place { file: file.into(), line, column: 2, length: 3 }
    }

    fn at(kind: Kind) -> Expression {
        Expression::new(kind, &place("site.hcl", 1))
    }

    fn fact() -> Box<Expression> {
        Box::new(at(Kind::Fact(vec!["os".into(), "family".into()])))
    }

    /// One of each kind that travels.
    fn samples() -> Vec<Expression> {
        let each = |form, condition| {
            let (key, value) = (Some("k".to_owned()), "v".to_owned());
            at(Kind::For(Box::new(For { key, value, of: *fact(), condition, form, body: at(Kind::Iterator("v".into())) })))
        };
        let mut samples = vec![
            at(Kind::Literal(json!({"a": [1, null, "x"]}))),
            at(Kind::Template(vec![at(Kind::Literal(json!("x"))), Expression { place: place("a:b.tpl", 9), ..*fact() }])),
            *fact(),
            at(Kind::Export { resource: "file.a.b".parse().unwrap(), attribute: "path".into() }),
            at(Kind::Get { of: fact(), name: "x".into() }),
            at(Kind::Index { of: fact(), key: fact() }),
            at(Kind::Splat { of: fact(), name: "*".into(), each: fact() }),
            at(Kind::Call { name: "upper".into(), arguments: vec![*fact()], expand: false }),
            at(Kind::Call { name: "max".into(), arguments: vec![*fact()], expand: true }),
            at(Kind::If { condition: fact(), then: fact(), otherwise: fact() }),
            at(Kind::Not(fact())),
            at(Kind::Negate(fact())),
            at(Kind::List(vec![*fact(), *fact()])),
            at(Kind::Object(vec![(*fact(), *fact())])),
            at(Kind::Secret("file.a/content#0".parse().unwrap())),
            at(Kind::Fail("no".into())),
            each(ForForm::List, None),
            each(ForForm::Text, Some(*fact())),
            each(ForForm::Object { key: *fact(), group: false }, None),
            each(ForForm::Object { key: *fact(), group: true }, Some(*fact())),
        ];
        samples.extend(Operator::ALL.map(|operator| at(Kind::Binary { operator, left: fact(), right: fact() })));
        samples
    }

    #[test]
    fn every_kind_round_trips_and_nothing_may_be_added_or_missing() {
        for sample in samples() {
            let json = serde_json::to_value(&sample).unwrap();
            assert_eq!(serde_json::from_value::<Expression>(json.clone()).unwrap(), sample);
            let Json::Array(node) = json else { panic!("{json}") };
            let variadic =
                matches!(&sample.kind, Kind::Template(_) | Kind::Fact(_) | Kind::Call { .. } | Kind::List(_) | Kind::Object(_));
            let longer = [node.clone(), vec![json!(0)]].concat();
            assert!(serde_json::from_value::<Expression>(Json::Array(longer)).is_err(), "{sample:?}");
            let shorter = node[..node.len() - 1].to_vec();
            if !variadic {
                assert!(serde_json::from_value::<Expression>(Json::Array(shorter)).is_err(), "{sample:?}");
            }
        }
    }

    #[test]
    fn the_file_is_named_where_it_changes_and_nowhere_else() {
        let text = serde_json::to_string(&samples()[1]).unwrap();
        assert_eq!(text, r#"["template","site.hcl:1:2+3",["literal","1:2+3","x"],["fact","a:b.tpl:9:2+3","os","family"]]"#);
        let named_again = text.replace(r#""1:2+3""#, r#""site.hcl:1:2+3""#);
        assert!(serde_json::from_str::<Expression>(&named_again).is_err());
        for bad in ["1:2+3", "site.hcl:01:2+3", "site.hcl:1:2+", "site.hcl", "site.hcl:1:2+-3", "site.hcl:1:+2+3"] {
            assert!(serde_json::from_value::<Expression>(json!(["list", bad])).is_err(), "{bad}");
        }
    }

    #[test]
    fn references_of_the_controller_do_not_travel() {
        let address = Kind::Address("file.a".parse().unwrap());
        for kind in [Kind::Variable("a".into()), Kind::Local("a".into()), address, Kind::Hole] {
            let json = serde_json::to_value(at(kind)).unwrap();
            assert!(serde_json::from_value::<Expression>(json).is_err());
        }
    }

    #[test]
    fn a_sensitive_value_does_not_travel() {
        let hidden = at(Kind::Hidden(crate::model::secret::SecretValue::of(&json!("hunter2"))));
        let within = at(Kind::Not(Box::new(hidden)));
        let error = serde_json::to_string(&within).unwrap_err().to_string();
        assert!(!format!("{error} {within:?}").contains("hunter2"), "{error}");
        assert!(serde_json::from_value::<Expression>(json!(["hidden", "a:1:1+1"])).is_err());
    }

    #[test]
    fn depth_is_counted_through_nodes_and_literals() {
        let nested = |levels: usize| (1..levels).fold(*fact(), |inner, _| at(Kind::Not(Box::new(inner))));
        let deepest = nested(MAX_EXPRESSION_DEPTH);
        assert_eq!(deepest.depth(), MAX_EXPRESSION_DEPTH);
        let text = serde_json::to_string(&deepest).unwrap();
        assert_eq!(serde_json::from_str::<Expression>(&text).unwrap(), deepest);
        let text = serde_json::to_string(&nested(MAX_EXPRESSION_DEPTH + 1)).unwrap();
        assert!(
            serde_json::from_str::<Expression>(&text).unwrap_err().to_string().starts_with("the expression is nested deeper")
        );
        let literal = |levels: usize| at(Kind::Literal((0..levels).fold(json!(1), |inner, _| json!([inner]))));
        let read = |expression| serde_json::from_value::<Expression>(serde_json::to_value::<Expression>(expression).unwrap());
        assert!(read(literal(MAX_EXPRESSION_DEPTH - 1)).is_ok());
        assert!(read(literal(MAX_EXPRESSION_DEPTH)).is_err());
    }
}
