//! Between the types generated from the WIT and our own.

use std::cmp::Ordering;

use super::{Change, ConfigurationFiles, Manager, State, Subject, Transaction, Verb};
use crate::bindings::runtime::host::packages;

impl From<packages::Manager> for Manager {
    fn from(manager: packages::Manager) -> Self {
        match manager {
            packages::Manager::Apt => Manager::Apt,
            packages::Manager::Dnf => Manager::Dnf,
            packages::Manager::Zypper => Manager::Zypper,
            packages::Manager::Pacman => Manager::Pacman,
            packages::Manager::Apk => Manager::Apk,
        }
    }
}

impl From<packages::Subject> for Subject {
    fn from(packages::Subject { name, architecture }: packages::Subject) -> Self {
        Self { name, architecture }
    }
}

impl From<State> for packages::State {
    fn from(state: State) -> Self {
        match state {
            State::NotInstalled => packages::State::NotInstalled,
            State::ConfigurationFiles => packages::State::ConfigurationFiles,
            State::Partial => packages::State::Partial,
            State::Installed => packages::State::Installed,
        }
    }
}

impl From<Ordering> for packages::Order {
    fn from(order: Ordering) -> Self {
        match order {
            Ordering::Less => packages::Order::Older,
            Ordering::Equal => packages::Order::Equal,
            Ordering::Greater => packages::Order::Newer,
        }
    }
}

impl From<packages::Change> for Change {
    fn from(packages::Change { subject, kind }: packages::Change) -> Self {
        use packages::ChangeKind;
        let (verb, version) = match kind {
            ChangeKind::Install(version) => (Verb::Install, version),
            ChangeKind::Upgrade(version) => (Verb::Upgrade, version),
            ChangeKind::Downgrade(version) => (Verb::Downgrade, Some(version)),
            ChangeKind::Remove => (Verb::Remove, None),
            ChangeKind::Purge => (Verb::Purge, None),
            ChangeKind::Hold => (Verb::Hold, None),
            ChangeKind::Unhold => (Verb::Unhold, None),
        };
        Self { subject: subject.into(), verb, version }
    }
}

impl From<packages::ConfigurationFiles> for ConfigurationFiles {
    fn from(configuration_files: packages::ConfigurationFiles) -> Self {
        match configuration_files {
            packages::ConfigurationFiles::Keep => ConfigurationFiles::Keep,
            packages::ConfigurationFiles::Replace => ConfigurationFiles::Replace,
        }
    }
}

impl From<packages::Transaction> for Transaction {
    fn from(transaction: packages::Transaction) -> Self {
        let packages::Transaction { changes, configuration_files, change_held, recommends } = transaction;
        let changes = changes.into_iter().map(Into::into).collect();
        Self { changes, configuration_files: configuration_files.into(), change_held, recommends }
    }
}
