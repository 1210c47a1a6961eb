//! rpm with zypper, whose answers are XML made for programs.
//!
//! zypper keeps a configuration file that was changed unless the package says otherwise; to replace it is not supported. Without anybody
//! to ask it cancels where there is more than one solution.

use super::backend::{Backend, PackageFile};
use super::index::{Dated, Index};
use super::judge::Step;
use super::table::Table;
use super::tools::{Finished, Mode, Order, Tools};
use super::transaction::changes_versions;
use super::{Change, Subject, Transaction, Verb, rpm};
use crate::error::CallError;

const ZYPPER: &[&str] = &["/usr/bin/zypper"];

/// What a reading zypper writes to.
const SCRATCH: &[&str] = &[
    "/var/lib/rpm",
    "/usr/lib/sysimage/rpm",
    "/root",
    "/var/cache/zypp",
    "/var/cache/zypper",
    "/var/lib/zypp",
    "/etc/zypp",
    "/run",
    "/var/run",
];

/// Nobody is asked, and the index is as it is on the node.
const QUIET: [&str; 3] = ["--non-interactive", "--no-refresh", "--xmlout"];

/// What is in each part of the summary, and whether it is there afterwards.
const PARTS: [(&str, bool); 7] = [
    ("to-install", true),
    ("to-upgrade", true),
    ("to-downgrade", true),
    ("to-reinstall", true),
    ("to-change-arch", true),
    ("to-change-vendor", true),
    ("to-remove", false),
];

/// Success, and that a restart of something would be well.
const DONE: [i32; 3] = [0, 102, 103];

/// No such package.
const UNKNOWN: i32 = 104;

/// Another zypper is at work.
const LOCKED: i32 = 7;

/// The manager.
pub(super) struct Zypper;

impl Backend for Zypper {
    fn read(&self, tools: &dyn Tools) -> Result<Table, CallError> {
        let mut table = rpm::read(tools)?;
        let locks = tools.root().read_file(b"/etc/zypp/locks", 1024 * 1024)?.unwrap_or_default();
        let locks = String::from_utf8_lossy(&locks).into_owned();
        table.hold(|name| {
            locks.lines().any(|line| line.trim().strip_prefix("solvable_name:").is_some_and(|locked| locked.trim() == name))
        });
        Ok(table)
    }

    fn candidates(&self, tools: &dyn Tools, subjects: &[Subject]) -> Result<Vec<Option<String>>, CallError> {
        let order = Order::new(Mode::Read, ZYPPER, &QUIET).and(["search", "-s", "--match-exact", "-t", "package", "--"]);
        let finished = tools.run(&order.and(subjects.iter().map(|subject| subject.name.clone())).scratch(SCRATCH))?;
        match finished.code {
            Some(0) => {}
            Some(UNKNOWN | 6) => return Ok(vec![None; subjects.len()]),
            _ => return Err(failure(&finished)),
        }
        let text = finished.text();
        Ok(subjects.iter().map(|subject| offered(&text, subject)).collect())
    }

    fn simulate(&self, tools: &dyn Tools, transaction: &Transaction, _before: &Table) -> Result<Vec<Step>, CallError> {
        simulated(tools, install(transaction, &["--dry-run"]).and(words(transaction)))
    }

    fn execute(&self, tools: &dyn Tools, transaction: &Transaction, _steps: &[Step]) -> Result<(), CallError> {
        lock(tools, transaction, Verb::Unhold, "removelock")?;
        if transaction.changes.iter().any(changes_versions) {
            changed(tools, Order { mode: Mode::Change, ..install(transaction, &[]).and(words(transaction)) })?;
        }
        lock(tools, transaction, Verb::Hold, "addlock")
    }

    fn refresh(&self, tools: &dyn Tools) -> Result<(), CallError> {
        changed(tools, Order::new(Mode::Change, ZYPPER, &["--non-interactive", "--xmlout", "refresh"]))
    }

    /// One file for each kind of repository that zypper knows.
    fn index(&self) -> Index {
        Index { folders: &["/var/cache/zypp/raw"], dated: Dated::Files(&["repomd.xml", "content", "cookie"]) }
    }

