//! The control group of the programs of one turn: its name is in the intent, and recovery ends what is left in it.

use host_functions::objects::Domain;
use host_functions::processes::native::ControlGroup;

use crate::journal::random_name;
use crate::plan::Ready;

/// The group for the programs of `ready`; none if it may run none, or the node has no such groups. It is made with the first program.
pub(super) fn of(ready: &Ready) -> Option<ControlGroup> {
    let runs = |actions: &[String]| actions.iter().any(|action| action == "run");
    let may_run = ready.has_effect(|effect| effect.domain == Domain::Process.word() && runs(&effect.actions));
    may_run.then(|| ControlGroup::beside_us(&random_name())).flatten()
}

/// Ends every process of the group that an intent has on record.
///
/// # Errors
/// In words, if it cannot be done.
pub(super) fn end(path: &str) -> Result<(), String> {
    let told = |error: &dyn std::error::Error| match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    match ControlGroup::named(path) {
        Ok(None) => Ok(()),
        Ok(Some(group)) => group.end().map_err(|error| told(&error)),
        Err(error) => Err(told(&error)),
    }
}
