//! Holds what a manager would do against what was asked of it.
//!
//! A manager takes its own liberties: it finds another package by a pattern, removes what stands in the way, downgrades what
//! another needs. So each change must be there as it was asked for, and of what is there besides only installing and upgrading is let pass:
//! that is what packages need. A removal or a downgrade that nobody asked for is told to the caller, who holds it against the rights.

use std::cmp::Ordering;

use super::table::Table;
use super::{Change, Manager, State, Transaction, Verb};
use crate::error::CallError;

/// What a manager would do to one package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Step {
    pub name: String,
    pub architecture: Option<String>,
    /// The version before; none if it is not installed, or where the manager does not say.
    pub before: Option<String>,
    /// The version after; none if it would be removed.
    pub after: Option<String>,
}

/// What comes with a transaction that needs a right of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Extra {
    pub name: String,
    /// `remove` or `downgrade`.
    pub verb: Verb,
}

/// Holds each change against the packages as they are now. What it is about must be as it was when it was asked for.
///
/// # Errors
/// `changed` if a package is in another state than the change is for.
pub(super) fn preconditions(manager: Manager, transaction: &Transaction, before: &Table) -> Result<(), CallError> {
    transaction.changes.iter().try_for_each(|change| precondition(manager, change, transaction, before))
}

fn precondition(manager: Manager, change: &Change, transaction: &Transaction, before: &Table) -> Result<(), CallError> {
    let found = before.find(manager, &change.subject);
    let state = found.map_or(State::NotInstalled, |package| package.state);
    let name = &change.subject.name;
    let changed = |what: String| {
        Err(CallError::Changed(format!("package `{name}` {what}, so it cannot be the subject of `{}`", change.verb)))
    };
    let installed = found.map(|package| package.version.as_str());
    let order = match (&change.version, installed) {
        (Some(wanted), Some(installed)) => Some(manager.compare(wanted, installed)),
        _ => None,
    };
    if before.is_held(name)
        && !transaction.change_held
        && (change.verb.installs() || change.verb.removes())
        && !unheld(transaction, name)
    {
        return changed("is held at its version".to_owned());
    }
    match (change.verb, state) {
        (Verb::Install, State::Installed) => changed(format!("is installed already, at {}", installed.unwrap_or_default())),
        (Verb::Upgrade | Verb::Downgrade, State::NotInstalled | State::ConfigurationFiles) => {
            changed("is not installed".to_owned())
        }
        (Verb::Upgrade, _) if order.is_some_and(Ordering::is_le) => {
            changed(format!("is at {} already", installed.unwrap_or_default()))
        }
        (Verb::Downgrade, _) if order.is_some_and(Ordering::is_ge) => {
            changed(format!("is at {} already", installed.unwrap_or_default()))
        }
        (Verb::Remove, State::NotInstalled | State::ConfigurationFiles) => changed("is not installed".to_owned()),
        (Verb::Purge, State::NotInstalled) => changed("is not there at all".to_owned()),
        (Verb::Hold | Verb::Unhold, _)
        | (Verb::Install, _)
        | (Verb::Remove | Verb::Purge, _)
        | (Verb::Upgrade | Verb::Downgrade, _) => Ok(()),
    }
}

/// Whether the transaction itself lets the package go from its version first.
fn unheld(transaction: &Transaction, name: &str) -> bool {
    transaction.changes.iter().any(|change| change.verb == Verb::Unhold && change.subject.name == name)
}

/// Holds the steps against the transaction.
///
/// # Errors
/// `unsupported` if the manager would not do what was asked; `busy` if it would change a held package that nobody named.
pub(super) fn judge(
    manager: Manager,
    transaction: &Transaction,
    before: &Table,
    steps: &[Step],
) -> Result<Vec<Extra>, CallError> {
    for change in transaction.changes.iter().filter(|change| change.verb.installs() || change.verb.removes()) {
        answered(manager, change, before, steps)?;
    }
    let mut extras = Vec::new();
    for step in steps.iter().filter(|step| !is_asked_for(manager, transaction, step, before)) {
        if before.is_held(&step.name) {
            return Err(CallError::Busy(format!("package `{}` would have to change and is held at its version", step.name)));
        }
        if let Some(verb) = liberty(manager, step, before) {
            extras.push(Extra { name: step.name.clone(), verb });
        }
    }
    extras.sort_by(|a, b| a.name.cmp(&b.name));
    extras.dedup();
    Ok(extras)
}