    fn lock_files(&self) -> &'static [&'static str] {
        &["/run/zypp.pid", "/var/lib/rpm/.rpm.lock", "/usr/lib/sysimage/rpm/.rpm.lock"]
    }

    fn inspect_file(&self, tools: &dyn Tools, path: &str) -> Result<PackageFile, CallError> {
        rpm::inspect_file(tools, path)
    }

    fn simulate_file(&self, tools: &dyn Tools, path: &str, transaction: &Transaction) -> Result<Vec<Step>, CallError> {
        simulated(tools, install(transaction, &["--dry-run", "--allow-unsigned-rpm"]).and(["--", path]))
    }

    fn execute_file(&self, tools: &dyn Tools, path: &str, transaction: &Transaction) -> Result<(), CallError> {
        let order = install(transaction, &["--allow-unsigned-rpm"]).and(["--", path]);
        changed(tools, Order { mode: Mode::Change, ..order })
    }

    fn file_suffix(&self) -> &'static str {
        ".rpm"
    }
}

fn install(transaction: &Transaction, more: &[&str]) -> Order {
    let downgrades = transaction.changes.iter().any(|change| change.verb == Verb::Downgrade);
    let recommends = transaction.recommends.map(|wanted| if wanted { "--recommends" } else { "--no-recommends" });
    let order = Order::new(Mode::Read, ZYPPER, &QUIET).and(["install", "--no-force-resolution", "--auto-agree-with-licenses"]);
    order.and(more.iter().copied()).and(downgrades.then_some("--oldpackage")).and(recommends).scratch(SCRATCH)
}

/// `--`, and a word for each change: what is to be removed has a `!` before it.
fn words(transaction: &Transaction) -> Vec<String> {
    let changes = transaction.changes.iter().filter(|change| changes_versions(change));
    std::iter::once("--".to_owned()).chain(changes.map(word)).collect()
}

fn word(change: &Change) -> String {
    let architecture = change.subject.architecture.as_ref().map(|architecture| format!(".{architecture}")).unwrap_or_default();
    let version = change.version.as_ref().map(|version| format!("={version}")).unwrap_or_default();
    let removes = if change.verb.removes() { "!" } else { "" };
    format!("{removes}{}{architecture}{version}", change.subject.name)
}

/// The highest version of a subject that a repository offers.
fn offered(text: &str, subject: &Subject) -> Option<String> {
    let rows = solvables(text).filter(|solvable| {
        let fits = |found: &str| subject.architecture.as_deref().is_none_or(|wanted| wanted == found || found == "noarch");
        solvable.name == subject.name && fits(solvable.architecture) && solvable.repository != "(System Packages)"
    });
    rows.max_by(|a, b| super::versions::rpm::compare(a.edition, b.edition)).map(|solvable| rpm::plain(solvable.edition))
}

/// A package in zypper's XML.
struct Solvable<'t> {
    name: &'t str,
    edition: &'t str,
    architecture: &'t str,
    repository: &'t str,
}

/// Every element `solvable` of a package. Attributes that could hold an entity are not looked at: names and versions hold none.
fn solvables(text: &str) -> impl Iterator<Item = Solvable<'_>> {
    text.split("<solvable ").skip(1).filter_map(solvable)
}

fn solvable(text: &str) -> Option<Solvable<'_>> {
    let (element, _) = text.split_once('>')?;
    let attribute = |name: &str| {
        let (_, value) = element.split_once(&format!("{name}=\""))?;
        value.split_once('"').map(|(value, _)| value)
    };
    let kind = attribute(" kind").or_else(|| element.strip_prefix("type=\"").and_then(|rest| rest.split('"').next()));
    (kind == Some("package")).then_some(())?;
    Some(Solvable {
        name: attribute("name")?,
        edition: attribute(" edition")?,
        architecture: attribute(" arch")?,
        repository: attribute(" repository").unwrap_or_default(),
    })
}

