//! A whole provider, from what is its own: [`Provider`] of a [`Native`].
//!
//! A provider that works with a manager of the host says its name, its systems, its manager, that manager's words and what it cannot do. All
//! else is the same for each, and is here: how options become a footprint, and how the node is read and changed, by [`Working`].

use std::marker::PhantomData;

use runtime_sdk::packages::Manager;
use runtime_sdk::provider::{Backend, BackendContext, Interrupted, OptionsSemantics, ProviderDefinition, System};
use runtime_sdk::{
    Asset, AssetRef, Attribute, Capability, Compiled, DefinitionResult, Diagnostic, Footprint, NodeResult, Outcome, Parameters,
};

use crate::desired::Desired;
use crate::observation::Observation;
use crate::options::{Offers, Options};
use crate::working::{Working, capabilities, perform, recover};

/// What is a provider's own.
pub trait Native: 'static {
    /// Its name, and that of its options block.
    const NAME: &'static str;

    /// What it works with, one sentence.
    const SUMMARY: &'static str;

    /// The manager.
    const MANAGER: Manager;

    /// The `ID`s of the systems that it serves.
    const SYSTEMS: &'static [&'static str];

    /// Names that other package managers have for an architecture, and this one's.
    const ARCHITECTURES: &'static [(&'static str, &'static str)];

    /// Its options.
    const OFFERS: Offers;

    /// Refuses what the manager cannot do.
    ///
    /// # Errors
    /// If the desired state asks for it.
    fn refuse(desired: &Desired) -> Result<(), Diagnostic>;
}

/// The provider that a [`Native`] is the particular part of: `runtime_sdk::export_provider!(Provider<Apt>);`.
pub struct Provider<N>(PhantomData<N>);

impl<N: Native> Provider<N> {
    /// This manager's name for an architecture. One that it knows under no other name is its own already.
    pub fn architecture(word: &str) -> &str {
        N::ARCHITECTURES.iter().find(|(other, _)| *other == word).map_or(word, |(_, own)| *own)
    }

    /// The desired state with its architecture in this manager's words.
    fn native(desired: &Desired) -> Desired {
        let architecture = desired.architecture.as_deref().map(|word| Self::architecture(word).to_owned());
        Desired { architecture, ..desired.clone() }
    }

    fn working(options: &Options) -> Working<'_> {
        Working {
            manager: N::MANAGER,
            index_max_age: options.index_max_age,
            recommends: options.recommends,
            source: options.source.as_ref().and_then(Asset::name),
        }
    }
}

impl<N: Native> ProviderDefinition for Provider<N> {
    const TYPE: &'static str = "package";
    const NAME: &'static str = N::NAME;
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = N::SUMMARY;

    // Which options there are depends on what is offered: see `attributes`.
    type Given = ();
    type Options = Options;
    type Desired = Desired;

    fn systems() -> Vec<System> {
        N::SYSTEMS.iter().copied().map(System::id).collect()
    }

    fn attributes() -> Vec<Attribute> {
        N::OFFERS.attributes()
    }

    fn capabilities() -> Vec<Capability> {
        capabilities()
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Options>> {
        N::OFFERS.compile(given)
    }

    fn assign_asset(options: &mut Options, slot: &str, asset: AssetRef) -> DefinitionResult<()> {
        options.assign(slot, asset)
    }

    fn validate(options: &Options, _base: &Footprint, desired: Option<&Desired>) -> DefinitionResult<OptionsSemantics> {
        N::OFFERS.check(options)?;
        if let Some(desired) = desired {
            N::refuse(desired)?;
        }
        Ok(options.semantics()?)
    }
}

impl<N: Native> Backend for Provider<N> {
    type Observation = Observation;

    fn read(desired: &Desired, options: &Options, _context: &BackendContext) -> NodeResult<Observation> {
        Self::working(options).read(&Self::native(desired))
    }

    fn apply(desired: &Desired, options: &Options, current: &Observation, _context: &BackendContext) -> NodeResult<Outcome> {
        Self::working(options).apply(&Self::native(desired), current)
    }

    fn perform(action: &str, _desired: &Desired, options: &Options, _context: &BackendContext) -> NodeResult<Outcome> {
        perform(action, &Self::working(options))
    }

    fn recover(desired: &Desired, options: &Options, _operation: &Interrupted, _context: &BackendContext) -> NodeResult<()> {
        recover(&Self::working(options), &Self::native(desired))
    }
}

#[cfg(test)]
mod tests;
