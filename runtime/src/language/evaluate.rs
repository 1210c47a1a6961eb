//! Evaluates expressions: on the controller from a manifest, on the node from what travelled.
//!
//! One evaluator does both. What the [`Scope`] does not know yet it answers with a deferred value, and everything computed from that
//! becomes an expression in turn, with the known parts put in. A scope that knows everything leaves nothing deferred.
//!
//! It holds: evaluating what is left over, where the rest is known, gives the value (or an error) that evaluating the whole there gives.
//! A part that may not be needed must therefore not fail early. A branch whose condition is deferred becomes `Kind::Fail` with its
//! error; a member of a list or object that fails becomes `Data::Failed`, an error only for what uses it, because a deferred member that
//! will fail cannot be an error for those that use another. Limits, cycles and files that cannot be read do fail at once.

mod calls;
mod limits;
mod loops;
mod operators;

use std::sync::Arc;

use serde_json::Value as Json;

pub use self::limits::Budget;
use super::diagnostic::Diagnostic;
use super::suggest;
use super::value::{Data, Marks, Value, ValueError, check_left_over};
use crate::model::expression::{Expression, Kind, Place};
use crate::model::ids::{ResourceId, SecretName, SecretSlot};
use crate::model::secret::{SECRET_FUNCTION, SecretValue};

/// How deep evaluation may go, through expressions, locals, templates and exports together.
pub const MAX_EVALUATION_DEPTH: u32 = 512;

/// Why there is no value.
#[derive(Debug, Clone)]
pub enum Failure {
    /// The expression is wrong for its values. `try` and `can` catch this.
    Wrong(Box<Diagnostic>),
    /// Evaluation cannot go on: a limit, a cycle, a file.
    Fatal(Box<Diagnostic>),
    /// Something that it reads failed, and that was reported there.
    Reported,
}

impl Failure {
    /// An error that `try` catches.
    pub fn wrong(place: &Place, summary: impl Into<String>) -> Self {
        Self::Wrong(Box::new(Diagnostic::error(place, summary)))
    }

    /// An error that nothing catches.
    pub fn fatal(place: &Place, summary: impl Into<String>) -> Self {
        Self::Fatal(Box::new(Diagnostic::error(place, summary)))
    }

    fn of_value(place: &Place, error: ValueError) -> Self {
        match error {
            ValueError::Number => Self::wrong(place, error.to_string()),
            _ => Self::fatal(place, error.to_string()),
        }
    }

    /// The same with its message changed.
    #[must_use]
    pub fn map(self, change: impl FnOnce(Diagnostic) -> Diagnostic) -> Self {
        match self {
            Self::Wrong(message) => Self::Wrong(Box::new(change(*message))),
            Self::Fatal(message) => Self::Fatal(Box::new(change(*message))),
            Self::Reported => Self::Reported,
        }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        self.map(|message| message.hint(hint.into()))
    }
}

/// A value or why there is none.
pub type Evaluated = Result<Value, Failure>;

/// What expressions can read.
pub trait Scope {
    /// The budget that all evaluation in this scope shares.
    fn budget(&self) -> &Budget;

    /// `facts.PATH`.
    ///
    /// # Errors
    /// If there is no such fact.
    fn fact(&self, path: &[String], place: &Place) -> Evaluated;

    /// An attribute of another resource; `depth` is how deep evaluation is.
    ///
    /// # Errors
    /// If it cannot be had.
    fn export(&self, resource: &ResourceId, attribute: &str, place: &Place, depth: u32) -> Evaluated;

    /// `secret(NAME)`: known on the node only.
    ///
    /// # Errors
    /// If it cannot be had there.
    fn secret(&self, name: &SecretName, place: &Place) -> Evaluated {
        let name = Expression::new(Kind::Literal(Json::String(name.to_string())), place);
        let kind = Kind::Call { name: SECRET_FUNCTION.to_owned(), arguments: vec![name], expand: false };
        let deferred = Value::deferred(Expression::new(kind, place), Marks::sensitive());
        deferred.map_err(|error| Failure::of_value(place, error))
    }

    /// A sensitive value of the bundle's own layer.
    ///
    /// # Errors
    /// If there is none.
    fn slot(&self, slot: &SecretSlot, place: &Place) -> Evaluated {
        Err(Failure::wrong(place, format!("the sensitive value `{slot}` is not known here")))
    }

    /// `var.NAME`.
    ///
    /// # Errors
    /// If there is none.
    fn variable(&self, name: &str, place: &Place) -> Evaluated {
        Err(Failure::wrong(place, format!("the variable `{name}` is not known here")))
    }

    /// `local.NAME`; `depth` is how deep evaluation is.
    ///
    /// # Errors
    /// If it cannot be evaluated.
    fn local(&self, name: &str, place: &Place, depth: u32) -> Evaluated {
        let _ = depth;
        Err(Failure::wrong(place, format!("the local `{name}` is not known here")))
    }

