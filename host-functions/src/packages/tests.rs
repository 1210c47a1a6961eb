//! The managers for real: each in a machine with a repository of its own.
//!
//! The outer tests start a machine, put this very test program into it, and run the steps below in there, where `/` is the machine's.

#![allow(clippy::disallowed_methods, reason = "tests make files and run programs, in machines of their own")]

mod steps;
mod versions;

use std::process::Command;
use std::sync::Arc;

use test_machine::repositories::{self, Manager as Repository};
use test_machine::{Machine, Setup, System};

use crate::bindings::runtime::host::packages::{self, Change, ChangeKind, Changed, Detail, Host as _, Manager, State, Subject};
use crate::context::HostContext;
use crate::effects::Effect;
use crate::error::CallError;
use crate::grant::Ask;
use crate::node::Node;
use crate::objects::Interface;
use crate::phase::Phase;
use crate::rights::Rights;
use crate::testing::{TestAssets, TestGate, all_rights, attempt_on};

/// Runs a step in a machine.
#[track_caller]
fn step(machine: &Machine, name: &str, manager: &str) {
    let program = std::env::current_exe().unwrap();
    let program = format!("/run/machine/bin/{}", program.file_name().unwrap().to_string_lossy());
    let test = format!("packages::tests::{name}");
    let manager = format!("MANAGER={manager}");
    let finished = machine.run(&["env", &manager, &program, &test, "--exact", "--ignored", "--nocapture"]).success();
    assert!(finished.stdout.contains("1 passed"), "{finished}");
}

fn machine(repository: Repository) -> Machine {
    let system = if repository == Repository::Apk { System::Alpine } else { System::Debian };
    let machine = Setup::new(system).with_program(std::env::current_exe().unwrap()).enter();
    repositories::make(&machine, repository);
    machine
}

/// What every manager does alike.
fn all_of_it(repository: Repository, manager: &str) {
    let machine = machine(repository);
    step(&machine, "steps::a_package_is_installed_with_what_it_needs", manager);
    step(&machine, "steps::reading_changes_nothing_and_is_not_repeated", manager);
    if repository != Repository::Apk {
        // apk reads such a repository where it is: there is no index of it on the node.
        step(&machine, "steps::an_index_is_as_old_as_its_last_fetch", manager);
    }
    repositories::offer(&machine, repository);
    step(&machine, "steps::the_index_is_fetched_and_a_package_upgraded", manager);
    step(&machine, "steps::what_nobody_asked_for_is_denied", manager);
    step(&machine, "steps::packages_are_removed", manager);
    step(&machine, "versions::versions_have_the_managers_own_order", manager);
}

#[test]
fn apt_installs_upgrades_and_removes() {
    all_of_it(Repository::Apt, "apt");
}

#[test]
fn dnf_installs_upgrades_and_removes() {
    all_of_it(Repository::Dnf, "dnf");
}

#[test]
fn zypper_installs_upgrades_and_removes() {
    all_of_it(Repository::Zypper, "zypper");
}

#[test]
fn pacman_installs_upgrades_and_removes() {
    all_of_it(Repository::Pacman, "pacman");
}

#[test]
fn apk_installs_upgrades_and_removes() {
    all_of_it(Repository::Apk, "apk");
}

#[test]
fn apt_holds_downgrades_purges_and_installs_files() {
    let machine = machine(Repository::Apt);
    repositories::offer(&machine, Repository::Apt);
    machine.shell("apt-get update -qq");
    step(&machine, "steps::apt_holds_a_package", "apt");
    step(&machine, "steps::apt_keeps_or_replaces_configuration_files", "apt");
    step(&machine, "steps::apt_installs_a_package_file", "apt");
    step(&machine, "steps::apt_waits_for_the_lock_and_names_its_holder", "apt");
    step(&machine, "steps::apt_tells_what_broke_off", "apt");
}

#[test]
fn transactions_that_wait_are_made_as_one() {
    let machine = machine(Repository::Apt);
    step(&machine, "steps::what_waits_is_made_as_one", "apt");
    let told = machine.read("/var/log/apt/history.log");
    let commands: Vec<&str> = told.lines().filter(|line| line.starts_with("Install:")).collect();
    assert_eq!(commands.len(), 1, "{told}");
    step(&machine, "steps::what_fails_together_is_made_by_each", "apt");
}

#[test]
fn a_manager_that_is_not_there_is_unsupported() {
    let machine = machine(Repository::Apt);
    step(&machine, "steps::apk_is_not_on_debian", "apk");
}

fn subject(name: &str) -> Subject {
    Subject { name: name.into(), architecture: None }
}

fn change(name: &str, kind: ChangeKind) -> Change {
    Change { subject: subject(name), kind }
}

/// An attempt in the apply phase on this machine, whose effects name these packages with these verbs.
fn attempt(effects: &[(&str, &[&str])]) -> HostContext {
    attempt_of(&Arc::new(Node::open(std::path::Path::new("/"), &[]).unwrap()), effects)
}

/// The same in a run that has other attempts.
fn attempt_of(node: &Arc<Node>, effects: &[(&str, &[&str])]) -> HostContext {
    let ask = |verb: &&'static str| Ask::parse("packages", verb, "*").unwrap();
    let interface = Interface::Packages;
    let asks: Vec<Ask> = interface.verbs().iter().chain(interface.maintenance()).map(ask).collect();
    let effect = |(name, verbs): &(&str, &[&str])| Effect {
        domain: "package".into(),
        key: name.as_bytes().to_vec(),
        actions: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        qualifier: None,
    };
    let rights = Rights { asks: asks.into(), effects: effects.iter().map(effect).collect(), ..all_rights("package.test") };
    let gate = Arc::new(TestGate(true.into()));
    attempt_on(Arc::clone(node), rights, Arc::new(TestAssets::default()), gate)
}

fn transaction(changes: Vec<Change>) -> packages::Transaction {
    packages::Transaction {
        changes,
        configuration_files: packages::ConfigurationFiles::Keep,
        change_held: false,
        recommends: None,
    }
}

/// The manager that the outer test names.
fn manager() -> Manager {
    match std::env::var("MANAGER").unwrap().as_str() {
        "apt" => Manager::Apt,
        "dnf" => Manager::Dnf,
        "zypper" => Manager::Zypper,
        "pacman" => Manager::Pacman,
        _ => Manager::Apk,
    }
}

/// A version as the manager writes it.
fn version(upstream: &str) -> String {
    match manager() {
        Manager::Apt => upstream.to_owned(),
        Manager::Dnf | Manager::Zypper | Manager::Pacman => format!("{upstream}-1"),
        Manager::Apk => format!("{upstream}-r0"),
    }
}

fn find(context: &mut HostContext, name: &str) -> packages::Observation {
    context.query(manager(), vec![subject(name)], Detail::CANDIDATE).unwrap().remove(0)
}

fn told(changed: &[Changed]) -> Vec<(String, Option<String>, Option<String>, bool)> {
    changed.iter().map(|c| (c.name.clone(), c.before.clone(), c.after.clone(), c.requested)).collect()
}

fn shell(script: &str) -> String {
    let output = Command::new("sh").args(["-ec", script]).output().unwrap();
    assert!(output.status.success(), "{script}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// A digest over name, mode, size and times of everything on the machine's own disk.
fn everything() -> String {
    shell("find /etc /usr /var /root /srv -xdev | sort | tr '\\n' '\\0' | xargs -0 stat -c '%n %a %s %Y %Z' | md5sum")
}
