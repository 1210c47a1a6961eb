//! Rules about recorded state: migration, equality, replacement, ids.

use serde_json::{Value as Json, json};

use super::super::probe::{Answer, Case, Probe};
use super::super::rule::Rule;
use super::super::subject::{Subject, words};
use super::super::values::{self, NO_NAME};
use crate::engine::{DefinitionError, RecordedState, Session};
use crate::model::description::AttributeType;

/// How many values of one attribute are compared with each other.
const MAX_VALUES: usize = 4;

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject]) {
    let description = probe.description().clone();
    let selectors = &description.selectors;
    let equal = Comparison { function: "equal", call: Session::equal };
    let replace = Comparison { function: "must-replace", call: Session::must_replace };
    let drift = Comparison { function: "must-replace-on-drift", call: Session::must_replace_on_drift };
    for attribute in &description.attributes {
        let values = values_of(subjects, &attribute.name, &attribute.attribute_type);
        equal.check(probe, &attribute.name, &values, selectors.equality.contains(&attribute.name), Some(true));
        replace.check(probe, &attribute.name, &values, selectors.replace_when.contains(&attribute.name), None);
    }
    for output in &description.outputs {
        drift.check(probe, &output.name, &values::plausible(&output.output_type), selectors.drift.contains(&output.name), None);
    }
    for comparison in [&equal, &replace, &drift] {
        comparison.check(probe, NO_NAME, &[json!("a"), json!("b")], false, None);
    }
    ids(probe, subjects, selectors.has_stable_id);
    migrations(probe, subjects, description.schema_version);
}

/// Values that an attribute has in compiled states, and some of its type.
fn values_of(subjects: &[Subject], name: &str, ty: &AttributeType) -> Vec<Json> {
    let seen = subjects.iter().filter_map(|subject| subject.view.as_ref()?.attributes.get(name).cloned());
    let mut values: Vec<Json> = Vec::new();
    for value in seen.chain(values::plausible(ty)) {
        if values.len() < MAX_VALUES && !value.is_null() && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// A function that compares two values of something named.
struct Comparison {
    function: &'static str,
    call: fn(&mut Session, &str, &Json, &Json) -> Result<bool, DefinitionError>,
}

impl Comparison {
    /// Tries each two of `values`. `of_same` is what a value must be to itself, where that is known.
    fn check(&self, probe: &Probe<'_>, name: &str, values: &[Json], is_declared: bool, of_same: Option<bool>) {
        for (one, other) in values.iter().flat_map(|one| values.iter().map(move |other| (one, other))) {
            let Some(answer) = self.ask(probe, name, one, other) else { return };
            probe.ledger.tried(Rule::SelectorsTotal);
            let function = self.function;
            let wrong = match answer {
                Ok(_) if !is_declared => format!("`{function}` answers for `{name}`, which no selector names"),
                Ok(same) if one == other && of_same.is_some_and(|wanted| wanted != same) => {
                    format!("`{function}` says that a value of `{name}` differs from itself")
                }
                Err(refusal) if is_declared => format!("`{function}` gives no answer for `{name}`: {}", words(&refusal)),
                Err(refusal) if !is_declared && refusal.case != Case::Unsupported => {
                    format!("`{function}` refuses `{name}`, which no selector names, otherwise than as unsupported")
                }
                _ => continue,
            };
            return probe.fail(Rule::SelectorsTotal, None, wrong);
        }
    }

    fn ask(&self, probe: &Probe<'_>, name: &str, one: &Json, other: &Json) -> Answer<bool> {
        probe.call(self.function, None, || (self.call)(&mut probe.module.session(self.function)?, name, one, other))
    }
}

fn recorded(subject: &Subject) -> Option<RecordedState> {
    Some(RecordedState { inputs: subject.desired.clone()?, outputs: Some(json!({})) })
}

fn ids(probe: &Probe<'_>, subjects: &[Subject], has_id: bool) {
    for recorded in subjects.iter().filter_map(recorded).take(MAX_VALUES) {
        let ask = || probe.module.session("stable-id")?.stable_id(&recorded);
        let Some(answer) = probe.call("stable-id", None, ask) else { return };
        probe.ledger.tried(Rule::SelectorsTotal);
        let is_unsupported = answer.is_err_and(|refusal| refusal.case == Case::Unsupported);
        if is_unsupported == has_id {
            let what =
                if has_id { "`stable-id` is declared, and unsupported" } else { "`stable-id` answers, and is not declared" };
            return probe.fail(Rule::SelectorsTotal, None, what);
        }
    }
}

/// From the versions before this one a module may migrate; from this one and later ones there is nothing to do.
fn migrations(probe: &Probe<'_>, subjects: &[Subject], version: u32) {
    let Some(recorded) = subjects.iter().find_map(recorded) else { return };
    let earlier = (1..version).rev().take(MAX_VALUES);
    for from in earlier.chain([0, version, version.saturating_add(1)]) {
        let ask = || probe.module.session("migrate")?.migrate(from, &recorded);
        let Some(answer) = probe.call("migrate", None, ask) else { return };
        probe.ledger.tried(Rule::SelectorsTotal);
        if answer.is_ok() && !(1..version).contains(&from) {
            let what = format!("`migrate` takes state of the version {from}, and the type's is {version}");
            return probe.fail(Rule::SelectorsTotal, None, what);
        }
    }
}
