//! Calls of `packages`, all with one manager: the host's words for names and versions are its own for each, and tested where they are.

use runtime_sdk::packages::{self, Change, ChangeKind, ConfigurationFiles, Detail, Manager, Subject, Transaction};

use super::with::With;
use super::{Answer, done, seen};
use crate::acts::FOREIGN_DIGEST;
use crate::desired::FOREIGN_SECRET;

const MANAGER: Manager = Manager::Apt;

pub fn call(function: &str, with: &With<'_>) -> Option<Answer> {
    match function {
        "packages#query" => seen(packages::query(MANAGER, &subjects(with), Detail::CANDIDATE)),
        "packages#index" => seen(packages::index(MANAGER)),
        "packages#compare-versions" => seen(packages::compare_versions(MANAGER, &with.text("1.0"), "2.0")),
        "packages#apply" => done(packages::apply(MANAGER, &transaction(with))),
        "packages#install-file" => {
            let asset = if with.is("secret") { FOREIGN_SECRET } else { FOREIGN_DIGEST };
            done(packages::install_file(MANAGER, &with.text(asset), &change(subject("demo")), ConfigurationFiles::Keep))
        }
        "packages#refresh-index" => done(packages::refresh_index(MANAGER)),
        _ => None,
    }
}

fn subject(name: &str) -> Subject {
    Subject { name: name.into(), architecture: None }
}

fn change(subject: Subject) -> Change {
    Change { subject, kind: ChangeKind::Install(None) }
}

fn subjects(with: &With<'_>) -> Vec<Subject> {
    if with.is("count") {
        return vec![subject("demo"); 257];
    }
    let architecture = with.is("architecture").then(|| "amd64 -o Dpkg::Options::=x".to_owned());
    vec![Subject { architecture, ..subject(&with.text("demo")) }]
}

fn transaction(with: &With<'_>) -> Transaction {
    let kind = if with.is("version") { ChangeKind::Install(Some("1; reboot".into())) } else { ChangeKind::Install(None) };
    let changes = subjects(with).into_iter().map(|subject| Change { subject, kind: kind.clone() });
    let changes = if with.is("none") { Vec::new() } else { changes.collect() };
    Transaction { changes, configuration_files: ConfigurationFiles::Keep, change_held: with.is("held"), recommends: None }
}
