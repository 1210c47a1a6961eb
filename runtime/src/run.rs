//! The whole pipeline, one call a step. Read this second, after the crate's table of contents.
//!
//! [`compile`] makes a bundle, anywhere. [`apply`] takes one to a [`Report`] on a node; in noop it is the plan. A step that refuses ends
//! the run before anything has changed; once the walk has begun, every way out is a report.

mod authoring;
mod controller;
mod error;
mod modules;
mod node;
mod on_record;
mod request;
mod time;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use host_functions::facts::Facts;

use crate::acquire::{Progress, Silent};
use crate::bundle::Bundle;
use crate::engine::{Engine, EngineOptions, Loaded};
use crate::model::catalog::Catalog;
use crate::model::description::Description;
use crate::model::digest::{BundleDigest, ComponentDigest};
use crate::model::ids::ResourceId;
use crate::model::provider::ProviderDescription;
use crate::model::report::{Report, RunMode};

pub use crate::apply::{Observer, Unresolved};
pub use authoring::{CheckRequest, check_module, read_samples, transcribe_module};
pub use error::{ErrorKind, RunError};
pub use on_record::{History, ReleaseRequest, ReleaseSummary, RunOnRecord, StateRequest, history, release, show};
pub use request::{CompileRequest, CompileSummary, NodeRequest};
pub use time::of_milliseconds;

/// What recovery did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "what is unresolved blocks its resource"]
pub struct Recovery {
    /// Settled.
    pub recovered: Vec<ResourceId>,
    /// Still open, with what is in the way.
    pub unresolved: BTreeMap<ResourceId, Unresolved>,
}

/// Makes a bundle from a manifest and writes it beside its target, which it then replaces.
///
/// # Errors
/// See [`RunError`]; an older file at the target is then as it was.
pub fn compile(request: &CompileRequest) -> Result<CompileSummary, RunError> {
    compile_watched(request, Arc::new(Silent))
}

/// As [`compile`]; `progress` hears of downloads.
///
/// # Errors
/// As [`compile`].
pub fn compile_watched(request: &CompileRequest, progress: Arc<dyn Progress>) -> Result<CompileSummary, RunError> {
    let compiled = controller::compile(request, progress)?;
    compiled.check_output(&request.output)?;
    let written = compiled.write(&request.output)?;
    Ok(compiled.summary(&written))
}

/// Compiles and writes nothing.
///
/// # Errors
/// As [`compile`].
pub fn validate(request: &CompileRequest) -> Result<CompileSummary, RunError> {
    validate_watched(request, Arc::new(Silent))
}

/// As [`validate`]; `progress` hears of downloads.
///
/// # Errors
/// As [`compile`].
pub fn validate_watched(request: &CompileRequest, progress: Arc<dyn Progress>) -> Result<CompileSummary, RunError> {
    let compiled = controller::compile(request, progress)?;
    let measured = compiled.measure()?;
    Ok(compiled.summary(&measured))
}

/// Takes a bundle to a report: receipt, recovery, plan, claims, the walk. With [`RunMode::Noop`] nothing is written anywhere.
///
/// # Errors
/// If the run is refused or cannot begin, and nothing was touched; or if the journal cannot be written any more.
pub fn apply(request: &NodeRequest, observer: &dyn Observer) -> Result<Report, RunError> {
    apply_watched(request, observer, None)
}

/// As [`apply`]; `watch` is told of every entry of the journal, on the thread that writes it. For tests that stop the process there.
///
/// # Errors
/// As [`apply`].
pub fn apply_watched(
    request: &NodeRequest,
    observer: &dyn Observer,
    watch: Option<crate::journal::Observer>,
) -> Result<Report, RunError> {
    match request.mode {
        RunMode::Noop => node::look(request, observer),
        RunMode::Apply => node::converge(request, observer, watch),
    }
}

/// Settles what interrupted runs left open, with the modules of this program and of the request's bundle, if it has one.
///
/// # Errors
/// If the state or the bundle cannot be used.
pub fn recover(request: &NodeRequest) -> Result<Recovery, RunError> {
    node::recover(request)
}

/// Opens a bundle, and checks its structure and catalog. Nothing in it runs.
///
/// # Errors
/// If it is no bundle.
pub fn inspect_bundle(path: &Path) -> Result<(BundleDigest, Catalog), RunError> {
    let bundle = Bundle::open(path)?;
    let catalog = bundle.catalog()?;
    Ok((bundle.digest(), catalog))
}

/// The facts of the node whose `/` is `root`: most are gathered as they are asked for.
///
/// # Errors
/// If those that are gathered at once cannot be read.
pub fn facts(root: &Path) -> Result<Arc<Facts>, RunError> {
    Ok(Arc::clone(host_functions::Node::open(root, &[])?.facts()))
}

/// What a component says about itself.
#[derive(Debug, Clone, PartialEq)]
pub enum Described {
    /// It serves a resource type.
    Type(Description),
    /// It is a provider of one.
    Provider(ProviderDescription),
}

/// What a component of either kind says about itself. Its `describe` runs, without access to anything.
///
/// # Errors
/// If it is not a component of the contract.
pub fn describe_component(bytes: &[u8]) -> Result<(ComponentDigest, Described), RunError> {
    let described = match Engine::new(EngineOptions::default())?.load_any(bytes)? {
        Loaded::Type(module) => (module.digest(), Described::Type(module.description().clone())),
        Loaded::Provider(provider) => (provider.digest(), Described::Provider(provider.description().clone())),
    };
    Ok(described)
}

/// What a component says about the resource type that it serves. Its `describe` runs, without access to anything.
///
/// # Errors
/// If it is not a component of the contract, or a provider.
pub fn inspect_module(bytes: &[u8]) -> Result<(ComponentDigest, Description), RunError> {
    let module = Engine::new(EngineOptions::default())?.load(bytes)?;
    Ok((module.digest(), module.description().clone()))
}
