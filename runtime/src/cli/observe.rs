//! What is said while a run goes on: records as resources end, or a bar on a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use super::output::Output;
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
        let speech = output.speech();
        let target = if speech.progress && !speech.json { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        Self { output, command, bar }
    }
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
