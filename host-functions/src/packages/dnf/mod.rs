//! rpm with dnf.
//!
//! What dnf would do is its table of a transaction that it was told not to make. Installing and removing are two transactions of dnf,
//! removing first. dnf keeps a configuration file that was changed unless the package says otherwise; to replace it is not supported.

mod table;

use super::backend::{Backend, PackageFile};
use super::index::{Dated, Index};
use super::judge::Step;
use super::table::Table;
use super::tools::{Finished, Mode, Order, Tools};
use super::transaction::changes_versions;
use super::{Change, Subject, Transaction, Verb, rpm};
use crate::error::CallError;

const DNF: &[&str] = &["/usr/bin/dnf", "/usr/bin/dnf4", "/usr/bin/dnf5"];

/// What a reading dnf writes to: its caches, its history, its locks.
const SCRATCH: &[&str] = &[
    "/var/lib/rpm",
    "/usr/lib/sysimage/rpm",
    "/root",
    "/var/cache/dnf",
    "/var/cache/libdnf5",
    "/var/lib/dnf",
    "/run",
    "/var/run",
];

/// The index as it is on the node: it is fetched when that is asked for, and never behind one's back.
const AS_IT_IS: [&str; 4] =
    ["--color=never", "--setopt=metadata_expire=-1", "--setopt=clean_requirements_on_remove=False", "--setopt=obsoletes=0"];

/// The manager.
pub(super) struct Dnf;

impl Backend for Dnf {
    fn read(&self, tools: &dyn Tools) -> Result<Table, CallError> {
        let mut table = rpm::read(tools)?;
        let locks = tools.root().read_file(b"/etc/dnf/plugins/versionlock.list", 1024 * 1024)?.unwrap_or_default();
        let locks = String::from_utf8_lossy(&locks).into_owned();
        table.hold(|name| is_locked(&locks, name));
        Ok(table)
    }

    fn candidates(&self, tools: &dyn Tools, subjects: &[Subject]) -> Result<Vec<Option<String>>, CallError> {
        let format = "--qf=%{name}\t%{arch}\t%{epoch}:%{version}-%{release}\n";
        let order = Order::new(Mode::Read, DNF, &["-C", "-q", "repoquery", "--latest-limit=1", format, "--"]);
        let finished = tools.run(&order.and(subjects.iter().map(word)).scratch(SCRATCH))?;
        if finished.code != Some(0) && !has_no_index(&finished) {
            return Err(finished.failure("dnf"));
        }
        let text = finished.text();
        Ok(subjects.iter().map(|subject| offered(&text, subject)).collect())
    }

    fn simulate(&self, tools: &dyn Tools, transaction: &Transaction, _before: &Table) -> Result<Vec<Step>, CallError> {
        let mut steps = Vec::new();
        for (command, words) in commands(transaction) {
            steps.extend(simulated(tools, &options(transaction), command, words)?);
        }
        Ok(steps)
    }

    fn execute(&self, tools: &dyn Tools, transaction: &Transaction, _steps: &[Step]) -> Result<(), CallError> {
        lock(tools, transaction, Verb::Unhold, "delete")?;
        for (command, words) in commands(transaction) {
            changed(
                tools,
                Order::new(Mode::Change, DNF, &["-y"]).and(AS_IT_IS).and(options(transaction)).and([command, "--"]).and(words),
            )?;
        }
        lock(tools, transaction, Verb::Hold, "add")
    }

    fn refresh(&self, tools: &dyn Tools) -> Result<(), CallError> {
        changed(tools, Order::new(Mode::Change, DNF, &["-q", "-y", "--refresh", "makecache"]))
    }

    /// dnf itself goes by the time of this file. What else is in the folder it writes whatever it does.
    fn index(&self) -> Index {
        Index { folders: &["/var/cache/dnf", "/var/cache/libdnf5"], dated: Dated::Files(&["primary.xml"]) }
    }

    fn lock_files(&self) -> &'static [&'static str] {
        &["/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock"]
    }

    fn inspect_file(&self, tools: &dyn Tools, path: &str) -> Result<PackageFile, CallError> {
        rpm::inspect_file(tools, path)
    }

    fn simulate_file(&self, tools: &dyn Tools, path: &str, transaction: &Transaction) -> Result<Vec<Step>, CallError> {
        simulated(tools, &options(transaction), command_for_file(transaction), vec![path.to_owned()])
    }

    fn execute_file(&self, tools: &dyn Tools, path: &str, transaction: &Transaction) -> Result<(), CallError> {
        let order = Order::new(Mode::Change, DNF, &["-y"]).and(AS_IT_IS).and(options(transaction));
        changed(tools, order.and([command_for_file(transaction), "--", path]))
    }

    fn file_suffix(&self) -> &'static str {
        ".rpm"
    }
}

/// The options that follow from a transaction.
fn options(transaction: &Transaction) -> Vec<&'static str> {
    let weak =
        transaction.recommends.map(|wanted| if wanted { "--setopt=install_weak_deps=1" } else { "--setopt=install_weak_deps=0" });
    let held = transaction.change_held.then_some("--disableexcludes=all");
    weak.into_iter().chain(held).collect()
}