/// The right that a step needs which is not in the transaction: none for what is installed or upgraded.
fn liberty(manager: Manager, step: &Step, before: &Table) -> Option<Verb> {
    let Some(after) = &step.after else { return Some(Verb::Remove) };
    let installed = installed_version(manager, step, before)?;
    manager.compare(after, &installed).is_lt().then_some(Verb::Downgrade)
}

fn installed_version(manager: Manager, step: &Step, before: &Table) -> Option<String> {
    let subject = super::Subject { name: step.name.clone(), architecture: step.architecture.clone() };
    let found = before.find(manager, &subject).filter(|package| matches!(package.state, State::Installed | State::Partial));
    found.map(|package| package.version.clone()).or_else(|| step.before.clone())
}

/// Whether a step is what a change asks for.
fn is_asked_for(manager: Manager, transaction: &Transaction, step: &Step, before: &Table) -> bool {
    transaction.changes.iter().any(|change| is_about(change, step) && does(manager, change, step, before))
}

fn is_about(change: &Change, step: &Step) -> bool {
    let architectures = match (&change.subject.architecture, &step.architecture) {
        (Some(wanted), Some(found)) => wanted == found || matches!(found.as_str(), "all" | "noarch" | "any"),
        _ => true,
    };
    change.subject.name == step.name && architectures
}

/// Whether a step about the package of a change does what the change says.
fn does(manager: Manager, change: &Change, step: &Step, before: &Table) -> bool {
    match (change.verb, &step.after) {
        (Verb::Remove | Verb::Purge, after) => after.is_none(),
        (Verb::Hold | Verb::Unhold, _) | (_, None) => false,
        (verb, Some(after)) => {
            let versions = change.version.as_ref().is_none_or(|wanted| manager.compare(wanted, after) == Ordering::Equal);
            let order = installed_version(manager, step, before).map(|installed| manager.compare(after, &installed));
            let direction = match verb {
                Verb::Upgrade => order.is_some_and(Ordering::is_gt),
                Verb::Downgrade => order.is_some_and(Ordering::is_lt),
                // What broke off may be installed again at the same version.
                _ => order.is_none_or(Ordering::is_ge),
            };
            versions && direction
        }
    }
}

fn answered(manager: Manager, change: &Change, before: &Table, steps: &[Step]) -> Result<(), CallError> {
    if steps.iter().any(|step| is_about(change, step) && does(manager, change, step, before)) {
        return Ok(());
    }
    let version = change.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let name = &change.subject.name;
    let does_instead: Vec<String> = steps.iter().filter(|step| step.name == *name).map(told).collect();
    let instead = if does_instead.is_empty() { "it would not touch it".to_owned() } else { does_instead.join(", ") };
    Err(CallError::Unsupported(format!("{} does not do `{}` for `{name}`{version}: {instead}", manager.name(), change.verb)))
}

