//! Evaluation on the node, of expressions that travelled in a catalog.

use std::fmt;

use serde_json::Value as Json;

use super::evaluate::{Budget, Evaluated, Failure, Scope, evaluate, whole};
use super::functions::{self, Run};
use super::value::Value;
use crate::model::expression::{Expression, ForForm, Kind, Place};
use crate::model::ids::{ResourceId, SecretName, SecretSlot};
use crate::model::kind::Unshown;
use crate::model::secret::SECRET_FUNCTION;

/// What an expression can read on the node.
pub trait NodeScope {
    /// The fact at a path, if there is one.
    fn fact(&self, path: &[String]) -> Option<Json>;

    /// An attribute that a resource exports, or an output of one that has had its turn.
    ///
    /// # Errors
    /// With what stands in the way, in words.
    fn export(&self, resource: &ResourceId, name: &str) -> Result<Value, String>;

    /// A sensitive value of the bundle's own layer.
    ///
    /// # Errors
    /// With what stands in the way, in words.
    fn slot(&self, slot: &SecretSlot) -> Result<Json, String>;

    /// A secret of this node.
    ///
    /// # Errors
    /// With what stands in the way, in words.
    fn secret(&self, name: &SecretName) -> Result<Json, String>;
}

/// A value on the node: all of it known. Its debug output says what kind it is, and no more.
#[derive(Clone, PartialEq)]
pub struct Settled {
    /// With its marks.
    pub value: Value,
    /// The value.
    pub json: Json,
    /// Whether it, or a part of it, is sensitive.
    pub sensitive: bool,
}

impl fmt::Debug for Settled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settled").field("json", &Unshown(&self.json)).field("sensitive", &self.sensitive).finish()
    }
}

/// Why an expression has no value on this node. It quotes no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{summary}")]
pub struct NodeError {
    /// What is wrong.
    pub summary: String,
    /// Where, in the manifest or a template.
    pub place: Place,
    /// What to do about it.
    pub hint: Option<String>,
}

/// Evaluates an expression of a catalog.
///
/// # Errors
/// With the first error.
pub fn evaluate_on_node(expression: &Expression, scope: &dyn NodeScope) -> Result<Settled, NodeError> {
    let on_node = OnNode { scope, budget: Budget::new(Budget::NODE) };
    let value = evaluate(expression, &on_node, 0).and_then(whole).map_err(|failure| to_error(failure, expression))?;
    let sensitive = value.marks().is_sensitive();
    let json = value.json().ok_or_else(|| error(&expression.place, "the value is still deferred"))?;
    Ok(Settled { value, json, sensitive })
}

fn error(place: &Place, summary: &str) -> NodeError {
    NodeError { summary: summary.to_owned(), place: place.clone(), hint: None }
}

fn to_error(failure: Failure, expression: &Expression) -> NodeError {
    match failure {
        Failure::Wrong(message) | Failure::Fatal(message) => NodeError {
            summary: message.summary,
            place: message.place.unwrap_or_else(|| expression.place.clone()),
            hint: message.hint,
        },
        Failure::Reported => error(&expression.place, "something that it reads failed"),
    }
}

struct OnNode<'n> {
    scope: &'n dyn NodeScope,
    budget: Budget,
}

impl Scope for OnNode<'_> {
    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn fact(&self, path: &[String], place: &Place) -> Evaluated {
        let json = self.scope.fact(path);
        let json = json.ok_or_else(|| Failure::wrong(place, format!("there is no fact `{}`", path.join("."))))?;
        Value::from_json(&json).map_err(|error| Failure::wrong(place, error.to_string()))
    }

    fn export(&self, resource: &ResourceId, attribute: &str, place: &Place, _depth: u32) -> Evaluated {
        self.scope.export(resource, attribute).map_err(|message| Failure::fatal(place, message))
    }

    fn secret(&self, name: &SecretName, place: &Place) -> Evaluated {
        let json = self.scope.secret(name).map_err(|message| Failure::fatal(place, message))?;
        Value::from_json(&json).map_err(|error| Failure::wrong(place, error.to_string()))
    }

    fn slot(&self, slot: &SecretSlot, place: &Place) -> Evaluated {
        let json = self.scope.slot(slot).map_err(|message| Failure::fatal(place, message))?;
        Value::from_json(&json).map_err(|error| Failure::wrong(place, error.to_string()))
    }
}

