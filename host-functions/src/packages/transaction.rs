//! A transaction from what was asked to what became of it: simulate, judge, wait for the lock, do it, read again.

use std::cell::Cell;

use super::backend::{Backend, backend};
use super::judge::{Extra, Step, judge, preconditions};
use super::table::Table;
use super::tools::Tools;
use super::{Change, Changed, ConfigurationFiles, Manager, Transaction, Verb, lock};
use crate::error::CallError;

/// Holds what a transaction brings with it against the rights.
pub(super) type Permit<'p> = dyn FnMut(&[Extra]) -> Result<(), CallError> + 'p;

/// What is to be done: by the manager's repositories, or with a package file.
pub(super) struct Work<'w> {
    pub manager: Manager,
    pub transaction: &'w Transaction,
    /// The path of a package file on the node.
    pub file: Option<&'w str>,
    /// Set when the manager is told to begin: from then on something may have changed.
    pub begun: &'w Cell<bool>,
}

/// Does it, and says which packages have other versions than before.
pub(super) fn apply(tools: &dyn Tools, work: &Work<'_>, permit: &mut Permit<'_>) -> Result<Vec<Changed>, CallError> {
    let (manager, transaction) = (work.manager, work.transaction);
    let backend = backend(manager);
    if transaction.configuration_files == ConfigurationFiles::Replace && !backend.replaces_configuration() {
        let told = format!("{} keeps changed configuration files, and cannot be told to replace them", manager.name());
        return Err(CallError::Unsupported(told));
    }
    lock::wait(tools, backend.lock_files())?;
    let before = backend.read(tools)?;
    preconditions(manager, transaction, &before)?;
    let steps = simulate(backend, tools, work, &before).map_err(cannot)?;
    let extras = judge(manager, transaction, &before, &steps)?;
    if !extras.is_empty() {
        permit(&extras)?;
    }
    lock::wait(tools, backend.lock_files())?;
    work.begun.set(true);
    execute(backend, tools, work, &steps)?;
    let after = backend.read(tools)?;
    hold_again(backend, tools, transaction, &before, &after)?;
    Ok(before.changes(&after, transaction))
}

/// Some managers let a held package go when they change it. It stays held unless it was to be let go.
fn hold_again(
    backend: &dyn Backend,
    tools: &dyn Tools,
    transaction: &Transaction,
    before: &Table,
    after: &Table,
) -> Result<(), CallError> {
    let let_go = |change: &Change| {
        let name = &change.subject.name;
        let unheld = transaction.changes.iter().any(|other| other.verb == Verb::Unhold && other.subject.name == *name);
        change.verb.installs() && before.is_held(name) && !after.is_held(name) && !unheld
    };
    let lost = transaction.changes.iter().filter(|change| let_go(change));
    let changes: Vec<Change> =
        lost.map(|change| Change { subject: change.subject.clone(), verb: Verb::Hold, version: None }).collect();
    if changes.is_empty() {
        return Ok(());
    }
    backend.execute(tools, &Transaction { changes, ..transaction.clone() }, &[])
}

/// Nothing has begun yet: what the manager cannot do is no failure in the middle.
fn cannot(error: CallError) -> CallError {
    match error {
        CallError::Other(why) => CallError::Unsupported(why),
        other => other,
    }
}

fn simulate(backend: &dyn Backend, tools: &dyn Tools, work: &Work<'_>, before: &Table) -> Result<Vec<Step>, CallError> {
    match work.file {
        Some(path) => backend.simulate_file(tools, path, work.transaction),
        None if !work.transaction.changes.iter().any(changes_versions) => Ok(Vec::new()),
        None => backend.simulate(tools, work.transaction, before),
    }
}

fn execute(backend: &dyn Backend, tools: &dyn Tools, work: &Work<'_>, steps: &[Step]) -> Result<(), CallError> {
    match work.file {
        Some(path) => backend.execute_file(tools, path, work.transaction),
        None => backend.execute(tools, work.transaction, steps),
    }
}

/// Whether a change is about what is installed, and not only about a hold.
pub(super) fn changes_versions(change: &Change) -> bool {
    !matches!(change.verb, Verb::Hold | Verb::Unhold)
}

/// Refuses what no manager is asked: no change, too many, a package twice, words that the grammars do not have, a version where none has meaning.
pub(super) fn check(manager: Manager, transaction: &Transaction) -> Result<(), CallError> {
    let changes = &transaction.changes;
    if changes.is_empty() || changes.len() > super::MAX_PACKAGES {
        return Err(CallError::invalid(format!("a transaction has 1 to {} changes, not {}", super::MAX_PACKAGES, changes.len())));
    }
    let mut seen = std::collections::BTreeSet::new();
    for change in changes {
        check_change(manager, change)?;
        if !seen.insert((&change.subject, changes_versions(change))) {
            return Err(CallError::invalid(format!("package `{}` has two changes in one transaction", change.subject.name)));
        }
    }
    Ok(())
}

/// Holds one change against the grammars.
pub(super) fn check_change(manager: Manager, change: &Change) -> Result<(), CallError> {
    manager.check_name(&change.subject.name)?;
    change.subject.architecture.iter().try_for_each(|architecture| manager.check_architecture(architecture))?;
    change.version.iter().try_for_each(|version| manager.check_version(version))?;
    if change.version.is_some() && !change.verb.installs() {
        return Err(CallError::invalid(format!("`{}` takes no version", change.verb)));
    }
    Ok(())
}
