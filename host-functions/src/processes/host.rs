//! The functions of `processes`.

use std::time::{Duration, Instant};

use super::command::{Command, Text};
use super::native::{Ended, Report};
use crate::bindings::runtime::host::processes as wit;
use crate::call::HostCall;
use crate::context::HostContext;
use crate::error::CallError;
use crate::files::path::NodePath;

impl wit::Host for HostContext {
    fn query(&mut self, command: wit::Command) -> Result<wit::Finished, CallError> {
        let command = Command::try_from(command)?;
        self.authorize(&HostCall::ProcessesQuery { command: command.clone() })?;
        self.query_finished(&command)
    }

    fn run(&mut self, command: wit::Command) -> Result<wit::Finished, CallError> {
        let command = Command::try_from(command)?;
        self.authorize(&HostCall::ProcessesRun { command: command.clone() })?;
        let report = self.run_program(&command);
        // What it did to packages nobody knows.
        self.node().packages().invalidate();
        let report = report?;
        Ok(finished(report, command.withholds()))
    }

    fn pause(&mut self, milliseconds: u64) -> Result<(), CallError> {
        self.authorize(&HostCall::ProcessesPause { milliseconds })?;
        let until = Instant::now().checked_add(Duration::from_millis(milliseconds));
        let until = until.map_or(self.deadline(), |until| until.min(self.deadline()));
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        self.check_deadline()
    }
}

impl HostContext {
    /// A query that is authorised already, whoever asked for it.
    pub(crate) fn query_finished(&mut self, command: &Command) -> Result<wit::Finished, CallError> {
        let report = self.query_program(command)?;
        Ok(finished(report, command.withholds()))
    }
}

impl TryFrom<wit::Command> for Command {
    type Error = CallError;

    fn try_from(from: wit::Command) -> Result<Self, CallError> {
        let command = Self {
            program: NodePath::parse(from.program.into_bytes())?,
            arguments: from.arguments.into_iter().map(Into::into).collect(),
            environment: from.environment.into_iter().map(|(name, value)| (name, value.into())).collect(),
            directory: from.directory.map(|path| NodePath::parse(path.into_bytes())).transpose()?,
            user: from.user,
            group: from.group,
            umask: from.umask,
            stdin: from.stdin.map(Into::into),
            output_limit: from.output_limit,
            timeout: from.timeout_ms.map(Duration::from_millis),
            withhold: from.withhold,
        };
        command.check()?;
        Ok(command)
    }
}

impl From<wit::Text> for Text {
    fn from(text: wit::Text) -> Self {
        match text {
            wit::Text::Plain(text) => Text::Plain(text),
            wit::Text::Secret(slot) => Text::Secret(slot),
        }
    }
}

fn finished(mut report: Report, withheld: bool) -> wit::Finished {
    let told = |bytes: &mut Vec<u8>| if withheld { Vec::new() } else { std::mem::take(bytes) };
    wit::Finished {
        status: match report.ended {
            Ended::Exited(code) => wit::Status::Exited(code),
            Ended::Killed(signal) => wit::Status::Killed(signal),
            Ended::TimedOut => wit::Status::TimedOut,
        },
        stdout: told(&mut report.stdout),
        stderr: told(&mut report.stderr),
        cut: report.cut && !withheld,
        withheld,
        left_processes: report.left_processes,
    }
}
