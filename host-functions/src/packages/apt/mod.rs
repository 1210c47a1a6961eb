//! dpkg with apt-get and apt-cache.
//!
//! What is on the node is dpkg's to say, in a format made for programs. What apt would do is read from `apt-get -s`, whose lines `Inst`, `Remv`
//! and `Purg` are made for that too. apt takes names as patterns when it knows no such package, so what it answers is judged by name.

mod parse;

use super::backend::{Backend, PackageFile};
use super::index::{Dated, Index};
use super::judge::Step;
use super::table::Table;
use super::tools::{Finished, Mode, Order, Tools};
use super::transaction::changes_versions;
use super::{Change, ConfigurationFiles, Subject, Transaction, Verb};
use crate::error::CallError;

const APT_GET: &[&str] = &["/usr/bin/apt-get"];
const APT_CACHE: &[&str] = &["/usr/bin/apt-cache"];
const APT_MARK: &[&str] = &["/usr/bin/apt-mark"];
const DPKG_QUERY: &[&str] = &["/usr/bin/dpkg-query"];
const DPKG_DEB: &[&str] = &["/usr/bin/dpkg-deb"];

/// Nobody is there to be asked, and nothing is restarted behind the services that are managed.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("DEBIAN_PRIORITY", "critical"),
    ("APT_LISTCHANGES_FRONTEND", "none"),
    ("APT_LISTBUGS_FRONTEND", "none"),
    ("NEEDRESTART_SUSPEND", "1"),
];

/// In one line each: name, architecture, version, and dpkg's three words of status.
const FORMAT: &str =
    "-f=${Package}\\t${Architecture}\\t${Version}\\t${db:Status-Want}\\t${db:Status-Eflag}\\t${db:Status-Status}\\n";

/// For every call of apt-get.
const QUIET: [&str; 9] =
    ["-q", "-y", "-o", "Dpkg::Use-Pty=0", "-o", "APT::Color=0", "-o", "APT::Get::AutomaticRemove=0", "--no-show-upgraded"];

/// The manager.
pub(super) struct Apt;

impl Backend for Apt {
    fn read(&self, tools: &dyn Tools) -> Result<Table, CallError> {
        let order = Order::new(Mode::Read, DPKG_QUERY, &["-W", FORMAT]);
        let finished = tools.run(&order)?;
        match finished.code {
            Some(0) => parse::table(&finished.text()),
            // There is no package at all, which a root that is being made may have.
            Some(1) if finished.stdout.is_empty() && !finished.stderr.starts_with(b"dpkg-query: error") => Ok(Table::default()),
            _ => Err(finished.failure("dpkg-query")),
        }
    }

    fn candidates(&self, tools: &dyn Tools, subjects: &[Subject]) -> Result<Vec<Option<String>>, CallError> {
        let order = Order::new(Mode::Read, APT_CACHE, &["policy", "--"]).and(subjects.iter().map(word));
        let finished = tools.run(&order)?;
        // It fails when it knows none of them, and says nothing of those that it does not know.
        let candidates = parse::policy(&finished.text());
        if finished.code != Some(0) && !finished.everything().contains("No packages found") && !is_unknown(&finished) {
            return Err(finished.failure("apt-cache"));
        }
        Ok(subjects.iter().map(|subject| candidates.get(&word(subject)).cloned().flatten()).collect())
    }

    fn simulate(&self, tools: &dyn Tools, transaction: &Transaction, _before: &Table) -> Result<Vec<Step>, CallError> {
        let order = Order::new(Mode::Read, APT_GET, &["-s"]).and(install(transaction));
        simulated(tools, order.and(words(transaction)))
    }

    fn execute(&self, tools: &dyn Tools, transaction: &Transaction, steps: &[Step]) -> Result<(), CallError> {
        mark(tools, transaction, Verb::Unhold, "unhold")?;
        if transaction.changes.iter().any(changes_versions) {
            let mut order = Order::new(Mode::Change, APT_GET, &[]).and(lock_timeout(tools)).and(install(transaction));
            if steps.iter().all(|step| step.after.is_some()) {
                // What was not simulated does not happen: the packages may have changed since.
                order = order.and(["--no-remove"]);
            }
            changed(tools, order.and(words(transaction)))?;
        }
        purge_rest(tools, transaction)?;
        mark(tools, transaction, Verb::Hold, "hold")
    }

    fn refresh(&self, tools: &dyn Tools) -> Result<(), CallError> {
        // A repository that cannot be reached is a failure, not a warning.
        let order = Order::new(Mode::Change, APT_GET, &["-q", "-o", "APT::Update::Error-Mode=any"]).and(lock_timeout(tools));
        changed(tools, order.and(["update"]))
    }

    fn index(&self) -> Index {
        Index { folders: &["/var/lib/apt/lists"], dated: Dated::Folder }
    }

