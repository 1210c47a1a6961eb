//! Templates: in quotes, in heredocs, in files.
//!
//! A template is first laid out as a flat row of pieces, because strip markers (`~`) and the indentation of `<<-` heredocs work
//! across directives. As in Terraform, both work on lines: a marker strips to the end of its line, and blank lines have no say in the
//! indentation. Unlike there, indentation goes first, so that a line after `~}` loses it too. Literal text is taken from the source, not
//! from the parser, whose own removal of indentation can eat text.

use hcl_edit::Span;
use hcl_edit::template::{Directive, Element, ForDirective, HeredocTemplate, IfDirective, Strip, Template};
use serde_json::json;

use super::lower::Lowering;
use crate::model::expression::{Expression, For, ForForm, Kind, Place};

/// One piece of a template laid out flat. Markers and expressions may strip the text before and after.
enum Piece {
    Text(String, Place),
    Value(Expression, Strip),
    If(Expression, Strip),
    Else(Strip),
    EndIf(Strip),
    For { key: Option<String>, value: String, of: Expression, strip: Strip },
    EndFor(Strip),
}

impl Piece {
    fn strip(&self) -> Strip {
        match self {
            Self::Text(..) => Strip::None,
            Self::Value(_, strip) | Self::If(_, strip) | Self::Else(strip) | Self::EndIf(strip) => *strip,
            Self::For { strip, .. } | Self::EndFor(strip) => *strip,
        }
    }
}

/// How literal text is taken.
#[derive(Clone, Copy)]
enum Text {
    /// In quotes: as the parser unescaped it.
    Quoted,
    /// In heredocs and files: line by line from the source.
    Lines,
}

impl Lowering<'_> {
    /// A template in quotes.
    pub(super) fn string_template(&mut self, template: &Template, place: &Place) -> Expression {
        let mut pieces = Vec::new();
        self.lay_out(template, Text::Quoted, place, &mut pieces);
        strip(&mut pieces);
        build(pieces, place)
    }

    /// A heredoc; `<<-` removes the indentation that its lines share.
    pub(super) fn heredoc(&mut self, heredoc: &HeredocTemplate, place: &Place) -> Expression {
        let mut pieces = Vec::new();
        self.lay_out(&heredoc.template, Text::Lines, place, &mut pieces);
        let start = heredoc.span().map_or(0, |span| span.start);
        if self.source.text().get(start..).is_some_and(|text| text.starts_with("<<-")) {
            dedent(&mut pieces);
        }
        strip(&mut pieces);
        build(pieces, place)
    }

    /// A template file as one expression, whose free names are iterators.
    pub fn template_file(&mut self, template: &Template) -> Expression {
        let place = self.place(None);
        let mut pieces = Vec::new();
        self.lay_out(template, Text::Lines, &place, &mut pieces);
        strip(&mut pieces);
        let whole = build(pieces, &place);
        self.check_depth(whole)
    }

    fn lay_out(&mut self, template: &Template, text: Text, place: &Place, pieces: &mut Vec<Piece>) {
        for element in template.iter() {
            match element {
                Element::Literal(literal) => match (text, literal.span()) {
                    (Text::Lines, Some(span)) => self.lines(span, pieces),
                    (_, span) => {
                        let place = span.map_or_else(|| place.clone(), |span| self.source.place(span));
                        pieces.push(Piece::Text(literal.value().clone(), place));
                    }
                },
                Element::Interpolation(inner) => pieces.push(Piece::Value(self.expression(&inner.expr), inner.strip)),
                Element::Directive(directive) => match directive.as_ref() {
                    Directive::If(directive) => self.lay_out_if(directive, text, place, pieces),
                    Directive::For(directive) => self.lay_out_for(directive, text, place, pieces),
                },
            }
        }
    }

    fn lines(&self, span: std::ops::Range<usize>, pieces: &mut Vec<Piece>) {
        let mut start = span.start;
        for line in self.source.text()[span].split_inclusive('\n') {
            let place = self.source.place(start..start + line.len());
            start += line.len();
            pieces.push(Piece::Text(line.replace("$${", "${").replace("%%{", "%{"), place));
        }
    }

    fn lay_out_if(&mut self, directive: &IfDirective, text: Text, place: &Place, pieces: &mut Vec<Piece>) {
        let condition = self.expression(&directive.if_expr.cond_expr);
        pieces.push(Piece::If(condition, directive.if_expr.strip));
        self.lay_out(&directive.if_expr.template, text, place, pieces);
        if let Some(otherwise) = &directive.else_expr {
            pieces.push(Piece::Else(otherwise.strip));
            self.lay_out(&otherwise.template, text, place, pieces);
        }
        pieces.push(Piece::EndIf(directive.endif_expr.strip));
    }

    fn lay_out_for(&mut self, directive: &ForDirective, text: Text, place: &Place, pieces: &mut Vec<Piece>) {
        let intro = &directive.for_expr;
        let of = self.expression(&intro.collection_expr);
        let value = intro.value_var.as_str().to_owned();
        let key = intro.key_var.as_ref().map(|key| key.as_str().to_owned());
        let value_place = self.place(intro.value_var.span());
        let depth = self.bind(key.as_deref(), &value, &value_place);
        pieces.push(Piece::For { key, value, of, strip: intro.strip });
        self.lay_out(&intro.template, text, place, pieces);
        self.bound.truncate(depth);
        pieces.push(Piece::EndFor(directive.endfor_expr.strip));
    }
}

