//! How many members a text writes between one pair of braces, found before it is parsed.
//!
//! The parser looks for a key that is given twice among all keys of its object, one after the other: an object of a million members would take it
//! hours. This reads just enough of the text to tell braces that mean something from those in strings, heredocs and comments, the way the parser does.
//! It refuses nothing, and of a text that is not valid it says anything.

use hcl_edit::Ident;

/// Deeper than the parser goes.
const MAX_LEVELS: usize = 256;

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A manifest.
    Body,
    /// Text with `${` and `%{` in it.
    Template,
}

/// The most members that one pair of braces holds in `text`: at least as many as its largest object has, and no more than `=` and `:` stand in it.
pub(super) fn most_together(text: &str, kind: Kind) -> usize {
    let outermost = if kind == Kind::Body { Level::Code { members: 0 } } else { Level::Text };
    let mut reader = Reader { rest: text, levels: vec![outermost], most: 0 };
    match reader.read() {
        Some(()) => reader.most,
        None => all(text),
    }
}

/// Every `=` and `:` of a text.
fn all(text: &str) -> usize {
    text.bytes().filter(|byte| matches!(byte, b'=' | b':')).count()
}

/// What a part of the text is, until it ends.
#[derive(Clone, Copy)]
enum Level<'t> {
    /// Between braces, or outside of any.
    Code { members: usize },
    /// Between `"` and `"`.
    Quoted,
    /// After `<<NAME`, until a line that is `NAME`.
    Heredoc(&'t str),
    /// The whole of a template.
    Text,
}

struct Reader<'t> {
    rest: &'t str,
    levels: Vec<Level<'t>>,
    most: usize,
}

impl<'t> Reader<'t> {
    /// Reads to the end; `None` where it cannot follow.
    fn read(&mut self) -> Option<()> {
        while !self.rest.is_empty() {
            match *self.levels.last()? {
                Level::Code { .. } => self.code()?,
                Level::Quoted => self.quoted()?,
                Level::Heredoc(name) => self.heredoc(name)?,
                Level::Text => self.template()?,
            }
        }
        // What is not closed is no text that the parser takes.
        (self.levels.len() == 1).then_some(())
    }

    fn code(&mut self) -> Option<()> {
        match self.rest.as_bytes() {
            [b'#', ..] | [b'/', b'/', ..] => self.pass_through("\n"),
            [b'/', b'*', ..] => {
                self.pass(2);
                self.pass_through("*/");
            }
            [b'"', ..] => self.enter(1, Level::Quoted)?,
            [b'<', b'<', ..] => self.enter_heredoc()?,
            [b'{', ..] => self.enter(1, Level::Code { members: 0 })?,
            [b'}', ..] => self.leave(1),
            [b'=' | b':', ..] => self.member(),
            _ => self.pass(1),
        }
        Some(())
    }

    fn quoted(&mut self) -> Option<()> {
        match self.rest.as_bytes() {
            [b'\\', _, ..] => self.pass(2),
            [b'"', ..] => self.leave(1),
            _ => self.template()?,
        }
        Some(())
    }

    fn heredoc(&mut self, name: &str) -> Option<()> {
        match end_of_heredoc(self.rest, name) {
            Some(end) => self.leave(end),
            None => self.template()?,
        }
        Some(())
    }

    /// What strings, heredocs and templates have in common.
    fn template(&mut self) -> Option<()> {
        match self.rest.as_bytes() {
            [b'$', b'$', b'{', ..] | [b'%', b'%', b'{', ..] => self.pass(3),
            [b'$' | b'%', b'{', ..] => self.enter(2, Level::Code { members: 0 })?,
            _ => self.pass(1),
        }
        Some(())
    }

    fn enter_heredoc(&mut self) -> Option<()> {
        let after = &self.rest[2..];
        let after = after.strip_prefix('-').unwrap_or(after);
        let (name, body) = after.split_at(after.find(['\r', '\n'])?);
        // One that begins with its own end is empty, or goes on to a later one.
        if end_of_heredoc(body, name).is_some() {
            return None;
        }
        self.enter(self.rest.len() - body.len(), Level::Heredoc(name))
    }

    fn member(&mut self) {
        self.pass(1);
        let within_braces = self.levels.len() > 1;
        if let Some(Level::Code { members }) = self.levels.last_mut().filter(|_| within_braces) {
            *members += 1;
            self.most = self.most.max(*members);
        }
    }

    fn enter(&mut self, length: usize, level: Level<'t>) -> Option<()> {
        self.pass(length);
        self.levels.push(level);
        (self.levels.len() <= MAX_LEVELS).then_some(())
    }

    fn leave(&mut self, length: usize) {
        self.pass(length);
        self.levels.pop();
    }

    /// Goes on after `length` bytes and what belongs to the last of them.
    fn pass(&mut self, length: usize) {
        let end = (length..).find(|end| self.rest.is_char_boundary(*end));
        self.rest = end.map_or("", |end| &self.rest[end..]);
    }

