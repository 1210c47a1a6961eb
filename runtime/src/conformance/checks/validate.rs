//! Rules about what `validate` refuses: states that `compile` cannot have given.
//!
//! From outside it is not known what a state may look like. So a spoilt state that is accepted is held against the module itself:
//! what its test view shows is compiled again, and if that gives the very same state, `compile` can give it after all.

use serde_json::Value as Json;

use super::super::mutate::{self, Kind, Mutation};
use super::super::probe::Probe;
use super::super::report::Severity;
use super::super::rule::Rule;
use super::super::sample::Sample;
use super::super::subject::{self, Subject};
use crate::engine::{TestedState, Validated};

/// The rules that a module must keep to be held against itself.
const JUDGES: [Rule; 3] = [Rule::ViewDeclared, Rule::CompilePure, Rule::AssignSlots];

/// How many declarations are spoilt.
const MAX_SUBJECTS: usize = 12;

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    footprints(probe, subjects);
    let known = subjects.iter().filter(|subject| subject.validated.is_some());
    for subject in known.take(MAX_SUBJECTS) {
        let Some(desired) = &subject.desired else { continue };
        for mutation in mutate::all(desired) {
            spoilt(probe, subject, &mutation);
        }
    }
}

fn footprints(probe: &Probe<'_>, subjects: &[Subject]) {
    for subject in subjects {
        let (Some(footprint), Some(validated)) = (&subject.footprint, &subject.validated) else { continue };
        probe.ledger.tried(Rule::IdentityFootprint);
        let differs = [
            ("claims", footprint.claims != validated.footprint.claims),
            ("effects", footprint.effects != validated.footprint.effects),
            ("affected paths", footprint.affected_paths != validated.footprint.affected_paths),
        ];
        for (what, _) in differs.into_iter().filter(|(_, differs)| *differs) {
            let what = format!("`identity` and `validate` give other {what}");
            probe.fail(Rule::IdentityFootprint, Some(&subject.sample), what);
        }
    }
}

fn spoilt(probe: &Probe<'_>, subject: &Subject, mutation: &Mutation) {
    let Some(answer) = probe.validate(&subject.sample, &mutation.state) else { return };
    let rule = match mutation.kind {
        Kind::Unknown => Rule::ValidateUnknown,
        Kind::Type => Rule::ValidateTypes,
        Kind::Removed | Kind::Value => Rule::ValidateStrict,
    };
    probe.ledger.tried(rule);
    let Ok(validated) = answer else { return };
    let severity = match can_be_compiled(probe, subject, &mutation.state, &validated) {
        Origin::Compiled => return,
        // A view or a `compile` that breaks a rule of its own proves nothing of `validate`.
        _ if JUDGES.iter().any(|judge| probe.ledger.has_failed(*judge)) => Severity::Warning,
        // Nor does a test view have child blocks in it.
        _ if !subject.sample.blocks.is_empty() && rule != Rule::ValidateUnknown => Severity::Warning,
        Origin::Other if rule == Rule::ValidateStrict => Severity::Warning,
        Origin::Refused | Origin::Other => Severity::Failure,
    };
    let what = format!("`validate` accepts a state in which {}", mutation.what);
    probe.find(rule, severity, Some(&subject.sample), what, Some(shortened(&mutation.state)));
}

/// A state for people: texts that were put in to be huge are not shown in full.
fn shortened(state: &Json) -> Json {
    match state {
        Json::String(text) if text.len() > 200 => {
            Json::from(format!("{}… ({} bytes)", text.chars().take(40).collect::<String>(), text.len()))
        }
        Json::Array(list) => list.iter().map(shortened).collect(),
        Json::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), shortened(value))).collect::<serde_json::Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// What compiling gives for what the test view shows of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// That state.
    Compiled,
    /// Another one.
    Other,
    /// Nothing: the view, the descriptors or `compile` refuses it.
    Refused,
}

/// Compiles what the test view shows of `state`.
fn can_be_compiled(probe: &Probe<'_>, subject: &Subject, state: &Json, validated: &Validated) -> Origin {
    let Some(Ok(view)) = probe.view(&subject.sample, state) else { return Origin::Refused };
    let mut origin = Origin::Refused;
    for sample in candidates(probe, subject, &view, validated) {
        let Ok(sample) = sample.canonical(probe.description()) else { continue };
        let Some(Ok(compiled)) = probe.compile(&sample) else { continue };
        if subject::assign_all(probe, &sample, &compiled).as_ref() == Some(state) {
            return Origin::Compiled;
        }
        origin = Origin::Other;
    }
    origin
}

/// The declarations that a test view may be of: the subject's with what it shows put in, with and without its assets.
fn candidates(probe: &Probe<'_>, subject: &Subject, view: &TestedState, validated: &Validated) -> Vec<Sample> {
    let mut sample = subject.sample.clone();
    for (name, value) in &view.attributes {
        // What is not an attribute breaks another rule.
        if probe.description().attributes.iter().any(|attribute| attribute.name == *name) {
            sample = sample.with(name, Some(value.clone()).filter(|value| !value.is_null()));
        }
    }
    let mut without = sample.clone();
    if validated.semantics.assets.is_empty() {
        for request in &subject.compiled.assets {
            without = without.without(&request.attribute);
            // A checksum of nothing is refused as a rule.
            for attribute in &probe.description().attributes {
                if attribute.checksum_of.as_ref() == Some(&request.attribute) {
                    without = without.without(&attribute.name);
                }
            }
        }
    }
    vec![sample, without]
}
