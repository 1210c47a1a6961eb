//! How many members the objects of a text have, all together, found before it is parsed.
//!
//! The parser looks for a key that is given twice among all keys of its object, one after the other: an object of a million members would take it
//! hours. Attributes of blocks cost it nothing of that kind, and large manifests have those. This reads just enough of a text to tell the two apart, and both
//! from what stands in strings, heredocs and comments. It refuses nothing, and of a text that is not valid it says anything.

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

/// At least as many as the members of all objects of `text` are.
///
/// # Errors
/// With the byte from which on it cannot be followed: where something begins that does not end, or that would take the whole parser to follow.
pub(super) fn of_objects(text: &str, kind: Kind) -> Result<usize, usize> {
    let outermost = if kind == Kind::Body { Level::Body { in_value: false } } else { Level::Text };
    let mut reader = Reader { text, at: 0, levels: vec![(outermost, 0)], members: 0 };
    reader.read()?;
    Ok(reader.members)
}

/// What a part of the text is, until it ends.
#[derive(Clone, Copy)]
enum Level<'t> {
    /// The structures of the whole or of a block. After the `=` of an attribute its value, to the end of the line.
    Body { in_value: bool },
    /// Within an expression: between braces, brackets or parentheses.
    Expression,
    /// Between `"` and `"`.
    Quoted,
    /// After `<<NAME`, until a line that is `NAME`.
    Heredoc(&'t str),
    /// The whole of a template.
    Text,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// With where each begins.
    levels: Vec<(Level<'t>, usize)>,
    members: usize,
}

impl<'t> Reader<'t> {
    fn read(&mut self) -> Result<(), usize> {
        while self.at < self.text.len() {
            match self.level() {
                Level::Body { .. } | Level::Expression => self.code()?,
                Level::Quoted => self.quoted()?,
                Level::Heredoc(name) => self.heredoc(name)?,
                Level::Text => self.text()?,
            }
        }
        match self.levels.as_slice() {
            [_outermost] => Ok(()),
            [.., (_, begun)] => Err(*begun),
            [] => Err(self.at),
        }
    }

    fn level(&self) -> Level<'t> {
        self.levels.last().map_or(Level::Text, |(level, _)| *level)
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn code(&mut self) -> Result<(), usize> {
        match self.rest().as_bytes() {
            // The end of the line means something.
            [b'#', ..] | [b'/', b'/', ..] => self.pass_to("\n"),
            [b'/', b'*', ..] => {
                self.pass(2);
                self.pass_to("*/");
                self.pass(2);
            }
            [b'"', ..] => self.enter(1, Level::Quoted)?,
            [b'<', b'<', ..] => self.enter_heredoc()?,
            [b'{', ..] => self.enter(1, self.braces())?,
            [b'[' | b'(', ..] => self.enter(1, Level::Expression)?,
            [b'}' | b']' | b')', ..] => self.leave(1)?,
            [b'=' | b':', ..] => self.member(),
            [b'\n', ..] => self.end_line(),
            _ => self.pass(1),
        }
        Ok(())
    }

    /// What braces that begin here hold.
    fn braces(&self) -> Level<'t> {
        match self.level() {
            Level::Body { in_value: false } => Level::Body { in_value: false },
            _ => Level::Expression,
        }
    }

    fn member(&mut self) {
        match self.levels.last_mut() {
            Some((Level::Body { in_value }, _)) => *in_value = true,
            _ => self.members += 1,
        }
        self.pass(1);
    }

    fn end_line(&mut self) {
        if let Some((Level::Body { in_value }, _)) = self.levels.last_mut() {
            *in_value = false;
        }
        self.pass(1);
    }

    fn quoted(&mut self) -> Result<(), usize> {
        match self.rest().as_bytes() {
            [b'\\', _, ..] => self.pass(2),
            [b'"', ..] => self.leave(1)?,
            _ => self.interpolated()?,
        }
        Ok(())
    }

    fn heredoc(&mut self, name: &str) -> Result<(), usize> {
        match end_of_heredoc(self.rest(), name) {
            Some(end) => self.leave(end),
            None => self.interpolated(),
        }
    }

    /// What strings and heredocs have in common. What stands between two directives ends in other ways, which are not followed.
    fn interpolated(&mut self) -> Result<(), usize> {
        match self.rest().as_bytes() {
            [b'%', b'{', ..] => Err(self.at),
            _ => self.text(),
        }
    }

    fn text(&mut self) -> Result<(), usize> {
        match self.rest().as_bytes() {
            [b'$', b'$', b'{', ..] | [b'%', b'%', b'{', ..] => self.pass(3),
            [b'$' | b'%', b'{', ..] => self.enter(2, Level::Expression)?,
            _ => self.pass(1),
        }
        Ok(())
    }

    fn enter_heredoc(&mut self) -> Result<(), usize> {
        let after = &self.rest()[2..];
        let after = after.strip_prefix('-').unwrap_or(after);
        let (name, body) = after.split_at(after.find(['\r', '\n']).ok_or(self.at)?);
        // One that begins with its own end is empty, or goes on to a later one.
        if Ident::try_new(name).is_err() || end_of_heredoc(body, name).is_some() {
            return Err(self.at);
        }
        self.enter(self.rest().len() - body.len(), Level::Heredoc(name))
    }

    fn enter(&mut self, length: usize, level: Level<'t>) -> Result<(), usize> {
        self.levels.push((level, self.at));
        if self.levels.len() > MAX_LEVELS {
            return Err(self.at);
        }
        self.pass(length);
        Ok(())
    }

    fn leave(&mut self, length: usize) -> Result<(), usize> {
        if self.levels.len() == 1 {
            return Err(self.at);
        }
        self.levels.pop();
        self.pass(length);
        Ok(())
    }

    /// Goes on after `length` bytes and what belongs to the last of them.
    fn pass(&mut self, length: usize) {
        let end = self.at + length;
        self.at =
            (end..).find(|end| self.text.is_char_boundary(*end) || *end > self.text.len()).unwrap_or(end).min(self.text.len());
    }

    /// Goes on at the next `end`, or at that of the text.
    fn pass_to(&mut self, end: &str) {
        self.at = self.rest().find(end).map_or(self.text.len(), |found| self.at + found);
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
        of_objects(text, Kind::Body).unwrap_or_else(|at| panic!("not followed from {at} on: {text}"))
    }

    #[test]
    fn members_of_objects_are_counted_and_attributes_of_blocks_are_not() {
        assert_eq!(in_body("a = 1\nb = 2\nx \"y\" {\n  c = 3\n  z {\n    d = 4\n  }\n}\n"), 0);
        assert_eq!(in_body("x { a = { b = { c = 1, d : 2 }, e = 3 } }\nf = { g = 4 }\n"), 5);
        assert_eq!(in_body("a = [\n  for x in {\n    b = 1\n    c = 2\n  } : x\n]\n"), 3);
        assert_eq!(in_body("a = /* \n */ { b = 1 }\n"), 1);
        assert_eq!(in_body("a = 4 /* *// { b = 1 }.b\n"), 1);
        assert_eq!(in_body("a = <<E\nE2\nE\nb = { c = 1 }\n"), 1);
        assert_eq!(in_body("a = \"${ { b = 1, c = 2 }.b }\"\n"), 2);
        let template = "a = b { c = d } ${ { e = 1 }.e } %{ if { f = 1 }.f }=\"%{ endif }";
        assert_eq!(of_objects(template, Kind::Template), Ok(2));
    }

    #[test]
    fn what_only_looks_like_members_is_none() {
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
    fn where_it_cannot_follow_it_says_from_where_on() {
        let deep = "[".repeat(300);
        for (text, at) in [
            ("a = <<E\nE\n", 4),
            ("a = \"= = =", 4),
            ("a = { b = 1\n", 4),
            ("a = } = =", 4),
            ("a = 1 <<<E\nf\nE\n", 6),
            ("a = \"%{ if true }\"%{ endif }\"\n", 5),
            ("a = <<E\n%{ if true }\nE\n%{ endif }\nE\n", 8),
            (&deep, MAX_LEVELS - 1),
        ] {
            assert_eq!(of_objects(text, Kind::Body), Err(at), "{text}");
        }
    }

    #[derive(Default)]
    struct Members(usize);

    impl Visit for Members {
        fn visit_object(&mut self, object: &Object) {
            self.0 += object.len();
            visit_object(self, object);
        }
    }

    /// Text that is an expression as often as not, with all that could lead a reader astray.
    fn expression() -> impl Strategy<Value = String> {
        let odd = prop::sample::select(vec![
            "{", "}", "=", ":", " ", "\\\"", "\\\\", "\\", "$${", "%%{", "$", "%", "#", "//", "/*", "*/", "<<E", "E", "é", "\n",
            "'", "[", ")", "%{",
        ]);
        let odd = prop::collection::vec(odd, 0..8).prop_map(|parts| parts.concat());
        let leaf = prop_oneof![
            Just("1".to_owned()),
            odd.clone().prop_map(|text| format!("\"{text}\"")),
            odd.clone().prop_map(|text| format!("<<E\n{text}\nE\n")),
            odd.clone().prop_map(|text| format!("<<-E\nE{text}\n  E\n")),
            odd.clone().prop_map(|text| format!("1 <<<E\n{text}\nE\n")),
            odd.clone().prop_map(|text| format!("\"%{{ if true }}{text}\"%{{ endif }}\"")),
            odd.clone().prop_map(|text| format!("<<E\n%{{ if true }}\nE\n{text}%{{ endif }}\nE\n")),
            odd.clone().prop_map(|text| format!("/*{text}*/ 2")),
            odd.prop_map(|text| format!("4 /*{text}*// 2")),
        ];
        leaf.prop_recursive(4, 24, 5, |inner| {
            let values = prop::collection::vec(inner.clone(), 0..5);
            let object = |values: Vec<String>| {
                let members = values.iter().enumerate().map(|(at, value)| format!("k{at} = {value}"));
                format!("{{\n{}\n}}", members.collect::<Vec<_>>().join("\n"))
            };
            prop_oneof![
                values.clone().prop_map(object),
                values.clone().prop_map(move |values| format!("{{ {} = 1 }}", object(values))),
                values.prop_map(move |values| format!("[\n  for x in {} : x\n]", object(values))),
                inner.clone().prop_map(|value| format!("\"}}{{${{ {value} }}\"")),
                inner.clone().prop_map(|value| format!("<<E\n}}{{${{ {value} }}\nE\n")),
                inner.prop_map(|value| format!("[ # \" {{\n {value} ]")),
            ]
        })
    }

    fn check(text: &str, kind: Kind, visit: impl FnOnce(&mut Members)) -> Result<(), TestCaseError> {
        let mut members = Members::default();
        visit(&mut members);
        // What it cannot follow it does not vouch for.
        if let Ok(counted) = of_objects(text, kind) {
            prop_assert!(counted >= members.0, "{} of {}: {}", counted, members.0, text);
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn objects_that_the_parser_finds_have_no_more(first in expression(), second in expression()) {
            let text = format!("b {{\n  a = {first}\n  c {{\n  }}\n  d = {second}\n}}\n");
            if let Ok(body) = parse_body(&text) {
                check(&text, Kind::Body, |members| members.visit_body(&body))?;
            }
            let text = format!("}}\"{{${{ {first} }}%{{ if {second} }}\"%{{ endif }}");
            if let Ok(template) = parse_template(&text) {
                check(&text, Kind::Template, |members| members.visit_template(&template))?;
            }
        }
    }
}
