//! Rules about what a type says of itself.

use std::collections::BTreeSet;

use host_functions::grant::Ask;

use super::super::probe::Probe;
use super::super::rule::Rule;
use super::super::subject::Subject;
use crate::model::description::Description;
use crate::model::key::escape;

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    documented(probe);
    asks(probe);
    rights(probe, subjects);
}

fn documented(probe: &Probe<'_>) {
    probe.ledger.tried(Rule::DescribeDocumented);
    for (name, text) in texts(probe.description()) {
        if text.trim().is_empty() {
            probe.fail(Rule::DescribeDocumented, None, format!("{name} has no text"));
        }
    }
}

fn texts(description: &Description) -> Vec<(String, &str)> {
    let mut texts = vec![("the type's summary".to_owned(), description.summary.as_str())];
    texts.extend(description.attributes.iter().map(|a| (format!("the attribute `{}`", a.name), a.doc.as_str())));
    for block in &description.blocks {
        texts.push((format!("the block `{}`", block.name), block.doc.as_str()));
        let of_block = |name: &str| format!("the attribute `{name}` of the block `{}`", block.name);
        texts.extend(block.attributes.iter().map(|a| (of_block(&a.name), a.doc.as_str())));
    }
    texts.extend(description.outputs.iter().map(|output| (format!("the output `{}`", output.name), output.doc.as_str())));
    let words = description.ensure.iter().flat_map(|ensure| &ensure.values);
    texts.extend(words.map(|(word, text)| (format!("the word `{word}` of `ensure`"), text.as_str())));
    texts
}

fn asks(probe: &Probe<'_>) {
    let capabilities = &probe.description().capabilities;
    if capabilities.is_empty() {
        probe.ledger.not_applicable(Rule::CapabilityAsks, "the type asks for no right");
    }
    let mut seen = BTreeSet::new();
    for capability in capabilities {
        probe.ledger.tried(Rule::CapabilityAsks);
        let shown = format!("{}.{} `{}`", capability.interface, capability.action, capability.scope);
        if let Err(error) = Ask::parse(&capability.interface, &capability.action, &capability.scope) {
            probe.fail(Rule::CapabilityAsks, None, format!("{shown}: {}", escape(&error.to_string())));
        }
        if capability.reason.trim().is_empty() {
            probe.fail(Rule::CapabilityAsks, None, format!("{shown} has no reason for the owner of a node"));
        }
        if !seen.insert((&capability.interface, &capability.action, &capability.scope)) {
            probe.fail(Rule::CapabilityAsks, None, format!("{shown} is asked for twice"));
        }
    }
}

/// What a resource needs must be among what its type asks for, or it could never run.
fn rights(probe: &Probe<'_>, subjects: &[Subject]) {
    let asked: BTreeSet<String> =
        probe.description().capabilities.iter().map(|c| format!("{}.{}", c.interface, c.action)).collect();
    for subject in subjects {
        let needed = subject.validated.iter().flat_map(|validated| &validated.semantics.capabilities);
        for right in needed.filter(|right| !asked.contains(*right)) {
            let what = format!("`validate` needs the right `{}`, which `describe` does not ask for", escape(right));
            probe.fail(Rule::CapabilityAsks, Some(&subject.sample), what);
        }
    }
}
