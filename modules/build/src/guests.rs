//! One cargo call for all guests, and what it made.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::encode::{EncodeError, to_component};
use crate::toolchain::Toolchain;

/// The cargo profile of the workspace's own components.
const PROFILE: &str = "component";

/// Crates of one workspace to build as components.
#[derive(Debug, Clone, Copy)]
pub struct Guests<'a> {
    /// The folder of the workspace, with `Cargo.lock`.
    pub workspace: &'a Path,
    /// The names of the packages. What is built together shares its dependencies' features: the same set gives the same bytes.
    pub packages: &'a [&'a str],
    /// Where cargo compiles: never the target folder of a cargo that waits for this one.
    pub target_folder: &'a Path,
}

/// A built component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// The name of its package.
    pub name: String,
    /// The component, validated.
    pub bytes: Vec<u8>,
    /// The SHA-256 digest of `bytes`.
    pub digest: [u8; 32],
    /// Whether this call compiled it, rather than finding it up to date.
    pub compiled: bool,
}

/// Why guests could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// Cargo could not be started.
    #[error("cargo cannot be run in `{}`", folder.display())]
    NoCargo {
        /// Where it was to run.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// Cargo refused or failed. It has written why to standard error.
    #[error("cargo did not build `{}` for WebAssembly ({status})", packages.join("`, `"))]
    Failed {
        /// The packages that were asked for, or the folder of the crate.
        packages: Vec<String>,
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// Cargo said something that is not one of its messages.
    #[error("a message of cargo cannot be read")]
    Message {
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A package was built and gave no WebAssembly module.
    #[error("`{package}` gives no WebAssembly module")]
    NoModule {
        /// The package.
        package: String,
    },
    /// What cargo made cannot be read.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// A module could not be made a component.
    #[error("`{package}` cannot be made a component")]
    Encode {
        /// The package.
        package: String,
        /// Why.
        #[source]
        source: EncodeError,
    },
}

impl BuildError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoModule { .. } => Some("its `Cargo.toml` needs `[lib] crate-type = [\"cdylib\"]`".to_owned()),
            Self::Encode { source, .. } => source.hint(),
            Self::Failed { .. } => Some("what cargo wrote above says why".to_owned()),
            Self::NoCargo { .. } | Self::Message { .. } | Self::Read { .. } => None,
        }
    }
}

/// Builds guests of a workspace, in the order in which they were given.
///
/// The same sources, lock file and toolchain give the same bytes in any folder. Cargo's messages go to standard error.
///
/// # Errors
/// If cargo fails (a lock file out of date is a failure), or what it made is no component.
pub fn build(toolchain: &Toolchain, guests: &Guests<'_>) -> Result<Vec<Component>, BuildError> {
    let mut arguments = vec!["--locked", "--profile", PROFILE];
    for package in guests.packages {
        arguments.extend(["-p", package]);
    }
    let packages: Vec<String> = guests.packages.iter().map(|&name| name.to_owned()).collect();
    let modules = cargo(toolchain, guests.workspace, guests.target_folder, &arguments, &packages)?;
    guests.packages.iter().map(|package| modules.component(package)).collect()
}

/// Builds the one crate in `folder`, a stranger's: release profile, and cargo may write its lock file.
///
/// # Errors
/// If cargo fails, the crate has no `cdylib`, or what it made is no component.
pub fn build_crate(toolchain: &Toolchain, folder: &Path, target_folder: &Path) -> Result<Component, BuildError> {
    let shown = folder.display().to_string();
    let modules = cargo(toolchain, folder, target_folder, &["--release", "--lib"], std::slice::from_ref(&shown))?;
    let manifest = canonical(&folder.join("Cargo.toml"));
    let own = modules.0.iter().find(|module| canonical(&module.manifest) == manifest);
    own.ok_or(BuildError::NoModule { package: shown })?.component()
}

/// WebAssembly modules that one cargo call made or found up to date.
struct Modules(Vec<Module>);

struct Module {
    package: String,
    manifest: PathBuf,
    path: PathBuf,
    compiled: bool,
}

