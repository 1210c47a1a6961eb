//! apk-tools.
//!
//! What is installed is read from apk's own database file. What apk would do are the lines of a simulation. apk keeps configuration files
//! that were changed; to replace them is not supported, and neither is to hold a package: apk has constraints of the whole system instead.

use std::collections::BTreeMap;

use super::backend::{Backend, PackageFile};
use super::index::{Dated, Index};
use super::judge::Step;
use super::table::Table;
use super::tools::{Finished, Mode, Order, Tools};
use super::{Change, Package, State, Subject, Transaction, Verb};
use crate::error::CallError;

const APK: &[&str] = &["/sbin/apk", "/usr/sbin/apk", "/usr/bin/apk"];

/// Where the database may be, the newer place first.
const DATABASES: [&[u8]; 2] = [b"/usr/lib/apk/db/installed", b"/lib/apk/db/installed"];

/// The largest database that is read, in bytes.
const MAX_DATABASE: u64 = 256 * 1024 * 1024;

/// The manager.
pub(super) struct Apk;

impl Backend for Apk {
    fn read(&self, tools: &dyn Tools) -> Result<Table, CallError> {
        for path in DATABASES {
            if let Some(content) = tools.root().read_file(path, MAX_DATABASE)? {
                return Ok(table(&String::from_utf8_lossy(&content)));
            }
        }
        Err(CallError::Unsupported("`apk` is not installed on this node: it has no database".into()))
    }

    fn candidates(&self, tools: &dyn Tools, subjects: &[Subject]) -> Result<Vec<Option<String>>, CallError> {
        let order = Order::new(Mode::Read, APK, &["--no-network", "policy"]);
        let finished = tools.run(&order.and(subjects.iter().map(|subject| subject.name.clone())))?;
        let offers = policy(&finished.text());
        if finished.code.is_none() {
            return Err(finished.failure("apk"));
        }
        Ok(subjects.iter().map(|subject| offers.get(&subject.name).cloned()).collect())
    }

    fn simulate(&self, tools: &dyn Tools, transaction: &Transaction, _before: &Table) -> Result<Vec<Step>, CallError> {
        let mut steps = Vec::new();
        for (arguments, words) in commands(transaction) {
            let order = Order::new(Mode::Read, APK, &["--no-network", "--no-progress"]).and(arguments).and(["--simulate"]);
            steps.extend(simulated(tools, order.and(words))?);
        }
        Ok(steps)
    }

    fn execute(&self, tools: &dyn Tools, transaction: &Transaction, _steps: &[Step]) -> Result<(), CallError> {
        if transaction.changes.iter().any(|change| matches!(change.verb, Verb::Hold | Verb::Unhold)) {
            return Err(CallError::Unsupported("apk holds no package at its version".into()));
        }
        for (arguments, words) in commands(transaction) {
            changed(tools, Order::new(Mode::Change, APK, &["--no-progress"]).and(wait(tools)).and(arguments).and(words))?;
        }
        Ok(())
    }

    fn refresh(&self, tools: &dyn Tools) -> Result<(), CallError> {
        changed(tools, Order::new(Mode::Change, APK, &["--no-progress"]).and(wait(tools)).and(["update"]))
    }

    fn index(&self) -> Index {
        Index { folders: &["/etc/apk/cache", "/var/cache/apk"], dated: Dated::Folder }
    }

    /// apk's lock is of a kind whose holder the kernel does not tell; apk itself waits for it.
    fn lock_files(&self) -> &'static [&'static str] {
        &[]
    }

    fn inspect_file(&self, _tools: &dyn Tools, _path: &str) -> Result<PackageFile, CallError> {
        Err(CallError::Unsupported("package files are not supported with apk".into()))
    }

    fn simulate_file(&self, _tools: &dyn Tools, _path: &str, _transaction: &Transaction) -> Result<Vec<Step>, CallError> {
        Err(CallError::Unsupported("package files are not supported with apk".into()))
    }

    fn execute_file(&self, _tools: &dyn Tools, _path: &str, _transaction: &Transaction) -> Result<(), CallError> {
        Err(CallError::Unsupported("package files are not supported with apk".into()))
    }

    fn file_suffix(&self) -> &'static str {
        ".apk"
    }
}

fn wait(tools: &dyn Tools) -> [String; 2] {
    let left = tools.deadline().saturating_duration_since(std::time::Instant::now()).as_secs();
    ["--wait".to_owned(), left.to_string()]
}

/// apk's commands for a transaction, in their order, each with its words. apk takes no `--`: the grammar has no word that begins with `-`.
fn commands(transaction: &Transaction) -> Vec<(Vec<&'static str>, Vec<String>)> {
    let of = |wanted: &dyn Fn(&Change) -> bool| -> Vec<String> {
        transaction.changes.iter().filter(|change| wanted(change)).map(change_word).collect()
    };
    let commands = [
        (vec!["del"], of(&|change| change.verb == Verb::Remove)),
        (vec!["del", "--purge"], of(&|change| change.verb == Verb::Purge)),
        (vec!["add"], of(&|change| change.verb.installs() && (change.verb == Verb::Install || change.version.is_some()))),
        (vec!["add", "--upgrade"], of(&|change| change.verb == Verb::Upgrade && change.version.is_none())),
    ];
    commands.into_iter().filter(|(_, words)| !words.is_empty()).collect()
}

fn change_word(change: &Change) -> String {
    let version = change.version.as_ref().map(|version| format!("={version}")).unwrap_or_default();
    format!("{}{version}", change.subject.name)
}

