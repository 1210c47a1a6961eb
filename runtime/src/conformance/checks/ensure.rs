//! Rules about the words of `ensure`.

use serde_json::Value as Json;

use super::super::probe::{Probe, Refusal};
use super::super::rule::Rule;
use super::super::sample::Sample;
use super::super::subject::{self, Subject, words};
use crate::engine::Compiled;
use crate::model::description::Ensure;

/// The attribute that the words are of.
const ENSURE: &str = "ensure";

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    let Some(ensure) = probe.description().ensure.clone() else {
        for rule in [Rule::EnsureWords, Rule::EnsureCanonical] {
            probe.ledger.not_applicable(rule, "the type has no `ensure`");
        }
        return;
    };
    let words = ensure.values.iter().map(|(word, _)| word).chain(ensure.aliases.iter().map(|(alias, _)| alias));
    for word in words {
        is_of_type(probe, word);
        accepted(probe, subjects, &ensure, word);
    }
    for (alias, word) in &ensure.aliases {
        same_state(probe, subjects, alias, word);
    }
}

fn is_of_type(probe: &Probe<'_>, word: &str) {
    let attribute = probe.description().attributes.iter().find(|attribute| attribute.name == ENSURE);
    if attribute.is_some_and(|attribute| !attribute.attribute_type.accepts(&Json::from(word))) {
        probe.fail(Rule::EnsureWords, None, format!("the word `{word}` is not of the type of `ensure`"));
    }
}

/// Looks for a declaration with `word` that `compile` accepts, and at what becomes of the word in it.
fn accepted(probe: &Probe<'_>, subjects: &[Subject], ensure: &Ensure, word: &str) {
    let has_word = |subject: &&Subject| subject.sample.attributes.get(ENSURE).and_then(Json::as_str) == Some(word);
    if let Some(subject) = subjects.iter().find(has_word) {
        probe.ledger.tried(Rule::EnsureWords);
        let shown = subject.view.as_ref().and_then(|view| view.attributes.get(ENSURE));
        return canonical(probe, ensure, word, &subject.sample, shown);
    }
    let mut refusals = Vec::new();
    for sample in candidates(probe, subjects, word) {
        match probe.compile(&sample) {
            None => {}
            Some(Err(refusal)) => refusals.push((sample, refusal)),
            Some(Ok(compiled)) => {
                probe.ledger.tried(Rule::EnsureWords);
                let shown = shown(probe, &sample, &compiled);
                return canonical(probe, ensure, word, &sample, shown.as_ref());
            }
        }
    }
    never_accepted(probe, word, refusals);
}

/// The declarations that are known to be right, with `word`; whole, and with required attributes alone.
fn candidates(probe: &Probe<'_>, subjects: &[Subject], word: &str) -> Vec<Sample> {
    let required = |name: &str| probe.description().attribute(name).is_some_and(|attribute| attribute.required);
    let mut candidates = Vec::new();
    for subject in subjects {
        let whole = subject.sample.with(ENSURE, Some(Json::from(word)));
        let mut bare = whole.clone();
        bare.attributes.retain(|name, _| name == ENSURE || required(name));
        candidates.extend([whole, bare]);
    }
    candidates
}

/// Only a refusal that blames `ensure` itself says that the word is not accepted; others say that something else is missing.
fn never_accepted(probe: &Probe<'_>, word: &str, refusals: Vec<(Sample, Refusal)>) {
    let blames_word = |refusal: &Refusal| refusal.attribute.as_deref() == Some(ENSURE);
    match refusals.iter().find(|(_, refusal)| !blames_word(refusal)).or(refusals.first()) {
        Some((sample, refusal)) if blames_word(refusal) => {
            probe.fail(Rule::EnsureWords, Some(sample), format!("`{word}` is refused: {}", words(refusal)));
        }
        _ => probe
            .ledger
            .not_tried(Rule::EnsureWords, format!("no declaration with `ensure = \"{word}\"` that the module accepts")),
    }
}

fn shown(probe: &Probe<'_>, sample: &Sample, compiled: &Compiled) -> Option<Json> {
    let desired = subject::assign_all(probe, sample, compiled)?;
    probe.view(sample, &desired)?.ok()?.attributes.remove(ENSURE)
}

/// What the test view shows of a word: itself, or what it is an alias of.
fn canonical(probe: &Probe<'_>, ensure: &Ensure, word: &str, sample: &Sample, shown: Option<&Json>) {
    // A view without `ensure`, or none at all, breaks another rule.
    let Some(shown) = shown else { return };
    probe.ledger.tried(Rule::EnsureCanonical);
    let wanted = ensure.aliases.iter().find(|(alias, _)| alias == word).map_or(word, |(_, word)| word);
    if shown.as_str() != Some(wanted) {
        probe.fail(Rule::EnsureCanonical, Some(sample), format!("`{word}` does not become `{wanted}`"));
    }
}

/// An alias and its word give the same state.
fn same_state(probe: &Probe<'_>, subjects: &[Subject], alias: &str, word: &str) {
    for subject in subjects.iter().filter(|s| s.sample.attributes.get(ENSURE).and_then(Json::as_str) == Some(word)) {
        let sample = subject.sample.with(ENSURE, Some(Json::from(alias)));
        if let Some(answer) = probe.compile(&sample) {
            probe.ledger.tried(Rule::EnsureCanonical);
            if answer.is_err() || answer.is_ok_and(|compiled| compiled != subject.compiled) {
                probe.fail(Rule::EnsureCanonical, Some(&sample), format!("`{alias}` gives another state than `{word}`"));
            }
        }
    }
}
