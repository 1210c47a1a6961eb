//! The node's own tools for accounts: which family it has, and what they are to be called with.
//!
//! What to do becomes a list of [`Step`]s, pure data, by one function for each family; [`run`] runs them. Nothing a guest says becomes an option:
//! names are checked before they come here, and every other text follows the option that takes it.

mod busybox;
mod run;
mod shadow;

use std::time::Instant;

use zeroize::Zeroizing;

use super::change::{GroupChange, NewGroup, NewUser, UserChange};
use super::entry::{Group, Login, User};
use crate::error::CallError;
use crate::node::Root;

/// Where tools are looked for beneath the root.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];

/// A family of account tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// The shadow suite: `useradd` and its like.
    Shadow,
    /// The applets of busybox.
    Busybox,
}

/// One program to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    /// The name of the tool.
    tool: &'static str,
    arguments: Vec<String>,
    /// Whether its standard input is the line that sets the password, locked or not.
    password: Option<PasswordLine>,
}

/// The line that sets a password: who, and what stands before the hash.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PasswordLine {
    name: String,
    locked: bool,
}

impl Step {
    fn new(tool: &'static str, arguments: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { tool, arguments: arguments.into_iter().map(Into::into).collect(), password: None }
    }

    /// Sets the password of `name` to the hash that the runner has.
    fn password(name: &str, locked: bool) -> Self {
        let line = PasswordLine { name: name.to_owned(), locked };
        Self { tool: "chpasswd", arguments: vec!["-e".to_owned()], password: Some(line) }
    }
}

/// What is to be done, with what was found of it just before.
#[derive(Debug)]
pub(super) enum Job<'j> {
    CreateUser { name: &'j str, user: &'j NewUser },
    ChangeUser { name: &'j str, change: &'j UserChange, now: &'j User, login: Login },
    DeleteUser { name: &'j str },
    CreateGroup { name: &'j str, group: &'j NewGroup },
    ChangeGroup { name: &'j str, change: &'j GroupChange, now: &'j Group },
    DeleteGroup { name: &'j str },
}

/// Does `job` with the tools beneath `root`, before `deadline`. `hash` is the value of the password that the job names.
pub(super) fn perform(root: &Root, job: &Job<'_>, hash: Option<&Zeroizing<Vec<u8>>>, deadline: Instant) -> Result<(), CallError> {
    let family = family(root)?;
    let steps = match family {
        Family::Shadow => shadow::steps(job),
        Family::Busybox => busybox::steps(job)?,
    };
    let mut changed = false;
    for step in &steps {
        match run::step(root, family, step, hash, deadline) {
            Ok(()) => changed = true,
            // The guest must not take a job that is half done for one that was refused.
            Err(error) if changed && is_refusal(&error) => {
                return Err(CallError::Other(format!("after an earlier step was done: {error}")));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Whether a call that fails so has changed nothing.
pub(super) fn is_refusal(error: &CallError) -> bool {
    !matches!(error, CallError::Deadline | CallError::Other(_) | CallError::Trap(_))
}

/// The family of tools beneath `root`.
fn family(root: &Root) -> Result<Family, CallError> {
    if run::find(root, "useradd")?.is_some() {
        return Ok(Family::Shadow);
    }
    if run::find(root, "busybox")?.is_some() && run::find(root, "adduser")?.is_some() {
        return Ok(Family::Busybox);
    }
    Err(CallError::Unsupported(
        "this node has no tools that change accounts: neither `useradd` nor busybox's `adduser`".to_owned(),
    ))
}