fn command_for_file(transaction: &Transaction) -> &'static str {
    if transaction.changes.iter().any(|change| change.verb == Verb::Downgrade) { "downgrade" } else { "install" }
}

/// dnf's commands for a transaction, in their order, each with its words.
fn commands(transaction: &Transaction) -> Vec<(&'static str, Vec<String>)> {
    let of = |wanted: &dyn Fn(&Change) -> bool| -> Vec<String> {
        transaction.changes.iter().filter(|change| changes_versions(change) && wanted(change)).map(change_word).collect()
    };
    let commands = [
        ("remove", of(&|change| change.verb.removes())),
        // To install a package at a version is to dnf also how it is upgraded or downgraded to it.
        ("install", of(&|change| change.verb == Verb::Install || (change.verb == Verb::Upgrade && change.version.is_some()))),
        ("upgrade", of(&|change| change.verb == Verb::Upgrade && change.version.is_none())),
        ("downgrade", of(&|change| change.verb == Verb::Downgrade)),
    ];
    commands.into_iter().filter(|(_, words)| !words.is_empty()).collect()
}

/// `NAME-EPOCH:VERSION-RELEASE.ARCHITECTURE`, as far as it is said.
fn change_word(change: &Change) -> String {
    let version = change.version.as_ref().map(|version| format!("-{version}")).unwrap_or_default();
    let architecture = change.subject.architecture.as_ref().map(|architecture| format!(".{architecture}")).unwrap_or_default();
    format!("{}{version}{architecture}", change.subject.name)
}

fn word(subject: &Subject) -> String {
    change_word(&Change { subject: subject.clone(), verb: Verb::Install, version: None })
}

/// The highest version of a subject that is offered.
fn offered(text: &str, subject: &Subject) -> Option<String> {
    let rows = text.lines().filter_map(|line| {
        let [name, architecture, version] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
        let fits = subject.architecture.as_deref().is_none_or(|wanted| wanted == architecture || architecture == "noarch");
        (name == subject.name && fits).then_some(version)
    });
    rows.max_by(|a, b| super::versions::rpm::compare(a, b)).map(rpm::plain)
}

/// Whether dnf has never fetched what it would have to look into.
fn has_no_index(finished: &Finished) -> bool {
    let told = finished.everything();
    ["no cache for", "Cache-only enabled", "Cannot find"].iter().any(|words| told.contains(words))
}

fn simulated(tools: &dyn Tools, options: &[&str], command: &str, words: Vec<String>) -> Result<Vec<Step>, CallError> {
    let order = Order::new(Mode::Read, DNF, &["-C", "--assumeno"]).and(AS_IT_IS).and(options.iter().copied());
    let finished = tools.run(&order.and([command, "--"]).and(words).scratch(SCRATCH))?;
    let told = finished.everything();
    if told.contains("Operation aborted") || finished.code == Some(0) {
        return table::steps(&finished.text());
    }
    let unknown = ["Unable to find a match", "No match for argument", "No package", "no cache for"];
    if unknown.iter().any(|words| told.contains(words)) { Err(CallError::NotFound) } else { Err(finished.failure("dnf")) }
}

fn changed(tools: &dyn Tools, order: Order) -> Result<(), CallError> {
    let finished = tools.run(&order)?;
    match finished.code {
        Some(0) => Ok(()),
        _ => Err(finished.failure("dnf")),
    }
}

/// Whether a line of versionlock's list is about the package: `NAME-EPOCH:VERSION-RELEASE.*`.
fn is_locked(locks: &str, name: &str) -> bool {
    let lines = locks.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
    lines.filter_map(|line| line.strip_prefix(name)).any(|rest| {
        rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '*')) || rest.is_empty()
    })
}

/// Holds and lets go by dnf's plugin, which a node may not have.
fn lock(tools: &dyn Tools, transaction: &Transaction, verb: Verb, action: &str) -> Result<(), CallError> {
    let named: Vec<String> =
        transaction.changes.iter().filter(|change| change.verb == verb).map(|change| change.subject.name.clone()).collect();
    if named.is_empty() {
        return Ok(());
    }
    let finished = tools.run(&Order::new(Mode::Change, DNF, &["-q", "-C", "versionlock", action, "--"]).and(named))?;
    let told = finished.everything();
    match finished.code {
        Some(0) => Ok(()),
        _ if told.contains("No such command") || told.contains("Unknown argument") => {
            Err(CallError::Unsupported("dnf has no `versionlock` on this node: install its plugin".into()))
        }
        _ => Err(finished.failure("dnf versionlock")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_read_from_the_plugins_list() {
        let locks = "# Added lock\nnginx-1:1.0-1.*\n!nginx-mod-0:1-1.*\ndemo-*\n";
        assert!(is_locked(locks, "nginx") && is_locked(locks, "demo"));
        assert!(!is_locked(locks, "nginx-mod") && !is_locked(locks, "ngin"));
    }
}
