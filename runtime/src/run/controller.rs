//! The controller's half of the pipeline: a manifest and its modules to a bundle.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::error::RunError;
use super::modules::load_modules;
use super::request::{CompileRequest, CompileSummary};
use crate::acquire::{Acquire, Acquirer, Places, Progress};
use crate::bundle::{self, AssetContent, AssetFile, AssetSource, SALT_BYTES, SecretLayer};
use crate::compile::{self, Asset, Compiled, Content, Sources};
use crate::engine::{Engine, EngineOptions};
use crate::language::diagnostic::{Diagnostic, Diagnostics};
use crate::manifest::{self, FileError, Files, Folder, Inputs};
use crate::model::catalog::State;
use crate::model::digest::{AssetDigest, BundleDigest, ComponentDigest};

/// A compiled manifest with all that goes into its bundle.
pub(super) struct Packed {
    compiled: Compiled,
    catalog: Vec<u8>,
    components: BTreeMap<ComponentDigest, Vec<u8>>,
    secrets: Option<SecretLayer>,
    /// Files beside the manifest that its expressions read.
    read: BTreeSet<PathBuf>,
    /// Fetched sources may lie in a folder that goes with it.
    _acquire: Arc<dyn Acquire>,
}

/// A bundle's digest and its size in bytes.
pub(super) struct Measured {
    digest: BundleDigest,
    size: u64,
}

pub(super) fn compile(request: &CompileRequest, progress: Arc<dyn Progress>) -> Result<Packed, RunError> {
    let engine = Engine::new(EngineOptions { cache: request.cache.clone(), ..EngineOptions::default() })?;
    let modules = load_modules(&engine, &request.modules)?;
    let name = request.manifest.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = read_text(&request.manifest)?;
    let manifest = Arc::new(manifest::read(&name, text).map_err(RunError::Manifest)?);
    let folder = match request.manifest.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let files = Arc::new(Noting::open(&folder)?);
    let acquire = acquirer(request, &folder, progress)?;
    let facts = request.target_facts.as_deref().map(read_facts).transpose()?;
    let inputs = inputs(request)?;
    let modules_by_type = modules.types.iter().map(|(name, module)| (name.clone(), module.clone())).collect();
    let sources = Sources {
        inputs: &inputs,
        facts: facts.as_ref(),
        files: Arc::clone(&files) as Arc<dyn Files>,
        acquire: Arc::clone(&acquire),
        modules: &modules_by_type,
        providers: &modules.providers,
    };
    let compiled = compile::compile(manifest, &sources).map_err(RunError::Manifest)?;
    let catalog = bundle::catalog::encode(&compiled.catalog).map_err(|source| RunError::Catalog { source })?;
    let used: BTreeSet<ComponentDigest> = compiled.catalog.components().iter().map(|(_, module)| module.component).collect();
    let components = modules.bytes.into_iter().filter(|(digest, _)| used.contains(digest)).collect();
    let secrets = SecretLayer::new(&compiled.secrets, random_salt());
    Ok(Packed { compiled, catalog, components, secrets, read: files.noted(), _acquire: acquire })
}

/// The files beside a manifest, and which of them were read.
struct Noting {
    folder: Folder,
    path: PathBuf,
    read: Mutex<BTreeSet<PathBuf>>,
}

impl Noting {
    fn open(path: &Path) -> Result<Self, RunError> {
        let folder = Folder::open(path).map_err(|source| RunError::Input { path: path.to_owned(), source })?;
        Ok(Self { folder, path: path.to_owned(), read: Mutex::default() })
    }

    fn note(&self, path: &str) {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).insert(self.path.join(path));
    }

    fn noted(&self) -> BTreeSet<PathBuf> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Files for Noting {
    fn read(&self, path: &str) -> Result<Vec<u8>, FileError> {
        self.note(path);
        self.folder.read(path)
    }

    fn open(&self, path: &str) -> Result<Box<dyn Read + Send>, FileError> {
        self.note(path);
        self.folder.open(path)
    }

    fn exists(&self, path: &str) -> Result<bool, FileError> {
        self.folder.exists(path)
    }
}

/// Fresh for each bundle with secrets; a bundle without has no use for it and stays reproducible.
fn random_salt() -> [u8; SALT_BYTES] {
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt).expect("the system gives random bytes");
    salt
}

#[expect(clippy::disallowed_methods, reason = "the manifest's folder is relative to where the program was started")]
fn acquirer(request: &CompileRequest, folder: &Path, progress: Arc<dyn Progress>) -> Result<Arc<dyn Acquire>, RunError> {
    let folder = std::path::absolute(folder).map_err(|source| RunError::Input { path: folder.to_owned(), source })?;
    let places = Places { cache: request.cache.clone(), scratch: request.scratch.clone() };
    let acquirer = Acquirer::new(&folder, request.sources.clone(), places, progress).map_err(RunError::Sources)?;
    Ok(Arc::new(acquirer))
}