/// Applies strip markers to the text pieces directly beside them.
fn strip(pieces: &mut [Piece]) {
    for index in 0..pieces.len() {
        let marker = pieces[index].strip();
        if marker.strip_start()
            && let Some(Piece::Text(text, _)) = index.checked_sub(1).map(|before| &mut pieces[before])
        {
            text.truncate(text.trim_end().len());
        }
        if marker.strip_end()
            && let Some(Piece::Text(text, _)) = pieces.get_mut(index + 1)
        {
            *text = text.trim_start().to_owned();
        }
    }
}

/// Removes the whitespace that all lines begin with. Blank lines have no say and stay as they are.
fn dedent(pieces: &mut [Piece]) {
    let mut shared = usize::MAX;
    let mut starts = Vec::new();
    let mut at_start = true;
    for (index, piece) in pieces.iter().enumerate() {
        let Piece::Text(text, _) = piece else {
            if at_start {
                shared = 0;
            }
            at_start = false;
            continue;
        };
        let blank = text.trim().is_empty() && text.ends_with('\n');
        if at_start && !blank {
            shared = shared.min(text.chars().take_while(|c| c.is_whitespace()).count());
            starts.push(index);
        }
        at_start = text.ends_with('\n');
    }
    for index in starts {
        if let Piece::Text(text, _) = &mut pieces[index] {
            *text = text.chars().skip(shared).collect();
        }
    }
}

/// A directive that is still open, with the parts before it.
enum Open {
    If { condition: Expression, then: Option<Vec<Expression>> },
    For { key: Option<String>, value: String, of: Expression },
}

/// Folds the row back into a tree. The parser has seen to it that directives are balanced.
fn build(pieces: Vec<Piece>, place: &Place) -> Expression {
    let mut parts: Vec<Expression> = Vec::new();
    let mut open: Vec<(Open, Vec<Expression>)> = Vec::new();
    let single = matches!(pieces.as_slice(), [Piece::Value(..)]);
    for piece in pieces {
        match piece {
            Piece::Text(text, place) => push_text(&mut parts, text, &place),
            Piece::Value(value, _) => parts.push(value),
            Piece::If(condition, _) => open.push((Open::If { condition, then: None }, std::mem::take(&mut parts))),
            Piece::For { key, value, of, .. } => open.push((Open::For { key, value, of }, std::mem::take(&mut parts))),
            Piece::Else(_) => {
                if let Some((Open::If { then, .. }, _)) = open.last_mut() {
                    *then = Some(std::mem::take(&mut parts));
                }
            }
            Piece::EndIf(_) | Piece::EndFor(_) => {
                if let Some((directive, before)) = open.pop() {
                    let inner = std::mem::replace(&mut parts, before);
                    parts.push(close(directive, inner));
                }
            }
        }
    }
    // A template that is one interpolation and nothing else is that value, of whatever type.
    match (single, parts.pop()) {
        (true, Some(value)) => value,
        (_, last) => {
            parts.extend(last);
            text_of(parts, place)
        }
    }
}

fn push_text(parts: &mut Vec<Expression>, text: String, place: &Place) {
    if let Some(Expression { kind: Kind::Literal(serde_json::Value::String(before)), .. }) = parts.last_mut() {
        before.push_str(&text);
    } else if !text.is_empty() {
        parts.push(Expression::new(Kind::Literal(json!(text)), place));
    }
}

fn close(directive: Open, inner: Vec<Expression>) -> Expression {
    match directive {
        Open::If { condition, then } => {
            let place = condition.place.clone();
            let (then, otherwise) = match then {
                Some(then) => (then, inner),
                None => (inner, Vec::new()),
            };
            let (then, otherwise) = (Box::new(text_of(then, &place)), Box::new(text_of(otherwise, &place)));
            Expression { kind: Kind::If { condition: Box::new(condition), then, otherwise }, place }
        }
        Open::For { key, value, of } => {
            let place = of.place.clone();
            let body = text_of(inner, &place);
            Expression { kind: Kind::For(Box::new(For { key, value, of, condition: None, form: ForForm::Text, body })), place }
        }
    }
}

/// Parts as one expression that gives text.
fn text_of(mut parts: Vec<Expression>, place: &Place) -> Expression {
    let literal = |part: &Expression| matches!(&part.kind, Kind::Literal(serde_json::Value::String(_)));
    if parts.len() == 1 && literal(&parts[0]) {
        return parts.remove(0);
    }
    let kind = if parts.is_empty() { Kind::Literal(json!("")) } else { Kind::Template(parts) };
    Expression::new(kind, place)
}
