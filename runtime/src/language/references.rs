//! References: `var.x`, `local.x`, `facts.a.b`, `TYPE.NAME.ATTRIBUTE`, names bound by `for`, and the steps after them.

use hcl_edit::expr::{self as hcl, TraversalOperator};
use hcl_edit::{Decorated, Span};
use serde_json::{Value as Json, json};

use super::diagnostic::Diagnostic;
use super::lower::{Lowering, MAX_STEPS};
use super::number;
use crate::model::expression::{Expression, Kind, Place};
use crate::model::ids::ResourceId;

/// How a splat's `each` reads its element. No identifier can be written so.
const ELEMENT: &str = "*";

type Steps<'t> = &'t [Decorated<TraversalOperator>];

impl Lowering<'_> {
    /// A first word or any other expression, and the steps after it.
    pub(super) fn reference(&mut self, root: &hcl::Expression, steps: Steps<'_>, place: &Place) -> Expression {
        if steps.len() > MAX_STEPS {
            let error = Diagnostic::error(place, format!("a reference of more than {MAX_STEPS} steps"));
            return Expression { kind: self.fail(error), place: place.clone() };
        }
        let hcl::Expression::Variable(name) = root else {
            let base = self.expression(root);
            return self.steps(base, steps);
        };
        let name_place = self.place(name.span());
        match self.root_name(name.as_str(), &name_place, steps, place) {
            Ok((kind, taken)) => {
                let end = taken.checked_sub(1).and_then(|last| steps[last].value().span());
                let base = Expression { kind, place: self.extended(root, end) };
                self.steps(base, &steps[taken..])
            }
            Err(error) => Expression { kind: self.fail(*error), place: place.clone() },
        }
    }

    /// What a first word means, and how many of the steps belong to it.
    fn root_name(&mut self, name: &str, at: &Place, steps: Steps<'_>, whole: &Place) -> Result<(Kind, usize), Box<Diagnostic>> {
        let Some(names) = self.names else { return Ok((Kind::Iterator(name.to_owned()), 0)) };
        if self.bound.iter().any(|bound| bound == name) {
            return Ok((Kind::Iterator(name.to_owned()), 0));
        }
        let member = steps.first().and_then(attribute_step);
        match (name, member) {
            ("var", Some(member)) if names.variables.contains(member) => Ok((Kind::Variable(member.to_owned()), 1)),
            ("var", Some(member)) => Err(Box::new(names.unknown_variable(whole, member))),
            ("local", Some(member)) if names.locals.contains(member) => Ok((Kind::Local(member.to_owned()), 1)),
            ("local", Some(member)) => Err(Box::new(names.unknown_local(whole, member))),
            ("var" | "local" | "facts", None) => {
                let error = Diagnostic::error(whole, format!("`{name}` alone is not a value"));
                Err(Box::new(error.hint(format!("name one: `{name}.NAME`"))))
            }
            ("facts", _) => {
                let path: Vec<String> = steps.iter().map_while(attribute_step).map(str::to_owned).collect();
                let taken = path.len();
                Ok((Kind::Fact(path), taken))
            }
            _ if names.resources.contains_key(name) || steps.len() >= 2 => self.export(name, steps, at, whole),
            _ => Err(Box::new(names.unknown_root(at, name, &self.bound))),
        }
    }

    fn export(&mut self, name: &str, steps: Steps<'_>, at: &Place, whole: &Place) -> Result<(Kind, usize), Box<Diagnostic>> {
        let Some(names) = self.names else { return Err(Box::new(Diagnostic::error(at, "no resources here"))) };
        let parsed = steps.first().and_then(resource_step).and_then(|step| address(name, step));
        let known = names.resources.contains_key(name);
        let Some(id) = parsed.filter(|id| known || names.has_resource(id)) else {
            if known {
                let error = Diagnostic::error(whole, format!("`{name}` alone is not a value"));
                return Err(Box::new(error.hint(format!("name an attribute of a resource: `{name}.NAME.ATTRIBUTE`"))));
            }
            return Err(Box::new(names.unknown_root(at, name, &self.bound)));
        };
        if !names.has_resource(&id) {
            return Err(Box::new(names.unknown_resource(whole, &id)));
        }
        let Some(attribute) = steps.get(1).and_then(attribute_step) else {
            let error = Diagnostic::error(whole, format!("the resource `{id}` is not a value"));
            return Err(Box::new(error.hint(super::lower::address_hint(&id))));
        };
        if self.here.as_ref() == Some(&id) {
            let error = Diagnostic::error(whole, format!("`{id}` reads its own attribute `{attribute}`"));
            return Err(Box::new(error.hint("give the value a name in a `locals` block, and use that in both".to_owned())));
        }
        Ok((Kind::Export { resource: id, attribute: attribute.to_owned() }, 2))
    }

    /// The resource that is named, if it is there and nothing is read of it.
    pub(super) fn bare_address(&self, traversal: &hcl::Traversal) -> Option<ResourceId> {
        let hcl::Expression::Variable(type_name) = &traversal.expr else { return None };
        let [step] = traversal.operators.as_slice() else { return None };
        let id = address(type_name.as_str(), resource_step(step)?)?;
        let is_bound = self.bound.iter().any(|bound| bound == type_name.as_str());
        self.names.filter(|names| !is_bound && names.has_resource(&id)).map(|_| id)
    }

    /// `base` with every step applied.
    fn steps(&mut self, mut base: Expression, steps: Steps<'_>) -> Expression {
        for (index, step) in steps.iter().enumerate() {
            let place = base.place.clone();
            let kind = match step.value() {
                TraversalOperator::GetAttr(name) => Kind::Get { of: Box::new(base), name: name.as_str().to_owned() },
                TraversalOperator::Index(key) => Kind::Index { of: Box::new(base), key: self.boxed(key) },
                TraversalOperator::LegacyIndex(position) => self.legacy_index(base, *position.value()),
                TraversalOperator::FullSplat(_) => return self.splat(base, &steps[index + 1..]),
                TraversalOperator::AttrSplat(_) => {
                    let attributes = steps[index + 1..].iter().take_while(|step| attribute_step(step).is_some()).count();
                    let end = index + 1 + attributes;
                    let splat = self.splat(base, &steps[index + 1..end]);
                    return self.steps(splat, &steps[end..]);
                }
            };
            base = Expression { kind, place };
        }
        base
    }

    fn splat(&mut self, base: Expression, each: Steps<'_>) -> Expression {
        let place = base.place.clone();
        let element = Expression::new(Kind::Iterator(ELEMENT.to_owned()), &place);
        let each = Box::new(self.steps(element, each));
        Expression { kind: Kind::Splat { of: Box::new(base), name: ELEMENT.to_owned(), each }, place }
    }

    fn legacy_index(&mut self, base: Expression, position: u64) -> Kind {
        let place = base.place.clone();
        let key = if position <= number::MAX_WHOLE { json!(position) } else { Json::Null };
        Kind::Index { of: Box::new(base), key: Box::new(Expression::new(Kind::Literal(key), &place)) }
    }

    /// The place from the start of `root` to the end of a span.
    fn extended(&self, root: &hcl::Expression, end: Option<std::ops::Range<usize>>) -> Place {
        let start = root.span().unwrap_or(0..0);
        let end = end.map_or(start.end, |end| end.end.max(start.end));
        self.source.place(start.start..end)
    }
}

fn address(type_name: &str, name: &str) -> Option<ResourceId> {
    Some(ResourceId { type_name: type_name.parse().ok()?, name: name.parse().ok()? })
}

fn attribute_step(step: &Decorated<TraversalOperator>) -> Option<&str> {
    match step.value() {
        TraversalOperator::GetAttr(name) => Some(name.as_str()),
        _ => None,
    }
}

/// A resource's name: `.motd` or `["a.b"]`.
pub(super) fn resource_step(step: &Decorated<TraversalOperator>) -> Option<&str> {
    match step.value() {
        TraversalOperator::GetAttr(name) => Some(name.as_str()),
        TraversalOperator::Index(hcl::Expression::String(name)) => Some(name.value()),
        _ => None,
    }
}
