//! Rules about answers being the same: in one instance called twice, in another order, in another instance, in another process.

use super::super::Elsewhere;
use super::super::probe::Probe;
use super::super::rule::Rule;
use super::super::sample::Sample;
use super::super::subject::Subject;
use super::super::transcript::{Instances, Transcript};

/// The rules that a transcript is about.
const RULES: [Rule; 3] = [Rule::DescribeStable, Rule::CompilePure, Rule::AnswersRepeat];

pub(in super::super) fn check(probe: &Probe<'_>, subjects: &[Subject], elsewhere: Option<&(dyn Elsewhere + Sync)>) {
    let samples: Vec<Sample> = subjects.iter().map(|subject| subject.sample.clone()).collect();
    let backwards: Vec<Sample> = samples.iter().rev().cloned().collect();
    let twice: Vec<Sample> = samples.iter().chain(&samples).cloned().collect();
    let fresh = Transcript::of(probe.module, &samples, Instances::Fresh);
    let again = Transcript::of(probe.module, &samples, Instances::Fresh);
    // The second answer of one instance takes the place of the first.
    let repeated = Transcript::of(probe.module, &twice, Instances::One);
    let reversed = Transcript::of(probe.module, &backwards, Instances::One);
    let described = described_again(probe);
    for function in fresh.answers.keys() {
        probe.ledger.tried(rule_of(function));
    }
    compare(probe, &fresh, &again, "in another instance");
    compare(probe, &fresh, &repeated, "when one instance is asked again");
    compare(probe, &fresh, &reversed, "when one instance is asked in another order");
    if !described {
        probe.fail(Rule::DescribeStable, None, "`describe` answers otherwise when one instance is asked again");
    }
    let other = elsewhere.map_or_else(|| Err("there is none to ask".to_owned()), |elsewhere| elsewhere.transcript());
    match other {
        Ok(other) => compare(probe, &fresh, &other, "in another process, with another environment"),
        Err(why) => RULES.iter().for_each(|rule| probe.ledger.not_tried(*rule, format!("not in another process: {why}"))),
    }
}

/// Whether one instance describes itself alike three times, and as it did when it was loaded.
fn described_again(probe: &Probe<'_>) -> bool {
    let Ok(mut session) = probe.module.session("describe") else { return true };
    (0..3).all(|_| match session.describe() {
        Ok(Ok(description)) => description == *probe.description(),
        Ok(Err(_)) => false,
        Err(error) => {
            probe.broken(&error, None);
            true
        }
    })
}

fn rule_of(function: &str) -> Rule {
    match function {
        "describe" => Rule::DescribeStable,
        "compile" | "assign-asset" => Rule::CompilePure,
        _ => Rule::AnswersRepeat,
    }
}

/// What `compile` gave goes into the other functions, so that only it is told where it differs.
fn compare(probe: &Probe<'_>, one: &Transcript, other: &Transcript, how: &str) {
    let found = one.differences(other);
    let compiled_otherwise =
        |sample: &str| found.iter().any(|(function, key)| rule_of(function) == Rule::CompilePure && first_word(key) == sample);
    for (function, key) in &found {
        let follows =
            matches!(function.as_str(), "validate" | "test-view" | "relationships") && compiled_otherwise(first_word(key));
        if !follows {
            let of = if key.is_empty() { String::new() } else { format!(" for `{key}`") };
            probe.fail(rule_of(function), None, format!("`{function}` answers otherwise{of} {how}"));
        }
    }
}

fn first_word(key: &str) -> &str {
    key.split(' ').next().unwrap_or_default()
}
