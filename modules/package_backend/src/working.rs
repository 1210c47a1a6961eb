//! What every provider does that works with a manager of the host.

use runtime_sdk::node::{not_supported, unchanged};
use runtime_sdk::packages::{self, Change, ChangeKind, Changed, Detail, Manager, Subject, Transaction};
use runtime_sdk::{Capability, Diagnostic, HostCall as _, HostError, NodeResult, Outcome, Progress};

use crate::desired::{ConfigurationFiles, Desired, Ensure};
use crate::observation::{Observation, Order, State};
use crate::plan::{Step, steps};

/// A provider's own part in what all of them do.
#[derive(Debug, Clone, Copy)]
pub struct Working<'o> {
    /// The manager.
    pub manager: Manager,
    /// The oldest that the index may be, in seconds; none leaves it as it is.
    pub index_max_age: Option<u64>,
    /// Whether recommended packages are installed too; none leaves it to the manager.
    pub recommends: Option<bool>,
    /// The package file to install from, by the name of its asset.
    pub source: Option<&'o str>,
}

impl Working<'_> {
    /// Reads the package, its target and the age of the index.
    pub fn read(&self, desired: &Desired) -> NodeResult<Observation> {
        let reading = "read the state of the package";
        let found = self.query(desired, Detail::empty()).before_change(reading)?;
        let installed = found.version.filter(|_| found.state == packages::State::Installed);
        let wants_candidate = match desired.ensure {
            Ensure::Latest => self.source.is_none(),
            Ensure::Present => installed.is_none() && desired.version.is_none() && self.source.is_none(),
            Ensure::Absent | Ensure::Purged => false,
        };
        let looks_up = wants_candidate || (desired.version.is_some() && desired.version != installed && self.source.is_none());
        let is_stale = looks_up && self.is_index_stale()?;
        let candidate = match wants_candidate {
            true => self.query(desired, Detail::CANDIDATE).before_change(reading)?.candidate,
            false => None,
        };
        let unconfirmed = wants_candidate && candidate.is_none();
        let target = match desired.ensure {
            Ensure::Present => desired.version.clone().or_else(|| installed.clone()).or(candidate),
            Ensure::Latest => self.higher(installed.as_deref(), candidate)?,
            Ensure::Absent | Ensure::Purged => None,
        };
        let order = self.order(installed.as_deref(), target.as_deref())?;
        Ok(Observation {
            state: state(found.state),
            detail: found.detail,
            installed_version: installed,
            architecture: found.architecture,
            held: found.held,
            target_version: target,
            target_version_unconfirmed: unconfirmed || is_stale,
            needs_index_update: is_stale || (unconfirmed && self.index_max_age.is_some()),
            order,
        })
    }

    /// Makes one transaction of what differs.
    pub fn apply(&self, desired: &Desired, current: &Observation) -> NodeResult<Outcome> {
        let mut progress = Progress::new();
        let steps = steps(desired, current);
        let changes: Vec<Change> = steps.iter().map(|step| Change { subject: subject(desired), kind: kind(step) }).collect();
        let installs = changes.first().filter(|change| installs(&change.kind)).cloned();
        let changed = match (self.source, installs) {
            (Some(asset), Some(change)) => {
                let rest: Vec<Change> = changes.into_iter().filter(|change| !installs_kind(change)).collect();
                let made = packages::install_file(self.manager, asset, &change, configuration_files(desired));
                let mut changed = made_of(&mut progress, "install the package file", made)?;
                if !rest.is_empty() {
                    let made = packages::apply(self.manager, &self.transaction(desired, rest));
                    changed.extend(made_of(&mut progress, "hold the package", made)?);
                }
                changed
            }
            _ => {
                let made = packages::apply(self.manager, &self.transaction(desired, changes));
                made_of(&mut progress, "change the package", made)?
            }
        };
        let mut outcome = Outcome::changed();
        outcome.executed = true;
        outcome.output = Some(told(&changed)).filter(|text| !text.is_empty());
        Ok(outcome)
    }

    /// Fetches the manager's index.
    pub fn refresh_index(&self) -> NodeResult<Outcome> {
        let mut progress = Progress::new();
        progress.stepwise("fetch the index of packages", packages::refresh_index(self.manager))?;
        let mut outcome = Outcome::changed();
        outcome.executed = true;
        Ok(outcome)
    }

    fn transaction(&self, desired: &Desired, changes: Vec<Change>) -> Transaction {
        let change_held = desired.when_held == crate::WhenHeld::Change;
        Transaction { changes, configuration_files: configuration_files(desired), change_held, recommends: self.recommends }
    }

    fn query(&self, desired: &Desired, detail: Detail) -> Result<packages::Observation, HostError> {
        let found = packages::query(self.manager, &[subject(desired)], detail)?;
        found.into_iter().next().ok_or_else(|| HostError::Other("the host gave no answer about the package".into()))
    }

    fn is_index_stale(&self) -> NodeResult<bool> {
        let Some(oldest) = self.index_max_age else { return Ok(false) };
        let index = packages::index(self.manager).before_change("tell the age of the index")?;
        Ok(index.age_seconds.is_none_or(|age| age > oldest))
    }

    fn order(&self, installed: Option<&str>, target: Option<&str>) -> NodeResult<Option<Order>> {
        let (Some(installed), Some(target)) = (installed, target) else { return Ok(None) };
        let order = packages::compare_versions(self.manager, installed, target).before_change("compare versions")?;
        Ok(Some(match order {
            packages::Order::Older => Order::Lower,
            packages::Order::Equal => Order::Equal,
            packages::Order::Newer => Order::Higher,
        }))
    }

    /// The higher of the two: a version that is newer than what is offered stays.
    fn higher(&self, installed: Option<&str>, candidate: Option<String>) -> NodeResult<Option<String>> {
        Ok(match self.order(installed, candidate.as_deref())? {
            Some(Order::Higher) => installed.map(str::to_owned),
            _ => candidate,
        })
    }
}