fn told(step: &Step) -> String {
    match &step.after {
        Some(after) => format!("it would be at {}", crate::text::escape(after)),
        None => "it would be removed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::{ConfigurationFiles, Package, Subject};

    fn package(name: &str, version: &str, held: bool) -> Package {
        let (name, version) = (name.to_owned(), version.to_owned());
        Package { name, architecture: "all".into(), version, state: State::Installed, detail: None, held }
    }

    fn before() -> Table {
        Table::new(
            [
                package("demo", "1.0", false),
                package("apache2", "2.4", false),
                package("lib", "5", false),
                package("fixed", "1", true),
            ],
            None,
        )
    }

    fn change(verb: Verb, name: &str, version: Option<&str>) -> Change {
        let subject = Subject { name: name.into(), architecture: None };
        Change { subject, verb, version: version.map(str::to_owned) }
    }

    fn transaction(changes: Vec<Change>) -> Transaction {
        Transaction { changes, configuration_files: ConfigurationFiles::Keep, change_held: false, recommends: None }
    }

    fn step(name: &str, after: Option<&str>) -> Step {
        Step { name: name.into(), architecture: None, before: None, after: after.map(str::to_owned) }
    }

    fn judged(changes: Vec<Change>, steps: &[Step]) -> Result<Vec<Extra>, CallError> {
        judge(Manager::Apt, &transaction(changes), &before(), steps)
    }

    #[test]
    fn what_is_needed_passes_and_what_goes_away_is_told() {
        let install = || vec![change(Verb::Install, "nginx", None)];
        let nginx = step("nginx", Some("1.22"));
        assert_eq!(judged(install(), &[nginx.clone(), step("libx", Some("1")), step("lib", Some("6"))]).unwrap(), []);
        let removes = judged(install(), &[nginx.clone(), step("apache2", None), step("lib", Some("4"))]).unwrap();
        let expected =
            [Extra { name: "apache2".into(), verb: Verb::Remove }, Extra { name: "lib".into(), verb: Verb::Downgrade }];
        assert_eq!(removes, expected);
        let held = judged(install(), &[nginx, step("fixed", Some("2"))]);
        assert!(matches!(held, Err(CallError::Busy(text)) if text.contains("fixed")));
    }

    #[test]
    fn another_package_or_version_than_was_asked_for_is_refused() {
        let pattern = judged(vec![change(Verb::Install, "dem.", None)], &[step("demo", Some("2.0"))]);
        assert!(matches!(pattern, Err(CallError::Unsupported(text)) if text.contains("would not touch it")));
        let other = judged(vec![change(Verb::Upgrade, "demo", Some("2.0"))], &[step("demo", Some("3.0"))]);
        assert!(matches!(other, Err(CallError::Unsupported(text)) if text.contains("it would be at 3.0")));
        let removed = judged(vec![change(Verb::Install, "demo-", None)], &[step("demo", None)]);
        assert!(removed.is_err(), "a name that a manager takes for a removal");
        let backwards = judged(vec![change(Verb::Upgrade, "demo", None)], &[step("demo", Some("0.9"))]);
        assert!(backwards.is_err(), "an upgrade goes up");
        assert_eq!(judged(vec![change(Verb::Upgrade, "demo", None)], &[step("demo", Some("1.1"))]).unwrap(), []);
        assert_eq!(judged(vec![change(Verb::Remove, "demo", None)], &[step("demo", None)]).unwrap(), []);
    }

    #[test]
    fn a_change_is_for_the_state_that_it_was_asked_for() {
        let refused = |change: Change| preconditions(Manager::Apt, &transaction(vec![change]), &before()).is_err();
        assert!(refused(change(Verb::Install, "demo", None)), "installed already");
        assert!(refused(change(Verb::Upgrade, "nginx", None)), "not installed");
        assert!(refused(change(Verb::Upgrade, "demo", Some("1.0"))), "at it already");
        assert!(refused(change(Verb::Downgrade, "demo", Some("2.0"))), "that is up");
        assert!(refused(change(Verb::Remove, "nginx", None)), "not there");
        assert!(refused(change(Verb::Upgrade, "fixed", Some("2"))), "held");
        assert!(!refused(change(Verb::Upgrade, "demo", Some("1.1"))) && !refused(change(Verb::Hold, "nginx", None)));
        let let_go = vec![change(Verb::Unhold, "fixed", None), change(Verb::Upgrade, "fixed", Some("2"))];
        preconditions(Manager::Apt, &transaction(let_go), &before()).unwrap();
    }
}
