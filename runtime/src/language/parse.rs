//! From text to the parser's own tree, within limits.
//!
//! `hcl-edit` refuses nesting beyond 64 levels and operator chains beyond 128 before it recurses, so hostile text cannot overflow
//! the stack here; this module limits what it does not: size, and how many members objects may have, since the parser looks
//! for duplicates in linear time.

use hcl_edit::parser::{Error, parse_body, parse_template};
use hcl_edit::structure::Body;
use hcl_edit::template::Template;

use super::diagnostic::Diagnostic;
use super::members::{self, Kind};
use super::source::Source;

/// The largest source text, of a manifest, a template or a file of variables: 16 MiB, some hundred thousand declarations.
pub const MAX_SOURCE: usize = 16 << 20;

/// The most members that all objects of a text may have: an object of ten times as many would take hours.
const MAX_MEMBERS: usize = 100_000;

/// The structure of a manifest or of a file of variables.
///
/// # Errors
/// With the first syntax error: the parser does not go on after one.
pub fn body(source: &Source) -> Result<Body, Box<Diagnostic>> {
    check_size(source)?;
    check_members(source, Kind::Body)?;
    parse_body(source.text()).map_err(|error| Box::new(syntax_error(source, &error)))
}

/// The structure of a template file.
///
/// # Errors
/// As for [`body`].
pub fn template(source: &Source) -> Result<Template, Box<Diagnostic>> {
    check_size(source)?;
    check_members(source, Kind::Template)?;
    parse_template(source.text()).map_err(|error| Box::new(syntax_error(source, &error)))
}

fn check_size(source: &Source) -> Result<(), Box<Diagnostic>> {
    if source.text().len() > MAX_SOURCE {
        let summary = format!("`{}` is larger than {} MiB", source.name(), MAX_SOURCE >> 20);
        return Err(Box::new(Diagnostic::general(summary)));
    }
    Ok(())
}

fn check_members(source: &Source, kind: Kind) -> Result<(), Box<Diagnostic>> {
    // Most texts have fewer of whatever makes a member.
    if source.text().bytes().filter(|byte| matches!(byte, b'=' | b':')).count() <= MAX_MEMBERS {
        return Ok(());
    }
    match members::of_objects(source.text(), kind) {
        Ok(members) if members <= MAX_MEMBERS => Ok(()),
        Ok(_) => {
            let summary = format!("the objects of `{}` have more than {MAX_MEMBERS} members", source.name());
            let hint = "read large tables with `jsondecode(file(\"...\"))`, and put large texts in files of their own".to_owned();
            Err(Box::new(Diagnostic::general(summary).hint(hint)))
        }
        Err(offset) => {
            let summary = format!("a text with more than {MAX_MEMBERS} `=` and `:` is not read where this stands in it");
            let hint =
                "is it closed? So large a text has no `%{` in strings and heredocs, and no heredoc that begins with its own end";
            Err(Box::new(Diagnostic::error(&source.place(offset..offset), summary).label("here").hint(hint.to_owned())))
        }
    }
}

fn syntax_error(source: &Source, error: &Error) -> Diagnostic {
    let offset = error.location().offset();
    let place = source.place(offset..offset + 1);
    let message = error.message();
    if message.contains("redefined attribute") {
        return Diagnostic::error(&place, "an attribute is given twice in one block").label("given before");
    }
    if message.contains("redefined object key") {
        return Diagnostic::error(&place, "a key is given twice in one object").label("given before");
    }
    if message.contains("nesting depth") {
        return Diagnostic::error(&place, "nested deeper than 64 levels").label("too deep");
    }
    let label = message.replace('\n', "\\n");
    Diagnostic::error(&place, "the text is not valid HCL").label(label).hint(hint(source, offset))
}

/// Help for mistakes that the parser's words do not explain.
fn hint(source: &Source, offset: usize) -> Option<String> {
    let rest = source.text().get(offset..)?;
    if rest.starts_with('\'') {
        return Some("strings are written in double quotes".to_owned());
    }
    if rest.starts_with(';') {
        return Some("each attribute stands on a line of its own, without `;`".to_owned());
    }
    let line = rest.lines().next().unwrap_or_default();
    if line.replace("\\\"", "").matches('"').count() % 2 == 1 {
        return Some("a string must end on the line where it begins; longer text is written as a heredoc, `<<EOT`".to_owned());
    }
    rest.trim().is_empty().then(|| "the text ends too early: is a `{` not closed?".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: String) -> String {
        let refused = body(&Source::new("site.hcl", text)).expect_err("it is refused");
        format!("{refused:?}")
    }

    #[test]
    fn what_is_limited_are_members_of_objects_and_no_attributes_of_blocks() {
        let blocks = "x \"y\" {\n  a = 1\n  b = 2\n  c = 3\n}\n".repeat(MAX_MEMBERS / 2);
        assert_eq!(body(&Source::new("site.hcl", blocks.clone())).unwrap().len(), MAX_MEMBERS / 2);
        let objects = format!("{blocks}z = [{}]\n", "{ a = 1 }, ".repeat(MAX_MEMBERS + 1));
        assert!(refusal(objects).contains("the objects of `site.hcl` have more than 100000 members"));
        let open = refusal(format!("{blocks}z = {{\n  a = 1\n"));
        assert!(open.contains("not read where this stands"), "{open}");
        assert!(open.contains(&format!("line: {}, column: 5", MAX_MEMBERS / 2 * 5 + 1)), "{open}");
    }

    #[test]
    fn templates_are_held_to_the_same_and_their_text_is_not() {
        let text = "a = 1\n".repeat(MAX_MEMBERS + 1);
        assert!(template(&Source::new("a.tpl", text.clone())).is_ok());
        let objects = format!("{text}${{[{}]}}", "{ a = 1 }, ".repeat(MAX_MEMBERS + 1));
        let refused = template(&Source::new("a.tpl", objects)).expect_err("it is refused");
        assert!(refused.summary.contains("the objects of `a.tpl` have more than 100000 members"), "{refused:?}");
    }

    #[test]
    fn below_the_limit_the_parser_has_the_word() {
        let open = refusal("a = \"$".to_owned());
        assert!(open.contains("the text is not valid HCL"), "{open}");
        let many = format!("a = {}{}\n", "[".repeat(300), "]".repeat(300));
        assert!(refusal(many).contains("nested deeper than 64 levels"));
        let empty = "a = <<E\nE\nb = \"%{ if true }\"%{ endif }\"\n".to_owned();
        assert!(body(&Source::new("site.hcl", empty)).is_ok());
    }
}