/// Says how to go on after an interrupted transaction. A manager that has finished by itself, or never began, leaves a state that says so, and
/// then reading and comparing again is safe. What broke off in between a person must look at: to replay it could do more harm.
pub fn recover(working: &Working<'_>, desired: &Desired) -> NodeResult<()> {
    let found = working.query(desired, Detail::empty()).before_change("read the state of the package")?;
    if found.state != packages::State::Partial {
        return Ok(());
    }
    let word = found.detail.unwrap_or_else(|| "partly installed".to_owned());
    let diagnostic = Diagnostic::new(format!("the package was left {word} by a transaction that broke off"));
    Err(unchanged(diagnostic.hint("have its package manager finish or remove it, and run `runtime recover`")))
}

/// What became of a transaction. A package that is not as it was read, and a lock that another process holds, are told before it begins.
fn made_of(progress: &mut Progress, doing: &str, made: Result<Vec<Changed>, HostError>) -> NodeResult<Vec<Changed>> {
    match made {
        Err(error @ (HostError::Busy(_) | HostError::Changed(_) | HostError::TooLarge(_))) => {
            progress.harmless(doing, Err(error))
        }
        made => progress.stepwise(doing, made),
    }
}

/// Does a shared action: there is one.
pub fn perform(action: &str, working: &Working<'_>) -> NodeResult<Outcome> {
    if action == crate::REFRESH_INDEX {
        return working.refresh_index();
    }
    Err(not_supported(format!("there is no shared action `{action}` of packages")))
}

/// What each of these providers asks for: any package, since its resources say which.
pub fn capabilities() -> Vec<Capability> {
    let verbs = [
        ("read", "to compare what is installed"),
        ("install", "to install what is declared"),
        ("upgrade", "to bring a declared package to a higher version"),
        ("downgrade", "to bring a declared package to a lower version"),
        ("remove", "to remove what is declared absent"),
        ("purge", "to remove what is declared purged, with its configuration files"),
        ("hold", "to hold a declared package at its version"),
        ("unhold", "to let a declared package go from its version"),
        ("refresh-index", "to fetch the index that a version depends on"),
    ];
    verbs.into_iter().map(|(verb, reason)| Capability::new("packages", verb, "*", reason)).collect()
}

fn subject(desired: &Desired) -> Subject {
    Subject { name: desired.name.clone(), architecture: desired.architecture.clone() }
}

fn state(state: packages::State) -> State {
    match state {
        packages::State::NotInstalled => State::Absent,
        packages::State::ConfigurationFiles => State::ConfigurationFiles,
        packages::State::Partial => State::Partial,
        packages::State::Installed => State::Installed,
    }
}

fn kind(step: &Step) -> ChangeKind {
    match step.clone() {
        Step::Install(version) => ChangeKind::Install(version),
        Step::Upgrade(version) => ChangeKind::Upgrade(version),
        Step::Downgrade(version) => ChangeKind::Downgrade(version),
        Step::Remove => ChangeKind::Remove,
        Step::Purge => ChangeKind::Purge,
        Step::Hold => ChangeKind::Hold,
        Step::Unhold => ChangeKind::Unhold,
    }
}

fn installs(kind: &ChangeKind) -> bool {
    matches!(kind, ChangeKind::Install(_) | ChangeKind::Upgrade(_) | ChangeKind::Downgrade(_))
}

fn installs_kind(change: &Change) -> bool {
    installs(&change.kind)
}

fn configuration_files(desired: &Desired) -> packages::ConfigurationFiles {
    match desired.configuration_files {
        ConfigurationFiles::Keep => packages::ConfigurationFiles::Keep,
        ConfigurationFiles::Replace => packages::ConfigurationFiles::Replace,
    }
}

/// What became of every package; those that came along say so.
fn told(changed: &[Changed]) -> String {
    let line = |changed: &Changed| {
        let version = |version: &Option<String>| version.clone().unwrap_or_else(|| "nothing".to_owned());
        let along = if changed.requested { "" } else { " (came along)" };
        format!("{}: {} -> {}{along}", changed.name, version(&changed.before), version(&changed.after))
    };
    changed.iter().map(line).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_each_package_is_told() {
        let changed = |name: &str, before: Option<&str>, after: Option<&str>, requested| Changed {
            name: name.into(),
            architecture: None,
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            requested,
        };
        let text = told(&[changed("demo", Some("1.0"), Some("2.0"), true), changed("lib", None, Some("1"), false)]);
        assert_eq!(text, "demo: 1.0 -> 2.0; lib: nothing -> 1 (came along)");
    }
}
