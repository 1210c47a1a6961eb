//! Tool: holds any component against the contract, from outside.
//!
//! [`check`] loads a component, tries each [`Rule`] on the author's declarations and on some made from the descriptors, and says how each
//! went; what could not be tried is said, and never counted as held. It asks the pure half only: nothing here meets a node. Deliberately
//! not here: reading declarations from files, and starting the other process that is to give the same answers ([`Elsewhere`]).

mod checks;
mod generate;
mod given;
mod mutate;
mod probe;
mod provider;
mod report;
mod rule;
mod sample;
mod subject;
#[cfg(test)]
pub(crate) mod testing;
mod told;
mod transcript;
mod values;

use std::time::Duration;

pub use report::{Finding, Report, RuleReport, Severity, Verdict};
pub use rule::Rule;
pub use sample::{ChildBlock, Sample, slot};
pub use transcript::Transcript;

use crate::engine::{CallError, Engine, EngineError, Fault, Loaded, Module};
use crate::model::digest::ComponentDigest;
use probe::Probe;
use report::Ledger;
use transcript::Instances;

/// How long a call should be allowed to take here: a fifth of what a run allows, so that a slower machine can keep to that.
pub const DEADLINE: Duration = Duration::from_secs(2);

/// The most declarations of an author that are used.
pub const MAX_SAMPLES: usize = 64;

/// What is said of a rule that nobody got to.
const NOTHING_TO_TRY: &str = "no declaration got that far";

/// Another process that asks the same component the same.
pub trait Elsewhere {
    /// What [`transcribe`] gives there.
    ///
    /// # Errors
    /// In words, if it gives nothing.
    fn transcript(&self) -> Result<Transcript, String>;
}

/// Checks the component `bytes` with the author's declarations, at most [`MAX_SAMPLES`] of them.
///
/// # Errors
/// If it is not a component of the contract at all.
pub fn check(
    engine: &Engine,
    bytes: &[u8],
    samples: &[Sample],
    elsewhere: Option<&(dyn Elsewhere + Sync)>,
) -> Result<Report, EngineError> {
    match engine.load_any(bytes) {
        Ok(Loaded::Type(module)) => Ok(crate::engine::on_large_stack(|| checked(&module, samples, elsewhere))),
        Ok(Loaded::Provider(found)) => {
            Ok(crate::engine::on_large_stack(|| provider::check(&found, &named_apart(samples), elsewhere)))
        }
        Err(EngineError::Describe { digest, source }) => {
            Ok(undescribed(digest, describe_rule(&source), source.fault.to_string()))
        }
        Err(EngineError::Description { digest, reason }) => Ok(undescribed(digest, Rule::DescribeValid, reason)),
        Err(error) => Err(error),
    }
}

/// What the component `bytes` answers, for comparison with what it answers in another process.
///
/// # Errors
/// If it cannot be loaded.
pub fn transcribe(engine: &Engine, bytes: &[u8], samples: &[Sample]) -> Result<Transcript, EngineError> {
    let module = match engine.load_any(bytes)? {
        Loaded::Type(module) => module,
        Loaded::Provider(found) => {
            return Ok(crate::engine::on_large_stack(|| provider::transcribe(&found, &named_apart(samples))));
        }
    };
    Ok(crate::engine::on_large_stack(|| {
        let ledger = Ledger::default();
        let subjects = subject::gather(&Probe::new(&module, &ledger), &named_apart(samples));
        // Backwards, so that the order of the calls is another, too.
        let samples: Vec<Sample> = subjects.into_iter().rev().map(|subject| subject.sample).collect();
        Transcript::of(&module, &samples, Instances::Fresh)
    }))
}

