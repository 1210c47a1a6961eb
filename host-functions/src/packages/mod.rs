//! Packages of the node, through its package managers.
//!
//! A guest names packages and versions; which program runs with which arguments is decided here and nowhere else. Names and
//! versions are held against grammars that no option, path or pattern passes ([`manager`]). A transaction is first simulated, and what it
//! would do is held against what was asked for (`judge`) before anything changes; what it did is read from the node before and after.
//!
//! Deliberately absent: repositories, keys and the managers' settings, which are files; and any choice of a manager, which is the guest's.

mod apk;
mod apt;
mod backend;
pub(crate) mod cache;
mod convert;
mod dnf;
mod files;
mod host;
mod index;
mod judge;
mod lock;
pub mod manager;
mod pacman;
pub(crate) mod policy;
mod rpm;
mod table;
mod together;
mod tools;
mod transaction;
pub mod versions;
mod zypper;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::text::escape;
pub use manager::Manager;

/// The most packages in one query or transaction.
pub const MAX_PACKAGES: usize = 256;

/// A package, by name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// Its architecture; none is what the manager takes by itself.
    pub architecture: Option<String>,
}

/// How much of a package is on the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing.
    NotInstalled,
    /// Removed, with its configuration files left.
    ConfigurationFiles,
    /// An installation or removal broke off.
    Partial,
    /// Whole.
    Installed,
}

/// A package on the node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Its architecture.
    pub architecture: String,
    /// The installed version, or the one that is partly there.
    pub version: String,
    /// How much of it is there.
    pub state: State,
    /// The manager's own word for a partial state.
    pub detail: Option<String>,
    /// Whether the manager holds it at its version.
    pub held: bool,
}

/// What may be done with a package: the word in effects, asks and policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is named after its case in the WIT")]
pub enum Verb {
    Install,
    Upgrade,
    Downgrade,
    Remove,
    Purge,
    Hold,
    Unhold,
}

impl Verb {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Verb::Install => "install",
            Verb::Upgrade => "upgrade",
            Verb::Downgrade => "downgrade",
            Verb::Remove => "remove",
            Verb::Purge => "purge",
            Verb::Hold => "hold",
            Verb::Unhold => "unhold",
        }
    }

    /// Whether the package is there afterwards, at a version that the change decides.
    pub fn installs(self) -> bool {
        matches!(self, Verb::Install | Verb::Upgrade | Verb::Downgrade)
    }

    /// Whether the package is gone afterwards.
    pub fn removes(self) -> bool {
        matches!(self, Verb::Remove | Verb::Purge)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One change of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The package.
    pub subject: Subject,
    /// What is to become of it.
    pub verb: Verb,
    /// At which version, for the verbs that install; none is the candidate.
    pub version: Option<String>,
}

/// What becomes of a configuration file that was changed on the node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigurationFiles {
    /// It stays.
    Keep,
    /// The package's own takes its place.
    Replace,
}

/// Changes that are made together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transaction {
    /// Each package once.
    pub changes: Vec<Change>,
    /// What becomes of changed configuration files.
    pub configuration_files: ConfigurationFiles,
    /// Whether a package that is named here may change although it is held.
    pub change_held: bool,
    /// Whether recommended packages are installed too; none leaves it to the manager.
    pub recommends: Option<bool>,
}

/// A package whose installed version is another one than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// Its architecture.
    pub architecture: Option<String>,
    /// The version before.
    pub before: Option<String>,
    /// The version after.
    pub after: Option<String>,
    /// Whether the transaction named it.
    pub requested: bool,
}

/// Packages for people, escaped.
pub(crate) fn subjects(subjects: &[Subject]) -> String {
    subjects.iter().map(|subject| escape(&subject.name)).collect::<Vec<_>>().join(", ")
}

/// Changes for people, escaped: `install nginx 1.2, remove apache2`.
pub(crate) fn changes(changes: &[Change]) -> String {
    let told = |change: &Change| {
        let version = change.version.as_ref().map(|version| format!(" {}", escape(version))).unwrap_or_default();
        format!("{} {}{version}", change.verb, escape(&change.subject.name))
    };
    changes.iter().map(told).collect::<Vec<_>>().join(", ")
}
