//! The declarations that a module accepts, each with what its functions say of it: what most rules are tried on.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::free_name;
use super::generate;
use super::probe::{Case, Probe, Refusal};
use super::rule::Rule;
use super::sample::Sample;
use crate::engine::{AssetRequest, AssetSource, Compiled, Footprint, TestedState, Validated};
use crate::model::asset::AssetRef;
use crate::model::digest::AssetDigest;

/// How many declarations are looked into, of those that were made.
const MAX_MADE: usize = 32;

/// A declaration that `compile` accepts.
pub(super) struct Subject {
    pub(super) sample: Sample,
    /// What `compile` gave.
    pub(super) compiled: Compiled,
    /// That, with a name for each asset; none if a slot did not take one.
    pub(super) desired: Option<Json>,
    pub(super) footprint: Option<Footprint>,
    pub(super) validated: Option<Validated>,
    pub(super) view: Option<TestedState>,
}

/// The name that an asset is given.
pub(super) fn asset_for(slot: &str) -> AssetRef {
    AssetRef::Plain(AssetDigest::of(slot.as_bytes()))
}

/// Looks into the author's declarations and those made from the descriptors.
pub(super) fn gather(probe: &Probe<'_>, given: &[Sample]) -> Vec<Subject> {
    let mut gathered =
        Gathered { probe, subjects: given.iter().filter_map(|sample| of_author(probe, sample)).collect(), made: 0 };
    let description = probe.description().clone();
    let mut bases: Vec<Sample> = gathered.subjects.iter().map(|subject| subject.sample.clone()).collect();
    bases.extend(generate::bases(&description).into_iter().filter(|base| gathered.add(base)));
    // The author's declarations come first: the values in them are ones that the module takes.
    for base in &bases {
        for sample in generate::variations(&description, base) {
            gathered.add(&sample);
        }
    }
    gathered.subjects
}

/// What has been gathered so far.
struct Gathered<'a> {
    probe: &'a Probe<'a>,
    subjects: Vec<Subject>,
    made: usize,
}

impl Gathered<'_> {
    /// Looks into a declaration made from the descriptors, and says whether the module accepts it. One that is known, or one too
    /// many, is left out.
    fn add(&mut self, sample: &Sample) -> bool {
        let name = free_name("made", self.subjects.iter().map(|subject| subject.sample.name.as_str()));
        let named = Sample { name, is_given: false, ..sample.clone() };
        let Ok(canonical) = named.canonical(self.probe.description()) else { return false };
        let is_known =
            |known: &Subject| known.sample.attributes == canonical.attributes && known.sample.blocks == canonical.blocks;
        if self.made >= MAX_MADE || self.subjects.iter().any(is_known) {
            return false;
        }
        let Some(Ok(compiled)) = self.probe.compile(&canonical) else { return false };
        self.made += 1;
        self.subjects.push(look(self.probe, canonical, compiled));
        true
    }
}

fn of_author(probe: &Probe<'_>, sample: &Sample) -> Option<Subject> {
    let canonical = match sample.canonical(probe.description()) {
        Ok(canonical) => canonical,
        Err(why) => {
            probe.fail(Rule::SamplesAccepted, Some(sample), why);
            return None;
        }
    };
    match probe.compile(&canonical)? {
        Ok(compiled) => {
            probe.ledger.tried(Rule::SamplesAccepted);
            Some(look(probe, canonical, compiled))
        }
        Err(refusal) => {
            probe.fail(Rule::SamplesAccepted, Some(&canonical), format!("`compile` refuses it: {}", words(&refusal)));
            None
        }
    }
}

/// The words of a refusal, with the attribute that it blames.
pub(super) fn words(refusal: &Refusal) -> String {
    match (&refusal.attribute, refusal.case) {
        (Some(attribute), _) => format!("`{attribute}`: {}", refusal.words),
        (None, Case::Parameter) => "a parameter could not be read, it says, though each could".to_owned(),
        (None, _) => refusal.words.clone(),
    }
}

fn look(probe: &Probe<'_>, sample: Sample, compiled: Compiled) -> Subject {
    let footprint = match probe.identity(&sample) {
        Some(Ok(footprint)) => Some(footprint),
        Some(Err(refusal)) => {
            let what = format!("`identity` refuses what `compile` accepts: {}", words(&refusal));
            probe.fail(Rule::IdentityFootprint, Some(&sample), what);
            None
        }
        None => None,
    };
    let desired = assign_all(probe, &sample, &compiled);
    let validated = desired.as_ref().and_then(|desired| validate(probe, &sample, desired));
    let view = match desired.as_ref().filter(|_| validated.is_some()).and_then(|desired| probe.view(&sample, desired)) {
        Some(Ok(view)) => Some(view),
        Some(Err(refusal)) => {
            let what = format!("`test-view` refuses what `validate` accepts: {}", words(&refusal));
            probe.fail(Rule::ViewDeclared, Some(&sample), what);
            None
        }
        None => None,
    };
    Subject { sample, compiled, desired, footprint, validated, view }
}

/// The desired state with every asset assigned.
pub(super) fn assign_all(probe: &Probe<'_>, sample: &Sample, compiled: &Compiled) -> Option<Json> {
    let mut desired = compiled.desired.clone();
    for request in &compiled.assets {
        match probe.assign(sample, &desired, &request.slot, &asset_for(&request.slot))? {
            Ok(assigned) => desired = assigned,
            Err(refusal) => {
                let slot = crate::model::key::escape(&request.slot);
                probe.fail(Rule::AssignSlots, Some(sample), format!("the slot `{slot}` is refused: {}", words(&refusal)));
                return None;
            }
        }
    }
    Some(desired)
}

fn validate(probe: &Probe<'_>, sample: &Sample, desired: &Json) -> Option<Validated> {
    match probe.validate(sample, desired)? {
        Ok(validated) => {
            probe.ledger.tried(Rule::ValidateAccepts);
            Some(validated)
        }
        Err(refusal) => {
            probe.fail(Rule::ValidateAccepts, Some(sample), words(&refusal));
            None
        }
    }
}

/// The attribute whose value an asset is made of, as far as the request tells.
fn origin(request: &AssetRequest) -> &str {
    match &request.source {
        AssetSource::Parameter(name) => name,
        AssetSource::Inline(_) | AssetSource::Local(_) | AssetSource::Url(_) => &request.attribute,
    }
}

/// Attributes that end up in assets, or say where those come from: a test view has no values of them.
pub(super) fn asset_attributes(probe: &Probe<'_>, subjects: &[Subject]) -> BTreeSet<String> {
    let sources = probe.description().attributes.iter().filter(|a| a.source || a.checksum_of.is_some()).map(|a| a.name.clone());
    let requests = subjects.iter().flat_map(|subject| &subject.compiled.assets);
    sources.chain(requests.map(|request| origin(request).to_owned())).collect()
}
