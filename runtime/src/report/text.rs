//! A whole report for people: heading, notes, what was not simply as desired, and the summary.

use super::palette::{Palette, paint};
use super::resource;
use super::safe::line;
use crate::model::report::{Note, Outcome, Report, ResourceReport, RunMode, Severity, Summary};

/// How a report is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct View {
    /// The colours.
    pub palette: Palette,
    /// Whether resources that were as desired are listed too.
    pub list_unchanged: bool,
    /// Whether each resource says what it took, in time and memory.
    pub measures: bool,
}

/// The report as text that ends with its summary line.
pub fn render(report: &Report, view: &View) -> String {
    format!("{}\n{}", heading(report, &view.palette), body(report, view))
}

/// The report without its heading: notes, resources and the summary line.
pub fn body(report: &Report, view: &View) -> String {
    let mut lines = Vec::new();
    for note in &report.notes {
        lines.extend(note_lines(note, &view.palette));
    }
    let shown = |resource: &&ResourceReport| resource.outcome != Outcome::Unchanged || resource.drift || view.list_unchanged;
    for each in report.resources.iter().filter(shown) {
        lines.push(String::new());
        let digest = report.modules.get(each.id.type_name.as_str());
        lines.extend(resource::render(each, digest, view));
    }
    lines.push(String::new());
    lines.push(paint(view.palette.strong, &summary(report)));
    lines.join("\n") + "\n"
}

fn heading(report: &Report, palette: &Palette) -> String {
    let what = match (report.mode, &report.run) {
        (RunMode::Noop, _) => "plan".to_owned(),
        (RunMode::Apply, Some(run)) => format!("run {run}"),
        (RunMode::Apply, None) => "run".to_owned(),
    };
    let of = format!("of `{}`, serial {}, bundle {}", report.owner, report.serial, report.bundle.short());
    format!("{} {of}", paint(palette.strong, &what))
}

fn note_lines(note: &Note, palette: &Palette) -> Vec<String> {
    let (word, style) = match note.severity {
        Severity::Info => ("note:", palette.strong),
        Severity::Warning => ("warning:", palette.warning),
    };
    let mut lines = vec![format!("{} {}", paint(style, word), line(&note.message))];
    lines.extend(note.hint.iter().map(|hint| format!("  {} {}", paint(palette.hint, "hint:"), line(hint))));
    lines
}

/// One line that names the command and counts.
fn summary(report: &Report) -> String {
    let head = match report.mode {
        RunMode::Noop => "plan",
        RunMode::Apply => "apply",
    };
    format!("{head}: {}", counts(&report.summary()))
}

/// Each way to end that occurred with how many ended so, and always the unchanged and the skipped ones.
pub fn counts(counts: &Summary) -> String {
    let deviating = [
        (counts.would_change, "would change"),
        (counts.changed, "changed"),
        (counts.failed, "failed"),
        (counts.refused, "refused"),
        (counts.unresolved, "unresolved"),
        (counts.unmet, "unmet"),
        (counts.no_provider, "without a provider"),
        (counts.cannot_plan, "not plannable"),
        (counts.not_reached, "not reached"),
    ];
    let mut parts: Vec<String> =
        deviating.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
    if parts.is_empty() {
        parts.push("nothing to do".to_owned());
    }
    parts.push(format!("{} unchanged", counts.unchanged));
    parts.push(format!("{} skipped", counts.skipped));
    if counts.drifted > 0 {
        parts.push(format!("{} drifted", counts.drifted));
    }
    parts.join(", ")
}
