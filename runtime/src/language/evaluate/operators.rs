//! Operators, conditionals, templates and objects.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Evaluated, Evaluator, Failure, whole};
use crate::language::functions::{Text, scalar_text};
use crate::language::value::{Data, Marks, Value, check_left_over};
use crate::model::expression::{Expression, Kind, Operator, Place};

/// Known parts of a template that stand side by side and are all sensitive, or all not.
#[derive(Default)]
struct KnownText {
    text: Text,
    sensitive: bool,
}

impl Evaluator<'_> {
    /// A boolean, or none if it is deferred.
    pub(super) fn truth(&self, value: &Value, what: &str, place: &Place) -> Result<Option<bool>, Failure> {
        match value.data() {
            Data::Bool(flag) => Ok(Some(*flag)),
            Data::Deferred(_) => Ok(None),
            _ => Err(Failure::wrong(place, format!("{what} must be a boolean, not {}", value.type_name()))),
        }
    }

    pub(super) fn choice(&mut self, test: &Expression, then: &Expression, otherwise: &Expression, place: &Place) -> Evaluated {
        let condition = self.value(test)?;
        let mut marks = condition.marks();
        let chosen = match self.truth(&condition, "the condition", &test.place)? {
            Some(true) => self.value(then)?,
            Some(false) => self.value(otherwise)?,
            None => {
                let then = Box::new(self.speculate(then, &mut marks)?);
                let otherwise = Box::new(self.speculate(otherwise, &mut marks)?);
                let condition = Box::new(condition.residual(&test.place));
                return self.deferred(Kind::If { condition, then, otherwise }, place, marks);
            }
        };
        Ok(chosen.marked(&marks))
    }

    pub(super) fn not(&mut self, of: &Expression, place: &Place) -> Evaluated {
        let value = self.value(of)?;
        match self.truth(&value, "the operand of `!`", &of.place)? {
            Some(flag) => Ok(Value::bool(!flag).marked(value.own_marks())),
            None => self.deferred(Kind::Not(Box::new(value.residual(&of.place))), place, value.marks()),
        }
    }

    pub(super) fn negate(&mut self, of: &Expression, place: &Place) -> Evaluated {
        let value = self.value(of)?;
        match value.data() {
            Data::Number(number) => Ok(self.made(Value::number(-number), place)?.marked(value.own_marks())),
            Data::Deferred(_) => self.deferred(Kind::Negate(Box::new(value.residual(&of.place))), place, value.marks()),
            _ => Err(Failure::wrong(&of.place, format!("the operand of `-` must be a number, not {}", value.type_name()))),
        }
    }

    pub(super) fn binary(&mut self, operator: Operator, left: &Expression, right: &Expression, place: &Place) -> Evaluated {
        if matches!(operator, Operator::And | Operator::Or) {
            return self.logical(operator, left, right, place);
        }
        let (a, b) = (whole(self.value(left)?)?, whole(self.value(right)?)?);
        let mut marks = a.marks();
        marks.join(&b.marks());
        let equality = matches!(operator, Operator::Equal | Operator::NotEqual);
        let deferred = |value: &Value| matches!(value.data(), Data::Deferred(_)) || equality && !value.is_known();
        if !equality {
            self.operand(operator, &a, &left.place)?;
            self.operand(operator, &b, &right.place)?;
        }
        if deferred(&a) || deferred(&b) {
            let (left, right) = (Box::new(a.residual(&left.place)), Box::new(b.residual(&right.place)));
            return self.deferred(Kind::Binary { operator, left, right }, place, marks);
        }
        let value = match (a.data(), b.data()) {
            (Data::Number(a), Data::Number(b)) if !equality => self.arithmetic(operator, *a, *b, place)?,
            _ => {
                self.spend(a.weight().min(b.weight()) / 64, place)?;
                Value::bool(a.same(&b) == (operator == Operator::Equal))
            }
        };
        Ok(value.marked(&marks))
    }

    fn operand(&self, operator: Operator, value: &Value, place: &Place) -> Result<(), Failure> {
        match value.data() {
            Data::Number(_) | Data::Deferred(_) => Ok(()),
            _ => {
                let summary = format!("an operand of `{}` must be a number, not {}", operator.symbol(), value.type_name());
                let failure = Failure::wrong(place, summary);
                Err(if operator == Operator::Add {
                    failure.hint("strings are joined in a template: `\"${a}${b}\"`")
                } else {
                    failure
                })
            }
        }
    }

    fn arithmetic(&self, operator: Operator, a: f64, b: f64, place: &Place) -> Evaluated {
        let number = match operator {
            Operator::Less => return Ok(Value::bool(a < b)),
            Operator::LessOrEqual => return Ok(Value::bool(a <= b)),
            Operator::Greater => return Ok(Value::bool(a > b)),
            Operator::GreaterOrEqual => return Ok(Value::bool(a >= b)),
            Operator::Divide | Operator::Remainder if b == 0.0 => return Err(Failure::wrong(place, "division by zero")),
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide => a / b,
            Operator::Remainder => a % b,
            // These take operands of other types, and were dealt with before.
            Operator::Equal | Operator::NotEqual | Operator::And | Operator::Or => {
                return Err(Failure::wrong(place, format!("`{}` does not take numbers", operator.symbol())));
            }
        };
        self.made(Value::number(number), place)
    }

    fn logical(&mut self, operator: Operator, left: &Expression, right: &Expression, place: &Place) -> Evaluated {
        let what = format!("an operand of `{}`", operator.symbol());
        let a = self.value(left)?;
        let mut marks = a.marks();
        match self.truth(&a, &what, &left.place)? {
            Some(flag) if flag == (operator == Operator::Or) => Ok(Value::bool(flag).marked(&marks)),
            Some(_) => {
                let b = self.value(right)?;
                self.truth(&b, &what, &right.place)?;
                self.as_boolean(b.marked(&marks), operator, left, place)
            }
            None => {
                let right = Box::new(self.speculate(right, &mut marks)?);
                let left = Box::new(a.residual(&left.place));
                self.deferred(Kind::Binary { operator, left, right }, place, marks)
            }
        }
    }

    /// A right operand that decides. One that the node settles keeps its operator, which checks its type there.
    fn as_boolean(&mut self, value: Value, operator: Operator, left: &Expression, place: &Place) -> Evaluated {
        if !matches!(value.data(), Data::Deferred(_)) {
            return Ok(value);
        }
        let neutral = Expression::new(Kind::Literal((operator == Operator::And).into()), &left.place);
        let (left, right) = (Box::new(neutral), Box::new(value.residual(place)));
        self.deferred(Kind::Binary { operator, left, right }, place, value.marks())
    }

    pub(super) fn template(&mut self, parts: &[Expression], place: &Place) -> Evaluated {
        let mut marks = Marks::default();
        let mut text = KnownText::default();
        let mut written: Vec<Expression> = Vec::new();
        let mut weight = 0_u64;
        for part in parts {
            let value = self.value(part)?;
            marks.join(&value.marks());
            if !value.is_known() {
                weight = weight.saturating_add(value.weight());
                check_left_over(weight).map_err(|error| Failure::of_value(place, error))?;
            }
            match (scalar_text(&value), value.data()) {
                (Some(scalar), _) => {
                    let sensitive = value.own_marks().is_sensitive();
                    if sensitive != text.sensitive {
                        self.flush(&mut text, &mut written, place)?;
                        text.sensitive = sensitive;
                    }
                    text.text.push(&scalar).map_err(|error| Failure::of_value(place, error))?;
                }
                (None, Data::Deferred(_)) => {
                    self.flush(&mut text, &mut written, place)?;
                    written.push(value.residual(&part.place));
                }
                _ => {
                    let summary = format!("a template cannot hold {}", value.type_name());
                    let hint = match value.data() {
                        Data::Null => "give a default: `coalesce(x, \"\")`",
                        _ => "write it as text first: `join(\", \", x)`, or `jsonencode(x)`",
                    };
                    return Err(Failure::wrong(&part.place, summary).hint(hint));
                }
            }
        }
        self.flush(&mut text, &mut written, place)?;
        let known = |part: &Expression| matches!(part.kind, Kind::Literal(_) | Kind::Hidden(_));
        if !written.iter().all(known) {
            return self.deferred(Kind::Template(written), place, marks);
        }
        let mut whole = Text::default();
        for part in &written {
            let piece = match &part.kind {
                Kind::Literal(Json::String(piece)) => whole.push(piece),
                Kind::Hidden(piece) => piece.json().as_str().map_or(Ok(()), |piece| whole.push(piece)),
                _ => Ok(()),
            };
            piece.map_err(|error| Failure::of_value(place, error))?;
        }
        Ok(self.made(whole.value(), place)?.marked(&marks))
    }

    /// Moves the text so far into the parts of a template.
    fn flush(&self, known: &mut KnownText, written: &mut Vec<Expression>, place: &Place) -> Result<(), Failure> {
        let text = self.made(std::mem::take(&mut known.text).value(), place)?;
        if !matches!(text.data(), Data::Text(text) if text.is_empty()) {
            let marks = if known.sensitive { Marks::sensitive() } else { Marks::default() };
            written.push(text.marked(&marks).residual(place));
        }
        Ok(())
    }

    pub(super) fn object(&mut self, members: &[(Expression, Expression)], place: &Place) -> Evaluated {
        let mut evaluated = Vec::with_capacity(members.len());
        for (key, value) in members {
            evaluated.push((self.value(key)?, self.member(value)?));
        }
        let mut marks = Marks::default();
        let mut object = BTreeMap::new();
        for ((key, value), (written, _)) in evaluated.iter().zip(members) {
            marks.join(&key.marks());
            match key.data() {
                Data::Text(name) => {
                    if object.insert(name.to_string(), value.clone()).is_some() {
                        return Err(Failure::wrong(&written.place, "a key is given twice in one object"));
                    }
                }
                Data::Deferred(_) => return self.left_over_object(&evaluated, members, place),
                _ => return Err(Failure::wrong(&written.place, format!("a key must be a string, not {}", key.type_name()))),
            }
        }
        Ok(self.made(Value::object(object), place)?.marked(&marks))
    }

    fn left_over_object(&self, evaluated: &[(Value, Value)], members: &[(Expression, Expression)], place: &Place) -> Evaluated {
        let mut marks = Marks::default();
        self.check_parts(evaluated.iter().flat_map(|(key, value)| [key, value]), place)?;
        let mut left_over = Vec::with_capacity(members.len());
        for ((key, value), (written_key, written)) in evaluated.iter().zip(members) {
            marks.join(&key.marks());
            marks.join(&value.marks());
            left_over.push((key.residual(&written_key.place), value.residual(&written.place)));
        }
        self.deferred(Kind::Object(left_over), place, marks)
    }
}
