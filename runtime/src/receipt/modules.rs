//! Which components may run, and loading those.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use host_functions::grant::{Ask, Grant};

use super::{AdmittedModule, AdmittedProviders, ReceiptError, wants};
use crate::builtins;
use crate::bundle::Bundle;
use crate::engine::{Engine, Loaded, Module};
use crate::model::catalog::Catalog;
use crate::model::description::Capability;
use crate::model::digest::ComponentDigest;
use crate::model::ids::TypeName;
use crate::policy::{Builtin, Decision, ModuleIdentity, Policy};

/// What is built into the program, as far as policy lets it run.
#[derive(Default)]
pub struct Builtins {
    /// Resource types.
    pub modules: BTreeMap<TypeName, AdmittedModule>,
    /// Providers.
    pub providers: AdmittedProviders,
}

/// What policy grants to a component, and by which rule.
pub(super) struct Granted {
    pub(super) grant: Grant,
    pub(super) by: String,
}

/// Asks policy about every component of the catalog. Nothing of any has been looked at.
///
/// # Errors
/// All refusals.
pub(super) fn decide(catalog: &Catalog, policy: &Policy) -> Result<BTreeMap<TypeName, Granted>, ReceiptError> {
    let (mut granted, mut refusals) = (BTreeMap::new(), Vec::new());
    for (name, wants) in wants::by_type(catalog) {
        let digest = catalog.modules[name].component;
        let identity = ModuleIdentity { name, digest, builtin: builtin(name, digest), wants: &wants };
        match policy.decide(&identity) {
            Decision::Granted { grant, by } => {
                granted.insert(name.clone(), Granted { grant: *grant, by });
            }
            Decision::Refused(refusal) => refusals.push(refusal),
        }
    }
    if refusals.is_empty() { Ok(granted) } else { Err(ReceiptError::Policy(refusals)) }
}

/// Loads every component, and checks that each is the module that the catalog says.
pub(super) fn load(
    bundle: &Bundle,
    catalog: &Catalog,
    granted: BTreeMap<TypeName, Granted>,
    engine: &Engine,
) -> Result<BTreeMap<TypeName, AdmittedModule>, ReceiptError> {
    let mut modules = BTreeMap::new();
    for (name, granted) in granted {
        let named = &catalog.modules[&name];
        let loaded = engine.load(&bundle.component(named.component)?);
        let module = loaded.map_err(|source| ReceiptError::Component { type_name: name.clone(), source })?;
        let wanted = format!("{name}, schema version {}", named.schema_version);
        let found = format!("{}, schema version {}", module.type_name(), module.description().schema_version);
        if wanted != found {
            return Err(ReceiptError::OtherModule { digest: named.component, wanted, found });
        }
        modules.insert(name, admitted(module, granted.grant)?);
    }
    Ok(modules)
}

/// The modules that are built into the program, with what policy grants them; those that it denies are left out.
///
/// # Errors
/// If one cannot be loaded.
pub fn builtin_modules(policy: &Policy, engine: &Engine) -> Result<Builtins, ReceiptError> {
    let mut builtins = Builtins::default();
    for builtin in builtins::all() {
        let name: TypeName = builtin.name.parse().expect("the build checks the names of built-in modules");
        let wants = BTreeSet::new();
        let identity = ModuleIdentity { name: &name, digest: builtin.digest, builtin: Some(Builtin::Same), wants: &wants };
        let Decision::Granted { grant, .. } = policy.decide(&identity) else { continue };
        let loaded = engine.load_any(builtin.bytes);
        match loaded.map_err(|source| ReceiptError::Component { type_name: name.clone(), source })? {
            Loaded::Type(module) => drop(builtins.modules.insert(name, admitted(module, *grant)?)),
            Loaded::Provider(provider) => {
                let of_type = builtins.providers.entry(provider.type_name().clone()).or_default();
                of_type.insert(provider.name().clone(), super::providers::admitted(provider, *grant)?);
            }
        }
    }
    Ok(builtins)
}

fn admitted(module: Module, grant: Grant) -> Result<AdmittedModule, ReceiptError> {
    let asks = asks(module.type_name(), &module.description().capabilities)?;
    Ok(AdmittedModule { module, grant: Arc::new(grant), asks })
}

/// What the module of that name asks for.
pub(super) fn asks(name: &TypeName, capabilities: &[Capability]) -> Result<Arc<Vec<Ask>>, ReceiptError> {
    let ask = |capability: &Capability| Ask::parse(&capability.interface, &capability.action, &capability.scope);
    let asks = capabilities.iter().map(ask).collect::<Result<Vec<Ask>, _>>();
    asks.map(Arc::new).map_err(|source| ReceiptError::Ask { type_name: name.clone(), source })
}

pub(super) fn builtin(name: &TypeName, digest: ComponentDigest) -> Option<Builtin> {
    let ours = builtins::all().iter().find(|builtin| builtin.name == name.as_str())?.digest;
    Some(if ours == digest { Builtin::Same } else { Builtin::Other { ours } })
}
