//! From the parser's tree to ours: names are resolved, and what can be refused without evaluating is refused, all at once.

use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::expr::{self as hcl, BinaryOperator, UnaryOperator};
use serde_json::{Map, Number, Value as Json};

use super::diagnostic::Diagnostic;
use super::functions;
use super::names::Names;
use super::number;
use super::source::Source;
use super::suggest;
use crate::model::expression::{Expression, For, ForForm, Kind, MAX_EXPRESSION_DEPTH, Operator, Place};
use crate::model::ids::ResourceId;

/// The most steps of one reference, `a.b.c`.
pub(super) const MAX_STEPS: usize = 32;

/// Turns expressions of one source text into ours, and gathers what is wrong with them.
pub struct Lowering<'s> {
    pub(super) source: &'s Source,
    /// None in a template file, whose names are given where it is rendered.
    pub(super) names: Option<&'s Names>,
    /// Names that enclosing `for` expressions bind.
    pub(super) bound: Vec<String>,
    /// The resource whose block is being read.
    pub(super) here: Option<ResourceId>,
    pub(super) errors: Vec<Diagnostic>,
}

impl<'s> Lowering<'s> {
    /// For expressions of a manifest.
    pub fn new(source: &'s Source, names: &'s Names) -> Self {
        Self { source, names: Some(names), bound: Vec::new(), here: None, errors: Vec::new() }
    }

    /// For a template file.
    pub fn of_template(source: &'s Source) -> Self {
        Self { source, names: None, bound: Vec::new(), here: None, errors: Vec::new() }
    }

    /// Sets the resource whose expressions follow: it cannot read itself.
    pub fn within(&mut self, resource: Option<ResourceId>) {
        self.here = resource;
    }

    /// What was found wrong.
    pub fn into_errors(self) -> Vec<Diagnostic> {
        self.errors
    }

    /// The place of something that the parser made.
    pub fn place(&self, span: Option<Range<usize>>) -> Place {
        self.source.place(span.unwrap_or(0..0))
    }

    /// The value of a resource's attribute, which may be the address of another resource, or hold such addresses.
    pub fn attribute(&mut self, expression: &hcl::Expression) -> Expression {
        let lowered = self.holding_addresses(expression);
        self.check_depth(lowered)
    }

    /// An address may stand where it is the value, or a part of it, as it is; what computes with values cannot take one.
    fn holding_addresses(&mut self, expression: &hcl::Expression) -> Expression {
        let place = self.place(expression.span());
        let kind = match expression {
            hcl::Expression::Parenthesis(inner) => return self.holding_addresses(inner.inner()),
            hcl::Expression::Traversal(traversal) => match self.bare_address(traversal) {
                Some(address) => Kind::Address(address),
                None => return self.expression(expression),
            },
            hcl::Expression::Array(items) => Kind::List(items.iter().map(|item| self.holding_addresses(item)).collect()),
            hcl::Expression::Object(object) => self.object(object, Self::holding_addresses),
            hcl::Expression::Conditional(choice) => Kind::If {
                condition: self.boxed(&choice.cond_expr),
                then: Box::new(self.holding_addresses(&choice.true_expr)),
                otherwise: Box::new(self.holding_addresses(&choice.false_expr)),
            },
            _ => return self.expression(expression),
        };
        Expression { kind: literal_if_constant(kind), place }
    }

    /// A whole expression: an attribute's value.
    pub fn root(&mut self, expression: &hcl::Expression) -> Expression {
        let lowered = self.expression(expression);
        self.check_depth(lowered)
    }

    pub(super) fn check_depth(&mut self, lowered: Expression) -> Expression {
        if lowered.depth() > MAX_EXPRESSION_DEPTH {
            let summary = format!("the expression is nested deeper than {MAX_EXPRESSION_DEPTH}");
            let hint = "give parts of it names in a `locals` block".to_owned();
            self.errors.push(Diagnostic::error(&lowered.place, summary).hint(hint));
            return Expression::new(Kind::Hole, &lowered.place);
        }
        lowered
    }

    /// A hole in place of what could not be read, and the message that says why.
    pub(super) fn fail(&mut self, error: Diagnostic) -> Kind {
        self.errors.push(error);
        Kind::Hole
    }

