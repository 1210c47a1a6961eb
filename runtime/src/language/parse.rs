//! From text to the parser's own tree, within limits.
//!
//! `hcl-edit` refuses nesting beyond 64 levels and operator chains beyond 128 before it recurses, so hostile text cannot overflow
//! the stack here; this module limits what it does not: size, and how many members an object may have, since the parser looks
//! for duplicates in linear time.

use hcl_edit::parser::{Error, parse_body, parse_template};
use hcl_edit::structure::Body;
use hcl_edit::template::Template;

use super::diagnostic::Diagnostic;
use super::members::{Kind, most_together};
use super::source::Source;

/// The largest source text, of a manifest, a template or a file of variables: 16 MiB, some hundred thousand declarations.
pub const MAX_SOURCE: usize = 16 << 20;

/// The most members between one pair of braces, which take seconds: ten times as many would take minutes.
const MAX_MEMBERS: usize = 20_000;

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
    if most_together(source.text(), kind) > MAX_MEMBERS {
        let summary = format!("`{}` holds more than {MAX_MEMBERS} `=` and `:` between one pair of braces", source.name());
        let hint = "put large texts in files of their own, and read them with `file()`".to_owned();
        return Err(Box::new(Diagnostic::general(summary).hint(hint)));
    }
    Ok(())
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
