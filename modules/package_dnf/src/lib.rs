//! The provider `dnf` of the resource type `package`: rpm with dnf, on Fedora, Red Hat and what is like them.
//!
//! The host knows the manager and what may be asked of it; this says which systems it serves and what its options mean.

use package_backend::{ConfigurationFiles, Desired, Observation, Source, Working};
use runtime_sdk::packages::Manager;
use runtime_sdk::provider::{Backend, BackendContext, Interrupted, OptionsSemantics, ProviderDefinition, System};
use runtime_sdk::{
    Asset, AssetRef, Attributes, Capability, Compiled, DefinitionError, DefinitionResult, Diagnostic, Footprint, NodeResult,
    Outcome, Parameters,
};
use serde::{Deserialize, Serialize};

/// The least of `index_max_age`: what is younger was fetched in this run.
const LEAST_AGE: u64 = 60;

/// Names that other package managers have for an architecture, and this one's.
const ARCHITECTURES: [(&str, &str); 4] = [("amd64", "x86_64"), ("arm64", "aarch64"), ("all", "noarch"), ("i386", "i686")];

/// The provider.
pub struct Dnf;

runtime_sdk::export_provider!(Dnf);

/// The options block.
#[derive(Attributes)]
pub struct Given {
    /// The oldest that the index of packages may be, in seconds, from 60. An older one is fetched anew where a version depends on it. Omitted, the
    /// index is never fetched.
    pub index_max_age: Option<u64>,
    /// Whether packages are installed too that others recommend. Omitted, it is as the node's package manager is configured.
    pub recommends: Option<bool>,
    /// A package file to install from, `….rpm`: beneath the manifest's folder, or an `https` address, which needs a `checksum`. It is installed where
    /// the package is not there, or not at `version`.
    #[attribute(source)]
    pub source: Option<String>,
    /// The digest that the bytes of `source` must have: `sha256:` and 64 lower-case hex digits.
    #[attribute(checksum_of = "source")]
    pub checksum: Option<String>,
}

/// Compiled options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The oldest that the index may be, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_max_age: Option<u64>,
    /// Whether recommended packages are installed too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommends: Option<bool>,
    /// The package file to install from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Asset>,
}

impl ProviderDefinition for Dnf {
    const TYPE: &'static str = "package";
    const NAME: &'static str = "dnf";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Packages by rpm with dnf, on Fedora, Red Hat and what is like them.";

    type Given = Given;
    type Options = Options;
    type Desired = Desired;

    fn systems() -> Vec<System> {
        vec![
            System::id("fedora"),
            System::id("rhel"),
            System::id("centos"),
            System::id("rocky"),
            System::id("almalinux"),
            System::id("amzn"),
        ]
    }

    fn capabilities() -> Vec<Capability> {
        package_backend::capabilities()
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Options>> {
        let index_max_age = Given::index_max_age(given)?;
        let source = Source::given(Given::source(given)?, Given::checksum(given)?)?;
        let options =
            Options { index_max_age, recommends: Given::recommends(given)?, source: source.as_ref().map(|_| Asset::pending()) };
        check(&options)?;
        let compiled = Compiled::new(options);
        Ok(match source {
            Some(source) => source.ask(compiled),
            None => compiled,
        })
    }

    fn assign_asset(options: &mut Options, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
        match (Source::is_slot(slot), &mut options.source) {
            (Ok(()), Some(source)) => {
                source.assign(asset);
                Ok(())
            }
            _ => Err(DefinitionError::Other(format!("no asset was asked for under the slot `{slot}`"))),
        }
    }

    fn validate(options: &Options, _base: &Footprint, desired: Option<&Desired>) -> DefinitionResult<OptionsSemantics> {
        check(options)?;
        if let Some(desired) = desired {
            refuse(desired)?;
        }
        let semantics = OptionsSemantics::new(Footprint::empty()).capability("packages.read");
        Ok(match options.source.as_ref() {
            None => semantics,
            Some(source) => {
                semantics.asset(source.name().ok_or_else(|| Diagnostic::at("source", "the package file has no name"))?)
            }
        })
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

/// Refuses what dnf cannot do.
fn refuse(desired: &Desired) -> DefinitionResult<()> {
    if desired.configuration_files == ConfigurationFiles::Replace {
        return Err(
            Diagnostic::at("configuration_files", "dnf cannot be told to replace configuration files that were changed").into()
        );
    }
    Ok(())
}

fn working(options: &Options) -> Working<'_> {
    Working {
        manager: Manager::Dnf,
        index_max_age: options.index_max_age,
        recommends: options.recommends,
        source: options.source.as_ref().and_then(Asset::name),
    }
}

/// The desired state with its architecture in this manager's words.
fn native(desired: &Desired) -> Desired {
    let native =
        |word: &String| ARCHITECTURES.iter().find(|(other, _)| other == word).map_or(word.clone(), |(_, own)| (*own).to_owned());
    Desired { architecture: desired.architecture.as_ref().map(native), ..desired.clone() }
}

impl Backend for Dnf {
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
        Dnf::validate(options, &desired.footprint(), Some(desired)).is_ok()
    }

    #[test]
    fn without_options_nothing_is_asked_for() {
        let compiled = Dnf::compile(&Declared::new().parameters()).unwrap();
        assert!(compiled.assets.is_empty());
        assert_eq!(compiled.desired.index_max_age, None);
        assert!(validated(&compiled.desired, &desired()));
        assert_eq!(native(&desired()).architecture.as_deref(), Some("x86_64"), "each manager has names of its own");
    }

    #[test]
    fn an_index_is_not_fetched_for_each_package() {
        let compile = |age: u64| Dnf::compile(&Declared::new().set("index_max_age", age).parameters());
        assert_eq!(compile(60).unwrap().desired.index_max_age, Some(60));
        assert!(compile(59).is_err());
        let forged = Options { index_max_age: Some(1), ..compile(60).unwrap().desired };
        assert!(!validated(&forged, &desired()), "a bundle is held to it too");
    }

    #[test]
    fn what_the_manager_cannot_do_is_refused_before_anything_is_done() {
        let options = Dnf::compile(&Declared::new().parameters()).unwrap().desired;
        let replace = Desired { configuration_files: ConfigurationFiles::Replace, ..desired() };
        assert!(!validated(&options, &replace));
        assert!(validated(&options, &Desired { hold: Some(true), ..desired() }));
    }

    #[test]
    fn a_package_file_is_named_by_its_digest_and_an_address_needs_one() {
        let compile = |given: Declared| Dnf::compile(&given.parameters());
        let digest = format!("sha256:{}", "ab".repeat(32));
        let address = || Declared::new().set("source", "https://example.com/demo");
        assert!(compile(address()).is_err());
        assert!(compile(Declared::new().set("checksum", digest.clone())).is_err(), "of nothing");
        let mut compiled = compile(address().set("checksum", digest.clone())).unwrap();
        assert_eq!(compiled.assets[0].checksum.as_ref(), Some(&digest));
        let slot = compiled.assets[0].slot.clone();
        assert!(!validated(&compiled.desired, &desired()), "it has no name yet");
        Dnf::assign_asset(&mut compiled.desired, &slot, digest.clone()).unwrap();
        let semantics = Dnf::validate(&compiled.desired, &desired().footprint(), None).unwrap();
        assert_eq!(semantics.assets, std::slice::from_ref(&digest));
        assert!(Dnf::assign_asset(&mut compiled.desired, "other", digest).is_err());
    }
}
