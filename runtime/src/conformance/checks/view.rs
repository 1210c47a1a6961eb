//! Rules about what is shown of a compiled resource: to tests, and to other resources.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::super::probe::Probe;
use super::super::report::Severity;
use super::super::rule::Rule;
use super::super::subject::{Subject, asset_attributes, asset_for, words};
use crate::engine::TestedState;
use crate::model::description::Attribute;
use crate::model::key::escape;

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    let in_assets = asset_attributes(probe, subjects);
    for subject in subjects {
        if let Some(view) = &subject.view {
            probe.ledger.tried(Rule::ViewDeclared);
            view_of(probe, subject, view, &in_assets);
        }
    }
    if !probe.description().attributes.iter().any(|attribute| attribute.exported) {
        for rule in [Rule::ExportEquals, Rule::ExportReads] {
            probe.ledger.not_applicable(rule, "the type exports nothing");
        }
    }
    for attribute in probe.description().attributes.clone().iter().filter(|attribute| attribute.exported) {
        subjects.iter().for_each(|subject| exported(probe, subject, attribute));
    }
}

fn view_of(probe: &Probe<'_>, subject: &Subject, view: &TestedState, in_assets: &BTreeSet<String>) {
    let fail = |what: String| probe.fail(Rule::ViewDeclared, Some(&subject.sample), what);
    let description = probe.description();
    for name in view.attributes.keys() {
        let is_declared = description.attributes.iter().any(|a| a.name == *name) || description.block(name).is_some();
        if !is_declared {
            let alias = description.attribute(name).map(|a| format!(", but an alias of `{}`", a.name)).unwrap_or_default();
            fail(format!("`test-view` shows `{}`, which is no attribute{alias}", escape(name)));
        }
    }
    for attribute in &description.attributes {
        match view.attributes.get(&attribute.name) {
            None if in_assets.contains(&attribute.name) => {}
            None => fail(format!("`test-view` does not show `{}`", attribute.name)),
            Some(Json::Null) => {
                let is_given = subject.sample.attributes.contains_key(&attribute.name);
                if is_given && !in_assets.contains(&attribute.name) {
                    fail(format!("`test-view` shows null for `{}`, which is given", attribute.name));
                }
            }
            Some(value) if !attribute.attribute_type.accepts(value) => {
                fail(format!("what `test-view` shows for `{}` is not of its type", attribute.name));
            }
            // It may be worked out from other attributes; a value that always is the same should be the described default.
            Some(_) if is_unmanaged(probe, subject, attribute) => {
                let what = format!("`test-view` shows a value for `{}`, which is left out and has no default", attribute.name);
                probe.find(Rule::ViewDeclared, Severity::Warning, Some(&subject.sample), what, None);
            }
            Some(_) => {}
        }
    }
    let mut assigned = subject.compiled.assets.iter().map(|request| asset_for(&request.slot));
    if view.content.as_ref().is_some_and(|content| assigned.all(|asset| asset != *content)) {
        fail("`test-view` shows content that is not an asset of the resource".to_owned());
    }
}

/// Whether nothing says that an attribute has a value.
fn is_unmanaged(probe: &Probe<'_>, subject: &Subject, attribute: &Attribute) -> bool {
    let has_word =
        attribute.name == "ensure" && probe.description().ensure.as_ref().is_some_and(|ensure| ensure.default.is_some());
    let is_given = subject.sample.attributes.contains_key(&attribute.name);
    attribute.nullable && attribute.default.is_none() && !has_word && !is_given
}

/// The value that others read is the value that the state has; where nothing is managed there may be none to read.
fn exported(probe: &Probe<'_>, subject: &Subject, attribute: &Attribute) {
    let (answer, reads) = probe.export(&subject.sample, &attribute.name);
    let Some(answer) = answer else { return };
    let name = &attribute.name;
    let shown = subject.view.as_ref().and_then(|view| view.attributes.get(name));
    if let Some(shown) = shown {
        probe.ledger.tried(Rule::ExportEquals);
        match &answer {
            Ok(value) if value != shown => {
                probe.fail(
                    Rule::ExportEquals,
                    Some(&subject.sample),
                    format!("`{name}` is exported as another value than is compiled"),
                );
            }
            Err(refusal) if !shown.is_null() => {
                let what = format!("`{name}` is compiled, and cannot be exported: {}", words(refusal));
                probe.fail(Rule::ExportEquals, Some(&subject.sample), what);
            }
            _ => {}
        }
    }
    probe.ledger.tried(Rule::ExportReads);
    let others: Vec<String> = reads.known.borrow().iter().filter(|read| *read != name).cloned().collect();
    for other in &others {
        let described = probe.description().attributes.iter().find(|a| a.name == *other);
        if described.is_some_and(|other| (other.sensitive && !attribute.sensitive) || other.source) {
            let what = format!("the export of `{name}` reads `{other}`, and so becomes sensitive or waits as that does");
            probe.fail(Rule::ExportReads, Some(&subject.sample), what);
        }
    }
    if !others.is_empty() {
        let list = others.iter().map(|other| format!("`{other}`")).collect::<Vec<_>>().join(", ");
        probe.find(
            Rule::ExportReads,
            Severity::Note,
            None,
            format!("the export of `{name}` also reads {list}"),
            Some(Json::Null),
        );
    }
}