    fn lock_files(&self) -> &'static [&'static str] {
        &["/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock", "/var/lib/apt/lists/lock", "/var/cache/apt/archives/lock"]
    }

    fn inspect_file(&self, tools: &dyn Tools, path: &str) -> Result<PackageFile, CallError> {
        let order =
            Order::new(Mode::Read, DPKG_DEB, &["--show", "--showformat=${Package}\\t${Version}\\t${Architecture}\\n", path]);
        let finished = tools.run(&order)?;
        if finished.code != Some(0) {
            return Err(CallError::invalid(format!("the asset is no package file of dpkg: {}", finished.failure("dpkg-deb"))));
        }
        parse::package_file(&finished.text())
    }

    fn simulate_file(&self, tools: &dyn Tools, path: &str, transaction: &Transaction) -> Result<Vec<Step>, CallError> {
        let order = Order::new(Mode::Read, APT_GET, &["-s"]).and(install(transaction));
        simulated(tools, order.and(["--", path]))
    }

    fn execute_file(&self, tools: &dyn Tools, path: &str, transaction: &Transaction) -> Result<(), CallError> {
        let order = Order::new(Mode::Change, APT_GET, &[]).and(lock_timeout(tools)).and(install(transaction));
        changed(tools, order.and(["--no-remove", "--", path]))
    }

    fn file_suffix(&self) -> &'static str {
        ".deb"
    }

    fn replaces_configuration(&self) -> bool {
        true
    }
}

/// The arguments of a transaction, up to the names.
fn install(transaction: &Transaction) -> Vec<&'static str> {
    let has = |verb: Verb| transaction.changes.iter().any(|change| change.verb == verb);
    let mut arguments = QUIET.to_vec();
    arguments.extend(match transaction.configuration_files {
        ConfigurationFiles::Keep => ["-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold"].as_slice(),
        ConfigurationFiles::Replace => ["-o", "Dpkg::Options::=--force-confnew"].as_slice(),
    });
    arguments
        .extend(transaction.recommends.map(|wanted| if wanted { "--install-recommends" } else { "--no-install-recommends" }));
    arguments.extend(has(Verb::Downgrade).then_some("--allow-downgrades"));
    // Which held packages may change is judged by what apt would do; what is let go now is still held while that is asked.
    arguments.extend((transaction.change_held || has(Verb::Unhold)).then_some("--allow-change-held-packages"));
    // A transaction that also keeps configuration files purges the rest afterwards.
    arguments.extend((has(Verb::Purge) && !has(Verb::Remove)).then_some("--purge"));
    arguments.push("install");
    arguments
}

/// `--`, and a word for each change.
fn words(transaction: &Transaction) -> Vec<String> {
    let changes = transaction.changes.iter().filter(|change| changes_versions(change));
    std::iter::once("--".to_owned()).chain(changes.map(change_word)).collect()
}

/// `NAME:ARCHITECTURE=VERSION`; with a `-` at the end it is removed.
fn change_word(change: &Change) -> String {
    let mut word = word(&change.subject);
    if let Some(version) = &change.version {
        word = format!("{word}={version}");
    }
    if change.verb.removes() { word + "-" } else { word }
}

fn word(subject: &Subject) -> String {
    match &subject.architecture {
        Some(architecture) if architecture != "all" => format!("{}:{architecture}", subject.name),
        _ => subject.name.clone(),
    }
}

fn lock_timeout(tools: &dyn Tools) -> [String; 2] {
    let left = tools.deadline().saturating_duration_since(std::time::Instant::now()).as_secs();
    ["-o".to_owned(), format!("DPkg::Lock::Timeout={left}")]
}

fn simulated(tools: &dyn Tools, mut order: Order) -> Result<Vec<Step>, CallError> {
    order.environment = ENVIRONMENT;
    let finished = tools.run(&order)?;
    match finished.code {
        Some(0) => parse::simulation(&finished.text()),
        _ if is_unknown(&finished) => Err(CallError::NotFound),
        _ => Err(finished.failure("apt-get")),
    }
}

fn changed(tools: &dyn Tools, mut order: Order) -> Result<(), CallError> {
    order.environment = ENVIRONMENT;
    let finished = tools.run(&order)?;
    match finished.code {
        Some(0) => Ok(()),
        _ if finished.everything().contains("Could not get lock") => {
            Err(CallError::Busy(finished.failure("apt-get").to_string()))
        }
        _ => Err(finished.failure("apt-get")),
    }
}

/// Whether a package or version is not in the index.
fn is_unknown(finished: &Finished) -> bool {
    let told = finished.everything();
    ["E: Unable to locate package", "was not found", "has no installation candidate"].iter().any(|words| told.contains(words))
}

/// Takes what a transaction that also keeps configuration files has left of the packages to purge.
fn purge_rest(tools: &dyn Tools, transaction: &Transaction) -> Result<(), CallError> {
    let of = |verb: Verb| transaction.changes.iter().filter(move |change| change.verb == verb);
    if of(Verb::Purge).next().is_none() || of(Verb::Remove).next().is_none() {
        return Ok(());
    }
    let order = Order::new(Mode::Change, APT_GET, &QUIET).and(lock_timeout(tools)).and(["purge", "--"]);
    changed(tools, order.and(of(Verb::Purge).map(|change| word(&change.subject))))
}

fn mark(tools: &dyn Tools, transaction: &Transaction, verb: Verb, action: &'static str) -> Result<(), CallError> {
    let named: Vec<String> =
        transaction.changes.iter().filter(|change| change.verb == verb).map(|change| word(&change.subject)).collect();
    if named.is_empty() {
        return Ok(());
    }
    changed(tools, Order::new(Mode::Change, APT_MARK, &[action, "--"]).and(named))
}
