//! A program with what it gets, as guests say it: checked for what has no meaning, and within caps.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::error::CallError;
use crate::files::path::NodePath;
use crate::text::{cut, escape, escape_bytes};

/// How many arguments a program may get.
pub const MAX_ARGUMENTS: usize = 4_096;

/// How many variables a program may get.
pub const MAX_VARIABLES: usize = 1_024;

/// The most that all texts for one program have together, in bytes.
pub const MAX_TEXT: usize = 2 * 1024 * 1024;

/// The most that is kept of each stream, in bytes.
pub const MAX_OUTPUT: u32 = 1024 * 1024;

/// A text for a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// This.
    Plain(String),
    /// The value of this slot.
    Secret(String),
}

/// A program and what it gets. Sensitive values are not in it, but their slots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// Absolute path.
    pub program: NodePath,
    /// Without the program itself.
    pub arguments: Vec<Text>,
    /// All of its environment.
    pub environment: Vec<(String, Text)>,
    /// Its working directory.
    pub directory: Option<NodePath>,
    /// Numeric user.
    pub user: Option<u32>,
    /// Numeric group.
    pub group: Option<u32>,
    /// Bits that new files do not get.
    pub umask: Option<u32>,
    /// What it reads.
    pub stdin: Option<Text>,
    /// Bytes kept of each stream.
    pub output_limit: u32,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// Whether its output is not told.
    pub withhold: bool,
}

impl Command {
    /// A program with these arguments, and nothing else.
    pub fn new(program: NodePath, arguments: Vec<Text>) -> Self {
        Self {
            program,
            arguments,
            environment: Vec::new(),
            directory: None,
            user: None,
            group: None,
            umask: None,
            stdin: None,
            output_limit: MAX_OUTPUT,
            timeout: None,
            withhold: false,
        }
    }

    /// The slots of sensitive values that it gets.
    pub fn slots(&self) -> impl Iterator<Item = &str> {
        self.texts().filter_map(|text| match text {
            Text::Secret(slot) => Some(slot.as_str()),
            Text::Plain(_) => None,
        })
    }

    /// Whether its output is not told: it might repeat what it was given.
    pub fn withholds(&self) -> bool {
        self.withhold || self.slots().next().is_some()
    }

    /// The program and its arguments, none for a sensitive one: what policy speaks of.
    pub fn line(&self) -> Vec<Option<String>> {
        let program = String::from_utf8_lossy(self.program.as_bytes()).into_owned();
        let arguments = self.arguments.iter().map(|argument| match argument {
            Text::Plain(text) => Some(text.clone()),
            Text::Secret(_) => None,
        });
        std::iter::once(Some(program)).chain(arguments).collect()
    }

    /// The command line for people, escaped and cut.
    pub fn shown(&self) -> String {
        let mut shown = escape_bytes(self.program.as_bytes());
        for argument in &self.arguments {
            shown.push(' ');
            match argument {
                Text::Plain(text) if text.is_empty() => shown.push_str("''"),
                Text::Plain(text) => shown.push_str(&escape(&cut(text.clone(), 200))),
                Text::Secret(_) => shown.push_str("(sensitive)"),
            }
            if shown.len() > 512 {
                break;
            }
        }
        cut(shown, 512)
    }

    /// Fails for what no program can get, or what is above a cap.
    pub(super) fn check(&self) -> Result<(), CallError> {
        within("arguments", self.arguments.len(), MAX_ARGUMENTS)?;
        within("environment variables", self.environment.len(), MAX_VARIABLES)?;
        within("bytes of text", self.text_length(), MAX_TEXT)?;
        within("bytes of output", self.output_limit as usize, MAX_OUTPUT as usize)?;
        if std::str::from_utf8(self.program.as_bytes()).is_err() || self.program.as_bytes() == b"/" {
            return Err(CallError::invalid("the program is not the path of a file"));
        }
        let mut names = BTreeSet::new();
        for (name, _) in &self.environment {
            if name.is_empty() || name.contains(['=', '\0']) || !names.insert(name) {
                return Err(CallError::invalid(format!(
                    "`{}` cannot be the name of an environment variable, or it is given twice",
                    escape(&cut(name.clone(), 80))
                )));
            }
        }
        let without_input = self.arguments.iter().chain(self.environment.iter().map(|(_, value)| value));
        if without_input.into_iter().any(|text| matches!(text, Text::Plain(text) if text.contains('\0'))) {
            return Err(CallError::invalid("an argument or the value of an environment variable has a NUL"));
        }
        match self.umask {
            Some(umask) if umask > 0o777 => Err(CallError::invalid("a umask is at most 0o777")),
            _ => Ok(()),
        }
    }

    fn texts(&self) -> impl Iterator<Item = &Text> {
        self.arguments.iter().chain(self.environment.iter().map(|(_, value)| value)).chain(&self.stdin)
    }

    fn text_length(&self) -> usize {
        let texts = self.texts().map(|text| match text {
            Text::Plain(text) | Text::Secret(text) => text.len(),
        });
        texts.chain(self.environment.iter().map(|(name, _)| name.len())).sum()
    }
}

fn within(what: &str, count: usize, most: usize) -> Result<(), CallError> {
    if count <= most {
        Ok(())
    } else {
        Err(CallError::TooLarge(format!("a program has at most {most} {what}, and this has {count}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(arguments: &[&str]) -> Command {
        let arguments = arguments.iter().map(|text| Text::Plain((*text).to_owned())).collect();
        Command::new(NodePath::parse(b"/bin/x".to_vec()).unwrap(), arguments)
    }

    #[test]
    fn what_no_program_can_get_is_refused() {
        let with = |name: &str, value: &str| {
            let environment = vec![(name.to_owned(), Text::Plain(value.to_owned()))];
            Command { environment, ..command(&["a"]) }.check()
        };
        assert!(with("A", "").is_ok());
        assert!(with("", "x").is_err() && with("A=", "x").is_err() && with("A\0", "x").is_err() && with("A", "\0").is_err());
        assert!(command(&["\0"]).check().is_err());
        let twice = vec![("A".to_owned(), Text::Plain(String::new())); 2];
        assert!(Command { environment: twice, ..command(&[]) }.check().is_err());
        assert!(Command { umask: Some(0o1000), ..command(&[]) }.check().is_err());
        let stdin = Some(Text::Plain("\0".into()));
        assert!(Command { stdin, ..command(&[]) }.check().is_ok(), "input may be anything");
    }

    #[test]
    fn each_cap_is_named() {
        let error = |command: Command| match command.check() {
            Err(CallError::TooLarge(text)) => text,
            other => panic!("{other:?}"),
        };
        assert!(error(command(&vec!["a"; MAX_ARGUMENTS + 1])).contains("arguments"));
        assert!(error(command(&[&"a".repeat(MAX_TEXT + 1)])).contains("bytes of text"));
        assert!(error(Command { output_limit: MAX_OUTPUT + 1, ..command(&[]) }).contains("bytes of output"));
    }

    #[test]
    fn a_sensitive_argument_is_never_shown_and_output_is_withheld() {
        let arguments = vec![Text::Plain("-p".into()), Text::Secret("exec.a/command/1".into()), Text::Plain("a\nb".into())];
        let command = Command { arguments, ..command(&[]) };
        assert_eq!(command.shown(), "/bin/x -p (sensitive) a\\u{a}b");
        assert_eq!(command.line()[2], None);
        assert!(command.withholds());
    }
}