impl Modules {
    fn component(&self, package: &str) -> Result<Component, BuildError> {
        let library = package.replace('-', "_");
        let module = self.0.iter().find(|module| module.package.replace('-', "_") == library);
        let component = module.ok_or_else(|| BuildError::NoModule { package: package.to_owned() })?.component()?;
        Ok(Component { name: package.to_owned(), ..component })
    }
}

impl Module {
    fn component(&self) -> Result<Component, BuildError> {
        let module = std::fs::read(&self.path).map_err(|source| BuildError::Read { path: self.path.clone(), source })?;
        let bytes = to_component(&module).map_err(|source| BuildError::Encode { package: self.package.clone(), source })?;
        let digest = Sha256::digest(&bytes).into();
        Ok(Component { name: self.package.clone(), bytes, digest, compiled: self.compiled })
    }
}

fn cargo(
    toolchain: &Toolchain,
    folder: &Path,
    target_folder: &Path,
    arguments: &[&str],
    packages: &[String],
) -> Result<Modules, BuildError> {
    let mut command = toolchain.cargo_build(&rustflags(toolchain, folder));
    command.args(arguments).args(["--message-format", "json-render-diagnostics"]);
    command.arg("--manifest-path").arg(folder.join("Cargo.toml")).arg("--target-dir").arg(target_folder);
    command.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|source| BuildError::NoCargo { folder: folder.to_owned(), source })?;
    let Output { status, stdout, .. } = output;
    if !status.success() {
        return Err(BuildError::Failed { packages: packages.to_vec(), status });
    }
    read_messages(&stdout)
}

/// Names of folders stand in panic messages: each is replaced, the workspace's last because it may lie in another.
fn rustflags(toolchain: &Toolchain, workspace: &Path) -> Vec<String> {
    let mut folders = toolchain.remapped_folders();
    folders.push((workspace.to_owned(), "/module".to_owned()));
    let mut flags = Vec::new();
    for (folder, stands_for) in folders {
        let real = canonical(&folder);
        if real != folder {
            flags.push(format!("--remap-path-prefix={}={stands_for}", real.display()));
        }
        flags.push(format!("--remap-path-prefix={}={stands_for}", folder.display()));
    }
    flags
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// The part of cargo's messages that says what was made.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    manifest_path: PathBuf,
    #[serde(default)]
    target: MessageTarget,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    #[serde(default)]
    fresh: bool,
}

#[derive(Default, Deserialize)]
struct MessageTarget {
    name: String,
    kind: Vec<String>,
}

fn read_messages(stdout: &[u8]) -> Result<Modules, BuildError> {
    let mut modules = Vec::new();
    for line in stdout.split(|&byte| byte == b'\n').filter(|line| line.starts_with(b"{")) {
        let message: Message = serde_json::from_slice(line).map_err(|source| BuildError::Message { source })?;
        if message.reason != "compiler-artifact" || !message.target.kind.iter().any(|kind| kind == "cdylib") {
            continue;
        }
        let is_module = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "wasm");
        modules.extend(message.filenames.iter().find(is_module).map(|path| Module {
            package: message.target.name.clone(),
            manifest: message.manifest_path.clone(),
            path: path.clone(),
            compiled: !message.fresh,
        }));
    }
    Ok(Modules(modules))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_webassembly_of_cdylibs_counts() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","manifest_path":"/w/serde/Cargo.toml","target":{"name":"serde","kind":["lib"]},"filenames":["/t/libserde.rlib"],"fresh":true}"#,
            "\n",
            r#"{"reason":"compiler-artifact","manifest_path":"/w/file/Cargo.toml","target":{"name":"file","kind":["cdylib","rlib"]},"filenames":["/t/libfile.rlib","/t/file.wasm"],"fresh":false}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
            "\n",
        );
        let modules = read_messages(messages.as_bytes()).unwrap();
        let found: Vec<_> = modules.0.iter().map(|module| (module.package.as_str(), module.path.as_path())).collect();
        assert_eq!(found, [("file", Path::new("/t/file.wasm"))]);
        assert!(modules.0[0].compiled);
        assert!(matches!(modules.component("other"), Err(BuildError::NoModule { package }) if package == "other"));
    }

    #[test]
    fn a_message_of_another_shape_is_an_error() {
        assert!(matches!(read_messages(b"{\"reason\":1}\n"), Err(BuildError::Message { .. })));
    }
}
