//! pacman.
//!
//! pacman knows one version of each package, the one in its index: another can only come from a package file. It installs and
//! removes in two transactions, removing first; it never removes anything to solve a conflict when nobody is there to be asked. What it
//! holds (`IgnorePkg`) stands in its settings, which are a file: to hold is not supported here.

use std::collections::BTreeMap;

use super::backend::{Backend, PackageFile};
use super::index::{Dated, Index};
use super::judge::Step;
use super::table::Table;
use super::tools::{Finished, Mode, Order, Tools};
use super::{Change, Package, State, Subject, Transaction, Verb};
use crate::error::CallError;

const PACMAN: &[&str] = &["/usr/bin/pacman"];
const PACMAN_CONF: &[&str] = &["/usr/bin/pacman-conf"];

/// The manager.
pub(super) struct Pacman;

impl Backend for Pacman {
    fn read(&self, tools: &dyn Tools) -> Result<Table, CallError> {
        let finished = tools.run(&Order::new(Mode::Read, PACMAN, &["-Q", "--info"]))?;
        if finished.code != Some(0) && !finished.stdout.is_empty() {
            return Err(finished.failure("pacman"));
        }
        let text = finished.text();
        let mut table = Table::new(records(&text).filter_map(|record| package(&record)), None);
        let ignored = ignored(tools)?;
        table.hold(|name| ignored.iter().any(|ignored| ignored == name));
        Ok(table)
    }

    fn candidates(&self, tools: &dyn Tools, subjects: &[Subject]) -> Result<Vec<Option<String>>, CallError> {
        let order = Order::new(Mode::Read, PACMAN, &["-S", "--info", "--"]);
        let finished = tools.run(&order.and(subjects.iter().map(|subject| subject.name.clone())))?;
        if finished.code != Some(0) && !is_unknown(&finished) {
            return Err(finished.failure("pacman"));
        }
        let text = finished.text();
        let mut offers = BTreeMap::new();
        for package in records(&text).filter_map(|record| package(&record)) {
            // The first repository that has a package counts.
            offers.entry(package.name).or_insert(package.version);
        }
        Ok(subjects.iter().map(|subject| offers.get(&subject.name).cloned()).collect())
    }

    fn simulate(&self, tools: &dyn Tools, transaction: &Transaction, _before: &Table) -> Result<Vec<Step>, CallError> {
        let mut steps = Vec::new();
        for (arguments, words) in commands(transaction) {
            let removes = arguments[0].starts_with("-R");
            // To print is not to save, so pacman does not take both words.
            steps.extend(simulated(tools, &arguments[..1], words, removes)?);
        }
        Ok(steps)
    }

    fn execute(&self, tools: &dyn Tools, transaction: &Transaction, _steps: &[Step]) -> Result<(), CallError> {
        refuse_holds(transaction)?;
        for (arguments, words) in commands(transaction) {
            changed(
                tools,
                Order::new(Mode::Change, PACMAN, &arguments).and(["--noconfirm", "--noprogressbar", "--"]).and(words),
            )?;
        }
        Ok(())
    }

    fn refresh(&self, tools: &dyn Tools) -> Result<(), CallError> {
        changed(tools, Order::new(Mode::Change, PACMAN, &["-S", "--refresh", "--noconfirm", "--noprogressbar"]))
    }

    fn index(&self) -> Index {
        Index { folders: &["/var/lib/pacman/sync"], dated: Dated::Folder }
    }

    fn lock_files(&self) -> &'static [&'static str] {
        &["/var/lib/pacman/db.lck!"]
    }

    fn inspect_file(&self, tools: &dyn Tools, path: &str) -> Result<PackageFile, CallError> {
        let finished = tools.run(&Order::new(Mode::Read, PACMAN, &["-Q", "--info", "--file", "--", path]))?;
        let text = finished.text();
        match (finished.code, records(&text).find_map(|record| package(&record))) {
            (Some(0), Some(Package { name, version, architecture, .. })) => Ok(PackageFile { name, version, architecture }),
            _ => Err(CallError::invalid(format!("the asset is no package file of pacman: {}", finished.failure("pacman")))),
        }
    }

    fn simulate_file(&self, tools: &dyn Tools, path: &str, _transaction: &Transaction) -> Result<Vec<Step>, CallError> {
        simulated(tools, &["-U"], vec![path.to_owned()], false)
    }

    fn execute_file(&self, tools: &dyn Tools, path: &str, _transaction: &Transaction) -> Result<(), CallError> {
        changed(tools, Order::new(Mode::Change, PACMAN, &["-U", "--noconfirm", "--noprogressbar", "--", path]))
    }

    fn file_suffix(&self) -> &'static str {
        ".pkg.tar.zst"
    }
}

