//! Who may run which program: the resource's effects name it, the module asks for it, and policy grants it with those arguments.

use super::command::Command;
use crate::authorize::{Rule, Standing};
use crate::objects::policy::permit_command;

/// What is done with a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    /// To learn something.
    Query,
    /// To change something.
    Run,
}

impl Verb {
    fn word(self) -> &'static str {
        match self {
            Verb::Query => "query",
            Verb::Run => "run",
        }
    }
}

/// Holds a command line against effects, asks and grant, and its sensitive values against the resource.
pub(crate) fn permit(standing: &Standing<'_>, verb: Verb, command: &Command) -> Result<(), Rule> {
    let line = command.line();
    let line: Vec<Option<&str>> = line.iter().map(Option::as_deref).collect();
    permit_command(standing, verb.word(), &line)?;
    // A slot's name begins with the address of the resource that has it.
    let is_own = |slot: &str| slot.split_once('/').is_some_and(|(resource, _)| resource == standing.rights.resource);
    if command.slots().all(is_own) { Ok(()) } else { Err(Rule::ForeignSecret) }
}