    pub(super) fn expression(&mut self, expression: &hcl::Expression) -> Expression {
        let place = self.place(expression.span());
        let kind = match expression {
            hcl::Expression::Null(_) => Kind::Literal(Json::Null),
            hcl::Expression::Bool(value) => Kind::Literal(Json::Bool(*value.value())),
            hcl::Expression::String(text) => Kind::Literal(Json::String(text.value().clone())),
            hcl::Expression::Number(value) => self.number(value.value(), &place),
            hcl::Expression::Array(items) => Kind::List(items.iter().map(|item| self.expression(item)).collect()),
            hcl::Expression::Object(object) => self.object(object, Self::expression),
            hcl::Expression::Parenthesis(inner) => return self.expression(inner.inner()),
            hcl::Expression::StringTemplate(template) => return self.string_template(template, &place),
            hcl::Expression::HeredocTemplate(heredoc) => return self.heredoc(heredoc, &place),
            hcl::Expression::Variable(_) => return self.reference(expression, &[], &place),
            hcl::Expression::Traversal(_) if self.names.is_some_and(|names| names.is_refused(expression)) => Kind::Hole,
            hcl::Expression::Traversal(traversal) => return self.reference(&traversal.expr, &traversal.operators, &place),
            hcl::Expression::FuncCall(call) => self.call(call, &place),
            hcl::Expression::Conditional(choice) => Kind::If {
                condition: self.boxed(&choice.cond_expr),
                then: self.boxed(&choice.true_expr),
                otherwise: self.boxed(&choice.false_expr),
            },
            hcl::Expression::UnaryOp(unary) => match unary.operator.value() {
                UnaryOperator::Not => Kind::Not(self.boxed(&unary.expr)),
                UnaryOperator::Neg => Kind::Negate(self.boxed(&unary.expr)),
            },
            hcl::Expression::BinaryOp(binary) => Kind::Binary {
                operator: operator(*binary.operator.value()),
                left: self.boxed(&binary.lhs_expr),
                right: self.boxed(&binary.rhs_expr),
            },
            hcl::Expression::ForExpr(each) => self.for_expression(each),
        };
        Expression { kind: literal_if_constant(kind), place }
    }

    pub(super) fn boxed(&mut self, expression: &hcl::Expression) -> Box<Expression> {
        Box::new(self.expression(expression))
    }

    fn number(&mut self, value: &hcl_edit::Number, place: &Place) -> Kind {
        // Whole numbers are looked at before they could be rounded.
        let exact = value.as_u64().map(Number::from).or_else(|| value.as_i64().map(Number::from));
        let exact = exact.or_else(|| value.as_f64().and_then(Number::from_f64));
        match exact.map(|exact| number::from_json(&exact).and_then(number::to_json)) {
            Some(Ok(json)) => Kind::Literal(json),
            _ => self.fail(Diagnostic::error(place, number::TOO_LARGE).hint("write it as a string".to_owned())),
        }
    }

    fn object(&mut self, object: &hcl::Object, of_member: fn(&mut Self, &hcl::Expression) -> Expression) -> Kind {
        let mut members = Vec::with_capacity(object.len());
        for (key, value) in object.iter() {
            let key = match key {
                hcl::ObjectKey::Ident(name) => {
                    let place = self.place(name.span());
                    Expression { kind: Kind::Literal(Json::String(name.as_str().to_owned())), place }
                }
                hcl::ObjectKey::Expression(expression) => self.object_key(expression),
            };
            members.push((key, of_member(self, value.expr())));
        }
        Kind::Object(members)
    }

    /// `1 = "x"` and `true = "x"` mean the keys `1` and `true`, as they do in HCL.
    fn object_key(&mut self, expression: &hcl::Expression) -> Expression {
        let key = self.expression(expression);
        match &key.kind {
            Kind::Literal(Json::Number(number)) => Expression::new(Kind::Literal(Json::String(number.to_string())), &key.place),
            Kind::Literal(Json::Bool(flag)) => Expression::new(Kind::Literal(Json::String(flag.to_string())), &key.place),
            _ => key,
        }
    }

