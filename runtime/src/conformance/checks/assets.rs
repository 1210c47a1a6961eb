//! Rules about the assets that a declaration asks for.

use std::collections::BTreeSet;

use super::super::probe::Probe;
use super::super::rule::Rule;
use super::super::sample::Sample;
use super::super::subject::{Subject, asset_for, words};
use super::super::values::NO_NAME;
use crate::engine::{AssetRequest, AssetSource};
use crate::model::asset::AssetRef;
use crate::model::attribute_path::AttributePath;
use crate::model::description::Description;
use crate::model::key::escape;

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    let mut asked = false;
    for subject in subjects {
        asked |= !subject.compiled.assets.is_empty();
        subject.compiled.assets.iter().for_each(|request| named(probe, &subject.sample, request));
        listed(probe, subject);
        unknown_slot(probe, subject);
        sensitive(probe, subject);
    }
    if !asked {
        let reason = "no declaration asks for an asset";
        probe.ledger.not_applicable(Rule::AssetsNamed, reason);
    }
}

/// The attributes that a request names are those of `describe`.
fn named(probe: &Probe<'_>, sample: &Sample, request: &AssetRequest) {
    probe.ledger.tried(Rule::AssetsNamed);
    let slot = escape(&request.slot);
    let described = |path: &str| path.parse().is_ok_and(|path: AttributePath| is_described(probe.description(), &path));
    if !described(&request.attribute) {
        let what = format!("the asset `{slot}` blames `{}`, which is no attribute", request.attribute);
        probe.fail(Rule::AssetsNamed, Some(sample), what);
    }
    match &request.source {
        AssetSource::Parameter(name) if !described(name) => {
            probe.fail(
                Rule::AssetsNamed,
                Some(sample),
                format!("the asset `{slot}` comes from `{}`, which is no attribute", escape(name)),
            );
        }
        AssetSource::Url(_) if request.checksum.is_none() => {
            probe.fail(Rule::AssetsNamed, Some(sample), format!("the asset `{slot}` comes from an address and has no checksum"));
        }
        _ => {}
    }
}

/// Whether a path leads to an attribute, or to a block as a whole.
fn is_described(description: &Description, path: &AttributePath) -> bool {
    let block = path.block.as_ref().map(|(name, _)| name.as_str());
    let is_block = block.is_none_or(|name| description.block(name).is_some());
    is_block && path.name.as_ref().is_none_or(|name| description.attributes_of(block).iter().any(|a| a.name == *name))
}

/// Once they are assigned, `validate` lists just the assets that were asked for.
fn listed(probe: &Probe<'_>, subject: &Subject) {
    let Some(validated) = &subject.validated else { return };
    if !subject.compiled.assets.is_empty() {
        probe.ledger.tried(Rule::AssignSlots);
    }
    let asked: BTreeSet<AssetRef> = subject.compiled.assets.iter().map(|request| asset_for(&request.slot)).collect();
    let listed: BTreeSet<AssetRef> = validated.semantics.assets.iter().cloned().collect();
    if asked != listed {
        let what = "`validate` lists other assets than were asked for and assigned";
        probe.fail(Rule::AssignSlots, Some(&subject.sample), what);
    }
}

fn unknown_slot(probe: &Probe<'_>, subject: &Subject) {
    let Some(answer) = probe.assign(&subject.sample, &subject.compiled.desired, NO_NAME, &asset_for(NO_NAME)) else { return };
    probe.ledger.tried(Rule::AssignSlots);
    if answer.is_ok() {
        probe.fail(Rule::AssignSlots, Some(&subject.sample), "a slot that was not asked for takes an asset");
    }
}

/// Where the bytes come from an attribute's value they may be sensitive: then the name is that of a slot.
fn sensitive(probe: &Probe<'_>, subject: &Subject) {
    let mut desired = subject.compiled.desired.clone();
    let mut assigned = BTreeSet::new();
    for request in &subject.compiled.assets {
        let secret = format!("{}/{}", subject.sample.name, request.attribute);
        let asset = match (&request.source, secret.parse()) {
            (AssetSource::Parameter(_) | AssetSource::Inline(_), Ok(secret)) => AssetRef::Secret(secret),
            _ => asset_for(&request.slot),
        };
        match probe.assign(&subject.sample, &desired, &request.slot, &asset) {
            Some(Ok(next)) => desired = next,
            Some(Err(refusal)) => {
                let what = format!("the slot `{}` refuses a sensitive asset: {}", escape(&request.slot), words(&refusal));
                return probe.fail(Rule::AssignSlots, Some(&subject.sample), what);
            }
            None => return,
        }
        assigned.insert(asset);
    }
    if subject.validated.is_none() || assigned.iter().all(|asset| asset.digest().is_some()) {
        return;
    }
    match probe.validate(&subject.sample, &desired) {
        Some(Ok(validated)) if validated.semantics.assets.iter().cloned().collect::<BTreeSet<_>>() == assigned => {}
        Some(Ok(_)) => {
            probe.fail(Rule::AssignSlots, Some(&subject.sample), "`validate` does not list a sensitive asset by its slot")
        }
        Some(Err(refusal)) => {
            let what = format!("`validate` refuses a state with a sensitive asset: {}", words(&refusal));
            probe.fail(Rule::AssignSlots, Some(&subject.sample), what);
        }
        None => {}
    }
}