/// The packages in apk's database: paragraphs with `P:` name, `V:` version, `A:` architecture; in `f:` the flags `f`,
/// `s` and `x` tell of files, scripts and attributes that broke off.
fn table(text: &str) -> Table {
    let packages = text.split("\n\n").filter_map(|paragraph| {
        let field = |key: &str| paragraph.lines().find_map(|line| line.strip_prefix(key));
        // Lines after the first folder are about files.
        let broken = field("f:").map(|flags| flags.replace(|flag| !"fsx".contains(flag), "")).filter(|flags| !flags.is_empty());
        Some(Package {
            name: field("P:")?.to_owned(),
            architecture: field("A:").unwrap_or_default().to_owned(),
            version: field("V:")?.to_owned(),
            state: if broken.is_some() { State::Partial } else { State::Installed },
            detail: broken.map(|flags| format!("broken: {flags}")),
            held: false,
        })
    });
    Table::new(packages, None)
}

/// The highest version of each package that a repository offers, in what `apk policy` writes: a name, versions, and beneath each the
/// places that have it, of which one is the database of what is installed.
fn policy(text: &str) -> BTreeMap<String, String> {
    let mut offers: BTreeMap<String, String> = BTreeMap::new();
    let (mut package, mut version) = (None, None);
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(" policy:") {
            package = Some(name.to_owned());
        } else if let Some(found) =
            line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')).and_then(|rest| rest.strip_suffix(':'))
        {
            version = Some(found.to_owned());
        } else if !line.trim().ends_with("apk/db/installed") {
            let (Some(package), Some(version)) = (&package, &version) else { continue };
            let best = offers.entry(package.clone()).or_insert_with(|| version.clone());
            if super::versions::apk::compare(version, best).is_gt() {
                best.clone_from(version);
            }
        }
    }
    offers
}

/// The steps in what a simulation writes: `(1/2) Upgrading NAME (BEFORE -> AFTER)`.
fn steps(text: &str) -> Result<Vec<Step>, CallError> {
    let lines = text.lines().filter(|line| line.starts_with('('));
    lines.map(|line| step(line).ok_or_else(|| CallError::Other("apk simulated a line that is not known here".into()))).collect()
}

fn step(line: &str) -> Option<Step> {
    let [_, action, name, versions] = line.splitn(4, ' ').collect::<Vec<_>>()[..] else { return None };
    let versions = versions.split_once('(')?.1.split_once(')')?.0;
    let (before, after) = match action {
        "Purging" => (Some(versions), None),
        "Installing" | "Reinstalling" => (None, Some(versions)),
        "Upgrading" | "Downgrading" | "Replacing" => {
            versions.split_once(" -> ").map(|(before, after)| (Some(before), Some(after)))?
        }
        _ => return None,
    };
    let owned = |version: Option<&str>| version.map(str::to_owned);
    Some(Step { name: name.to_owned(), architecture: None, before: owned(before), after: owned(after) })
}

fn simulated(tools: &dyn Tools, order: Order) -> Result<Vec<Step>, CallError> {
    let finished = tools.run(&order)?;
    match finished.code {
        Some(0) => steps(&finished.text()),
        _ if is_unknown(&finished) => Err(CallError::NotFound),
        _ => Err(finished.failure("apk")),
    }
}

/// Whether a package or version is not in the index.
fn is_unknown(finished: &Finished) -> bool {
    finished.everything().contains("no such package")
}

fn changed(tools: &dyn Tools, order: Order) -> Result<(), CallError> {
    let finished = tools.run(&order)?;
    match finished.code {
        Some(0) => Ok(()),
        _ if finished.everything().contains("Unable to lock database") => {
            Err(CallError::Busy(finished.failure("apk").to_string()))
        }
        _ => Err(finished.failure("apk")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_read_by_paragraphs() {
        let table = table("C:Q1\nP:busybox\nV:1.37-r1\nA:x86_64\nf:S\nF:etc\nR:motd\n\nP:half\nV:1-r0\nA:x86_64\nf:s\n\n");
        let find = |name: &str| {
            table
                .find(super::super::Manager::Apk, &Subject { name: name.into(), architecture: None })
                .map(|p| (p.version.clone(), p.state))
        };
        assert_eq!(find("busybox"), Some(("1.37-r1".into(), State::Installed)));
        assert_eq!(find("half"), Some(("1-r0".into(), State::Partial)));
    }

    #[test]
    fn the_highest_offer_counts_and_the_installed_version_is_none() {
        let text = "demo policy:\n  2.0-r0:\n    lib/apk/db/installed\n  1.0-r0:\n    file:///repo\n  1.5-r0:\n    https://x/y\nother policy:\n  1-r0:\n    lib/apk/db/installed\n";
        let offers = policy(text);
        assert_eq!(offers.get("demo").map(String::as_str), Some("1.5-r0"));
        assert_eq!(offers.get("other"), None);
    }

    #[test]
    fn a_simulation_is_read_line_by_line() {
        let text =
            "(1/3) Upgrading demo (1.0-r0 -> 2.0-r0)\n(2/3) Installing needs (1.0-r0)\n(3/3) Purging old (1-r0)\nOK: 67 MiB\n";
        let steps = steps(text).unwrap();
        let told: Vec<_> = steps.iter().map(|s| (&*s.name, s.before.as_deref(), s.after.as_deref())).collect();
        assert_eq!(
            told,
            [("demo", Some("1.0-r0"), Some("2.0-r0")), ("needs", None, Some("1.0-r0")), ("old", Some("1-r0"), None)]
        );
        assert!(super::steps("(1/1) Frobnicating demo (1)\n").is_err());
    }
}
