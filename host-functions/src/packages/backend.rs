//! What a package manager must be able to do. One implementation a manager; nothing else in this crate knows their programs.

use super::index::Index;
use super::judge::Step;
use super::table::Table;
use super::tools::Tools;
use super::{Manager, Subject, Transaction, apk, apt, dnf, pacman, zypper};
use crate::error::CallError;

/// A package file on the node, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PackageFile {
    pub name: String,
    pub version: String,
    pub architecture: String,
}

/// A manager's programs, their arguments and what they write.
pub(super) trait Backend: Sync {
    /// Every package on the node, with its state. Without candidates.
    fn read(&self, tools: &dyn Tools) -> Result<Table, CallError>;

    /// The candidate of each of these subjects, in their order.
    fn candidates(&self, tools: &dyn Tools, subjects: &[Subject]) -> Result<Vec<Option<String>>, CallError>;

    /// What the manager would do. Changes nothing.
    fn simulate(&self, tools: &dyn Tools, transaction: &Transaction, before: &Table) -> Result<Vec<Step>, CallError>;

    /// Does it.
    fn execute(&self, tools: &dyn Tools, transaction: &Transaction, steps: &[Step]) -> Result<(), CallError>;

    /// Fetches the index.
    fn refresh(&self, tools: &dyn Tools) -> Result<(), CallError>;

    /// Where the index is, and what tells when it was fetched.
    fn index(&self) -> Index;

    /// Files that another process of the manager holds a lock on while it works.
    fn lock_files(&self) -> &'static [&'static str];

    /// What a package file says that it is.
    fn inspect_file(&self, tools: &dyn Tools, path: &str) -> Result<PackageFile, CallError>;

    /// What installing a package file would do.
    fn simulate_file(&self, tools: &dyn Tools, path: &str, transaction: &Transaction) -> Result<Vec<Step>, CallError>;

    /// Installs a package file.
    fn execute_file(&self, tools: &dyn Tools, path: &str, transaction: &Transaction) -> Result<(), CallError>;

    /// How a package file's name must end.
    fn file_suffix(&self) -> &'static str;

    /// Whether the manager can be told to replace configuration files that were changed on the node.
    fn replaces_configuration(&self) -> bool {
        false
    }
}

/// The implementation for a manager.
pub(super) fn backend(manager: Manager) -> &'static dyn Backend {
    match manager {
        Manager::Apt => &apt::Apt,
        Manager::Dnf => &dnf::Dnf,
        Manager::Zypper => &zypper::Zypper,
        Manager::Pacman => &pacman::Pacman,
        Manager::Apk => &apk::Apk,
    }
}
