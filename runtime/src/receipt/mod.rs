//! The step that takes a bundle in. It trusts nothing: the bundle's structure and digests have been checked when it was opened; here
//! policy decides about each component, and only then are they loaded and everything that the catalog says of them recomputed.

mod error;
mod recompute;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use host_functions::grant::{Access, Ask, Grant};
use serde_json::{Value as Json, json};

use crate::builtins;
use crate::bundle::Bundle;
use crate::engine::{Engine, Module, on_large_stack};
use crate::model::catalog::Catalog;
use crate::model::digest::ComponentDigest;
use crate::model::facts;
use crate::model::ids::TypeName;
use crate::model::report::{Note, Severity};
use crate::policy::{Builtin, Decision, ModuleIdentity, Policy, Want};

pub use error::{Difference, ReceiptError, Refused};

/// A bundle that this node accepts.
pub struct Admitted {
    /// The open bundle.
    pub bundle: Bundle,
    /// Its catalog, which agrees with the modules.
    pub catalog: Arc<Catalog>,
    /// The module of each resource type, with what it may do.
    pub modules: BTreeMap<TypeName, AdmittedModule>,
    /// What policy decided, as JSON for the receipt.
    pub policy: String,
    /// Findings for the report: unused policy rows and the like.
    pub notes: Vec<Note>,
}

/// A module that this node lets run.
pub struct AdmittedModule {
    /// Loaded, and of the type and schema version that the catalog names.
    pub module: Module,
    /// What policy grants.
    pub grant: Arc<Grant>,
    /// What the module asks for.
    pub asks: Vec<Ask>,
}

/// Takes a bundle in, on a node with these facts.
///
/// # Errors
/// If policy refuses a component or a fact differs ([`ReceiptError::is_refusal`]), or if the bundle is false. Nothing of a component
/// that policy refuses is loaded.
pub fn admit(bundle: Bundle, policy: &Policy, engine: &Engine, facts: &Json) -> Result<Admitted, ReceiptError> {
    let catalog = bundle.catalog()?;
    let decisions = decide(&catalog, policy)?;
    let mut modules = BTreeMap::new();
    for (name, (grant, _)) in &decisions {
        let bytes = bundle.component(catalog.modules[name].component)?;
        modules.insert(name.clone(), load(engine, &bytes, Some((name, catalog.modules[name].schema_version)), grant.clone())?);
    }
    on_large_stack(|| recompute::check(&catalog, &modules))?;
    check_facts(&catalog, facts)?;
    let by = |(name, (_, by)): (&TypeName, &(Grant, String))| (name.to_string(), json!({ "by": by }));
    let policy_text = Json::Object(decisions.iter().map(by).collect()).to_string();
    let notes = unused_rows(&catalog, policy);
    Ok(Admitted { bundle, catalog: Arc::new(catalog), modules, policy: policy_text, notes })
}

/// The modules built into the program, as far as policy lets them run.
///
/// # Errors
/// If one of them cannot be loaded.
pub fn builtin_modules(policy: &Policy, engine: &Engine) -> Result<BTreeMap<TypeName, AdmittedModule>, ReceiptError> {
    let mut modules = BTreeMap::new();
    for builtin in builtins::all() {
        let name: TypeName = builtin.name.parse().expect("a built-in module is named after its type");
        if let Decision::Granted { grant, .. } = decide_one(policy, &name, builtin.digest, &BTreeSet::new()) {
            modules.insert(name, load(engine, builtin.bytes, None, grant)?);
        }
    }
    Ok(modules)
}

/// What policy says of every component: all grants, or all refusals.
fn decide(catalog: &Catalog, policy: &Policy) -> Result<BTreeMap<TypeName, (Grant, String)>, ReceiptError> {
    let mut granted = BTreeMap::new();
    let mut refused = Vec::new();
    for (name, module) in &catalog.modules {
        match decide_one(policy, name, module.component, &wants(catalog, name)) {
            Decision::Granted { grant, by } => drop(granted.insert(name.clone(), (grant, by))),
            Decision::Refused(refusal) => {
                refused.push(Refused { module: name.clone(), component: module.component, refusal });
            }
        }
    }
    if refused.is_empty() { Ok(granted) } else { Err(ReceiptError::Policy { refused }) }
}

fn decide_one(policy: &Policy, name: &TypeName, digest: ComponentDigest, wants: &BTreeSet<Want>) -> Decision {
    let ours = builtins::all().iter().find(|builtin| builtin.name == name.as_str()).map(|builtin| builtin.digest);
    let builtin = ours.map(|ours| if ours == digest { Builtin::Same } else { Builtin::Other { ours } });
    policy.decide(&ModuleIdentity { name, digest, builtin, wants })
}

/// What the resources of a type declare to touch or hold.
fn wants(catalog: &Catalog, name: &TypeName) -> BTreeSet<Want> {
    let own = || catalog.resources.iter().filter(|resource| resource.id.type_name == *name);
    let effects = own().flat_map(|resource| &resource.effects).filter(|effect| effect.domain == "path");
    let touched = effects.flat_map(|effect| {
        let accesses = effect.actions.iter().filter_map(|action| Access::from_word(action));
        accesses.map(|access| Want { access, path: effect.key.clone() })
    });
    let claims = own().flat_map(|resource| &resource.claims).filter(|claim| claim.domain == "path");
    let held = claims.map(|claim| Want { access: Access::Write, path: claim.key.clone() });
    touched.chain(held).collect()
}

fn load(engine: &Engine, bytes: &[u8], expected: Option<(&TypeName, u32)>, grant: Grant) -> Result<AdmittedModule, ReceiptError> {
    let module = engine.load(bytes)?;
    let description = module.description();
    if let Some((name, schema_version)) = expected
        && (description.type_name != *name || description.schema_version != schema_version)
    {
        return Err(ReceiptError::OtherType {
            component: module.digest(),
            named: format!("`{name}`, schema version {schema_version}"),
            serves: format!("`{}`, schema version {}", description.type_name, description.schema_version),
        });
    }
    let asks = description.capabilities.iter().map(|capability| {
        let ask = Ask::parse(&capability.interface, &capability.action, &capability.scope);
        ask.map_err(|source| ReceiptError::Ask { module: description.type_name.clone(), source })
    });
    let asks = asks.collect::<Result<_, _>>()?;
    Ok(AdmittedModule { module, grant: Arc::new(grant), asks })
}

/// Facts that the controller assumed must hold here.
fn check_facts(catalog: &Catalog, here: &Json) -> Result<(), ReceiptError> {
    let differs = |(name, assumed): (&String, &Json)| {
        let found = facts::get(here, name.split('.')).unwrap_or(&Json::Null);
        (found != assumed).then(|| (name.clone(), assumed.to_string(), found.to_string()))
    };
    let differing: Vec<_> = catalog.target_facts.iter().filter_map(differs).collect();
    if differing.is_empty() { Ok(()) } else { Err(ReceiptError::Facts { differing }) }
}

fn unused_rows(catalog: &Catalog, policy: &Policy) -> Vec<Note> {
    let modules: Vec<_> = catalog.modules.iter().map(|(name, module)| (name.clone(), module.component)).collect();
    let note = |unused: crate::policy::Unused| Note {
        severity: Severity::Info,
        message: format!("the policy row `{}` in line {} is not used by this bundle", unused.row, unused.line),
        hint: None,
    };
    policy.unused(&modules).into_iter().map(note).collect()
}