/// Why an expression of a catalog cannot be one that this program wrote.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TravelError {
    /// A function that does not exist, or reads files.
    #[error("a call of `{}`, which is not a function on the node", _0.escape_debug())]
    Function(String),
    /// A call with a wrong number of arguments.
    #[error("a call of `{0}` with a wrong number of arguments")]
    Arguments(&'static str),
    /// `secret()` with something else than the name of a secret.
    #[error("a call of `secret` without the name of a secret, written out")]
    Secret,
    /// A sensitive value of the controller, which never travels.
    #[error("a sensitive value")]
    Hidden,
    /// A name that nothing around it binds.
    #[error("the name `{}` is not bound", _0.escape_debug())]
    Unbound(String),
}

/// Checks an expression that was read from a catalog: that every name in it means something on the node.
///
/// # Errors
/// With the first thing that does not.
pub fn check_travelled(expression: &Expression) -> Result<(), TravelError> {
    check(expression, &mut Vec::new())
}

fn check<'e>(expression: &'e Expression, bound: &mut Vec<&'e str>) -> Result<(), TravelError> {
    match &expression.kind {
        Kind::Iterator(name) if !bound.contains(&name.as_str()) => return Err(TravelError::Unbound(name.clone())),
        Kind::Hidden(_) => return Err(TravelError::Hidden),
        Kind::Call { name, arguments, expand } if name == SECRET_FUNCTION => {
            return match arguments.as_slice() {
                [Expression { kind: Kind::Literal(Json::String(name)), .. }] if !expand => {
                    name.parse::<SecretName>().map(drop).map_err(|_| TravelError::Secret)
                }
                _ => Err(TravelError::Secret),
            };
        }
        Kind::Call { name, arguments, expand } => {
            let function = functions::find(name).ok_or_else(|| TravelError::Function(name.clone()))?;
            if matches!(function.run, Run::Special(special) if special.reads_files()) {
                return Err(TravelError::Function(name.clone()));
            }
            function.check_count(arguments.len(), *expand).map_err(|_| TravelError::Arguments(function.name))?;
        }
        Kind::Splat { of, name, each } => {
            check(of, bound)?;
            bound.push(name);
            check(each, bound)?;
            bound.pop();
            return Ok(());
        }
        Kind::For(each) => {
            check(&each.of, bound)?;
            let depth = bound.len();
            bound.extend(each.key.as_deref());
            bound.push(&each.value);
            let key = if let ForForm::Object { key, .. } = &each.form { Some(key) } else { None };
            for part in each.condition.iter().chain(key).chain([&each.body]) {
                check(part, bound)?;
            }
            bound.truncate(depth);
            return Ok(());
        }
        _ => {}
    }
    expression.children().into_iter().try_for_each(|child| check(child, bound))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::language::marks::Marks;

    struct Node;

    impl NodeScope for Node {
        fn fact(&self, path: &[String]) -> Option<Json> {
            (path == ["hostname"]).then(|| json!("web1"))
        }

        fn export(&self, resource: &ResourceId, name: &str) -> Result<Value, String> {
            match name {
                "path" => Ok(Value::text("/x").unwrap()),
                "token" => Ok(Value::text("t").unwrap().marked(&Marks::sensitive())),
                _ => Err(format!("`{resource}` failed")),
            }
        }

        fn slot(&self, slot: &SecretSlot) -> Result<Json, String> {
            if slot.as_str() == "file.a/content#0" { Ok(json!("hunter2")) } else { Err(format!("no `{slot}`")) }
        }

        fn secret(&self, name: &SecretName) -> Result<Json, String> {
            if name.as_str() == "db" { Ok(json!("hunter3")) } else { Err(format!("no `{name}`")) }
        }
    }

    fn expression(json: Json) -> Expression {
        serde_json::from_value(json).unwrap()
    }

    fn settle(json: Json) -> Result<Settled, NodeError> {
        evaluate_on_node(&expression(json), &Node)
    }

    #[test]
    fn facts_and_outputs_are_read() {
        let settled =
            settle(json!(["template", "a.hcl:1:1+1", ["fact", "1:3+4", "hostname"], ["export", "1:9+1", "file.a", "path"]]));
        let settled = settled.unwrap();
        assert_eq!((settled.json, settled.sensitive), (json!("web1/x"), false));
        let settled = settle(json!(["call", "a.hcl:1:1+1", "sensitive", ["fact", "1:3+4", "hostname"]]));
        assert!(settled.unwrap().sensitive);
        let failed = settle(json!(["export", "a.hcl:1:9+1", "file.a", "mode"])).unwrap_err();
        assert_eq!((failed.to_string().as_str(), failed.place.column), ("`file.a` failed", 9));
        assert_eq!(settle(json!(["fact", "a.hcl:1:9+1", "no", "such"])).unwrap_err().to_string(), "there is no fact `no.such`");
        assert_eq!(settle(json!(["fail", "a.hcl:1:9+1", "message"])).unwrap_err().to_string(), "message");
        assert!(settle(json!(["call", "a.hcl:1:1+1", "file", ["literal", "1:1+1", "/etc/shadow"]])).is_err());
    }

    #[test]
    fn what_is_made_of_a_sensitive_output_is_sensitive() {
        let token = json!(["export", "1:9+1", "exec.a", "token"]);
        let made = settle(json!(["template", "a.hcl:1:1+1", token, ["literal", "1:3+4", "-x"]])).unwrap();
        assert!(made.sensitive && made.json == json!("t-x"));
        let revealed = settle(json!(["call", "a.hcl:1:1+1", "nonsensitive", token])).unwrap();
        assert!(!revealed.sensitive);
    }

    #[test]
    fn what_is_made_of_a_secret_is_sensitive_part_by_part() {
        let slot = json!(["secret", "a.hcl:1:1+1", "file.a/content#0"]);
        let secret = json!(["call", "a.hcl:1:1+1", "secret", ["literal", "1:1+1", "db"]]);
        let within = |node: &Json| {
            let mut node = node.clone();
            node[1] = json!("1:1+1");
            node
        };
        for one in [&slot, &secret] {
            let settled = settle(json!(["template", "a.hcl:1:1+1", ["literal", "1:1+1", "x"], within(one)])).unwrap();
            assert!(settled.sensitive && settled.json.as_str().unwrap().starts_with("xhunter"));
            assert!(!format!("{settled:?}").contains("hunter"));
            let revealed = settle(json!(["call", "a.hcl:1:1+1", "nonsensitive", within(one)])).unwrap();
            assert!(!revealed.sensitive);
        }
        let list = settle(json!(["list", "a.hcl:1:1+1", ["literal", "1:1+1", "x"], within(&slot)])).unwrap();
        assert!(list.sensitive && !list.value.own_marks().is_sensitive());
        let missing = json!(["call", "a.hcl:1:1+1", "secret", ["literal", "1:1+1", "no"]]);
        assert_eq!(settle(missing).unwrap_err().to_string(), "no `no`");
    }

    #[test]
    fn the_name_of_a_secret_travels_written_out() {
        let checked = |json| check_travelled(&expression(json));
        let call = |argument: Json| json!(["call", "a:1:1+1", "secret", argument]);
        assert_eq!(checked(call(json!(["literal", "1:1+1", "db"]))), Ok(()));
        for bad in [json!(["literal", "1:1+1", "../db"]), json!(["literal", "1:1+1", 1]), json!(["fact", "1:1+1", "a"])] {
            assert_eq!(checked(call(bad)), Err(TravelError::Secret));
        }
    }

    #[test]
    fn hostile_expressions_end() {
        let numbers = json!(["call", "1:1+1", "range", ["literal", "1:1+1", 60_000]]);
        let mut inner = json!(["literal", "1:1+1", 1]);
        for depth in 0..10 {
            inner = json!(["for_list", "1:1+1", null, format!("x{depth}"), numbers, null, inner]);
        }
        inner[1] = json!("a.hcl:1:1+1");
        assert!(settle(inner).unwrap_err().to_string().contains("more than 5000000 steps"));
    }

    #[test]
    fn names_must_mean_something() {
        let checked = |json| check_travelled(&expression(json));
        let it = json!(["iterator", "1:1+1", "x"]);
        let fact = json!(["fact", "1:1+1", "a"]);
        assert_eq!(checked(json!(["for_list", "a:1:1+1", null, "x", fact, null, it])), Ok(()));
        assert_eq!(checked(json!(["for_list", "a:1:1+1", null, "y", fact, null, it])), Err(TravelError::Unbound("x".into())));
        assert_eq!(checked(json!(["for_list", "a:1:1+1", null, "x", it, null, fact])), Err(TravelError::Unbound("x".into())));
        assert_eq!(checked(json!(["splat", "a:1:1+1", fact, "x", it])), Ok(()));
        let call = |name| json!(["list", "a:1:1+1", ["call", "1:1+1", name, fact, fact]]);
        assert_eq!(checked(call("file")), Err(TravelError::Function("file".into())));
        assert_eq!(checked(call("no")), Err(TravelError::Function("no".into())));
        assert_eq!(checked(call("upper")), Err(TravelError::Arguments("upper")));
    }
}
