//! Repositories of packages in a machine, made there with the tools that make real ones, so that no test needs the network.
//!
//! Each has the same packages: `demo` 1.0, `needs` 1.0 (which needs `demo`), `fights` 1.0 (which no machine can have beside `demo`), and `other`.
//! Each package has the file `/usr/share/NAME/version`, which says its version, and the configuration file `/etc/NAME/NAME.conf`.
//! [`offer`] adds `demo` 2.0. [`stock`] makes a repository of other packages.

use crate::Machine;

/// A package manager with a repository of its own in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    /// dpkg with apt.
    Apt,
    /// rpm with dnf.
    Dnf,
    /// rpm with zypper.
    Zypper,
    /// pacman.
    Pacman,
    /// apk, in a machine of Alpine.
    Apk,
}

/// Makes the repository, and has the manager know it and nothing else. Its index is fetched.
///
/// # Panics
/// If it cannot be made.
#[track_caller]
pub fn make(machine: &Machine, manager: Manager) {
    make_of(machine, manager, "demo 1.0, needs 1.0, fights 1.0, other 1.0");
}

/// The same with these packages instead, as `NAME VERSION, …`.
///
/// # Panics
/// If it cannot be made.
#[track_caller]
pub fn make_of(machine: &Machine, manager: Manager, packages: &str) {
    run(machine, manager, packages, "configure");
}

/// As [`make`], with these packages, by name and version, in place of those that tests share.
///
/// # Panics
/// If it cannot be made.
#[track_caller]
pub fn stock(machine: &Machine, manager: Manager, packages: &[(String, &str)]) {
    let packages: Vec<String> = packages.iter().map(|(name, version)| format!("{name} {version}")).collect();
    run(machine, manager, &packages.join(", "), "configure");
}

/// Adds `demo` 2.0 to the repository. The manager does not know it until its index is fetched anew.
///
/// # Panics
/// If it cannot be made.
#[track_caller]
pub fn offer(machine: &Machine, manager: Manager) {
    run(machine, manager, "demo 2.0", "offer");
}

#[track_caller]
fn run(machine: &Machine, manager: Manager, packages: &str, step: &str) {
    let script = match manager {
        Manager::Apt => include_str!("apt.sh"),
        Manager::Dnf | Manager::Zypper => include_str!("rpm.sh"),
        Manager::Pacman => include_str!("pacman.sh"),
        Manager::Apk => include_str!("apk.sh"),
    };
    let tool = if manager == Manager::Zypper { "zypper" } else { "dnf" };
    let shell = if manager == Manager::Apk { "sh" } else { "bash" };
    let _ = machine.run(&[shell, "-ec", script, "repository", packages, step, tool]).success();
}
