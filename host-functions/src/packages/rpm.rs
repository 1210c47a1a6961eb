//! What dnf and zypper share: the packages that rpm has, and package files.

use super::backend::PackageFile;
use super::table::Table;
use super::tools::{Mode, Order, Tools};
use super::{Package, State};
use crate::error::CallError;

const RPM: &[&str] = &["/usr/bin/rpm", "/bin/rpm"];

/// rpm's database needs its side files, also to be read.
pub(super) const DATABASES: &[&str] = &["/var/lib/rpm", "/usr/lib/sysimage/rpm", "/root"];

/// In one line each: name, architecture, version with its epoch.
const FORMAT: &str = "%{NAME}\t%{ARCH}\t%{EPOCHNUM}:%{VERSION}-%{RELEASE}\n";

/// The packages in rpm's database. Keys of repositories, which rpm keeps as packages, are none.
pub(super) fn read(tools: &dyn Tools) -> Result<Table, CallError> {
    let finished = tools.run(&Order::new(Mode::Read, RPM, &["-qa", "--qf", FORMAT]).scratch(DATABASES))?;
    if finished.code != Some(0) {
        return Err(finished.failure("rpm"));
    }
    table(&finished.text())
}

fn table(text: &str) -> Result<Table, CallError> {
    let mut packages = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("gpg-pubkey\t")) {
        packages.push(package(line).ok_or_else(|| CallError::Other("rpm gave a line that is no package".into()))?);
    }
    // Packages for every machine say nothing about it; of the others most are native.
    let mut counts = std::collections::BTreeMap::<_, usize>::new();
    for package in packages.iter().filter(|package| package.architecture != "noarch") {
        *counts.entry(package.architecture.clone()).or_default() += 1;
    }
    let native = counts.into_iter().max_by_key(|(_, count)| *count).map(|(architecture, _)| architecture);
    Ok(Table::new(packages, native))
}

fn package(line: &str) -> Option<Package> {
    let [name, architecture, version] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
    let version = plain(version);
    Some(Package {
        name: name.to_owned(),
        architecture: architecture.to_owned(),
        version,
        state: State::Installed,
        detail: None,
        held: false,
    })
}

/// A version without an epoch that is zero, as people write it.
pub(super) fn plain(version: &str) -> String {
    version.strip_prefix("0:").unwrap_or(version).to_owned()
}

/// What a package file says that it is.
pub(super) fn inspect_file(tools: &dyn Tools, path: &str) -> Result<PackageFile, CallError> {
    let order = Order::new(Mode::Read, RPM, &["-q", "--nosignature", "--qf", FORMAT, "-p", "--", path]);
    let finished = tools.run(&order.scratch(DATABASES))?;
    match (finished.code, finished.text().lines().next().and_then(package)) {
        (Some(0), Some(Package { name, version, architecture, .. })) => Ok(PackageFile { name, version, architecture }),
        _ => Err(CallError::invalid(format!("the asset is no package file of rpm: {}", finished.failure("rpm")))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packages::{Manager, Subject};

    #[test]
    fn rpms_lines_become_packages() {
        let table =
            table("gpg-pubkey\t(none)\t0:1-2\nbash\tx86_64\t0:5.2-1.fc42\nfoo\tnoarch\t2:1.0~rc1-1\nfoo\ti686\t2:1.0-1\n")
                .unwrap();
        let find = |name: &str| {
            let subject = Subject { name: name.into(), architecture: None };
            table.find(Manager::Dnf, &subject).map(|package| package.version.clone())
        };
        assert_eq!(find("bash").as_deref(), Some("5.2-1.fc42"));
        assert_eq!(find("foo").as_deref(), Some("2:1.0~rc1-1"), "the native architecture first");
        assert_eq!(find("gpg-pubkey"), None);
        assert!(super::table("one two\n").is_err());
    }
}