    /// The text of a file beside the manifest.
    ///
    /// # Errors
    /// If it cannot be read.
    fn file(&self, path: &str, place: &Place) -> Result<Arc<str>, Failure> {
        let _ = path;
        Err(Failure::wrong(place, "files are read on the controller"))
    }

    /// Whether there is such a file.
    ///
    /// # Errors
    /// If the path is not allowed.
    fn file_exists(&self, path: &str, place: &Place) -> Result<bool, Failure> {
        let _ = path;
        Err(Failure::wrong(place, "files are read on the controller"))
    }

    /// A template file beside the manifest.
    ///
    /// # Errors
    /// If it cannot be read or is not a template.
    fn template(&self, path: &str, place: &Place) -> Result<Arc<Expression>, Failure> {
        let _ = path;
        Err(Failure::wrong(place, "files are read on the controller"))
    }
}

/// Evaluates an expression; `depth` is how deep the evaluation is that asks for it, 0 at the outside.
///
/// The value may have members that failed: see [`Value::failures`].
///
/// # Errors
/// With one message, the first.
pub fn evaluate(expression: &Expression, scope: &dyn Scope, depth: u32) -> Evaluated {
    Evaluator { scope, bound: Vec::new(), in_template: false, depth, binders: 0 }.value(expression)
}

/// The value, if none of its members failed.
///
/// # Errors
/// With the first member's failure.
pub fn whole(value: Value) -> Evaluated {
    match value.failures().first() {
        Some(error) => Err(Failure::Wrong(Box::new((*error).clone()))),
        None => Ok(value),
    }
}

/// One evaluation in progress.
struct Evaluator<'s> {
    scope: &'s dyn Scope,
    /// What `for` expressions and templates bind, innermost last.
    bound: Vec<(String, Value)>,
    in_template: bool,
    depth: u32,
    /// How many left-over binders enclose this point. Their names are numbered by it, so that none captures another's.
    binders: u32,
}