    fn pass_through(&mut self, end: &str) {
        self.rest = self.rest.split_once(end).map_or("", |(_, after)| after);
    }
}

/// How long the end of a heredoc of this name is that `text` begins with, from the end of the line before.
fn end_of_heredoc(text: &str, name: &str) -> Option<usize> {
    let line = text.strip_prefix('\n').or_else(|| text.strip_prefix("\r\n"))?;
    let after = line.trim_start_matches([' ', '\t']).strip_prefix(name)?;
    let goes_on = after.chars().next().is_some_and(|next| Ident::try_new(format!("a{next}")).is_ok());
    (!goes_on).then_some(text.len() - after.len())
}

#[cfg(test)]
mod tests {
    use hcl_edit::expr::Object;
    use hcl_edit::parser::{parse_body, parse_template};
    use hcl_edit::visit::{Visit, visit_object};
    use proptest::prelude::*;

    use super::*;

    fn in_body(text: &str) -> usize {
        most_together(text, Kind::Body)
    }

    #[test]
    fn members_are_counted_for_each_pair_of_braces() {
        assert_eq!(in_body("a = 1\nb = 2\nc = 3\n"), 0);
        assert_eq!(in_body("x {\n a = 1\n b = 2\n}\ny {\n a = 1\n}\n"), 2);
        assert_eq!(in_body("a = { b = { c = 1, d : 2 }, e = 3, f = 4 }\n"), 3);
        assert_eq!(in_body("a = \"${ { b = 1, c = 2 }.b }\"\n"), 2);
        assert_eq!(most_together("a = b { c = d } ${ { e = 1 }.e } %{ if true }=%{ endif }", Kind::Template), 1);
    }

    #[test]
    fn what_only_looks_like_braces_and_members_is_none() {
        for text in [
            "a = { b = \"}{ c = 1 = = \" }\n",
            "a = { b = \"\\\"}{==\" }\n",
            "a = { b = \"$${==\" }\n",
            "a = { # }{ = =\n b = 1 }\n",
            "a = { // }{ = =\n b = 1 }\n",
            "a = { /* }{ = =\n */ b = 1 }\n",
            "a = { b = <<EOT\n}{ == EOT\nEOTS\n$${==\n  EOT\n}\n",
        ] {
            assert!(parse_body(text).is_ok(), "{text}");
            assert_eq!(in_body(text), 1, "{text}");
        }
    }

    #[test]
    fn where_it_cannot_follow_it_counts_everything() {
        for text in ["a = { b = <<EOT\nEOT\n}\n== =", "a = { b = \"= = =", "a = } = =", &("{".repeat(300) + "= = = =")] {
            assert_eq!(in_body(text), all(text), "{text}");
            assert!(in_body(text) >= 3, "{text}");
        }
    }

    #[derive(Default)]
    struct Largest(usize);

    impl Visit for Largest {
        fn visit_object(&mut self, object: &Object) {
            self.0 = self.0.max(object.len());
            visit_object(self, object);
        }
    }

    /// Text that is an expression as often as not, with all that could lead a reader astray.
    fn expression() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            "{", "}", "=", ":", " ", "\\\"", "\\\\", "\\", "$${", "%%{", "$", "%", "#", "//", "/*", "*/", "<<E", "E", "é", "\n",
            "'",
        ]);
        let odd = prop::collection::vec(odd, 0..8).prop_map(|parts| parts.concat());
        let leaf = prop_oneof![
            Just("1".to_owned()),
            odd.clone().prop_map(|text| format!("\"{text}\"")),
            odd.clone().prop_map(|text| format!("<<E\n{text}\nE\n")),
            odd.clone().prop_map(|text| format!("<<-E\nE{text}\n  E\n")),
            odd.prop_map(|text| format!("/*{text}*/ 2")),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            let members = prop::collection::vec(inner.clone(), 0..5);
            prop_oneof![
                members.prop_map(|values| {
                    let members = values.iter().enumerate().map(|(at, value)| format!("k{at} = {value}"));
                    format!("{{\n{}\n}}", members.collect::<Vec<_>>().join("\n"))
                }),
                inner.clone().prop_map(|value| format!("\"}}{{${{ {value} }}\"")),
                inner.clone().prop_map(|value| format!("<<E\n}}{{${{ {value} }}\nE\n")),
                inner.prop_map(|value| format!("[ # \" {{\n {value} ]")),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_object_that_the_parser_finds_has_more(expression in expression()) {
            let text = format!("b {{\n  a = {expression}\n}}\n");
            if let Ok(body) = parse_body(&text) {
                let mut largest = Largest::default();
                largest.visit_body(&body);
                prop_assert!(most_together(&text, Kind::Body) >= largest.0, "{text}");
            }
            let text = format!("}}\"{{${{ {expression} }}");
            if let Ok(template) = parse_template(&text) {
                let mut largest = Largest::default();
                largest.visit_template(&template);
                prop_assert!(most_together(&text, Kind::Template) >= largest.0, "{text}");
            }
        }
    }
}
