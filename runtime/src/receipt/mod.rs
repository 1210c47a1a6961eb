//! The step that takes a bundle in: it trusts nothing until it has been recomputed here.
//!
//! [`admit`] takes a bundle of which structure and digests are right, asks policy about every component before anything of it is
//! loaded, and then has each module say again what the catalog says. It changes nothing, and does not look at the objects that
//! resources are about.

mod deferred;
mod error;
mod modules;
mod orders;
mod providers;
mod recompute;
mod record;
mod secrets;
mod target;
mod wants;

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "tests make files to look at")]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use host_functions::facts::Facts;
use host_functions::grant::{Ask, Grant};

use crate::bundle::Bundle;
use crate::engine::{Agreement, Engine, Module, Provider};
use crate::model::catalog::Catalog;
use crate::model::digest::ComponentDigest;
use crate::model::ids::{ProviderName, TypeName};
use crate::model::report::{Note, Severity};
use crate::policy::{Policy, SecretReaders};
use crate::providers::Statement;

pub use error::{FactDifference, ReceiptError};
pub use modules::{Builtins, builtin_modules};
pub use orders::OrderError;

/// A bundle that this node accepts.
pub struct Admitted {
    /// The open bundle.
    pub bundle: Bundle,
    /// Its catalog, which agrees with the modules.
    pub catalog: Arc<Catalog>,
    /// The module of each resource type, with what it may do.
    pub modules: BTreeMap<TypeName, AdmittedModule>,
    /// The providers of each resource type that this node lets run.
    pub providers: AdmittedProviders,
    /// What the node's owner says of the providers of each resource type.
    pub statements: BTreeMap<TypeName, Statement>,
    /// The resource types that may use each secret of the node that the catalog reads.
    pub secret_readers: SecretReaders,
    /// What policy decided, as JSON for the receipt.
    pub policy: String,
    /// Findings for the report: unused policy rows and the like.
    pub notes: Vec<Note>,
}

/// Providers by resource type and name.
pub type AdmittedProviders = BTreeMap<TypeName, BTreeMap<ProviderName, AdmittedProvider>>;

/// A provider that this node lets run.
#[derive(Clone)]
pub struct AdmittedProvider {
    /// Loaded, and the one that the catalog names.
    pub provider: Provider,
    /// What policy grants.
    pub grant: Arc<Grant>,
    /// What it asks for.
    pub asks: Arc<Vec<Ask>>,
}

/// A module that this node lets run.
#[derive(Clone)]
pub struct AdmittedModule {
    /// Loaded, and of the type and schema version that the catalog names.
    pub module: Module,
    /// What policy grants.
    pub grant: Arc<Grant>,
    /// What the module asks for.
    pub asks: Arc<Vec<Ask>>,
}

/// Takes `bundle` in on a node with these `facts`.
///
/// In this order: the catalog's own rules; policy for every component; loading; every module's view of every resource, unless it was asked about these
/// very bytes before; the facts that the controller took for granted. Runs definitions, so it blocks.
///
/// # Errors
/// See [`ReceiptError`]; nothing has changed.
pub fn admit(bundle: Bundle, policy: &Policy, engine: &Engine, facts: &Facts) -> Result<Admitted, ReceiptError> {
    let catalog = Arc::new(bundle.catalog()?);
    let granted = modules::decide(&catalog, policy)?;
    let of_providers = providers::decide(&catalog, policy)?;
    let secret_readers = secrets::decide(&catalog, policy)?;
    let refused = policy.refused_health_checks(&catalog);
    if !refused.is_empty() {
        return Err(ReceiptError::Policy(refused));
    }
    let policy_record = record::text(&catalog, &granted, &of_providers.granted, &secret_readers);
    let modules = modules::load(&bundle, &catalog, granted, engine)?;
    let providers = providers::load(&bundle, &catalog, of_providers.granted, engine)?;
    let agreement = Agreement::new(bundle.digest(), asked(&modules, &providers));
    engine.once_agreed(&agreement, || recompute::check(&catalog, &modules, &providers))?;
    target::check(&catalog.target_facts, facts)?;
    let mut notes = of_providers.notes;
    notes.extend(unused_rows(&catalog, policy));
    let statements = providers::statements(&catalog, policy);
    Ok(Admitted { bundle, catalog, modules, providers, statements, secret_readers, policy: policy_record, notes })
}

/// The components that are asked whether they agree with the catalog: those that may run here.
fn asked(modules: &BTreeMap<TypeName, AdmittedModule>, providers: &AdmittedProviders) -> Vec<ComponentDigest> {
    let providers = providers.values().flat_map(BTreeMap::values).map(|admitted| admitted.provider.digest());
    modules.values().map(|admitted| admitted.module.digest()).chain(providers).collect()
}

fn unused_rows(catalog: &Catalog, policy: &Policy) -> Vec<Note> {
    let seen: Vec<_> = catalog.components().into_iter().map(|(name, module)| (name, module.component)).collect();
    let note = |unused: crate::policy::Unused| Note {
        severity: Severity::Info,
        message: format!("the policy row `{}` (line {}) is for no module of this bundle", unused.row, unused.line),
        hint: None,
    };
    let mut unused = policy.unused(&seen);
    unused.extend(policy.unused_secrets(&catalog.owner, &catalog.node_secrets));
    unused.extend(policy.unused_providers(&catalog.modules.keys().cloned().collect()));
    unused.sort_by_key(|unused| unused.line);
    unused.into_iter().map(note).collect()
}
