//! What is said while a run goes on: records as resources end, or a bar on a terminal that names what is at work. Downloads are told on a
//! terminal only.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::context::Speech;
use super::output::Output;
use crate::acquire;
use crate::model::ids::ResourceId;
use crate::model::report::ResourceReport;
use crate::report;
use crate::run::Observer;

/// How often the bar is drawn anew while nothing ends, for the time that it tells.
const TICK: Duration = Duration::from_millis(250);

/// How many resources at work the bar names.
const NAMED: usize = 3;

/// Hears a run and passes it on.
pub struct Progress<'a> {
    output: &'a Output,
    command: &'a str,
    bar: ProgressBar,
    /// What has its turn, the longest first.
    at_work: Mutex<Vec<ResourceId>>,
}

impl<'a> Progress<'a> {
    /// For one run of `command`.
    pub fn new(output: &'a Output, command: &'a str) -> Self {
        Self { output, command, bar: bar(output.speech()), at_work: Mutex::default() }
    }

    /// Tells what is at work after `change`.
    fn tell(&self, change: impl FnOnce(&mut Vec<ResourceId>)) {
        if self.bar.is_hidden() {
            return;
        }
        let mut at_work = self.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut at_work);
        self.bar.set_message(named(&at_work));
    }
}

/// The first of many resources by name, and how many more there are.
fn named(at_work: &[ResourceId]) -> String {
    let names: Vec<String> = at_work.iter().take(NAMED).map(|id| report::line(&id.to_string())).collect();
    match at_work.len().saturating_sub(NAMED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// A bar where a person watches, else one that is never seen.
fn bar(speech: Speech) -> ProgressBar {
    let target = if speech.progress && !speech.json { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    ProgressBar::with_draw_target(None, target)
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress<'_> {
    fn begun(&self, total: usize) {
        self.output.record("begun", || [("command", json!(self.command)), ("total", json!(total))]);
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:24}] {pos}/{len} {elapsed} {wide_msg}") {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.set_length(total as u64);
        self.bar.set_prefix(self.command.to_owned());
        if !self.bar.is_hidden() {
            self.bar.enable_steady_tick(TICK);
        }
    }

    fn started(&self, id: &ResourceId) {
        tracing::debug!(resource = %id, "has its turn");
        self.tell(|at_work| at_work.push(id.clone()));
    }

    fn resource(&self, resource: &ResourceReport) {
        self.output.record("resource", || [("resource", report::resource_record(resource))]);
        tracing::info!(resource = %resource.id, outcome = resource.outcome.word(), "ended");
        self.tell(|at_work| at_work.retain(|id| *id != resource.id));
        self.bar.inc(1);
    }
}

/// Shows downloads, one after the other.
pub struct Downloads {
    bar: ProgressBar,
}

impl Downloads {
    /// In this way of speaking.
    pub fn new(speech: Speech) -> Self {
        Self { bar: bar(speech) }
    }
}

impl Drop for Downloads {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl acquire::Progress for Downloads {
    fn begun(&self, address: &str, size: Option<u64>) {
        let template = match size {
            Some(_) => "{msg} [{wide_bar}] {bytes}/{total_bytes} {bytes_per_sec}",
            None => "{msg} {bytes} {bytes_per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.reset();
        match size {
            Some(size) => self.bar.set_length(size),
            None => self.bar.unset_length(),
        }
        let name = address.rsplit('/').find(|part| !part.is_empty()).unwrap_or(address);
        self.bar.set_message(report::line(name));
        tracing::info!(address, size, "fetching");
    }

    fn received(&self, bytes: u64) {
        self.bar.set_position(bytes);
    }

    fn ended(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_of_many_are_named() {
        let ids: Vec<ResourceId> = ["file.a", "file.b", "file.c", "file.d", "file.e"].map(|id| id.parse().unwrap()).to_vec();
        assert_eq!(named(&[]), "");
        assert_eq!(named(&ids[..3]), "file.a, file.b, file.c");
        assert_eq!(named(&ids), "file.a, file.b, file.c and 2 more");
    }

    #[test]
    fn bars_are_for_terminals_and_not_beside_records() {
        assert!(bar(Speech::default()).is_hidden());
        assert!(bar(Speech { progress: true, json: true, ..Speech::default() }).is_hidden());
    }
}
