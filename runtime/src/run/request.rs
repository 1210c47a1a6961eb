//! What a run is asked for, and what compiling gives. Data only; the command line fills in every default.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use super::error::RunError;
use crate::acquire;
use crate::model::digest::{BundleDigest, ComponentDigest};
use crate::model::ids::{OwnerName, TypeName};
use crate::model::report::RunMode;

/// What to compile. Its debug output does not show values of variables.
#[derive(Clone)]
pub struct CompileRequest {
    /// The manifest.
    pub manifest: PathBuf,
    /// Where the bundle goes.
    pub output: PathBuf,
    /// Variables as text, in the order given.
    pub variables: Vec<(String, String)>,
    /// Files of variables, in the order given.
    pub variable_files: Vec<PathBuf>,
    /// Facts of the node that it is meant for.
    pub target_facts: Option<PathBuf>,
    /// Modules that are not built in, by resource type.
    pub modules: Vec<(String, PathBuf)>,
    /// What of files and addresses may go along.
    pub sources: acquire::Settings,
    /// Where compiled code and fetched sources are kept.
    pub cache: Option<PathBuf>,
    /// Where a folder for fetched sources can be made, if there is no cache.
    pub scratch: PathBuf,
}

impl fmt::Debug for CompileRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variables: Vec<&String> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("CompileRequest").field("manifest", &self.manifest).field("variables", &variables).finish_non_exhaustive()
    }
}

/// What was compiled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileSummary {
    /// The bundle.
    pub bundle: BundleDigest,
    /// Its size in bytes.
    pub size: u64,
    /// The manifest's name.
    pub owner: OwnerName,
    /// How many resources.
    pub resources: usize,
    /// How many of them are settled on the node.
    pub deferred: usize,
    /// How many assets.
    pub assets: usize,
    /// How many sensitive values.
    pub secrets: usize,
    /// The component of each type.
    pub modules: BTreeMap<TypeName, ComponentDigest>,
}

/// What to do with a bundle on a node.
#[derive(Debug, Clone)]
pub struct NodeRequest {
    /// The bundle; only recovery can do without.
    pub bundle: Option<PathBuf>,
    /// The node's `/`.
    pub root: PathBuf,
    /// Where state is kept.
    pub state_dir: PathBuf,
    /// The policy file; none for the default policy.
    pub policy: Option<PathBuf>,
    /// Where the secrets of the node are.
    pub secrets_dir: PathBuf,
    /// Where compiled code is kept.
    pub cache: Option<PathBuf>,
    /// Where a private copy of the state may be made, for looking at what a crash left.
    pub scratch: PathBuf,
    /// This program's own file, kept from resources.
    pub program: Option<PathBuf>,
    /// Whether it may change the node.
    pub mode: RunMode,
    /// How many resources at once.
    pub parallelism: usize,
    /// Stop after the first failure.
    pub fail_fast: bool,
    /// Run health checks and do nothing else; with [`RunMode::Noop`] alone.
    pub health_only: bool,
}

impl NodeRequest {
    /// The bundle.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn bundle(&self) -> Result<&Path, RunError> {
        self.bundle.as_deref().ok_or(RunError::NoBundle)
    }
}