fn checked(module: &Module, samples: &[Sample], elsewhere: Option<&(dyn Elsewhere + Sync)>) -> Report {
    let ledger = Ledger::default();
    ledger.tried(Rule::DescribeTotal);
    ledger.tried(Rule::DescribeValid);
    let samples = named_apart(samples);
    if samples.is_empty() {
        ledger.not_tried(Rule::SamplesAccepted, "no declaration was given: do so with `--declaration`");
    }
    let probe = Probe::new(module, &ledger);
    let subjects = subject::gather(&probe, &samples);
    checks::describe::check(&probe, &subjects);
    checks::purity::check(&probe, &subjects, elsewhere);
    checks::omitted::check(&probe, &subjects);
    checks::ensure::check(&probe, &subjects);
    checks::assets::check(&probe, &subjects);
    checks::view::check(&probe, &subjects);
    // After purity and the view, by which spoilt states are judged.
    checks::validate::check(&probe, &subjects);
    checks::relationships::check(&probe, &subjects);
    checks::selectors::check(&probe, &subjects);
    checks::messages::check(&probe, &subjects);
    let given = subjects.iter().filter(|subject| subject.sample.is_given).count();
    Report {
        component: module.digest(),
        type_name: Some(module.type_name().clone()),
        given,
        generated: subjects.len() - given,
        rules: ledger.conclude(NOTHING_TO_TRY),
    }
}

/// The samples, each with a name that no other has: answers are told apart by it.
fn named_apart(samples: &[Sample]) -> Vec<Sample> {
    let mut apart: Vec<Sample> = Vec::new();
    for sample in samples.iter().take(MAX_SAMPLES) {
        let name = free_name(&sample.name, apart.iter().map(|known| known.name.as_str()));
        apart.push(Sample { name, ..sample.clone() });
    }
    apart
}

/// `wanted`, or with a number behind it where it is taken.
fn free_name<'a>(wanted: &str, taken: impl Iterator<Item = &'a str> + Clone) -> String {
    let mut name = wanted.to_owned();
    let mut number = 1_usize;
    while taken.clone().any(|known| known == name) {
        number += 1;
        name = format!("{wanted}:{number}");
    }
    name
}

fn describe_rule(error: &CallError) -> Rule {
    match error.fault {
        Fault::Trap { .. } => Rule::DescribeTotal,
        _ => probe::broken_rule(error),
    }
}

/// The report on a component that says nothing of use about itself.
fn undescribed(component: ComponentDigest, rule: Rule, what: String) -> Report {
    let ledger = Ledger::default();
    if rule == Rule::DescribeValid {
        ledger.tried(Rule::DescribeTotal);
    }
    ledger.find(rule, Finding { severity: Severity::Failure, what, sample: None, input: None });
    let rules = ledger.conclude("the component does not describe itself");
    Report { component, type_name: None, given: 0, generated: 0, rules }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins;
    use crate::engine::EngineOptions;

    /// A process like this one, for tests of this crate alone.
    struct Here(Vec<u8>, Vec<Sample>);

    impl Elsewhere for Here {
        fn transcript(&self) -> Result<Transcript, String> {
            transcribe(&engine(), &self.0, &self.1).map_err(|error| error.to_string())
        }
    }

    fn engine() -> Engine {
        Engine::new(EngineOptions { definition_deadline: DEADLINE, ..EngineOptions::default() }).unwrap()
    }

    #[test]
    fn every_builtin_keeps_every_rule() {
        for builtin in builtins::all() {
            let samples = crate::run::read_samples("samples.hcl", builtin.samples.to_owned()).unwrap();
            assert!(!samples.is_empty(), "`modules/{}/samples.hcl` declares nothing", builtin.name);
            let elsewhere = Here(builtin.bytes.to_vec(), samples.clone());
            let report = check(&engine(), builtin.bytes, &samples, Some(&elsewhere)).unwrap();
            for rule in &report.rules {
                let is_kept = matches!(rule.verdict, Verdict::Passed | Verdict::NotApplicable(_));
                let warnings: Vec<_> = rule.findings.iter().filter(|finding| finding.severity > Severity::Note).collect();
                assert!(is_kept && warnings.is_empty(), "{}: {rule:#?}", builtin.name);
            }
        }
    }

    #[test]
    fn what_is_no_component_is_an_error() {
        assert!(matches!(check(&engine(), b"text", &[], None), Err(EngineError::Invalid { .. })));
    }

    #[test]
    fn samples_of_one_name_are_told_apart() {
        let sample = Sample {
            type_name: "thing".parse().unwrap(),
            name: "a".into(),
            is_given: true,
            attributes: Default::default(),
            blocks: vec![],
        };
        let apart = named_apart(&vec![sample; 3]);
        assert_eq!(apart.iter().map(|sample| sample.name.as_str()).collect::<Vec<_>>(), ["a", "a:2", "a:3"]);
        assert_eq!(named_apart(&vec![apart[0].clone(); 100]).len(), MAX_SAMPLES);
    }
}
