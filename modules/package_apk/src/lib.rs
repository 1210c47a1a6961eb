//! The provider `apk` of the resource type `package`: apk-tools, on Alpine and what is like it.
//!
//! The host knows the manager and what may be asked of it; this says which systems it serves and what its options mean.

use package_backend::{ConfigurationFiles, Desired, Observation, WhenHeld, Working};
use runtime_sdk::packages::Manager;
use runtime_sdk::provider::{Backend, BackendContext, Interrupted, OptionsSemantics, ProviderDefinition, System};
use runtime_sdk::{Attributes, Capability, Compiled, DefinitionResult, Diagnostic, Footprint, NodeResult, Outcome, Parameters};
use serde::{Deserialize, Serialize};

/// The least of `index_max_age`: what is younger was fetched in this run.
const LEAST_AGE: u64 = 60;

/// Names that other package managers have for an architecture, and this one's.
const ARCHITECTURES: [(&str, &str); 3] = [("amd64", "x86_64"), ("arm64", "aarch64"), ("all", "noarch")];

/// The provider.
pub struct Apk;

runtime_sdk::export_provider!(Apk);

/// The options block.
#[derive(Attributes)]
pub struct Given {
    /// The oldest that the index of packages may be, in seconds, from 60. An older one is fetched anew where a version depends on it. Omitted, the
    /// index is never fetched.
    pub index_max_age: Option<u64>,
}

/// Compiled options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The oldest that the index may be, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_max_age: Option<u64>,
}

impl ProviderDefinition for Apk {
    const TYPE: &'static str = "package";
    const NAME: &'static str = "apk";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Packages by apk-tools, on Alpine and what is like it.";

    type Given = Given;
    type Options = Options;
    type Desired = Desired;

    fn systems() -> Vec<System> {
        vec![System::id("alpine")]
    }

    fn capabilities() -> Vec<Capability> {
        package_backend::capabilities()
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Options>> {
        let index_max_age = Given::index_max_age(given)?;
        let options = Options { index_max_age };
        check(&options)?;
        Ok(Compiled::new(options))
    }

    fn validate(options: &Options, _base: &Footprint, desired: Option<&Desired>) -> DefinitionResult<OptionsSemantics> {
        check(options)?;
        if let Some(desired) = desired {
            refuse(desired)?;
        }
        let semantics = OptionsSemantics::new(Footprint::empty()).capability("packages.read");
        Ok(semantics)
    }
}

fn check(options: &Options) -> DefinitionResult<()> {
    match options.index_max_age {
        Some(age) if age < LEAST_AGE => {
            let diagnostic = Diagnostic::at("index_max_age", format!("`index_max_age` is at least {LEAST_AGE} seconds"));
            Err(diagnostic.into())
        }
        _ => Ok(()),
    }
}

/// Refuses what apk cannot do.
fn refuse(desired: &Desired) -> DefinitionResult<()> {
    if desired.configuration_files == ConfigurationFiles::Replace {
        return Err(
            Diagnostic::at("configuration_files", "apk cannot be told to replace configuration files that were changed").into()
        );
    }
    if desired.hold.is_some() || desired.when_held == WhenHeld::Change {
        return Err(Diagnostic::at("hold", "apk cannot be told to hold a package, or to change one that is held").into());
    }
    Ok(())
}

fn working(options: &Options) -> Working<'_> {
    Working { manager: Manager::Apk, index_max_age: options.index_max_age, recommends: None, source: None }
}

/// The desired state with its architecture in this manager's words.
fn native(desired: &Desired) -> Desired {
    let native =
        |word: &String| ARCHITECTURES.iter().find(|(other, _)| other == word).map_or(word.clone(), |(_, own)| (*own).to_owned());
    Desired { architecture: desired.architecture.as_ref().map(native), ..desired.clone() }
}

impl Backend for Apk {
    type Observation = Observation;

    fn read(desired: &Desired, options: &Options, _context: &BackendContext) -> NodeResult<Observation> {
        working(options).read(&native(desired))
    }

    fn apply(desired: &Desired, options: &Options, current: &Observation, _context: &BackendContext) -> NodeResult<Outcome> {
        working(options).apply(&native(desired), current)
    }

    fn perform(action: &str, _desired: &Desired, options: &Options, _context: &BackendContext) -> NodeResult<Outcome> {
        package_backend::perform(action, &working(options))
    }

    fn recover(desired: &Desired, options: &Options, _operation: &Interrupted, _context: &BackendContext) -> NodeResult<()> {
        package_backend::recover(&working(options), &native(desired))
    }
}

#[cfg(test)]
mod tests {
    use package_backend::{ConfigurationFiles, Ensure, WhenHeld};
    use runtime_sdk::provider::ProviderDefinition as _;
    use runtime_sdk::testing::Given as Declared;

    use super::*;

    fn desired() -> Desired {
        Desired {
            name: "demo".into(),
            ensure: Ensure::Present,
            version: None,
            architecture: Some("amd64".into()),
            hold: None,
            when_held: WhenHeld::Fail,
            allow_downgrade: false,
            configuration_files: ConfigurationFiles::Keep,
        }
    }

    fn validated(options: &Options, desired: &Desired) -> bool {
        Apk::validate(options, &desired.footprint(), Some(desired)).is_ok()
    }

    #[test]
    fn without_options_nothing_is_asked_for() {
        let compiled = Apk::compile(&Declared::new().parameters()).unwrap();
        assert!(compiled.assets.is_empty());
        assert_eq!(compiled.desired.index_max_age, None);
        assert!(validated(&compiled.desired, &desired()));
        assert_eq!(native(&desired()).architecture.as_deref(), Some("x86_64"), "each manager has names of its own");
    }

    #[test]
    fn an_index_is_not_fetched_for_each_package() {
        let compile = |age: u64| Apk::compile(&Declared::new().set("index_max_age", age).parameters());
        assert_eq!(compile(60).unwrap().desired.index_max_age, Some(60));
        assert!(compile(59).is_err());
        let forged = Options { index_max_age: Some(1) };
        assert!(!validated(&forged, &desired()), "a bundle is held to it too");
    }

    #[test]
    fn what_the_manager_cannot_do_is_refused_before_anything_is_done() {
        let options = Apk::compile(&Declared::new().parameters()).unwrap().desired;
        let replace = Desired { configuration_files: ConfigurationFiles::Replace, ..desired() };
        assert!(!validated(&options, &replace));
        assert!(!validated(&options, &Desired { hold: Some(true), ..desired() }));
    }
}
