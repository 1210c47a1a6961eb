//! One run on record: the cause first, if it did not end well, then all that it found and did.

use serde_json::{Value as Json, json};

use super::history::{began, outcome, took};
use super::{count, history};
use crate::journal::{Entry, Event};
use crate::report::{self, Palette, View, block, duration, line, shortened};
use crate::run::RunOnRecord;
use crate::store::{HeldClaim, RunEnding};

/// How much of a cause stands on its line, in characters; all of it is with its resource.
const CAUSE_CHARS: usize = 400;

/// Why a run did not end well.
struct Cause {
    message: String,
    hint: Option<String>,
}

/// The run as text. The cause of one that did not end well is in its second and third line.
pub(in crate::cli) fn render(run: &RunOnRecord, view: &View) -> String {
    let mut lines = vec![heading(run, &view.palette)];
    if let Some(cause) = cause(run) {
        let style = view.palette.error;
        lines.push(format!("{style}cause:{style:#} {}", shortened(&line(&cause.message), CAUSE_CHARS)));
        let style = view.palette.hint;
        lines.extend(cause.hint.map(|hint| format!("{style}hint:{style:#} {}", line(&hint))));
    }
    lines.push(times(run));
    let body = match &run.report {
        Some(report) => report::body(report, view),
        None => journal(&run.entries),
    };
    lines.join("\n") + "\n" + &body
}

fn heading(run: &RunOnRecord, palette: &Palette) -> String {
    let record = &run.record;
    let name = format!("{}run {}{:#}", palette.strong, record.run, palette.strong);
    let owner = record.owner.as_ref().map(|owner| format!(" of `{owner}`")).unwrap_or_default();
    let style = match record.ending {
        Some(RunEnding::Converged | RunEnding::Released) => palette.strong,
        Some(RunEnding::Incomplete) => palette.warning,
        Some(RunEnding::Failed | RunEnding::Refused | RunEnding::Unresolved) | None => palette.error,
    };
    format!("{name}: {}{owner}, {style}{}{style:#}", record.kind, outcome(record))
}

fn times(run: &RunOnRecord) -> String {
    let mut parts = Vec::new();
    parts.extend(run.report.as_ref().map(|report| format!("serial {}", report.serial)));
    parts.extend(run.record.bundle.as_ref().map(|bundle| format!("bundle {}", bundle.short())));
    parts.push(format!("began {}", began(&run.record)));
    parts.extend(took(&run.record).map(|time| format!("took {}", duration(time))));
    parts.join(", ")
}

fn cause(run: &RunOnRecord) -> Option<Cause> {
    let Some(ending) = run.record.ending else { return Some(lost(run)) };
    if matches!(ending, RunEnding::Converged | RunEnding::Released) {
        return None;
    }
    let told = run.report.as_ref().and_then(report::cause);
    let told = told.map(|cause| Cause { message: cause.message, hint: cause.hint });
    told.or_else(|| {
        let why = run.entries.iter().rev().find(|entry| entry.event == Event::RunEnded)?.detail.as_deref()?;
        let (message, hint) = (one_line(why), (ending == RunEnding::Unresolved).then(|| "run `runtime recover`".to_owned()));
        Some(Cause { message, hint })
    })
}

/// The first of many lines, and how many more there are.
fn one_line(text: &str) -> String {
    let lines = block(text);
    match lines.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [first, more @ ..] => format!("{first} (and {} more)", more.len()),
    }
}

fn lost(run: &RunOnRecord) -> Cause {
    let began = "it began and never ended: its process was killed, the machine went down, or its state could not be written";
    match run.open.as_slice() {
        [] => Cause { message: began.to_owned(), hint: None },
        open => {
            let names: Vec<String> = open.iter().map(|id| format!("`{id}`")).collect();
            let message = format!("{began}; what it was doing to {} is not settled", names.join(", "));
            Cause { message, hint: Some("apply again, or `runtime recover`".to_owned()) }
        }
    }
}

/// The journal of a run that has no report.
fn journal(entries: &[Entry]) -> String {
    let told: Vec<String> = entries.iter().filter_map(entry).collect();
    let released = entries.iter().filter(|entry| entry.event == Event::Released).count();
    let mut lines = vec![String::new()];
    lines.extend(told);
    if released > 0 {
        lines.push(String::new());
        lines.push(format!("release: {} given up", count(released, "claim")));
    }
    if lines.len() == 1 { String::new() } else { lines.join("\n") + "\n" }
}

/// What an entry says that the heading does not.
fn entry(entry: &Entry) -> Option<String> {
    match (&entry.event, &entry.resource) {
        (Event::Released, _) => Some(format!("  {}", held(entry.detail.as_deref().unwrap_or_default()))),
        (Event::Intent(event), Some(resource)) => {
            let why = entry.detail.as_deref().map(|why| format!(": {}", one_line(why))).unwrap_or_default();
            Some(format!("  {resource}: {}{why}", event.to_string().replace('_', " ")))
        }
        _ => None,
    }
}

/// A claim that was given up, from the words of the journal.
fn held(detail: &str) -> String {
    serde_json::from_str(detail).map_or_else(|_| line(detail), |held| claim(&held))
}

/// A claim and its resource, for people.
pub(in crate::cli) fn claim(held: &HeldClaim) -> String {
    let HeldClaim { resource, claim } = held;
    let part = if claim.qualifier.is_empty() { String::new() } else { format!(" ({})", line(&claim.qualifier)) };
    format!("{resource}: {} {}{part}", line(&claim.domain), claim.key)
}

/// The run as data; its resources go before, as they do when it is applied.
pub(in crate::cli) fn fields(run: &RunOnRecord) -> Json {
    let cause = cause(run).map(|cause| json!({ "message": cause.message, "hint": cause.hint }));
    let entry = |entry: &Entry| {
        let detail = match entry.event {
            Event::Released => entry.detail.as_deref().and_then(|detail| serde_json::from_str::<Json>(detail).ok()),
            _ => entry.detail.as_deref().map(Json::from),
        };
        json!({ "event": entry.event.as_str(), "resource": entry.resource, "detail": detail })
    };
    json!({
        "run": history::fields(&run.record),
        "cause": cause,
        "open": run.open,
        "report": run.report.as_ref().map(report::conclusion),
        "journal": run.entries.iter().map(entry).collect::<Vec<Json>>(),
    })
}

#[cfg(test)]
mod tests;
