//! Expressions of the manifest language as data.
//!
//! The controller evaluates a manifest as such trees; what only the node can settle travels in the catalog in the same form, with
//! everything that was known put in as literals. The tree is data: `language/` makes and evaluates it. Its JSON form, one array a
//! node, is described in docs/formats/expression.md.

pub mod json;

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use super::ids::{ResourceId, SecretSlot};
use super::kind::kind_of;
use super::secret::SecretValue;

/// How many nodes a path from the root of an expression may have; the nesting of a literal's JSON counts too.
pub const MAX_EXPRESSION_DEPTH: usize = 64;

/// An expression with the place it was written at.
///
/// Its JSON form refuses unknown node kinds, a wrong number of members, references to variables and locals (they are settled on
/// the controller), and depth beyond [`MAX_EXPRESSION_DEPTH`].
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// What it is.
    pub kind: Kind,
    /// Where it was written.
    pub place: Place,
}

/// A place in a source text, for messages.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// File name relative to the folder of the manifest, with `/`.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// In characters, from 1.
    pub column: u32,
    /// Characters that belong to it on that line.
    pub length: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What an expression is. Its debug output names it and shows no value.
#[derive(Clone, PartialEq)]
pub enum Kind {
    /// A value written out.
    Literal(Json),
    /// Parts joined to one string; numbers and booleans become text, anything else is an error.
    Template(Vec<Expression>),
    /// `var.NAME`; never travels.
    Variable(String),
    /// `local.NAME`; never travels.
    Local(String),
    /// `facts.A.B`; the path is never empty.
    Fact(Vec<String>),
    /// An attribute that another resource exports: `TYPE.NAME.ATTRIBUTE`.
    Export {
        /// Whose.
        resource: ResourceId,
        /// Which.
        attribute: String,
    },
    /// `TYPE.NAME` alone: the address of a resource, as text that comes from it; never travels.
    Address(ResourceId),
    /// What a `for` expression around it binds, or a name that a template was given.
    Iterator(String),
    /// `OF.NAME`.
    Get {
        /// An object.
        of: Box<Expression>,
        /// Its member.
        name: String,
    },
    /// `OF[KEY]`.
    Index {
        /// A list or object.
        of: Box<Expression>,
        /// A number or string.
        key: Box<Expression>,
    },
    /// `OF[*].…`: a list maps each element, null is no element, anything else is one element.
    Splat {
        /// What is taken apart.
        of: Box<Expression>,
        /// The name that `each` reads an element by.
        name: String,
        /// What becomes of an element.
        each: Box<Expression>,
    },
    /// `NAME(ARGUMENTS)`.
    Call {
        /// A function's name.
        name: String,
        /// In order.
        arguments: Vec<Expression>,
        /// Whether the last argument is a list whose elements are the last arguments (`...`).
        expand: bool,
    },
    /// `CONDITION ? THEN : OTHERWISE`; one of the two is evaluated.
    If {
        /// A boolean.
        condition: Box<Expression>,
        /// The value if true.
        then: Box<Expression>,
        /// The value if false.
        otherwise: Box<Expression>,
    },
    /// `!OF`.
    Not(Box<Expression>),
    /// `-OF`.
    Negate(Box<Expression>),
    /// Two operands.
    Binary {
        /// What is done.
        operator: Operator,
        /// Left operand.
        left: Box<Expression>,
        /// Right operand; `&&` and `||` evaluate it only if the left one does not decide.
        right: Box<Expression>,
    },
    /// `[…]`.
    List(Vec<Expression>),
    /// `{…}`: keys, each with its value.
    Object(Vec<(Expression, Expression)>),
    /// `[for …]`, `{for …}` or `%{ for … }`.
    For(Box<For>),
    /// A sensitive value that the controller knows. Never travels: [`Kind::Secret`] takes its place in a catalog.
    Hidden(SecretValue),
    /// A sensitive value of the bundle's own layer.
    Secret(SecretSlot),
    /// An error that the controller met in a part that it could not know to be needed. Evaluating it fails with this message.
    Fail(String),
    /// Something that could not be read, which has been told where it stands. Evaluating it fails without telling again; never travels.
    Hole,
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(json) => write!(f, "literal {}", kind_of(json)),
            _ => f.debug_tuple(self.name()).finish_non_exhaustive(),
        }
    }
}

/// A `for` expression.
#[derive(Debug, Clone, PartialEq)]
pub struct For {
    /// Binds the key, or the index.
    pub key: Option<String>,
    /// Binds the value.
    pub value: String,
    /// A list or object.
    pub of: Expression,
    /// Elements for which this is false are left out.
    pub condition: Option<Expression>,
    /// What is made.
    pub form: ForForm,
    /// What becomes of an element.
    pub body: Expression,
}

/// What a `for` expression makes.
#[derive(Debug, Clone, PartialEq)]
pub enum ForForm {
    /// A list.
    List,
    /// Text, the bodies joined.
    Text,
    /// An object.
    Object {
        /// The key of an element, a string.
        key: Expression,
        /// Whether a key may recur, and holds a list of values (`...`).
        group: bool,
    },
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `==`; values of different types differ.
    Equal,
    /// `!=`.
    NotEqual,
    /// `<`, of numbers.
    Less,
    /// `<=`, of numbers.
    LessOrEqual,
    /// `>`, of numbers.
    Greater,
    /// `>=`, of numbers.
    GreaterOrEqual,
    /// `+`, of numbers.
    Add,
    /// `-`, of numbers.
    Subtract,
    /// `*`, of numbers.
    Multiply,
    /// `/`, of numbers.
    Divide,
    /// `%`, of numbers.
    Remainder,
    /// `&&`, of booleans.
    And,
    /// `||`, of booleans.
    Or,
}

