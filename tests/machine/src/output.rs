//! What a program in a machine gave.

use std::fmt;
use std::process::Output;

/// How a program ended, and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// Standard output, as bytes.
    pub bytes: Vec<u8>,
    /// Standard output, as text.
    pub stdout: String,
    /// Standard error, as text.
    pub stderr: String,
    /// The program and its arguments.
    command: String,
}

impl Finished {
    pub(crate) fn new(command: &[&str], output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            bytes: output.stdout,
            command: command.join(" "),
        }
    }

    /// The same, if it ended with 0.
    ///
    /// # Panics
    /// If it did not: with all that it said.
    #[track_caller]
    pub fn success(self) -> Self {
        self.exits_with(0)
    }

    /// The same, if it ended with `code`.
    ///
    /// # Panics
    /// If it did not: with all that it said.
    #[track_caller]
    pub fn exits_with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self}");
        self
    }
}

impl fmt::Display for Finished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "`{}` ended with {:?}", self.command, self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}\n{}", text.trim_end_matches('\n'))?;
            }
        }
        Ok(())
    }
}
