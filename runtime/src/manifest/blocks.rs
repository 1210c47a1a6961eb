//! Blocks and attributes in general: what is allowed where, duplicates, and constants.

use std::collections::BTreeMap;
use std::ops::Range;

use hcl_edit::Span;
use hcl_edit::expr::Expression as Hcl;
use hcl_edit::structure::{Attribute, Block, BlockLabel, Body, Structure};
use serde_json::Value as Json;

use crate::language::diagnostic::Diagnostic;
use crate::language::names::Names;
use crate::language::source::Source;
use crate::language::{Lowering, suggest};
use crate::model::expression::{Kind, Place};

/// Reads blocks of one text and gathers what is wrong.
pub(super) struct Reader<'s> {
    pub(super) source: &'s Source,
    pub(super) errors: Vec<Diagnostic>,
}

/// What may stand in a block.
pub(super) struct Allowed {
    /// The block, for messages: "a `variable` block".
    pub(super) block: &'static str,
    pub(super) attributes: &'static [&'static str],
    pub(super) blocks: &'static [&'static str],
    /// Words that are kept for later versions.
    pub(super) later: &'static [&'static str],
}

/// What does stand in a block.
#[derive(Default)]
pub(super) struct Found<'b> {
    pub(super) attributes: BTreeMap<&'b str, &'b Attribute>,
    pub(super) blocks: BTreeMap<&'b str, &'b Block>,
}

impl Reader<'_> {
    pub(super) fn place(&self, span: Option<Range<usize>>) -> Place {
        self.source.place(span.unwrap_or(0..0))
    }

    pub(super) fn error(&mut self, place: &Place, summary: impl Into<String>) -> &mut Diagnostic {
        self.errors.push(Diagnostic::error(place, summary));
        let last = self.errors.len() - 1;
        &mut self.errors[last]
    }

    /// The place of a block's header: its name and labels.
    pub(super) fn header(&self, block: &Block) -> Place {
        let start = block.ident.span().unwrap_or(0..0);
        let end = block.labels.last().and_then(Span::span).map_or(start.end, |label| label.end);
        self.source.place(start.start..end)
    }

    /// Sorts the content of a block, and refuses what does not belong there and blocks that stand twice.
    pub(super) fn content<'b>(&mut self, body: &'b Body, allowed: &Allowed) -> Found<'b> {
        let mut found = Found::default();
        for structure in body.iter() {
            match structure {
                Structure::Attribute(attribute) => {
                    let name = attribute.key.as_str();
                    if allowed.attributes.contains(&name) {
                        found.attributes.insert(name, attribute);
                    } else {
                        let place = self.place(attribute.key.span());
                        self.unknown(&place, name, "attribute", allowed.attributes, allowed);
                    }
                }
                Structure::Block(block) => {
                    let name = block.ident.as_str();
                    let place = self.header(block);
                    if !allowed.blocks.contains(&name) {
                        self.unknown(&place, name, "block", allowed.blocks, allowed);
                    } else if let Some(first) = found.blocks.insert(name, block) {
                        let first = self.header(first);
                        let error = Diagnostic::error(&place, format!("a second `{name}` in {}", allowed.block));
                        self.errors.push(error.related(&first, "the first one"));
                    } else {
                        self.labels::<0>(block);
                    }
                }
            }
        }
        found
    }

    pub(super) fn unknown(&mut self, place: &Place, name: &str, kind: &str, of_kind: &[&str], allowed: &Allowed) {
        if allowed.later.contains(&name) {
            self.error(place, format!("`{name}` in {} is not supported by this version", allowed.block));
            return;
        }
        let other = match kind {
            "block" if allowed.attributes.contains(&name) => Some(format!("`{name}` is an attribute: write `{name} = …`")),
            "attribute" if allowed.blocks.contains(&name) => Some(format!("`{name}` is a block: write `{name} {{ … }}`")),
            _ => None,
        };
        let known = of_kind.iter().chain(allowed.attributes).chain(allowed.blocks).copied();
        let hint = other.or_else(|| suggest::one_of(name, known));
        let summary = format!("unknown {kind} `{name}` in {}", allowed.block);
        self.errors.push(Diagnostic::error(place, summary).hint(hint));
    }

    /// The labels of a block, if there are just `N`.
    pub(super) fn labels<'b, const N: usize>(&mut self, block: &'b Block) -> Option<[&'b BlockLabel; N]> {
        let labels: Vec<&BlockLabel> = block.labels.iter().collect();
        let count = labels.len();
        if let Ok(labels) = <[&BlockLabel; N]>::try_from(labels) {
            return Some(labels);
        }
        let place = self.header(block);
        let name = block.ident.as_str();
        let example: String = ["TYPE", "NAME"].iter().skip(2 - N.min(2)).map(|label| format!(" \"{label}\"")).collect();
        let word = if N == 1 { "label" } else { "labels" };
        let error = self.error(&place, format!("a `{name}` block has {N} {word}, not {count}"));
        error.hint = Some(format!("write `{name}{example} {{ … }}`"));
        None
    }

    /// A constant: a value that is written out.
    pub(super) fn constant(&mut self, attribute: &Attribute) -> Option<(Json, Place)> {
        let names = Names::default();
        let place = self.place(attribute.value.span());
        let mut lowering = Lowering::new(self.source, &names);
        let value = if refers(&attribute.value) { None } else { Some(lowering.root(&attribute.value)) };
        let errors = lowering.into_errors();
        if !errors.is_empty() {
            self.errors.extend(errors);
            return None;
        }
        if let Some(Kind::Literal(json)) = value.map(|value| value.kind) {
            return Some((json, place));
        }
        let name = attribute.key.as_str();
        let error = self.error(&place, format!("`{name}` must be written out: no references, functions or templates"));
        error.label = "not a constant".to_owned();
        None
    }

    /// A constant of some kind, taken out of its JSON.
    pub(super) fn constant_as<T>(
        &mut self,
        found: &Found<'_>,
        name: &str,
        wanted: &str,
        take: impl FnOnce(&Json) -> Option<T>,
    ) -> Option<(T, Place)> {
        let attribute = found.attributes.get(name)?;
        let (json, place) = self.constant(attribute)?;
        let taken = take(&json);
        if taken.is_none() {
            self.error(&place, format!("`{name}` must be {wanted}"));
        }
        Some((taken?, place))
    }

    /// A constant string.
    pub(super) fn text(&mut self, found: &Found<'_>, name: &str) -> Option<(String, Place)> {
        self.constant_as(found, name, "a string", |json| json.as_str().map(str::to_owned))
    }
}

/// Whether an expression is, at its top, something that constants cannot be; saves a message about unknown names.
fn refers(expression: &Hcl) -> bool {
    matches!(expression, Hcl::Variable(_) | Hcl::Traversal(_) | Hcl::FuncCall(_) | Hcl::ForExpr(_))
}