/// pacman's commands for a transaction, in their order, each with its words.
fn commands(transaction: &Transaction) -> Vec<(Vec<&'static str>, Vec<String>)> {
    let of = |wanted: &dyn Fn(&Change) -> bool, exact: bool| -> Vec<String> {
        let changes = transaction.changes.iter().filter(|change| wanted(change));
        changes.map(|change| if exact { change_word(change) } else { change.subject.name.clone() }).collect()
    };
    let commands = [
        (vec!["-R"], of(&|change| change.verb == Verb::Remove, false)),
        (vec!["-R", "--nosave"], of(&|change| change.verb == Verb::Purge, false)),
        (vec!["-S"], of(&|change| change.verb.installs(), true)),
    ];
    commands.into_iter().filter(|(_, words)| !words.is_empty()).collect()
}

fn change_word(change: &Change) -> String {
    let version = change.version.as_ref().map(|version| format!("={version}")).unwrap_or_default();
    format!("{}{version}", change.subject.name)
}

fn refuse_holds(transaction: &Transaction) -> Result<(), CallError> {
    match transaction.changes.iter().find(|change| matches!(change.verb, Verb::Hold | Verb::Unhold)) {
        Some(_) => Err(CallError::Unsupported("what pacman holds stands in `IgnorePkg` of /etc/pacman.conf".into())),
        None => Ok(()),
    }
}

/// The names in `IgnorePkg`. Patterns there hold what they name; only plain names are told.
fn ignored(tools: &dyn Tools) -> Result<Vec<String>, CallError> {
    let finished = tools.run(&Order::new(Mode::Read, PACMAN_CONF, &["IgnorePkg"]))?;
    if finished.code != Some(0) {
        return Err(finished.failure("pacman-conf"));
    }
    Ok(finished.text().lines().map(|line| line.trim().to_owned()).collect())
}

/// The records of `--info`: `Field : value`, with an empty line after each.
fn records(text: &str) -> impl Iterator<Item = BTreeMap<&str, &str>> {
    text.split("\n\n").map(|record| {
        let lines = record.lines().filter(|line| !line.starts_with(' '));
        lines.filter_map(|line| line.split_once(':')).map(|(field, value)| (field.trim(), value.trim())).collect()
    })
}

fn package(record: &BTreeMap<&str, &str>) -> Option<Package> {
    let field = |name: &str| record.get(name).map(|value| (*value).to_owned());
    Some(Package {
        name: field("Name")?,
        architecture: field("Architecture")?,
        version: field("Version")?,
        state: State::Installed,
        detail: None,
        held: false,
    })
}

fn is_unknown(finished: &Finished) -> bool {
    let told = finished.everything();
    told.contains("target not found") || told.contains("was not found") || told.contains("could not find database")
}

fn simulated(tools: &dyn Tools, arguments: &[&str], words: Vec<String>, removes: bool) -> Result<Vec<Step>, CallError> {
    let order = Order::new(Mode::Read, PACMAN, arguments).and(["--noconfirm", "--print", "--print-format", "%n %v", "--"]);
    let finished = tools.run(&order.and(words))?;
    match finished.code {
        Some(0) => steps(&finished.text(), removes),
        _ if is_unknown(&finished) => Err(CallError::NotFound),
        _ => Err(finished.failure("pacman")),
    }
}

fn steps(text: &str, removes: bool) -> Result<Vec<Step>, CallError> {
    let step = |line: &str| {
        let (name, version) = line.split_once(' ').ok_or_else(|| CallError::Other("pacman printed what is no package".into()))?;
        let (before, after) = if removes { (Some(version.to_owned()), None) } else { (None, Some(version.to_owned())) };
        Ok(Step { name: name.to_owned(), architecture: None, before, after })
    };
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("::")).map(step).collect()
}

fn changed(tools: &dyn Tools, order: Order) -> Result<(), CallError> {
    let finished = tools.run(&order)?;
    match finished.code {
        Some(0) => Ok(()),
        // That is before the first change: there is a conflict, or something that needs what is to go.
        _ if finished.everything().contains("failed to prepare transaction") => {
            Err(CallError::Unsupported(finished.failure("pacman").to_string()))
        }
        _ if finished.everything().contains("unable to lock database") => {
            Err(CallError::Busy(finished.failure("pacman").to_string()))
        }
        _ => Err(finished.failure("pacman")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_become_packages() {
        let text = "Name            : demo\nVersion         : 1:2.0-1\nArchitecture    : any\nDepends On      : a>1\n                  b: c\n\nName : x\n";
        let packages: Vec<_> = records(text).filter_map(|record| package(&record)).collect();
        assert_eq!(packages.len(), 1, "one without a version is none");
        assert_eq!((packages[0].name.as_str(), packages[0].version.as_str()), ("demo", "1:2.0-1"));
    }

    #[test]
    fn printed_targets_are_steps() {
        assert_eq!(steps("demo 2.0-1\n", false).unwrap()[0].after.as_deref(), Some("2.0-1"));
        assert_eq!(steps("demo 2.0-1\n", true).unwrap()[0].after, None);
        assert!(steps("nonsense\n", false).is_err());
    }
}
