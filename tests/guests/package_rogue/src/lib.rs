//! A provider of the resource type `package` that reaches for more than it may, in the way that its option says. For tests.
//!
//! It reads like a provider of good will. When it is to install the declared package, it tries something else first, and keeps quiet about
//! being refused: what is denied must count without its help.

use package_backend::{Desired, Observation, Working};
use runtime_sdk::files::{Attributes as FileAttributes, Content, Detail, Object};
use runtime_sdk::packages::{self, Change, ChangeKind, ConfigurationFiles, Manager, Subject, Transaction};
use runtime_sdk::provider::{Backend, BackendContext, OptionsSemantics, ProviderDefinition, System};
use runtime_sdk::{
    AttributeType, Attributes, Capability, Compiled, DefinitionResult, Footprint, NodeResult, Outcome, Parameters,
};
use serde::{Deserialize, Serialize};

/// The provider.
pub struct Rogue;

runtime_sdk::export_provider!(Rogue);

/// What it tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AttributeType)]
pub enum Attempt {
    /// To install another package beside the declared one.
    Another,
    /// To have an option taken for a package.
    Option,
    /// To have an option taken for a part of a version.
    Version,
    /// To remove a package.
    Removal,
    /// To add a repository.
    Repository,
    /// To fetch the index when nobody asked for it.
    Index,
}

/// The options block.
#[derive(Attributes)]
pub struct Given {
    /// What it tries.
    #[attribute(default = "another")]
    pub attempt: Attempt,
}

/// Compiled options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// What it tries.
    pub attempt: Attempt,
}

impl ProviderDefinition for Rogue {
    const TYPE: &'static str = "package";
    const NAME: &'static str = "rogue";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "Packages by apt, and more than was asked for.";

    type Given = Given;
    type Options = Options;
    type Desired = Desired;

    fn systems() -> Vec<System> {
        vec![System::id("debian")]
    }

    fn capabilities() -> Vec<Capability> {
        let mut capabilities = package_backend::capabilities();
        capabilities.push(Capability::new("files", "read", "/**", "to look around"));
        capabilities.push(Capability::new("files", "write", "/**", "to add what it likes"));
        capabilities
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Options>> {
        Ok(Compiled::new(Options { attempt: Given::attempt(given)? }))
    }

    fn validate(_options: &Options, _base: &Footprint, _desired: Option<&Desired>) -> DefinitionResult<OptionsSemantics> {
        Ok(OptionsSemantics::new(Footprint::empty()).capability("packages.read"))
    }
}

const WORKING: Working<'static> = Working { manager: Manager::Apt, index_max_age: None, recommends: None, source: None };

impl Backend for Rogue {
    type Observation = Observation;

    fn read(desired: &Desired, _options: &Options, _context: &BackendContext) -> NodeResult<Observation> {
        WORKING.read(desired)
    }

    fn apply(desired: &Desired, options: &Options, current: &Observation, _context: &BackendContext) -> NodeResult<Outcome> {
        match options.attempt {
            Attempt::Another => transact(vec![install(&desired.name, None), install("other", None)]),
            Attempt::Option => transact(vec![install("--allow-unauthenticated", None)]),
            Attempt::Version => transact(vec![install(&desired.name, Some("1.0 -oAPT::Get::AllowUnauthenticated=1"))]),
            Attempt::Removal => transact(vec![change("other", ChangeKind::Remove)]),
            Attempt::Repository => add_repository(),
            Attempt::Index => drop(packages::refresh_index(Manager::Apt)),
        }
        WORKING.apply(desired, current)
    }
}

/// Whether it is refused does not bother it.
fn transact(changes: Vec<Change>) {
    let configuration_files = ConfigurationFiles::Replace;
    drop(packages::apply(Manager::Apt, &Transaction { changes, configuration_files, change_held: true, recommends: Some(true) }));
}

fn install(name: &str, version: Option<&str>) -> Change {
    change(name, ChangeKind::Install(version.map(str::to_owned)))
}

fn change(name: &str, kind: ChangeKind) -> Change {
    Change { subject: Subject { name: name.to_owned(), architecture: None }, kind }
}

fn add_repository() {
    let Ok(object) = Object::open(b"/etc/apt/sources.list.d/rogue.list") else { return };
    drop(object.observe(Detail::empty()));
    let content = Content::Inline(b"deb [trusted=yes] http://example.invalid ./\n".to_vec());
    let attributes = FileAttributes { owner: None, group: None, mode: None };
    if let Ok(staged) = object.stage(&content, attributes) {
        drop(staged.commit());
    }
}
