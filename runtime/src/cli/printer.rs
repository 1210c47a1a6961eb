//! Errors for people: the one place that writes a chain of causes, and as data for records.

use std::error::Error;

use serde_json::{Value as Json, json};

use super::error::CliError;
use super::exit::Exit;
use crate::language::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::policy::Problem;
use crate::report::{Palette, block};
use crate::run::RunError;

/// The error as text: heading and message, its causes, and apart from them what to do.
pub fn render(error: &CliError, palette: &Palette) -> String {
    if let CliError::Run(RunError::Manifest(diagnostics)) = error {
        return manifest(diagnostics, palette);
    }
    let heading = match error.exit() {
        Exit::Usage => "usage error:",
        Exit::Refused => "refused:",
        _ => "error:",
    };
    let mut lines = paragraph(&format!("{}{heading}{:#}", palette.error, palette.error), &error.to_string(), "  ");
    for problem in problems(error) {
        lines.extend(paragraph(" ", &problem.to_string(), "    "));
        lines.extend(problem.hint.iter().flat_map(|hint| paragraph(&hint_label("    ", palette), hint, "      ")));
    }
    for cause in causes(error) {
        lines.extend(paragraph(&format!("  {}caused by:{:#}", palette.strong, palette.strong), &cause.to_string(), "    "));
    }
    if let Some(hint) = error.hint() {
        lines.extend(paragraph(&hint_label("", palette), &hint, "  "));
    }
    lines.join("\n") + "\n"
}

/// Messages about a manifest have headings and hints of their own, at their places.
fn manifest(diagnostics: &Diagnostics, palette: &Palette) -> String {
    let styled = |line: String| {
        let headings = [("error:", palette.error), ("warning:", palette.warning)];
        let found = headings.iter().find_map(|(word, style)| Some((word, style, line.strip_prefix(word)?)));
        match found {
            Some((word, style, rest)) => format!("{style}{word}{style:#}{rest}"),
            None => line,
        }
    };
    block(&diagnostics.to_string()).into_iter().map(|line| styled(line) + "\n").collect()
}

/// The error as the fields of a record.
pub fn fields(error: &CliError) -> Json {
    if let CliError::Run(RunError::Manifest(diagnostics)) = error {
        let list: Vec<Json> = diagnostics.list.iter().map(diagnostic_fields).collect();
        return json!({ "message": "the manifest is wrong", "causes": [], "hint": null, "diagnostics": list });
    }
    let causes: Vec<String> = causes(error).map(ToString::to_string).collect();
    let mut fields = json!({ "message": error.to_string(), "causes": causes, "hint": error.hint() });
    let problems = problems(error);
    if !problems.is_empty() {
        fields["problems"] = problems.iter().map(problem_fields).collect();
    }
    fields
}

fn diagnostic_fields(diagnostic: &Diagnostic) -> Json {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let place = diagnostic
        .place
        .as_ref()
        .map(|place| json!({ "file": &*place.file, "line": place.line, "column": place.column, "length": place.length }));
    json!({
        "severity": severity,
        "message": diagnostic.summary,
        "place": place,
        "label": diagnostic.label,
        "notes": diagnostic.notes,
        "hint": diagnostic.hint,
    })
}

fn hint_label(indent: &str, palette: &Palette) -> String {
    format!("{indent}{}hint:{:#}", palette.hint, palette.hint)
}

/// What is wrong within the text of a policy.
fn problems(error: &CliError) -> &[Problem] {
    match error {
        CliError::Run(RunError::Policy(policy)) => policy.problems(),
        _ => &[],
    }
}

fn problem_fields(problem: &Problem) -> Json {
    json!({ "line": problem.line, "column": problem.column, "message": problem.message, "hint": problem.hint })
}

fn causes(error: &CliError) -> impl Iterator<Item = &(dyn Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// `text` after `label`, further lines indented.
fn paragraph(label: &str, text: &str, indent: &str) -> Vec<String> {
    let mut lines = block(text).into_iter();
    let first = format!("{label} {}", lines.next().unwrap_or_default());
    std::iter::once(first).chain(lines.map(|line| format!("{indent}{line}"))).collect()
}

#[cfg(test)]
mod tests {
    use std::io;

    use insta::assert_snapshot;

    use super::*;

    fn read_error(path: &str) -> CliError {
        CliError::Read { path: path.into(), source: io::Error::from(io::ErrorKind::NotFound) }
    }

    #[test]
    fn message_cause_and_hint_stand_apart() {
        assert_snapshot!(render(&read_error("a.wasm"), &Palette::plain()), @r"
        error: `a.wasm` cannot be read
          caused by: entity not found
        ");
        let usage = CliError::Usage { message: "it cannot be\nboth".to_owned(), hint: "choose one".to_owned() };
        assert_snapshot!(render(&usage, &Palette::plain()), @r"
        usage error: it cannot be
          both
        hint: choose one
        ");
    }

    #[test]
    fn a_hostile_name_is_escaped_once() {
        let text = render(&read_error("a\u{1b}[2J\u{202e}"), &Palette::plain());
        assert_eq!(text.lines().next(), Some("error: `a\\u{1b}[2J\\u{202e}` cannot be read"));
    }

    #[test]
    fn colour_is_around_words_of_ours_only() {
        let text = render(&read_error("a\u{1b}[2J"), &Palette::coloured());
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), render(&read_error("a\u{1b}[2J"), &Palette::plain()));
        assert!(text.starts_with('\u{1b}'));
    }
}
