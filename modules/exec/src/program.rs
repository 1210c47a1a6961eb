//! From a desired state to the programs that the host runs.

use runtime_sdk::processes::{Command, OUTPUT_LIMIT};
use runtime_sdk::{HostError, NodeResult};

use crate::desired::Desired;
use crate::word::Word;

/// The shell that `shell` is for.
const SHELL: &str = "/bin/sh";

/// Where programs that the command itself runs are looked for, unless the declaration says otherwise.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The longest that a guard may take, in milliseconds.
const GUARD_MS: u64 = 30_000;

/// Numeric ids of `user` and `group` on this node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ids {
    user: Option<u32>,
    group: Option<u32>,
}

impl Ids {
    /// Looks them up; none if there is no such user or group yet: another resource may be about to make it.
    pub fn find(desired: &Desired) -> NodeResult<Option<Self>> {
        let user = desired.user.as_ref().map(|user| user.look_up_user("user")).transpose()?;
        let group = desired.group.as_ref().map(|group| group.look_up_group("group")).transpose()?;
        let is_missing = user == Some(None) || group == Some(None);
        Ok((!is_missing).then(|| Self { user: user.flatten(), group: group.flatten() }))
    }

    /// Looks them up.
    ///
    /// # Errors
    /// If there is no such user or group.
    pub fn of(desired: &Desired) -> NodeResult<Self> {
        Ok(Self {
            user: desired.user.as_ref().map(|user| user.find_user("user")).transpose()?,
            group: desired.group.as_ref().map(|group| group.find_group("group")).transpose()?,
        })
    }
}

/// The command.
pub fn command(desired: &Desired, ids: Ids) -> Command {
    let command = match desired.shell {
        true => desired.command.iter().fold(Command::new(SHELL).argument("-c"), |command, word| command.argument(word.text())),
        false => of_words(&desired.command),
    };
    Command {
        stdin: desired.stdin.as_ref().map(Word::text),
        timeout_ms: Some(u64::from(desired.timeout) * 1000),
        withhold: desired.sensitive,
        ..surrounded(command, desired, ids)
    }
}

/// A guard. It sees what the command sees, but for its input.
pub fn guard(words: &[Word], desired: &Desired, ids: Ids) -> Command {
    Command { timeout_ms: Some(GUARD_MS), ..surrounded(of_words(words), desired, ids) }
}

/// Why a program did not start, as the end of a sentence.
pub fn not_started(program: &str, error: &HostError) -> String {
    match error {
        HostError::NotFound => format!("`{program}` is not there, or the interpreter that its first line names is not"),
        // The host says what is not as it must be: the working directory.
        HostError::WrongKind(text) => text.clone(),
        other => runtime_sdk::node::explain(other),
    }
}

fn of_words(words: &[Word]) -> Command {
    let program = words.first().and_then(Word::plain).unwrap_or_default();
    words.iter().skip(1).fold(Command::new(program), |command, word| command.argument(word.text()))
}

/// With what surrounds the command and its guards alike.
fn surrounded(command: Command, desired: &Desired, ids: Ids) -> Command {
    let command = match desired.variables().any(|(name, _)| name == "PATH") {
        true => command,
        false => command.variable("PATH", PATH),
    };
    let command = desired.variables().fold(command, |command, (name, value)| command.variable(name, value.text()));
    Command {
        directory: desired.directory.clone(),
        user: ids.user,
        group: ids.group,
        umask: desired.umask.map(|umask| umask.0),
        output_limit: OUTPUT_LIMIT,
        ..command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Exec;
    use runtime_sdk::processes::Text;
    use runtime_sdk::testing::{self, Given};
    use serde_json::json;

    const NOBODY: Ids = Ids { user: None, group: None };

    fn desired(given: Given) -> Desired {
        testing::compile::<Exec>(&given.set("always", true), testing::any_digest).unwrap()
    }

    #[test]
    fn arguments_go_as_they_are_and_a_shell_gets_one_text() {
        let direct = command(&desired(Given::new().set("command", json!(["/bin/echo", "$HOME *"]))), NOBODY);
        assert_eq!((direct.program.as_str(), direct.arguments), ("/bin/echo", vec![Text::Plain("$HOME *".into())]));
        let shell = command(&desired(Given::new().set("shell", "echo $HOME")), NOBODY);
        assert_eq!(shell.program, "/bin/sh");
        assert_eq!(shell.arguments, [Text::Plain("-c".into()), Text::Plain("echo $HOME".into())]);
    }

    #[test]
    fn there_is_a_path_for_programs_unless_one_is_given() {
        let variables = |given: Given| command(&desired(given.set("shell", "x")), NOBODY).environment;
        assert_eq!(variables(Given::new()), [("PATH".to_owned(), Text::Plain(PATH.into()))]);
        let own = variables(Given::new().set("environment", json!({"A": {"$secret": "s"}, "PATH": "/x"})));
        assert_eq!(own, [("A".to_owned(), Text::Secret("s".into())), ("PATH".to_owned(), Text::Plain("/x".into()))]);
    }
}
