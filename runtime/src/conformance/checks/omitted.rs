//! Rules about what is left out, given as its default, or waits for the node.

use serde_json::Value as Json;

use super::super::probe::{Case, Probe};
use super::super::rule::Rule;
use super::super::sample::Sample;
use super::super::subject::{Subject, words};
use crate::model::description::Attribute;

/// How many declarations each of these rules is tried on.
const MAX_SUBJECTS: usize = 12;

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    defaults(probe, subjects);
    waiting(probe, subjects);
}

fn defaults(probe: &Probe<'_>, subjects: &[Subject]) {
    let description = probe.description();
    let of_ensure =
        |name: &str| description.ensure.as_ref().filter(|_| name == "ensure").and_then(|ensure| ensure.default.clone());
    let default = |attribute: &Attribute| attribute.default.clone().or_else(|| of_ensure(&attribute.name).map(Json::String));
    if description.attributes.iter().all(|attribute| default(attribute).is_none()) {
        probe.ledger.not_applicable(Rule::DefaultOmitted, "no attribute has a default");
        return;
    }
    each_omitted(probe, subjects, default, |subject, attribute, sample| {
        match probe.compile(sample) {
            // A value may be refused beside others that make no sense of it, where leaving it out is right.
            None | Some(Err(_)) => return,
            Some(Ok(_)) => probe.ledger.tried(Rule::DefaultOmitted),
        }
        if let Some(difference) = difference(probe, subject, sample) {
            let what = format!("the default of `{}` means something else than leaving it out: {difference}", attribute.name);
            probe.fail(Rule::DefaultOmitted, Some(sample), what);
        }
    });
}

/// Goes through declarations without an attribute, with the value that `value` gives for it put in.
fn each_omitted(
    probe: &Probe<'_>,
    subjects: &[Subject],
    value: impl Fn(&Attribute) -> Option<Json>,
    mut check: impl FnMut(&Subject, &Attribute, &Sample),
) {
    for subject in subjects.iter().take(MAX_SUBJECTS) {
        for attribute in &probe.description().attributes {
            if subject.sample.attributes.contains_key(&attribute.name) {
                continue;
            }
            let Some(value) = value(attribute) else { continue };
            let given = subject.sample.with(&attribute.name, Some(value));
            if let Ok(given) = given.canonical(probe.description()) {
                check(subject, attribute, &given);
            }
        }
    }
}

/// How the functions tell `sample` from the subject's own; none if they do not.
fn difference(probe: &Probe<'_>, subject: &Subject, sample: &Sample) -> Option<String> {
    match probe.compile(sample)? {
        Err(refusal) => return Some(format!("`compile` refuses it: {}", words(&refusal))),
        Ok(compiled) if compiled != subject.compiled => return Some("`compile` gives another state".to_owned()),
        Ok(_) => {}
    }
    if let (Some(Ok(footprint)), Some(known)) = (probe.identity(sample), &subject.footprint)
        && footprint != *known
    {
        return Some("`identity` gives another footprint".to_owned());
    }
    None
}

fn waiting(probe: &Probe<'_>, subjects: &[Subject]) {
    let description = probe.description();
    for subject in subjects.iter().take(MAX_SUBJECTS) {
        for attribute in description.attributes.iter().filter(|a| !a.identity && !a.source && a.checksum_of.is_none()) {
            if subject.sample.attributes.contains_key(&attribute.name) {
                wait_for(probe, subject, &attribute.name);
            }
        }
    }
    if description.attributes.iter().all(|a| a.identity || a.source || a.checksum_of.is_some()) {
        probe.ledger.not_applicable(Rule::DeferredPassedOn, "no attribute may wait for the node");
    }
}

fn wait_for(probe: &Probe<'_>, subject: &Subject, name: &str) {
    let (answer, reads) = probe.compile_waiting(&subject.sample, &[name]);
    let Some(answer) = answer else { return };
    if reads.waiting.borrow().is_empty() {
        return;
    }
    probe.ledger.tried(Rule::DeferredPassedOn);
    let wrong = match answer {
        Err(refusal) if refusal.case == Case::Parameter => return,
        Err(refusal) => format!("`compile` refuses it: {}", words(&refusal)),
        Ok(_) => "`compile` goes on without it".to_owned(),
    };
    probe.fail(Rule::DeferredPassedOn, Some(&subject.sample), format!("where `{name}` waits for the node, {wrong}"));
}