fn inputs(request: &CompileRequest) -> Result<Inputs, RunError> {
    let mut inputs = Inputs::default();
    for path in &request.variable_files {
        inputs.file(&path.to_string_lossy(), read_text(path)?).map_err(RunError::Manifest)?;
    }
    for (name, value) in &request.variables {
        inputs.variable(&format!("{name}={value}")).map_err(|error| RunError::Manifest(alone(*error)))?;
    }
    Ok(inputs)
}

fn alone(diagnostic: Diagnostic) -> Diagnostics {
    Diagnostics { list: vec![diagnostic], ..Diagnostics::default() }
}

fn read_facts(path: &Path) -> Result<serde_json::Value, RunError> {
    serde_json::from_str(&read_text(path)?).map_err(|error| RunError::Facts { path: path.to_owned(), source: error })
}

/// The largest file that is named on the command line: a component, a manifest, facts.
const MAX_INPUT: u64 = 64 << 20;

#[expect(clippy::disallowed_methods, reason = "inputs that the command line names")]
pub(super) fn read(path: &Path) -> Result<Vec<u8>, RunError> {
    let failed = |source| RunError::Input { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MAX_INPUT + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(RunError::InputTooLarge { path: path.to_owned(), cap: MAX_INPUT });
    }
    Ok(bytes)
}

pub(super) fn read_text(path: &Path) -> Result<String, RunError> {
    let path_of = || path.to_owned();
    String::from_utf8(read(path)?).map_err(|error| match bundle::looks_like_one(error.as_bytes()) {
        true => RunError::InputIsBundle { path: path_of() },
        false => RunError::InputNotText { path: path_of() },
    })
}

impl Packed {
    /// Refuses an output that is one of the files that the bundle is made from, beside those that the command line names.
    #[expect(clippy::disallowed_methods, reason = "a path may lead to a file by another name")]
    pub(super) fn check_output(&self, output: &Path) -> Result<(), RunError> {
        let Ok(output) = output.canonicalize() else { return Ok(()) };
        let stored = self.compiled.assets.values().filter_map(|asset| match &asset.content {
            Content::Stored(stored) => Some(&stored.path),
            Content::Bytes(_) => None,
        });
        match stored.chain(&self.read).find(|path| path.canonicalize().is_ok_and(|path| path == output)) {
            Some(path) => Err(RunError::OutputIsSource { path: path.clone() }),
            None => Ok(()),
        }
    }

    pub(super) fn write(&self, output: &Path) -> Result<Measured, RunError> {
        let measured = self.measure()?;
        bundle::write(output, &self.catalog, &self.component_list(), &self.asset_list(), self.secrets.as_ref())?;
        Ok(measured)
    }

    pub(super) fn measure(&self) -> Result<Measured, RunError> {
        let (digest, size) = bundle::measure(&self.catalog, &self.component_list(), &self.asset_list(), self.secrets.as_ref())?;
        Ok(Measured { digest, size })
    }

    pub(super) fn summary(&self, measured: &Measured) -> CompileSummary {
        let catalog = &self.compiled.catalog;
        let deferred = catalog.resources.iter().filter(|resource| matches!(resource.state, State::Deferred { .. }));
        CompileSummary {
            bundle: measured.digest,
            size: measured.size,
            owner: catalog.owner.clone(),
            resources: catalog.resources.len(),
            deferred: deferred.count(),
            assets: catalog.assets.len(),
            secrets: catalog.secrets.len(),
            modules: catalog.components().into_iter().map(|(name, module)| (name, module.component)).collect(),
        }
    }

    fn component_list(&self) -> Vec<(ComponentDigest, &[u8])> {
        self.components.iter().map(|(digest, bytes)| (*digest, bytes.as_slice())).collect()
    }

    fn asset_list(&self) -> Vec<AssetSource> {
        self.compiled.assets.iter().map(|(digest, asset)| Self::asset(*digest, asset)).collect()
    }

    fn asset(digest: AssetDigest, asset: &Asset) -> AssetSource {
        let content = match &asset.content {
            Content::Bytes(bytes) => AssetContent::Bytes(bytes.to_vec()),
            Content::Stored(stored) => {
                AssetContent::File(AssetFile { path: stored.path.clone(), open: Arc::clone(&stored.open) })
            }
        };
        AssetSource { digest, size: asset.size, content }
    }
}
