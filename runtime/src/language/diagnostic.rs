//! Messages about a manifest, as data, and how they look.
//!
//! A message never quotes a value that was evaluated: it may be sensitive. It quotes source text, names and types.

use std::fmt::{self, Write as _};

use super::source::Sources;
use crate::model::expression::Place;
use crate::model::key::{escape, needs_escape};

/// More messages than this are counted, not shown.
const MAX_SHOWN: usize = 50;

/// More places of one message than this are counted, not shown.
const MAX_RELATED: usize = 4;

/// The most characters of a source line that are shown.
const MAX_LINE: usize = 160;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The manifest is refused.
    Error,
    /// It is taken, but the author should look.
    Warning,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, one sentence without a full stop.
    pub summary: String,
    /// Where, if it has a place.
    pub place: Option<Place>,
    /// A few words beneath the place; may be empty.
    pub label: String,
    /// Other places that matter, each with a few words.
    pub related: Vec<(Place, String)>,
    /// What to do about it.
    pub hint: Option<String>,
    /// More to know, each one line.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(place: &Place, summary: impl Into<String>) -> Self {
        Self { place: Some(place.clone()), ..Self::general(summary) }
    }

    /// An error without a place.
    pub fn general(summary: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            summary: summary.into(),
            place: None,
            label: String::new(),
            related: Vec::new(),
            hint: None,
            notes: Vec::new(),
        }
    }

    /// With words beneath the place.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With another place.
    #[must_use]
    pub fn related(mut self, place: &Place, label: impl Into<String>) -> Self {
        self.related.push((place.clone(), label.into()));
        self
    }

    /// With a hint, if there is one.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hint = hint.into().or(self.hint);
        self
    }

    /// With one more line to know.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The whole message as text, with source lines where `sources` has them.
    pub fn render(&self, sources: &Sources) -> String {
        let mut out = String::new();
        let heading = match self.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let width = self.gutter();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{heading}: {}", escape(&self.summary));
        if let Some(place) = &self.place {
            snippet(&mut out, sources, place, &self.label, '^', width);
        }
        for (place, label) in self.related.iter().take(MAX_RELATED) {
            snippet(&mut out, sources, place, label, '-', width);
        }
        if self.related.len() > MAX_RELATED {
            let _ = writeln!(out, "{:width$} = note: and {} more places", "", self.related.len() - MAX_RELATED);
        }
        for note in &self.notes {
            let _ = writeln!(out, "{:width$} = note: {}", "", escape(note));
        }
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "{:width$} = help: {}", "", escape(hint));
        }
        out
    }

    /// The width of the widest line number.
    fn gutter(&self) -> usize {
        let places = self.place.iter().chain(self.related.iter().map(|(place, _)| place));
        places.map(|place| place.line.to_string().len()).max().unwrap_or(1)
    }
}

fn snippet(out: &mut String, sources: &Sources, place: &Place, label: &str, mark: char, width: usize) {
    let _ = writeln!(out, "{:width$}--> {}", "", escape(&place.to_string()));
    let Some(source) = sources.get(&place.file) else { return };
    let column = place.column.saturating_sub(1) as usize;
    let (text, column) = window(&source.shown(place.line), column);
    let length = (place.length as usize).clamp(1, text.chars().count().saturating_sub(column).max(1));
    let _ = writeln!(out, "{:width$} |", "");
    let _ = writeln!(out, "{:>width$} | {}", place.line, text.trim_end());
    let marks: String = std::iter::repeat_n(mark, length).collect();
    let line = format!("{:width$} | {:column$}{marks} {}", "", "", escape(label));
    let _ = writeln!(out, "{}", line.trim_end());
    let _ = writeln!(out, "{:width$} |", "");
}

/// What is shown of a line, one column for each character, and where its `column` then stands.
fn window(line: &str, column: usize) -> (String, usize) {
    let start = if column < MAX_LINE * 3 / 4 { 0 } else { column - MAX_LINE / 2 };
    let shown = line.chars().skip(start).take(MAX_LINE).map(|c| match c {
        '\t' => ' ',
        c if needs_escape(c) => '\u{fffd}',
        c => c,
    });
    (shown.collect(), column - start)
}

/// All messages of one run, with the texts that they point into.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    /// The messages, in the order of the places where they were found.
    pub list: Vec<Diagnostic>,
    /// The texts.
    pub sources: Sources,
}

impl Diagnostics {
    /// Sorts by place, and by their words at one place; messages without a place go last. Equal messages are merged.
    pub fn sort(&mut self) {
        self.list.sort_by(|left, right| {
            let place = |diagnostic: &Diagnostic| (diagnostic.place.is_none(), diagnostic.place.clone());
            place(left).cmp(&place(right)).then_with(|| left.summary.cmp(&right.summary))
        });
        self.list.dedup();
    }

    /// Whether one of them refuses the manifest.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.list.iter().take(MAX_SHOWN).enumerate() {
            if index > 0 {
                f.write_char('\n')?;
            }
            f.write_str(&diagnostic.render(&self.sources))?;
        }
        match self.list.len().saturating_sub(MAX_SHOWN) {
            0 => Ok(()),
            more => writeln!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for Diagnostics {}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::source::Source;
    use super::*;

    fn sources(text: &str) -> (Sources, Arc<Source>) {
        let source = Arc::new(Source::new("site.hcl", text.to_owned()));
        let mut sources = Sources::default();
        sources.add(source.clone());
        (sources, source)
    }

    #[test]
    fn a_message_shows_everything_it_has() {
        let (sources, source) = sources("a = 1\n\tb = \u{1b}[31mvar.nmae\n");
        let start = source.text().find("var").unwrap();
        let message = Diagnostic::error(&source.place(start..start + 8), "unknown variable `nm\u{202e}ae`")
            .label("not declared")
            .related(&source.place(0..1), "first here")
            .note("one note")
            .hint("did you mean `name`?".to_owned());
        insta::assert_snapshot!(message.render(&sources), @r"
        error: unknown variable `nm\u{202e}ae`
         --> site.hcl:2:11
          |
        2 |  b = �[31mvar.nmae
          |           ^^^^^^^^ not declared
          |
         --> site.hcl:1:1
          |
        1 | a = 1
          | - first here
          |
          = note: one note
          = help: did you mean `name`?
        ");
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let (sources, source) = sources(&format!("{}HERE{}", "x".repeat(5000), "y".repeat(5000)));
        let text = Diagnostic::error(&source.place(5000..5004), "long").render(&sources);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() < MAX_LINE + 10), "{text}");
        assert_eq!(lines[3].find("HERE"), lines[4].find("^^^^"));
    }

    #[test]
    fn many_messages_are_counted() {
        let list = (0..60).map(|n| Diagnostic::general(format!("message {n}"))).collect();
        let text = Diagnostics { list, sources: Sources::default() }.to_string();
        assert!(text.ends_with("\nand 10 more\n"), "{text}");
    }
}
