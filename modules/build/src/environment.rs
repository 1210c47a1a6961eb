//! The variables that a nested compiler may see.
//!
//! A build script inherits dozens of variables that cargo made for *its* build: flags, profiles, wrappers, the target
//! folder. Any of them would change the bytes of a component, or make the inner cargo wait for the outer one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

/// Variables of cargo that say where it finds things, not how it compiles.
const KEPT_CARGO_PREFIXES: &[&str] =
    &["CARGO_HOME", "CARGO_HTTP_", "CARGO_NET_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_SOURCE_"];

/// Variables beyond cargo's own that steer a compiler, or that cargo sets for build scripts.
const CLEARED: &[&str] = &[
    "DEBUG",
    "HOST",
    "MAKEFLAGS",
    "MFLAGS",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC",
    "RUSTC_BOOTSTRAP",
    "RUSTC_LINKER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTDOCFLAGS",
    "RUSTFLAGS",
    "SOURCE_DATE_EPOCH",
    "TARGET",
    "__CARGO_DEFAULT_LIB_METADATA",
];

/// The variables of a caller, as it gave them.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The caller's variables: `std::env::vars_os()`, where the caller may read it.
    pub fn new(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        Self { variables: variables.into_iter().collect() }
    }

    /// The same with one variable set.
    #[must_use = "this gives another environment"]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.into(), value.into());
        self
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that is set and not empty, as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// The folder in which cargo keeps its registry.
    pub(crate) fn cargo_home(&self) -> Option<PathBuf> {
        let home = || self.path("HOME").or_else(|| self.path("USERPROFILE")).map(|home| home.join(".cargo"));
        self.path("CARGO_HOME").or_else(home)
    }

    /// The first file of this name in a folder of `PATH`.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let path = self.get("PATH")?;
        std::env::split_paths(path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
    }

    /// A command that sees only the variables that cannot change what is compiled.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear();
        command.envs(self.variables.iter().filter(|(name, _)| !is_cleared(name)));
        command
    }
}

fn is_cleared(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let kept = KEPT_CARGO_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    let of_cargo = name == "CARGO" || name.starts_with("CARGO_") || name.starts_with("DEP_");
    CLEARED.contains(&name) || (of_cargo && !kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_change_the_bytes_is_cleared_and_the_rest_stays() {
        let names = [
            "CARGO",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_HOME",
            "CARGO_MAKEFLAGS",
            "CARGO_NET_OFFLINE",
            "CARGO_PROFILE_COMPONENT_OPT_LEVEL",
            "CARGO_TARGET_DIR",
            "DEP_Z_ROOT",
            "HOME",
            "PATH",
            "RUSTC_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
            "TARGET",
        ];
        let kept: Vec<&str> = names.into_iter().filter(|name| !is_cleared(OsStr::new(name))).collect();
        assert_eq!(kept, ["CARGO_HOME", "CARGO_NET_OFFLINE", "HOME", "PATH", "RUSTUP_TOOLCHAIN"]);
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let environment = Environment::default().with("CARGO_HOME", "").with("HOME", "/home/ann");
        assert_eq!(environment.get("CARGO_HOME"), None);
        assert_eq!(environment.cargo_home(), Some(PathBuf::from("/home/ann/.cargo")));
    }
}
