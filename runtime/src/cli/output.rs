//! Standard output and error: text for people, or numbered records for programs.
//!
//! What a command has to say it returns as an [`Answer`]; only what cannot wait for its end (resources, as they end) goes out
//! before. So a run writes exactly one terminal record, and it is the last.

use std::io::{self, Write};
use std::sync::Mutex;

use anstream::{AutoStream, ColorChoice};
use serde_json::{Value as Json, json};

use super::context::Speech;
use super::error::CliError;
use super::exit::Exit;
use super::printer;
use crate::model::key::needs_escape;
use crate::report::Palette;

/// The version of every record.
pub const RECORD_VERSION: u32 = 1;

/// What a command gives.
#[derive(Debug)]
#[must_use = "a command's answer is its output and exit code"]
pub struct Answer {
    /// How it ended.
    pub exit: Exit,
    /// Data as text, for stdout.
    pub text: String,
    /// A word to the person who typed it, for stderr.
    pub remark: String,
    /// The same data for the `result` record.
    pub data: Json,
}

/// Where output goes.
pub struct Output {
    speech: Speech,
    state: Mutex<State>,
}

struct State {
    stdout: Box<dyn Write + Send>,
    stderr: Box<dyn Write + Send>,
    next_sequence: u64,
    /// The first error of stdout, after which it is left alone.
    failed: Option<io::Error>,
}

impl Output {
    /// To the process's own standard output and error.
    pub fn of_process(speech: Speech) -> Self {
        let choice = |colour: bool| if colour { ColorChoice::Always } else { ColorChoice::Never };
        let stdout = AutoStream::new(io::stdout(), choice(speech.stdout_colour));
        let stderr = AutoStream::new(io::stderr(), choice(speech.stderr_colour));
        Self::new(speech, Box::new(stdout), Box::new(stderr))
    }

    fn new(speech: Speech, stdout: Box<dyn Write + Send>, stderr: Box<dyn Write + Send>) -> Self {
        Self { speech, state: Mutex::new(State { stdout, stderr, next_sequence: 0, failed: None }) }
    }

    /// How it speaks.
    pub fn speech(&self) -> Speech {
        self.speech
    }

    /// The colours of text on stdout.
    pub fn palette(&self) -> Palette {
        palette(self.speech.stdout_colour)
    }

    /// Writes one record that is not the last, if records are asked for; else its fields are not made.
    pub fn record<F: AsRef<[(&'static str, Json)]>>(&self, kind: &str, fields: impl FnOnce() -> F) {
        if self.speech.json {
            self.with(|state| state.record(kind, fields().as_ref()));
        }
    }

    /// Writes what a command gave and returns the exit code.
    pub fn finish(&self, command: &str, result: Result<Answer, CliError>) -> Exit {
        let exit = self.with(|state| match &result {
            Ok(answer) => state.answer(command, answer, self.speech),
            Err(error) => state.error(command, error, self.speech),
        });
        match self.with(|state| state.failed.take()) {
            // A reader that has seen enough is no failure.
            Some(error) if error.kind() != io::ErrorKind::BrokenPipe => self.lost(exit, error),
            _ => exit,
        }
    }

    /// What was done counts more than that it could not be told.
    fn lost(&self, exit: Exit, error: io::Error) -> Exit {
        let error = CliError::Output(error);
        self.with(|state| state.stderr_text(&printer::render(&error, &palette(self.speech.stderr_colour))));
        if matches!(exit, Exit::Done | Exit::Changed) { error.exit() } else { exit }
    }

    /// A panic elsewhere while it is held leaves nothing half-written that matters more than going on.
    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner))
    }
}

fn palette(colour: bool) -> Palette {
    if colour { Palette::coloured() } else { Palette::plain() }
}

impl State {
    fn answer(&mut self, command: &str, answer: &Answer, speech: Speech) -> Exit {
        if speech.json {
            let exit = answer.exit;
            self.record(
                "result",
                &[
                    ("command", json!(command)),
                    ("exit", json!(exit.code())),
                    ("outcome", json!(exit.word())),
                    ("data", answer.data.clone()),
                ],
            );
        } else {
            self.stdout_text(&answer.text);
        }
        self.stderr_text(&answer.remark);
        answer.exit
    }

    fn error(&mut self, command: &str, error: &CliError, speech: Speech) -> Exit {
        let exit = error.exit();
        if speech.json {
            let fields = printer::fields(error);
            self.error_record(command, exit, fields);
        }
        self.stderr_text(&printer::render(error, &palette(speech.stderr_colour)));
        exit
    }

    fn error_record(&mut self, command: &str, exit: Exit, fields: Json) {
        self.record(
            "error",
            &[("command", json!(command)), ("exit", json!(exit.code())), ("outcome", json!(exit.word())), ("error", fields)],
        );
    }

    fn record(&mut self, kind: &str, fields: &[(&str, Json)]) {
        let mut line = format!(r#"{{"record":{},"version":{RECORD_VERSION},"seq":{}"#, json!(kind), self.next_sequence);
        for (name, value) in fields {
            line += &format!(",{}:{value}", json!(name));
        }
        line += "}\n";
        self.next_sequence += 1;
        self.stdout_text(&ascii_controls(&line));
    }

    fn stdout_text(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.stdout.write_all(text.as_bytes()).and_then(|()| self.stdout.flush()).err();
        }
    }

    /// There is nowhere to tell that stderr is gone.
    fn stderr_text(&mut self, text: &str) {
        let _ = self.stderr.write_all(text.as_bytes()).and_then(|()| self.stderr.flush());
    }
}

/// JSON allows DEL, C1 and bidi controls as they are; terminals obey some of them. Outside of strings there are none.
fn ascii_controls(line: &str) -> String {
    let escaped = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    line.chars().map(|c| if needs_escape(c) && c != '\n' { escaped(c) } else { c.to_string() }).collect()
}

/// Writes what clap has to say when it did not give arguments: help and version are data, the rest is a usage error.
pub fn usage(message: &clap::Error, speech: Speech) -> Exit {
    let output = Output::of_process(speech);
    let styled = message.render();
    let text = |colour: bool| if colour { styled.ansi().to_string() } else { styled.to_string() };
    if !message.use_stderr() {
        let answer = Answer {
            exit: Exit::Done,
            text: text(speech.stdout_colour),
            remark: String::new(),
            data: json!({ "text": styled.to_string() }),
        };
        return output.finish("help", Ok(answer));
    }
    output.with(|state| {
        if speech.json {
            state.error_record(
                "",
                Exit::Usage,
                json!({ "message": first_paragraph(&styled.to_string()), "causes": [], "hint": null }),
            );
        }
        // What was typed stands in it as it is; its own colours do not, so that all of it can be escaped.
        let safe: String = crate::report::block(&styled.to_string()).iter().map(|line| format!("{line}\n")).collect();
        state.stderr_text(&safe);
    });
    Exit::Usage
}

/// What is wrong, without the usage that follows it, on one line.
fn first_paragraph(text: &str) -> String {
    let lines = text.trim_start_matches("error: ").lines().map(str::trim).take_while(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