    fn call(&mut self, call: &hcl::FuncCall, place: &Place) -> Kind {
        let name = call.name.name.as_str().to_owned();
        let name_place = self.place(call.name.name.span());
        let arguments: Vec<Expression> = call.args.iter().map(|argument| self.expression(argument)).collect();
        if name == "sensitive" {
            // What is written out there is not to be quoted in a message.
            let literals = call.args.iter().zip(&arguments).filter(|(_, argument)| matches!(argument.kind, Kind::Literal(_)));
            literals.filter_map(|(argument, _)| argument.span()).for_each(|span| self.source.hide(span));
        }
        let expand = call.args.expand_final();
        let function = functions::find(&name).filter(|_| !call.name.is_namespaced());
        let Some(function) = function else {
            let written: Vec<&str> = call.name.namespace.iter().chain([&call.name.name]).map(|part| part.as_str()).collect();
            let name = written.join("::");
            let hint = suggest::did_you_mean(&name, functions::names());
            let hint = hint.or_else(|| Some("docs/reference/language.md lists the functions".to_owned()));
            return self.fail(Diagnostic::error(&name_place, format!("unknown function `{name}`")).hint(hint));
        };
        if let Err(wanted) = function.check_count(arguments.len(), expand) {
            let summary = format!("`{name}` takes {wanted}, not {}", arguments.len());
            return self.fail(Diagnostic::error(place, summary).hint(format!("it is `{}`", function.signature())));
        }
        Kind::Call { name, arguments, expand }
    }

    fn for_expression(&mut self, each: &hcl::ForExpr) -> Kind {
        let intro = &each.intro;
        let of = self.expression(&intro.collection_expr);
        let value = intro.value_var.as_str().to_owned();
        let key = intro.key_var.as_ref().map(|key| key.as_str().to_owned());
        let place = self.place(intro.value_var.span());
        let depth = self.bind(key.as_deref(), &value, &place);
        let form = each.key_expr.as_ref().map(|key| ForForm::Object { key: self.expression(key), group: each.grouping });
        let body = self.expression(&each.value_expr);
        let condition = each.cond.as_ref().map(|condition| self.expression(&condition.expr));
        self.bound.truncate(depth);
        Kind::For(Box::new(For { key, value, of, condition, form: form.unwrap_or(ForForm::List), body }))
    }

    /// Binds the names of a `for`, and gives the length to truncate `bound` to afterwards.
    pub(super) fn bind(&mut self, key: Option<&str>, value: &str, place: &Place) -> usize {
        let depth = self.bound.len();
        if key == Some(value) {
            self.errors.push(Diagnostic::error(place, format!("`{value}` is bound twice by one `for`")));
        }
        for name in key.into_iter().chain([value]) {
            if matches!(name, "var" | "local" | "facts") {
                let hint = "choose another name".to_owned();
                self.errors.push(Diagnostic::error(place, format!("a `for` cannot bind the reserved name `{name}`")).hint(hint));
            }
            self.bound.push(name.to_owned());
        }
        depth
    }
}

/// What to do where a resource stands as a value and cannot be one.
pub fn address_hint(id: &ResourceId) -> String {
    format!("name an attribute that it exports: `{id}.ATTRIBUTE`; to order resources use `meta {{ require = [{id}] }}`")
}

fn operator(operator: BinaryOperator) -> Operator {
    match operator {
        BinaryOperator::Eq => Operator::Equal,
        BinaryOperator::NotEq => Operator::NotEqual,
        BinaryOperator::Less => Operator::Less,
        BinaryOperator::LessEq => Operator::LessOrEqual,
        BinaryOperator::Greater => Operator::Greater,
        BinaryOperator::GreaterEq => Operator::GreaterOrEqual,
        BinaryOperator::Plus => Operator::Add,
        BinaryOperator::Minus => Operator::Subtract,
        BinaryOperator::Mul => Operator::Multiply,
        BinaryOperator::Div => Operator::Divide,
        BinaryOperator::Mod => Operator::Remainder,
        BinaryOperator::And => Operator::And,
        BinaryOperator::Or => Operator::Or,
    }
}

/// Lists and objects of literals are literals themselves, so that large constants are evaluated at once.
fn literal_if_constant(kind: Kind) -> Kind {
    match &kind {
        Kind::List(items) if items.iter().all(is_literal) => {
            Kind::Literal(Json::Array(items.iter().filter_map(literal).cloned().collect()))
        }
        Kind::Object(members) if members.iter().all(|(key, value)| is_text(key) && is_literal(value)) => {
            let pairs =
                members.iter().filter_map(|(key, value)| Some((literal(key)?.as_str()?.to_owned(), literal(value)?.clone())));
            let object: Map<String, Json> = pairs.collect();
            if object.len() == members.len() { Kind::Literal(Json::Object(object)) } else { kind }
        }
        _ => kind,
    }
}

fn literal(expression: &Expression) -> Option<&Json> {
    match &expression.kind {
        Kind::Literal(json) => Some(json),
        _ => None,
    }
}

fn is_literal(expression: &Expression) -> bool {
    literal(expression).is_some()
}

fn is_text(expression: &Expression) -> bool {
    literal(expression).is_some_and(Json::is_string)
}
