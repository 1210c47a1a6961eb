//! Every package on the node, as a manager's database had it at one moment.

use std::collections::BTreeMap;

use super::{Changed, Manager, Package, State, Subject, Transaction};

/// The packages of a node, by name. A name may have several architectures, and for kernels several versions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Table {
    packages: BTreeMap<String, Vec<Package>>,
    /// The architecture that is meant where none is named, if the manager has more than one.
    native: Option<String>,
}

impl Table {
    pub(crate) fn new(packages: impl IntoIterator<Item = Package>, native: Option<String>) -> Self {
        let mut table = Self { packages: BTreeMap::new(), native };
        for package in packages {
            table.packages.entry(package.name.clone()).or_default().push(package);
        }
        table
    }

    /// The package that a subject means: without an architecture the native one, else the only one; of several versions the highest.
    pub(crate) fn find(&self, manager: Manager, subject: &Subject) -> Option<&Package> {
        let named = self.packages.get(&subject.name)?;
        let highest = |wanted: &dyn Fn(&Package) -> bool| {
            named.iter().filter(|package| wanted(package)).max_by(|a, b| manager.compare(&a.version, &b.version))
        };
        match &subject.architecture {
            Some(architecture) => highest(&|package| fits(architecture, &package.architecture)),
            None => {
                let native = self.native.as_deref();
                highest(&|package| native.is_some_and(|native| fits(native, &package.architecture)))
                    .or_else(|| highest(&|_| true))
            }
        }
    }

    /// Whether a package of this name and architecture is held.
    pub(crate) fn is_held(&self, name: &str) -> bool {
        self.packages.get(name).is_some_and(|named| named.iter().any(|package| package.held))
    }

    /// Marks the packages of these names as held.
    pub(crate) fn hold(&mut self, is_held: impl Fn(&str) -> bool) {
        for package in self.packages.values_mut().flatten() {
            package.held = is_held(&package.name);
        }
    }

    /// What is installed, whole or in part, by name and architecture: the versions in their order.
    fn installed(&self) -> BTreeMap<(&str, &str), Vec<&str>> {
        let mut installed: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for package in self.packages.values().flatten() {
            if matches!(package.state, State::Installed | State::Partial) {
                installed.entry((package.name.as_str(), package.architecture.as_str())).or_default().push(&package.version);
            }
        }
        installed.values_mut().for_each(|versions| versions.sort_unstable());
        installed
    }

    /// The packages whose installed versions differ between `self` and `after`, in the order of their names.
    pub(crate) fn changes(&self, after: &Self, transaction: &Transaction) -> Vec<Changed> {
        let (before, after) = (self.installed(), after.installed());
        let keys: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
        let differing = keys.into_iter().filter(|key| before.get(key) != after.get(key));
        let versions = |versions: Option<&Vec<&str>>| versions.map(|versions| versions.join(", "));
        differing
            .map(|(name, architecture)| Changed {
                name: name.to_owned(),
                architecture: Some(architecture.to_owned()),
                before: versions(before.get(&(name, architecture))),
                after: versions(after.get(&(name, architecture))),
                requested: transaction.changes.iter().any(|change| change.subject.name == name),
            })
            .collect()
    }
}

/// Whether a package of `architecture` answers to the name `wanted`: those for every machine answer to any.
fn fits(wanted: &str, architecture: &str) -> bool {
    wanted == architecture || matches!(architecture, "all" | "noarch" | "any")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, architecture: &str, version: &str) -> Package {
        let (name, architecture, version) = (name.to_owned(), architecture.to_owned(), version.to_owned());
        Package { name, architecture, version, state: State::Installed, detail: None, held: false }
    }

    fn subject(name: &str, architecture: Option<&str>) -> Subject {
        Subject { name: name.into(), architecture: architecture.map(str::to_owned) }
    }

    #[test]
    fn a_name_means_the_native_package_and_the_highest_version() {
        let packages = [
            package("libc6", "i386", "2.36"),
            package("libc6", "amd64", "2.36"),
            package("only", "i386", "1"),
            package("kernel", "amd64", "9-1"),
            package("kernel", "amd64", "10-1"),
            package("data", "all", "1"),
        ];
        let table = Table::new(packages, Some("amd64".into()));
        let found =
            |name, architecture| table.find(Manager::Apt, &subject(name, architecture)).map(|p| (&*p.architecture, &*p.version));
        assert_eq!(found("libc6", None), Some(("amd64", "2.36")));
        assert_eq!(found("libc6", Some("i386")), Some(("i386", "2.36")));
        assert_eq!(found("only", None), Some(("i386", "1")));
        assert_eq!(found("only", Some("amd64")), None);
        assert_eq!(found("kernel", None), Some(("amd64", "10-1")));
        assert_eq!(found("data", Some("amd64")), Some(("all", "1")));
        assert_eq!(found("missing", None), None);
    }
}
