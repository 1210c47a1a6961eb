//! What is said while a run goes on: records as resources end, or a bar on a terminal. Downloads are told on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::context::Speech;
use super::output::Output;
use crate::acquire;
use crate::model::report::ResourceReport;
use crate::report;
use crate::run::Observer;

/// Hears a run and passes it on.
pub struct Progress<'a> {
    output: &'a Output,
    command: &'a str,
    bar: ProgressBar,
}

impl<'a> Progress<'a> {
    /// For one run of `command`.
    pub fn new(output: &'a Output, command: &'a str) -> Self {
        Self { output, command, bar: bar(output.speech()) }
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
        self.output.record("begun", &[("command", json!(self.command)), ("total", json!(total))]);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{wide_bar}] {pos}/{len}") {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self.bar.set_length(total as u64);
        self.bar.set_message(self.command.to_owned());
    }

    fn resource(&self, resource: &ResourceReport) {
        self.output.record("resource", &[("resource", report::resource_record(resource))]);
        tracing::info!(resource = %resource.id, outcome = resource.outcome.word(), "ended");
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
    fn bars_are_for_terminals_and_not_beside_records() {
        assert!(bar(Speech::default()).is_hidden());
        assert!(bar(Speech { progress: true, json: true, ..Speech::default() }).is_hidden());
    }
}
