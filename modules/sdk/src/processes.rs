//! Programs of the node, as modules say them: `Command::new("/usr/sbin/nginx").argument("-t")`.

use crate::Sensitive;
pub use crate::bindings::runtime::host::processes::{Command, Finished, Status, Text, pause, query, run};

/// How much of a program's output is kept when nothing else is said, in bytes of each stream.
pub const OUTPUT_LIMIT: u32 = 64 * 1024;

impl Command {
    /// The program at this absolute path, without arguments, in an empty environment.
    pub fn new(program: &str) -> Self {
        Self {
            program: program.to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: None,
            user: None,
            group: None,
            umask: None,
            stdin: None,
            output_limit: OUTPUT_LIMIT,
            timeout_ms: None,
            withhold: false,
        }
    }

    /// With one more argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<Text>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// With one more variable in its environment.
    #[must_use]
    pub fn variable(mut self, name: &str, value: impl Into<Text>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Plain(text.to_owned())
    }
}

impl From<&Sensitive<String>> for Text {
    fn from(text: &Sensitive<String>) -> Self {
        match text {
            Sensitive::Plain(text) => Self::Plain(text.clone()),
            Sensitive::Slot(slot) => Self::Secret(slot.clone()),
        }
    }
}

impl Status {
    /// How the program ended, as the end of a sentence.
    pub fn words(&self) -> String {
        match self {
            Self::Exited(code) => format!("it ended with code {code}"),
            Self::Killed(signal) => format!("it was ended by signal {signal}"),
            Self::TimedOut => "its time was over".to_owned(),
        }
    }
}

impl Finished {
    /// The end of what it wrote, the error stream if there is anything in it, as text of at most `limit` bytes. None if it wrote nothing, or it is not told.
    pub fn last_words(&self, limit: usize) -> Option<String> {
        let bytes = if self.stderr.is_empty() { &self.stdout } else { &self.stderr };
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        let start = text.ceil_char_boundary(text.len().saturating_sub(limit));
        (!text.is_empty()).then(|| text[start..].to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_says_what_is_plain_and_what_is_not() {
        let slot = Sensitive::Slot("exec.a/command/1".to_owned());
        let command = Command::new("/bin/x").argument("-p").argument(&slot).variable("A", "b");
        assert_eq!(command.arguments, [Text::Plain("-p".into()), Text::Secret("exec.a/command/1".into())]);
        assert_eq!(command.environment, [("A".to_owned(), Text::Plain("b".into()))]);
    }

    #[test]
    fn last_words_are_those_of_the_error_stream_and_short() {
        let finished = |stdout: &str, stderr: &str| Finished {
            status: Status::Exited(1),
            stdout: stdout.into(),
            stderr: stderr.into(),
            cut: false,
            withheld: false,
            left_processes: false,
        };
        assert_eq!(finished("out\n", "no\n").last_words(10).as_deref(), Some("no"));
        assert_eq!(finished("out\n", "").last_words(2).as_deref(), Some("ut"));
        assert_eq!(finished("éé", "").last_words(3).as_deref(), Some("é"));
        assert_eq!(finished("", " \n").last_words(3), None);
    }
}
