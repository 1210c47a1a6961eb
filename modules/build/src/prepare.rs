//! Makes a machine able to compile for WebAssembly. The one part that installs anything.

use std::io;
use std::path::Path;
use std::process::ExitStatus;

use crate::Environment;
use crate::toolchain::{Target, Toolchain, ToolchainError, Way};

/// The Debian packages of the second way, with a linker for machines that have no other.
const DEBIAN_PACKAGES: &[&str] = &["rustc-web", "rust-web-src", "cargo-web"];

/// The linker's package, for machines that have no toolchain with one.
const DEBIAN_LINKER_PACKAGE: &str = "lld-19";

/// Why the machine could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// No toolchain, also after what was tried.
    #[error("no toolchain for WebAssembly could be made ready{}", tried(attempts))]
    NotReady {
        /// What was run, and how it ended.
        attempts: Vec<String>,
        /// What is missing still.
        #[source]
        source: ToolchainError,
    },
}

fn tried(attempts: &[String]) -> String {
    if attempts.is_empty() { String::new() } else { format!(" (tried {})", attempts.join(", ")) }
}

impl PrepareError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        let Self::NotReady { source, .. } = self;
        source.hint()
    }
}

/// Finds a toolchain for `target`; where there is none, asks rustup for the target, and else installs Debian's packages.
/// Each command is told to `say` before it runs.
///
/// # Errors
/// If there is still no toolchain.
pub fn prepare(environment: &Environment, target: Target, say: &mut dyn FnMut(&str)) -> Result<Toolchain, PrepareError> {
    let mut attempts = Vec::new();
    let mut found = Toolchain::find(environment, target);
    for step in [Step::Rustup, Step::Debian, Step::DebianAfterUpdate, Step::DebianLinker] {
        if found.is_ok() || !step.applies(environment, target) {
            continue;
        }
        for command in step.commands(target) {
            say(&command.join(" "));
            attempts.push(format!("`{}`: {}", command.join(" "), ended(&run(environment, &command))));
        }
        found = Toolchain::find(environment, target);
    }
    found.map_err(|source| PrepareError::NotReady { attempts, source })
}

/// What can be tried, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Rustup,
    Debian,
    /// A fresh machine has no package lists, or old ones.
    DebianAfterUpdate,
    DebianLinker,
}

impl Step {
    fn applies(self, environment: &Environment, target: Target) -> bool {
        let forced = Way::forced(environment).ok().flatten();
        match self {
            Self::Rustup => forced != Some(Way::Debian) && environment.find_program("rustup").is_some(),
            Self::Debian | Self::DebianAfterUpdate | Self::DebianLinker => {
                forced != Some(Way::Rustup) && target == Target::Bare && Path::new("/usr/bin/apt-get").is_file()
            }
        }
    }

    fn commands(self, target: Target) -> Vec<Vec<&'static str>> {
        let install = |packages: &[&'static str]| {
            let mut command = vec!["apt-get", "install", "-y", "--no-install-recommends", "--no-remove"];
            command.extend(packages);
            command
        };
        match self {
            Self::Rustup => vec![vec!["rustup", "target", "add", target.triple()]],
            Self::Debian => vec![install(DEBIAN_PACKAGES)],
            Self::DebianAfterUpdate => vec![vec!["apt-get", "update"], install(DEBIAN_PACKAGES)],
            Self::DebianLinker => vec![install(&[DEBIAN_LINKER_PACKAGE])],
        }
    }
}

fn run(environment: &Environment, command: &[&str]) -> io::Result<ExitStatus> {
    environment.command(command[0]).args(&command[1..]).env("DEBIAN_FRONTEND", "noninteractive").status()
}

fn ended(result: &io::Result<ExitStatus>) -> String {
    match result {
        Ok(status) if status.success() => "done".to_owned(),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FORCE_VARIABLE;

    fn environment(forced: &str) -> Environment {
        Environment::new(std::env::vars_os()).with(FORCE_VARIABLE, forced)
    }

    #[test]
    fn a_forced_way_tries_only_its_own_steps() {
        assert!(!Step::Rustup.applies(&environment("debian"), Target::Bare));
        assert!(!Step::Debian.applies(&environment("rustup"), Target::Bare));
        assert!(!Step::Debian.applies(&environment(""), Target::Wasip2));
    }

    #[test]
    fn a_failure_says_what_was_run_and_how_it_ended() {
        // A `rustup` that refuses, as behind a proxy, and a compiler without the target.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for (name, script) in [("rustup", "#!/bin/sh\nexit 7\n"), ("rustc", "#!/bin/sh\necho /nowhere\n")] {
            std::fs::write(path.join(name), script).unwrap();
            std::process::Command::new("chmod").arg("+x").arg(path.join(name)).status().unwrap();
        }
        let search = format!("{}:/usr/bin:/bin", path.display());
        let environment = environment("rustup").with("PATH", search).with("RUSTC", path.join("rustc"));
        let mut said = Vec::new();
        let error = prepare(&environment, Target::Bare, &mut |line| said.push(line.to_owned())).unwrap_err();
        assert_eq!(said, ["rustup target add wasm32-unknown-unknown"]);
        assert_eq!(
            error.to_string(),
            "no toolchain for WebAssembly could be made ready \
             (tried `rustup target add wasm32-unknown-unknown`: exit status: 7)"
        );
        assert!(error.hint().is_some_and(|hint| hint.contains("rustc-web")));
    }
}