/// The steps in the summary of a transaction.
fn summary(text: &str) -> Result<Vec<Step>, CallError> {
    let mut steps = Vec::new();
    let mut rest = text.split_once("<install-summary").map_or("", |(_, rest)| rest);
    while let Some((_, after)) = rest.split_once("<to-") {
        let name = format!("to-{}", after.split('>').next().unwrap_or_default());
        let (_, installs) = PARTS.iter().find(|(part, _)| *part == name).ok_or_else(|| {
            CallError::Other(format!("zypper told of changes that are not known here: {}", crate::text::escape(&name)))
        })?;
        let (part, left) =
            after.split_once(&format!("</{name}>")).ok_or_else(|| CallError::Other("zypper's answer is cut".into()))?;
        steps.extend(solvables(part).map(|solvable| Step {
            name: solvable.name.to_owned(),
            architecture: Some(solvable.architecture.to_owned()),
            before: None,
            after: installs.then(|| rpm::plain(solvable.edition)),
        }));
        rest = left;
    }
    Ok(steps)
}

fn simulated(tools: &dyn Tools, order: Order) -> Result<Vec<Step>, CallError> {
    let finished = tools.run(&order)?;
    match finished.code {
        Some(code) if DONE.contains(&code) => summary(&finished.text()),
        Some(UNKNOWN) => Err(CallError::NotFound),
        _ => Err(failure(&finished)),
    }
}

fn changed(tools: &dyn Tools, order: Order) -> Result<(), CallError> {
    let finished = tools.run(&order)?;
    match finished.code {
        Some(code) if DONE.contains(&code) => Ok(()),
        Some(LOCKED) => Err(CallError::Busy(messages(&finished))),
        _ => Err(failure(&finished)),
    }
}

fn failure(finished: &Finished) -> CallError {
    let told = Finished { code: finished.code, stdout: Vec::new(), stderr: messages(finished).into_bytes() };
    told.failure("zypper")
}

/// What it says went wrong.
fn messages(finished: &Finished) -> String {
    let text = finished.text();
    let errors =
        text.split("<message type=\"error\">").skip(1).filter_map(|rest| rest.split_once('<').map(|(message, _)| message));
    let problems = text.split("<description>Problem: ").skip(1).filter_map(|rest| rest.lines().next());
    errors.chain(problems).collect::<Vec<_>>().join("; ")
}

fn lock(tools: &dyn Tools, transaction: &Transaction, verb: Verb, command: &str) -> Result<(), CallError> {
    let named: Vec<String> =
        transaction.changes.iter().filter(|change| change.verb == verb).map(|change| change.subject.name.clone()).collect();
    if named.is_empty() {
        return Ok(());
    }
    changed(tools, Order::new(Mode::Change, ZYPPER, &QUIET).and([command, "-t", "package", "--"]).and(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_read_part_by_part() {
        let text = "<install-summary download-size=\"6232\"><to-downgrade>\n<solvable type=\"package\" name=\"demo\" edition=\"1.0-1\" arch=\"noarch\" \
            edition-old=\"2.0-1\" arch-old=\"noarch\" summary=\"a &lt;b&gt; name=&quot;x&quot;\">\n<description>demo</description></solvable>\n</to-downgrade>\
            <to-remove><solvable type=\"package\" name=\"old\" edition=\"2.0-1\" arch=\"x86_64\" summary=\"demo\"/></to-remove></install-summary>";
        let steps = summary(text).unwrap();
        let told: Vec<_> = steps.iter().map(|step| (step.name.as_str(), step.after.as_deref())).collect();
        assert_eq!(told, [("demo", Some("1.0-1")), ("old", None)]);
        assert!(summary("<install-summary><to-frobnicate></to-frobnicate>").is_err());
        assert!(summary("nothing").unwrap().is_empty());
    }

    #[test]
    fn the_highest_offer_counts() {
        let text = "<solvable status=\"installed\" name=\"demo\" kind=\"package\" edition=\"2.0-1\" arch=\"noarch\" repository=\"local\"/>\n\
            <solvable status=\"other-version\" name=\"demo\" kind=\"package\" edition=\"10.0-1\" arch=\"noarch\" repository=\"local\"/>\n\
            <solvable status=\"installed\" name=\"demo\" kind=\"package\" edition=\"99-1\" arch=\"noarch\" repository=\"(System Packages)\"/>\n\
            <solvable status=\"installed\" name=\"demo\" kind=\"pattern\" edition=\"98-1\" arch=\"noarch\" repository=\"local\"/>\n";
        let subject = Subject { name: "demo".into(), architecture: None };
        assert_eq!(offered(text, &subject).as_deref(), Some("10.0-1"));
    }
}
