//! The step that turns a manifest into a catalog, with the pure definitions of the modules.
//!
//! It runs guests, but only their definitions: nothing here looks at a node, and the same manifest, inputs, files and modules give
//! the same catalog on any machine. Everything that is wrong comes out in one run, each thing at its place in the manifest.
//!
//! No source is acquired before the whole manifest has been found sound: declarations, claims and orders first, as drafts; then the
//! bytes, and with them the final states.

mod assets;
mod declared;
mod deferred;
mod draft;
mod edges;
mod exports;
mod graph;
mod messages;
mod origins;
mod overlaps;
mod parameters;
mod providers;
mod resource;
mod secrets;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use crate::acquire::Acquire;
use crate::engine::{Module, Provider};
use crate::language::diagnostic::Diagnostics;
use crate::manifest::{Declaration, Evaluation, Files, Inputs, Manifest};
use crate::model::catalog::{self, CATALOG_VERSION, Catalog, LANGUAGE_VERSION};
use crate::model::description::Description;
use crate::model::digest::AssetDigest;
use crate::model::ids::{ProviderName, ResourceId, TypeName};
use crate::model::secret::Secrets;

pub use assets::{Asset, Content};

/// What a manifest is compiled with.
pub struct Sources<'a> {
    /// Values of its variables.
    pub inputs: &'a Inputs,
    /// Facts of the node that it is meant for; without them everything that reads facts waits for the node.
    pub facts: Option<&'a Json>,
    /// Files beside it, for expressions.
    pub files: Arc<dyn Files>,
    /// Gets the bytes that go along.
    pub acquire: Arc<dyn Acquire>,
    /// The modules that may serve its resource types.
    pub modules: &'a BTreeMap<TypeName, Module>,
    /// The providers that a node may select from, by resource type.
    pub providers: &'a Providers,
}

/// Providers by resource type and name.
pub type Providers = BTreeMap<TypeName, BTreeMap<ProviderName, Provider>>;

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
    acquire: Arc<dyn Acquire>,
    modules: BTreeMap<TypeName, Module>,
    providers: Providers,
    /// What each type describes, with the options blocks of its providers.
    described: BTreeMap<TypeName, Description>,
    declared: BTreeMap<ResourceId, declared::Declared>,
    /// What the catalog names, as it gathers.
    secrets: RefCell<Secrets>,
}

impl Compiler {
    fn new(evaluation: Evaluation, sources: &Sources<'_>) -> Self {
        let modules = sources.modules.clone();
        let providers = sources.providers.clone();
        let described = modules.iter().map(|(name, module)| (name.clone(), with_options(module, providers.get(name)))).collect();
        let declared = declared::all(&evaluation, &described, &providers);
        let acquire = Arc::clone(&sources.acquire);
        Self { evaluation, acquire, modules, providers, described, declared, secrets: RefCell::default() }
    }

    /// The catalog; none if something is so wrong that there is no sense in going on. Messages say what.
    fn run(self: &Rc<Self>) -> Option<Compiled> {
        let scope = exports::Scope(Rc::clone(self));
        self.evaluation.check_locals(&scope);
        let built: Vec<Option<resource::Built>> =
            self.manifest().resources.iter().map(|declaration| self.resource(declaration)).collect();
        // Claims and order are told only of whole catalogs: half of one would give messages about what is missing.
        let built: Vec<resource::Built> = built.into_iter().collect::<Option<_>>()?;
        self.check_overlaps(&built);
        self.check_subscriptions(&built);
        let (edges, ways_out) = self.edges(&built);
        self.check_refreshed(&built, &edges);
        let order = self.order(&built, &edges, &ways_out)?;
        let (built, assets) = self.settle(built, &edges)?;
        let mut built: Vec<Option<resource::Built>> = built.into_iter().map(Some).collect();
        let resources = order.into_iter().map(|place| built[place].take().expect("each place occurs once").resource).collect();
        let catalog = self.catalog(resources, edges, &assets);
        Some(Compiled { catalog, assets, secrets: self.secrets.take() })
    }

    /// Drafts to final states, with the bytes that they wait for. Acquires nothing if anything has been found wrong before.
    fn settle(
        self: &Rc<Self>,
        drafts: Vec<resource::Built>,
        edges: &[catalog::Edge],
    ) -> Option<(Vec<resource::Built>, BTreeMap<AssetDigest, Asset>)> {
        if self.evaluation.diagnostics().has_errors() {
            return None;
        }
        let mut assets = assets::Assets::default();
        let waiting = drafts.iter().any(resource::Built::waits);
        let settled: Vec<Option<resource::Built>> = drafts.into_iter().map(|draft| self.finish(draft, &mut assets)).collect();
        let settled: Vec<resource::Built> = settled.into_iter().collect::<Option<_>>()?;
        if waiting {
            self.check_final_edges(&settled, edges);
        }
        Some((settled, assets.into_map()))
    }

    fn catalog(
        &self,
        resources: Vec<catalog::Resource>,
        edges: Vec<catalog::Edge>,
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
            providers: self.candidates(&resources),
            assets: assets.iter().map(|(digest, asset)| (*digest, catalog::Asset { size: asset.size })).collect(),
            secrets: self.secrets.borrow().keys().cloned().collect(),
            node_secrets: secrets::node_secrets(&resources),
            resources,
            edges,
        }
    }

    /// The modules of every provider that may be selected for one of `resources`.
    fn candidates(&self, resources: &[catalog::Resource]) -> BTreeMap<TypeName, BTreeMap<ProviderName, catalog::Module>> {
        let mut candidates: BTreeMap<TypeName, BTreeMap<ProviderName, catalog::Module>> = BTreeMap::new();
        for resource in resources {
            let Some(backends) = &resource.backends else { continue };
            let known = &self.providers[&resource.id.type_name];
            for name in backends.candidates.keys() {
                let (component, schema_version) = (known[name].digest(), known[name].description().schema_version);
                let of_type = candidates.entry(resource.id.type_name.clone()).or_default();
                of_type.insert(name.clone(), catalog::Module { component, schema_version });
            }
        }
        candidates
    }

    fn manifest(&self) -> &Arc<Manifest> {
        self.evaluation.manifest()
    }

    /// A declaration of this manifest.
    fn declaration(&self, id: &ResourceId) -> &Declaration {
        self.manifest().resource(id).expect("only addresses of this manifest's resources are asked for")
    }
}

/// What a type describes, with an options block for each of its providers.
fn with_options(module: &Module, providers: Option<&BTreeMap<ProviderName, Provider>>) -> Description {
    let mut description = module.description().clone();
    let blocks = providers.into_iter().flat_map(BTreeMap::values).map(|provider| provider.description().block());
    description.blocks.extend(blocks);
    description
}