impl Operator {
    /// Every operator.
    pub const ALL: [Operator; 13] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessOrEqual,
        Self::Greater,
        Self::GreaterOrEqual,
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
        Self::And,
        Self::Or,
    ];

    /// As it is written.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::And => "&&",
            Self::Or => "||",
        }
    }
}

impl Expression {
    /// An expression of `kind` at `place`.
    pub fn new(kind: Kind, place: &Place) -> Self {
        Self { kind, place: place.clone() }
    }

    /// The expressions directly beneath.
    pub fn children(&self) -> Vec<&Expression> {
        match &self.kind {
            Kind::Literal(_) | Kind::Variable(_) | Kind::Local(_) | Kind::Fact(_) | Kind::Export { .. } => Vec::new(),
            Kind::Address(_) | Kind::Iterator(_) | Kind::Fail(_) | Kind::Hole => Vec::new(),
            Kind::Hidden(_) | Kind::Secret(_) => Vec::new(),
            Kind::Template(parts) | Kind::List(parts) => parts.iter().collect(),
            Kind::Call { arguments, .. } => arguments.iter().collect(),
            Kind::Get { of, .. } | Kind::Not(of) | Kind::Negate(of) => vec![of],
            Kind::Index { of, key } => vec![of, key],
            Kind::Splat { of, each, .. } => vec![of, each],
            Kind::If { condition, then, otherwise } => vec![condition, then, otherwise],
            Kind::Binary { left, right, .. } => vec![left, right],
            Kind::Object(members) => members.iter().flat_map(|(key, value)| [key, value]).collect(),
            Kind::For(each) => {
                let mut children = vec![&each.of];
                children.extend(&each.condition);
                if let ForForm::Object { key, .. } = &each.form {
                    children.push(key);
                }
                children.push(&each.body);
                children
            }
        }
    }

    /// The same with `change` done to every part that has no parts of its own.
    #[must_use]
    pub fn map_leaves(self, change: &mut dyn FnMut(Kind) -> Kind) -> Self {
        let Self { kind, place } = self;
        let mut one = |part: Box<Expression>| Box::new(part.map_leaves(change));
        let kind = match kind {
            Kind::Get { of, name } => Kind::Get { of: one(of), name },
            Kind::Not(of) => Kind::Not(one(of)),
            Kind::Negate(of) => Kind::Negate(one(of)),
            Kind::Index { of, key } => Kind::Index { of: one(of), key: one(key) },
            Kind::Splat { of, name, each } => Kind::Splat { of: one(of), name, each: one(each) },
            Kind::If { condition, then, otherwise } => {
                Kind::If { condition: one(condition), then: one(then), otherwise: one(otherwise) }
            }
            Kind::Binary { operator, left, right } => Kind::Binary { operator, left: one(left), right: one(right) },
            Kind::Template(parts) => Kind::Template(map_all(parts, change)),
            Kind::List(parts) => Kind::List(map_all(parts, change)),
            Kind::Call { name, arguments, expand } => Kind::Call { name, arguments: map_all(arguments, change), expand },
            Kind::Object(members) => {
                let mut member = |(key, value): (Self, Self)| (key.map_leaves(change), value.map_leaves(change));
                Kind::Object(members.into_iter().map(&mut member).collect())
            }
            Kind::For(each) => Kind::For(Box::new(each.map_leaves(change))),
            leaf => change(leaf),
        };
        Self { kind, place }
    }

    /// The longest path from here, in nodes.
    pub fn depth(&self) -> usize {
        let beneath = match &self.kind {
            Kind::Literal(json) => json_depth(json),
            Kind::Hidden(value) => json_depth(&value.json()),
            _ => self.children().into_iter().map(Self::depth).max().unwrap_or(0),
        };
        beneath + 1
    }

    /// Calls `visit` with this expression and every one beneath it, parents first.
    pub fn walk<'e>(&'e self, visit: &mut dyn FnMut(&'e Expression)) {
        visit(self);
        for child in self.children() {
            child.walk(visit);
        }
    }
}

impl For {
    fn map_leaves(self, change: &mut dyn FnMut(Kind) -> Kind) -> Self {
        let Self { key, value, of, condition, form, body } = self;
        let of = of.map_leaves(change);
        let condition = condition.map(|condition| condition.map_leaves(change));
        let form = match form {
            ForForm::Object { key, group } => ForForm::Object { key: key.map_leaves(change), group },
            plain => plain,
        };
        Self { key, value, of, condition, form, body: body.map_leaves(change) }
    }
}

fn map_all(parts: Vec<Expression>, change: &mut dyn FnMut(Kind) -> Kind) -> Vec<Expression> {
    parts.into_iter().map(|part| part.map_leaves(change)).collect()
}

/// The nesting of lists and objects in `json`; 0 for a scalar.
pub fn json_depth(json: &Json) -> usize {
    match json {
        Json::Array(items) => 1 + items.iter().map(json_depth).max().unwrap_or(0),
        Json::Object(members) => 1 + members.values().map(json_depth).max().unwrap_or(0),
        _ => 0,
    }
}
