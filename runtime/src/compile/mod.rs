//! The step that turns a manifest into a catalog, with the pure definitions of the modules.
//!
//! It runs guests, but only their definitions: nothing here looks at a node, and the same manifest, inputs, files and modules give
//! the same catalog on any machine. Everything that is wrong comes out in one run, each thing at its place in the manifest.

mod assets;
mod declared;
mod edges;
mod graph;
mod messages;
mod overlaps;
mod parameters;
mod resource;
mod secrets;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::engine::Module;
use crate::language::diagnostic::Diagnostics;
use crate::manifest::{Evaluation, Files, Inputs, Manifest};
use crate::model::catalog::{self, CATALOG_VERSION, Catalog, LANGUAGE_VERSION};
use crate::model::digest::AssetDigest;
use crate::model::ids::TypeName;
use crate::model::secret::Secrets;

pub use assets::{Asset, Content};

/// What a manifest is compiled with.
pub struct Sources<'a> {
    /// Values of its variables.
    pub inputs: &'a Inputs,
    /// Facts of the node that it is meant for; without them everything that reads facts waits for the node.
    pub facts: Option<&'a Json>,
    /// Files beside it.
    pub files: Arc<dyn Files>,
    /// The modules that may serve its resource types.
    pub modules: &'a BTreeMap<TypeName, Module>,
}

/// A compiled manifest.
pub struct Compiled {
    /// The catalog.
    pub catalog: Catalog,
    /// The bytes of its assets.
    pub assets: BTreeMap<AssetDigest, Asset>,
    /// The sensitive values that it names.
    pub secrets: Secrets,
}

/// Compiles `manifest`. It runs definitions, and does so on a thread of its own with a large stack.
///
/// # Errors
/// With everything that is wrong.
pub fn compile(manifest: Arc<Manifest>, sources: &Sources<'_>) -> Result<Compiled, Diagnostics> {
    crate::engine::on_large_stack(|| {
        let evaluation = Evaluation::new(manifest, sources.inputs, sources.facts, Arc::clone(&sources.files))?;
        let compiler = Rc::new(Compiler::new(evaluation, sources));
        let compiled = compiler.run();
        let diagnostics = compiler.evaluation.diagnostics();
        match compiled {
            Some(compiled) if !diagnostics.has_errors() => Ok(compiled),
            _ => Err(diagnostics),
        }
    })
}

/// What the parts of one compilation share. Messages gather in the evaluation.
struct Compiler {
    evaluation: Evaluation,
    files: Arc<dyn Files>,
    modules: BTreeMap<TypeName, Module>,
    declared: BTreeMap<crate::model::ids::ResourceId, declared::Declared>,
    /// What the catalog names, as it gathers.
    secrets: RefCell<Secrets>,
}

impl Compiler {
    fn new(evaluation: Evaluation, sources: &Sources<'_>) -> Self {
        let modules = sources.modules.clone();
        let declared = declared::all(&evaluation, &modules);
        Self { evaluation, files: Arc::clone(&sources.files), modules, declared, secrets: RefCell::default() }
    }

    /// The catalog; none if something is so wrong that there is no sense in going on. Messages say what.
    fn run(self: &Rc<Self>) -> Option<Compiled> {
        let scope = parameters::Scope(Rc::clone(self));
        self.evaluation.check_locals(&scope);
        let mut assets = BTreeMap::new();
        let built: Vec<Option<resource::Built>> =
            self.manifest().resources.iter().map(|declaration| self.resource(declaration, &mut assets)).collect();
        // Claims and order are told only of whole catalogs: half of one would give messages about what is missing.
        let built: Vec<resource::Built> = built.into_iter().collect::<Option<_>>()?;
        self.check_overlaps(&built);
        let edges = self.edges(&built);
        let order = self.order(&built, &edges)?;
        let mut built: Vec<Option<resource::Built>> = built.into_iter().map(Some).collect();
        let resources = order.into_iter().map(|place| built[place].take().expect("each place occurs once").resource).collect();
        let catalog = self.catalog(resources, edges, &assets);
        Some(Compiled { catalog, assets, secrets: self.secrets.take() })
    }

    fn catalog(
        &self,
        resources: Vec<catalog::Resource>,
        edges: std::collections::BTreeSet<catalog::Edge>,
        assets: &BTreeMap<AssetDigest, Asset>,
    ) -> Catalog {
        let manifest = self.manifest();
        let module = |name: &TypeName| {
            let module = &self.modules[name];
            catalog::Module { component: module.digest(), schema_version: module.description().schema_version }
        };
        Catalog {
            catalog_version: CATALOG_VERSION,
            language_version: LANGUAGE_VERSION,
            owner: manifest.name.clone(),
            serial: manifest.serial,
            audience: manifest.audience.clone(),
            target_facts: self.evaluation.facts_read(),
            modules: resources.iter().map(|r| (r.id.type_name.clone(), module(&r.id.type_name))).collect(),
            assets: assets.iter().map(|(digest, asset)| (*digest, catalog::Asset { size: asset.size })).collect(),
            secrets: self.secrets.borrow().keys().cloned().collect(),
            node_secrets: secrets::node_secrets(&resources),
            resources,
            edges: edges.into_iter().collect(),
        }
    }

    fn manifest(&self) -> &Arc<Manifest> {
        self.evaluation.manifest()
    }
}
