//! What `describe` says: the attributes, each with its reader, the outputs, and the rights that the module asks for.

use std::collections::BTreeMap;

use runtime_sdk::path::AbsolutePath;
use runtime_sdk::{Attributes, Capability, Output, Principal};

use crate::desired::ShowOutput;
use crate::umask::Umask;
use crate::word::Word;

/// A declaration. Each field is an attribute, read when it is asked for.
#[derive(Attributes)]
pub struct Given {
    /// The program, by its absolute path, and its arguments. No shell is between: `*`, `$` and `;` have no meaning. Each argument may be sensitive. Not with `shell`.
    pub command: Option<Vec<Word>>,
    /// A text for `/bin/sh -c`, as a whole: for pipes, variables and the like. Not with `command`.
    pub shell: Option<Word>,
    /// The command is needed only while nothing is at this absolute path; when it has run, something must be.
    #[attribute(identity, exported)]
    pub creates: Option<AbsolutePath>,
    /// A program with arguments: the command is needed only if it ends with code 0. It cannot change anything.
    pub only_if: Option<Vec<Word>>,
    /// A program with arguments: the command is needed only if it does not end with code 0; when the command has run, it must. It cannot change
    /// anything.
    pub unless: Option<Vec<Word>>,
    /// Whether the command runs only when a resource that this one subscribes to has changed.
    #[attribute(default = false)]
    pub refresh_only: bool,
    /// Whether the command runs in every run. A command without a guard and without `refresh_only` needs this, so that nobody writes it by accident.
    #[attribute(default = false)]
    pub always: bool,
    /// Codes with which the command succeeds; `[0]` if left out.
    pub returns: Option<Vec<u8>>,
    /// All of its environment, beside a `PATH` of the system's own folders where none is given. Each value may be sensitive.
    #[attribute(alias = "env")]
    pub environment: Option<BTreeMap<String, Word>>,
    /// Its working directory, an absolute path; `/` if left out.
    #[attribute(alias = "cwd")]
    pub directory: Option<AbsolutePath>,
    /// Whom it runs as, its guards too, with all groups of that user: a name or a numeric id. Names are looked up on the node.
    pub user: Option<Principal>,
    /// Its group, in place of the user's own: a name or a numeric id.
    pub group: Option<Principal>,
    /// Permission bits that its new files do not get, as octal digits; `0022` if left out.
    pub umask: Option<Umask>,
    /// What it reads from its standard input. May be sensitive.
    pub stdin: Option<Word>,
    /// How often it is tried until it succeeds.
    #[attribute(default = 1)]
    pub tries: u32,
    /// Seconds between two tries.
    #[attribute(default = 0)]
    pub try_sleep: u32,
    /// Seconds that one try may take; then it is ended with all that it has started, and has failed for good.
    #[attribute(default = 300)]
    pub timeout: u32,
    /// Whether its output is sensitive: then it is neither shown nor an output. It always is if the command was given a sensitive value.
    #[attribute(default = false)]
    pub sensitive: bool,
    /// When its output is shown.
    #[attribute(default = ShowOutput::OnFailure)]
    pub show_output: ShowOutput,
}

pub fn capabilities() -> Vec<Capability> {
    vec![
        Capability::new("processes", "run", "*", "to run the declared command"),
        Capability::new("processes", "query", "*", "to run guards, which cannot change anything"),
        Capability::new("files", "read", "/**", "to see whether the path in `creates` is there"),
        Capability::new("accounts", "read", "*", "to look up the numeric ids of `user` and `group`"),
    ]
}

pub fn outputs() -> Vec<Output> {
    vec![
        Output::string("stdout").doc("What the command wrote to its standard output when it last ran, at most 64 KiB, without the newlines at its end. Empty if it is sensitive."),
        Output::integer("exit_code").doc("The code that it ended with when it last ran."),
    ]
}

#[cfg(test)]
mod tests {
    use crate::Exec;

    #[test]
    fn the_description_keeps_the_contract() {
        runtime_sdk::testing::check_description::<Exec>();
    }
}
