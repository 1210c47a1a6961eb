//! What the build scripts that embed components do, so that each of them is a few lines.

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::Environment;
use crate::embed::{EmbedError, Names, NamesError, embed, given};
use crate::guests::{BuildError, Guests, build};
use crate::toolchain::{FORCE_VARIABLE, Target, Toolchain, ToolchainError};

/// What in a workspace guests are made of: a build script runs again when one of them changes.
const GUEST_SOURCES: &[&str] = &["Cargo.lock", "Cargo.toml", "modules", "wit"];

/// What a build script knows from cargo.
#[derive(Debug, Clone)]
pub struct Script {
    environment: Environment,
    out_folder: PathBuf,
    workspace: PathBuf,
}

/// Why a build script could not embed its components.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// A variable that cargo sets for build scripts is not set.
    #[error("`{name}` is not set: only cargo runs a build script")]
    NotCargo {
        /// The variable.
        name: &'static str,
    },
    /// No toolchain.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// A guest could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A list could not be used.
    #[error(transparent)]
    Names(#[from] NamesError),
    /// A text of a module could not be read, or not be put into generated code.
    #[error("`{}` cannot be read or written", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A component could not be taken or embedded.
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

impl ScriptError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Toolchain(error) => {
                error.hint().map(|hint| format!("run `cargo xtask setup`, or {}", hint.trim_start_matches("run ")))
            }
            Self::Build(error) => error.hint(),
            Self::NotCargo { .. } | Self::Names(_) | Self::Text { .. } | Self::Embed(_) => None,
        }
    }
}

impl Script {
    /// What cargo tells a build script whose package lies in `depth` folders beneath the workspace's.
    ///
    /// # Errors
    /// If it is not cargo that runs it.
    pub fn new(environment: Environment, depth: usize) -> Result<Self, ScriptError> {
        let path = |name: &'static str| environment.path(name).ok_or(ScriptError::NotCargo { name });
        let out_folder = path("OUT_DIR")?;
        let package = path("CARGO_MANIFEST_DIR")?;
        let workspace = package.ancestors().nth(depth).unwrap_or(&package).to_owned();
        Ok(Self { environment, out_folder, workspace })
    }

    /// The folder of the workspace.
    pub fn workspace(&self) -> &Path {
        &self.workspace
    }

    /// Lines for cargo: run the script again when a component that `given_variable` gives, a source of guests or the forced
    /// toolchain changes.
    pub fn watch(&self, given_variable: Option<&str>) -> impl Iterator<Item = String> {
        let sources = GUEST_SOURCES.iter().map(|name| self.workspace.join(name));
        let changed = sources.chain(given_variable.and_then(|name| self.environment.path(name)));
        let changed = changed.map(|path| format!("cargo::rerun-if-changed={}", path.display()));
        let variables = [FORCE_VARIABLE].into_iter().chain(given_variable);
        changed.chain(variables.map(|name| format!("cargo::rerun-if-env-changed={name}")))
    }

    /// Builds the components and embeds them (see [`embed`]); where the variable `given_variable` names a folder, takes
    /// `FOLDER/NAME.wasm` in place of building.
    ///
    /// # Errors
    /// If a component cannot be built, or a given one cannot be used.
    pub fn embed(&self, names: &Names, given_variable: Option<&str>) -> Result<(), ScriptError> {
        let components = match given_variable.and_then(|name| self.environment.path(name)) {
            Some(folder) => given(&folder, names)?,
            None => self.build(names)?,
        };
        Ok(embed(&self.out_folder, &components)?)
    }

    /// Writes generated code to `generated` in the build's output folder: a list with the text of `modules/NAME/FILE` for each name.
    ///
    /// # Errors
    /// If one cannot be read, or the code cannot be written.
    pub fn embed_texts(&self, names: &Names, file: &str, generated: &str) -> Result<(), ScriptError> {
        let mut code = "&[\n".to_owned();
        for name in names.iter() {
            let path = self.workspace.join("modules").join(name).join(file);
            let text = std::fs::read_to_string(&path).map_err(|source| ScriptError::Text { path, source })?;
            code += &format!("    {text:?},\n");
        }
        let path = self.out_folder.join(generated);
        std::fs::write(&path, code + "]\n").map_err(|source| ScriptError::Text { path, source })
    }

    fn build(&self, names: &Names) -> Result<Vec<crate::Component>, ScriptError> {
        let toolchain = Toolchain::find(&self.environment, Target::Bare)?;
        let target_folder = nested_target_folder(&self.out_folder).join(toolchain.way().name());
        let guests = Guests { workspace: &self.workspace, packages: &names.to_vec(), target_folder: &target_folder };
        Ok(build(&toolchain, &guests)?)
    }
}

/// Where a build script's inner cargo compiles, from the script's own output folder: one folder for all build scripts of a
/// target folder, so that what they share is compiled once, and apart from everything that the outer cargo has locked.
pub fn nested_target_folder(out_folder: &Path) -> PathBuf {
    let is_target = |folder: &&Path| folder.join("CACHEDIR.TAG").is_file();
    out_folder.ancestors().find(is_target).unwrap_or(out_folder).join("components")
}

/// An error, its causes and what to do about it, a line each.
pub fn explain(error: &dyn Error, hint: Option<&str>) -> String {
    let mut text = format!("error: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!("\n  because: {cause}"));
        source = cause.source();
    }
    if let Some(hint) = hint {
        text.push_str(&format!("\n  hint: {hint}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_scripts_of_one_target_folder_share_a_nested_one() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        let out = target.join("debug/build/x-1/out");
        std::fs::create_dir_all(&out).unwrap();
        assert_eq!(nested_target_folder(&out), out.join("components"));
        std::fs::write(target.join("CACHEDIR.TAG"), "").unwrap();
        assert_eq!(nested_target_folder(&out), target.join("components"));
    }

    #[test]
    fn a_missing_toolchain_is_explained_with_what_to_run() {
        let missing = vec!["`rustc` has no standard library for it".to_owned()];
        let error = ScriptError::from(ToolchainError::NotInstalled { target: Target::Bare, missing });
        assert_eq!(
            explain(&error, error.hint().as_deref()),
            "error: nothing on this machine compiles for `wasm32-unknown-unknown`: `rustc` has no standard library for it\n  \
             hint: run `cargo xtask setup`, or `rustup target add wasm32-unknown-unknown`, or on Debian \
             `apt-get install --no-install-recommends rustc-web rust-web-src cargo-web`"
        );
    }
}