impl Evaluator<'_> {
    fn value(&mut self, expression: &Expression) -> Evaluated {
        if self.depth >= MAX_EVALUATION_DEPTH {
            return Err(Failure::fatal(&expression.place, format!("evaluation goes deeper than {MAX_EVALUATION_DEPTH}")));
        }
        self.spend(1, &expression.place)?;
        self.depth += 1;
        let value = self.kind(&expression.kind, &expression.place);
        self.depth -= 1;
        match value {
            Ok(value) if matches!(value.data(), Data::Failed(_)) => whole(value),
            value => value,
        }
    }

    /// A member of a list or object: it may fail, and is an error for what uses it.
    fn member(&mut self, expression: &Expression) -> Evaluated {
        match self.value(expression) {
            Err(Failure::Wrong(message)) => Ok(Value::failed(*message)),
            value => value,
        }
    }

    fn kind(&mut self, kind: &Kind, place: &Place) -> Evaluated {
        match kind {
            Kind::Literal(json) => self.literal(json, place),
            Kind::Template(parts) => self.template(parts, place),
            Kind::Variable(name) => self.scope.variable(name, place),
            Kind::Local(name) => self.scope.local(name, place, self.depth),
            Kind::Fact(path) => self.scope.fact(path, place),
            Kind::Export { resource, attribute } => self.export(resource, attribute, place),
            Kind::Address(resource) => self.address(resource, place),
            Kind::Iterator(name) => self.iterator(name, place),
            Kind::Get { of, name } => self.get(of, name, place),
            Kind::Index { of, key } => self.index(of, key, place),
            Kind::Splat { of, name, each } => self.splat(of, name, each, place),
            Kind::Call { name, arguments, expand } => self.call(name, arguments, *expand, place),
            Kind::If { condition, then, otherwise } => self.choice(condition, then, otherwise, place),
            Kind::Not(of) => self.not(of, place),
            Kind::Negate(of) => self.negate(of, place),
            Kind::Binary { operator, left, right } => self.binary(*operator, left, right, place),
            Kind::List(items) => self.list(items, place),
            Kind::Object(members) => self.object(members, place),
            Kind::For(each) => self.each(each, place),
            Kind::Hidden(value) => self.hidden(value, place),
            Kind::Secret(slot) => self.slot(slot, place),
            Kind::Fail(message) => Err(Failure::wrong(place, message.as_str())),
            Kind::Hole => Err(Failure::Reported),
        }
    }

    fn spend(&self, steps: u64, place: &Place) -> Result<(), Failure> {
        self.scope.budget().spend(steps).map_err(|limit| Failure::fatal(place, limit))
    }

    /// Checks a made value, and pays for its size.
    fn made(&self, value: Result<Value, ValueError>, place: &Place) -> Evaluated {
        let value = value.map_err(|error| Failure::of_value(place, error))?;
        self.spend(value.weight() / 64, place)?;
        Ok(value)
    }

    /// Checks the parts of an expression for the node before they are copied into it.
    fn check_parts<'v>(&self, parts: impl IntoIterator<Item = &'v Value>, place: &Place) -> Result<(), Failure> {
        let weight = parts.into_iter().map(Value::weight).fold(0, u64::saturating_add);
        check_left_over(weight).map_err(|error| Failure::of_value(place, error))
    }

    /// A value that the node settles by an expression of `kind`.
    fn deferred(&self, kind: Kind, place: &Place, marks: Marks) -> Evaluated {
        self.made(Value::deferred(Expression::new(kind, place), marks), place)
    }

    /// A part that may not be needed, as an expression: an error in it is kept for when it is.
    fn speculate(&mut self, expression: &Expression, marks: &mut Marks) -> Result<Expression, Failure> {
        match self.value(expression) {
            Ok(value) => {
                marks.join(&value.marks());
                Ok(value.residual(&expression.place))
            }
            Err(Failure::Wrong(message)) => {
                let place = message.place.as_ref().unwrap_or(&expression.place);
                Ok(Expression::new(Kind::Fail(message.summary.clone()), place))
            }
            Err(failure) => Err(failure),
        }
    }

    fn literal(&mut self, json: &Json, place: &Place) -> Evaluated {
        self.made(Value::from_json(json), place)
    }

    fn hidden(&mut self, value: &SecretValue, place: &Place) -> Evaluated {
        Ok(self.literal(&value.json(), place)?.marked(&Marks::sensitive()))
    }

    fn slot(&mut self, slot: &SecretSlot, place: &Place) -> Evaluated {
        Ok(self.scope.slot(slot, place)?.marked(&Marks::sensitive()))
    }

    fn export(&mut self, resource: &ResourceId, attribute: &str, place: &Place) -> Evaluated {
        let value = self.scope.export(resource, attribute, place, self.depth)?;
        Ok(value.marked(&Marks::resource(resource)))
    }

    fn address(&mut self, resource: &ResourceId, place: &Place) -> Evaluated {
        let text = self.made(Value::text(resource.to_string()), place)?;
        Ok(text.marked(&Marks::resource(resource)))
    }

    fn iterator(&mut self, name: &str, place: &Place) -> Evaluated {
        if let Some((_, value)) = self.bound.iter().rev().find(|(bound, _)| bound == name) {
            return Ok(value.clone());
        }
        let failure = Failure::wrong(place, format!("unknown name `{name}`"));
        if !self.in_template {
            return Err(failure);
        }
        let names = self.bound.iter().map(|(bound, _)| bound.as_str());
        let hint = suggest::one_of(name, names).unwrap_or_else(|| "nothing is passed to this template".to_owned());
        Err(failure.map(|message| message.label("not passed to this template").hint(hint)))
    }

    fn get(&mut self, of: &Expression, name: &str, place: &Place) -> Evaluated {
        let of = self.value(of)?;
        match of.data() {
            Data::Object(members) => match members.get(name) {
                Some(member) => Ok(member.clone().marked(of.own_marks())),
                None => Err(Failure::wrong(place, format!("the object has no member `{name}`"))),
            },
            Data::Deferred(_) => {
                let kind = Kind::Get { of: Box::new(of.residual(place)), name: name.to_owned() };
                self.deferred(kind, place, of.marks())
            }
            _ => Err(Failure::wrong(place, format!("`{name}` is read from {}, which has no members", of.type_name()))),
        }
    }

    fn index(&mut self, of: &Expression, key: &Expression, place: &Place) -> Evaluated {
        let (of, at) = (self.value(of)?, self.value(key)?);
        let mut marks = of.own_marks().clone();
        marks.join(&at.marks());
        let found = match (of.data(), at.data()) {
            (Data::Deferred(_), _) | (_, Data::Deferred(_)) => {
                marks.join(&of.marks());
                let kind = Kind::Index { of: Box::new(of.residual(place)), key: Box::new(at.residual(&key.place)) };
                return self.deferred(kind, place, marks);
            }
            (Data::List(items), Data::Number(number)) => {
                let position = (number.fract() == 0.0 && *number >= 0.0).then_some(*number as usize);
                position.and_then(|position| items.get(position)).ok_or("the list has no element at this index")
            }
            (Data::Object(members), Data::Text(key)) => members.get(key.as_ref()).ok_or("the object has no member of this key"),
            (Data::List(_), _) => Err("the index of a list must be a number"),
            (Data::Object(_), _) => Err("the key of an object must be a string"),
            _ => return Err(Failure::wrong(place, format!("an index is used on {}", of.type_name()))),
        };
        match found {
            Ok(value) => Ok(value.clone().marked(&marks)),
            Err(message) => Err(Failure::wrong(&key.place, message)),
        }
    }

    fn list(&mut self, items: &[Expression], place: &Place) -> Evaluated {
        let items = items.iter().map(|item| self.member(item)).collect::<Result<_, _>>()?;
        self.made(Value::list(items), place)
    }
}
