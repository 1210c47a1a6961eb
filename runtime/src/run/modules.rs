//! The modules that a manifest is compiled with: those that are built in, and those given on the command line, types and providers alike.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::controller::read;
use super::error::RunError;
use crate::builtins;
use crate::compile::Providers;
use crate::engine::{Engine, Loaded, Module, Provider};
use crate::model::digest::ComponentDigest;
use crate::model::ids::TypeName;

/// What a manifest may be compiled with.
#[derive(Default)]
pub(super) struct Modules {
    /// By resource type.
    pub(super) types: BTreeMap<TypeName, Module>,
    pub(super) providers: Providers,
    /// The bytes of each component.
    pub(super) bytes: BTreeMap<ComponentDigest, Vec<u8>>,
}

/// The built-in modules, and those given on the command line, each under the name of its resource type or `TYPE_PROVIDER`.
pub(super) fn load_modules(engine: &Engine, given: &[(String, PathBuf)]) -> Result<Modules, RunError> {
    let mut modules = Modules::default();
    for builtin in builtins::all() {
        modules.add(engine.load_any(builtin.bytes)?, builtin.bytes.to_vec());
    }
    for (name, path) in given {
        let bytes = read(path)?;
        let loaded = engine.load_any(&bytes).map_err(|source| RunError::Module { name: name.clone(), source })?;
        let own = match &loaded {
            Loaded::Type(module) => module.type_name().clone(),
            Loaded::Provider(provider) => provider.module_name(),
        };
        if own.as_str() != name {
            return Err(RunError::OtherType { name: name.clone(), serves: own.to_string() });
        }
        if builtins::all().iter().any(|builtin| builtin.name == name) {
            return Err(RunError::Reserved { name: name.clone() });
        }
        modules.add(loaded, bytes);
    }
    modules.providers.values().flat_map(BTreeMap::values).try_for_each(|provider| modules.check(provider))?;
    Ok(modules)
}

impl Modules {
    fn add(&mut self, loaded: Loaded, bytes: Vec<u8>) {
        let digest = match loaded {
            Loaded::Type(module) => {
                let digest = module.digest();
                self.types.insert(module.type_name().clone(), module);
                digest
            }
            Loaded::Provider(provider) => {
                let digest = provider.digest();
                let of_type = self.providers.entry(provider.type_name().clone()).or_default();
                of_type.insert(provider.name().clone(), provider);
                digest
            }
        };
        self.bytes.insert(digest, bytes);
    }

    /// That a provider is one of a type that has providers, and that its name and its module's are its own.
    fn check(&self, provider: &Provider) -> Result<(), RunError> {
        let (name, type_name) = (provider.name(), provider.type_name());
        let reason = match self.types.get(type_name) {
            None => format!("no module serves the resource type `{type_name}`, which it is a provider of"),
            Some(module) if !module.description().has_providers => format!("the resource type `{type_name}` has no providers"),
            Some(module) => {
                let description = module.description();
                let is_attribute = description.spellings().contains(name.as_str());
                let is_taken =
                    is_attribute || description.block(name.as_str()).is_some() || description.output(name.as_str()).is_some();
                if is_taken {
                    format!("`{name}` is an attribute, a block or an output of the resource type `{type_name}`")
                } else if self.types.contains_key(&provider.module_name()) {
                    format!("there is a resource type `{}`, and no two modules can have one name", provider.module_name())
                } else {
                    return Ok(());
                }
            }
        };
        Err(RunError::Provider { name: provider.module_name().to_string(), reason })
    }
}
