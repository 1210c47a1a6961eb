//! The whole pipeline, one call a step.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use crate::model::catalog::Catalog;
use crate::model::description::Description;
use crate::model::digest::{BundleDigest, ComponentDigest};
use crate::model::ids::{OwnerName, ResourceId, TypeName};
use crate::model::report::{Report, ResourceReport, RunMode};

/// What to compile.
#[derive(Debug, Clone)]
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
    /// Modules that are not built in.
    pub modules: Vec<(String, PathBuf)>,
    /// Where compiled code is kept.
    pub cache: Option<PathBuf>,
}

/// What was compiled.
#[derive(Debug, Clone)]
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
    /// The component of each type.
    pub modules: BTreeMap<TypeName, ComponentDigest>,
}

/// What to do with a bundle on a node.
#[derive(Debug, Clone)]
pub struct NodeRequest {
    /// The bundle.
    pub bundle: PathBuf,
    /// The node's `/`.
    pub root: PathBuf,
    /// Where state is kept.
    pub state_dir: PathBuf,
    /// The policy file; none for the default policy.
    pub policy: Option<PathBuf>,
    /// Where compiled code is kept.
    pub cache: Option<PathBuf>,
    /// Whether it may change the node.
    pub mode: RunMode,
    /// How many resources at once.
    pub parallelism: usize,
    /// Stop after the first failure.
    pub fail_fast: bool,
}

/// Hears how a run goes.
pub trait Observer: Send + Sync {
    /// The run is admitted and has this many resources.
    fn begun(&self, total: usize);

    /// A resource has ended.
    fn resource(&self, resource: &ResourceReport);
}

/// What recovery did.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// What is safe again.
    pub recovered: Vec<ResourceId>,
    /// What is not, why, and what to do.
    pub unresolved: Vec<(ResourceId, String, Option<String>)>,
}

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// What was asked for cannot be.
    Usage,
    /// A manifest, bundle or policy is wrong.
    BadData,
    /// A file could not be read or written.
    Io,
    /// Another run holds the lock.
    Locked,
    /// The run was refused.
    Refused,
    /// An intent is unresolved.
    Unresolved,
}

/// Why a command of the pipeline did not give its result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Not joined with the pipeline yet.
    #[error("the pipeline is not part of this build")]
    Absent,
}

impl RunError {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::Io
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        None
    }
}

/// Makes a bundle.
pub fn compile(_request: &CompileRequest) -> Result<CompileSummary, RunError> {
    Err(RunError::Absent)
}

/// As [`compile`], but writes nothing.
pub fn validate(_request: &CompileRequest) -> Result<CompileSummary, RunError> {
    Err(RunError::Absent)
}

/// Takes a bundle to a report.
pub fn apply(_request: &NodeRequest, _observer: &dyn Observer) -> Result<Report, RunError> {
    Err(RunError::Absent)
}

/// Settles open intents.
pub fn recover(_request: &NodeRequest) -> Result<Recovery, RunError> {
    Err(RunError::Absent)
}

/// Opens a bundle and checks it.
pub fn inspect_bundle(_bundle: &Path) -> Result<(BundleDigest, Catalog), RunError> {
    Err(RunError::Absent)
}

/// The node's facts.
pub fn facts(_root: &Path) -> Result<Json, RunError> {
    Err(RunError::Absent)
}

/// What a component says about itself.
pub fn inspect_module(_bytes: &[u8]) -> Result<(ComponentDigest, Description), RunError> {
    Err(RunError::Absent)
}
