//! What a check found: a verdict a rule, and the findings behind it. Data, and the ledger that it gathers in.

use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::rule::Rule;
use crate::model::digest::ComponentDigest;
use crate::model::ids::TypeName;

/// How many findings of one rule are kept; the rest are counted.
const MAX_FINDINGS: usize = 5;

/// How it went with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It was tried and held each time.
    Passed,
    /// It did not hold.
    Failed,
    /// It could not be tried, or not in full, for this reason. That counts as neither.
    NotTried(String),
    /// The type has nothing that the rule is about, for this reason.
    NotApplicable(String),
}

impl Verdict {
    /// One word, for records.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::NotTried(_) => "not-tried",
            Self::NotApplicable(_) => "not-applicable",
        }
    }

    /// Why, where that is not in the findings.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::NotTried(reason) | Self::NotApplicable(reason) => Some(reason),
            Self::Passed | Self::Failed => None,
        }
    }
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// For information.
    Note,
    /// Probably wrong, which cannot be told from outside.
    Warning,
    /// The rule does not hold.
    Failure,
}

impl Severity {
    /// One word, for records.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

/// Something that was seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What was seen, one sentence. Words of the module in it are escaped and cut.
    pub what: String,
    /// The declaration with which it was seen.
    pub sample: Option<String>,
    /// What was given, where that is not the declaration itself.
    pub input: Option<Json>,
}

/// One rule and how it went.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleReport {
    /// Which.
    pub rule: Rule,
    /// How it went.
    pub verdict: Verdict,
    /// How often it was tried.
    pub tried: u64,
    /// The gravest first, then in order; at most a few.
    pub findings: Vec<Finding>,
    /// How many more there were.
    pub more: u64,
}

/// What came of checking a component.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Which component.
    pub component: ComponentDigest,
    /// The resource type that it serves, if it says so.
    pub type_name: Option<TypeName>,
    /// How many declarations of the author were used.
    pub given: usize,
    /// How many were made from the descriptors.
    pub generated: usize,
    /// Every rule, in their order.
    pub rules: Vec<RuleReport>,
}

impl Report {
    /// How many rules have this verdict.
    pub fn count(&self, word: &str) -> usize {
        self.rules.iter().filter(|rule| rule.verdict.word() == word).count()
    }
}

#[derive(Default)]
struct Entry {
    tried: u64,
    failed: bool,
    not_tried: Option<String>,
    not_applicable: Option<String>,
    findings: Vec<Finding>,
    more: u64,
}

/// Where a check writes what it sees.
#[derive(Default)]
pub(super) struct Ledger(RefCell<BTreeMap<Rule, Entry>>);

impl Ledger {
    /// The rule was tried once more.
    pub(super) fn tried(&self, rule: Rule) {
        self.with(rule, |entry| entry.tried += 1);
    }

    /// Part of the rule could not be tried. The first reason is kept.
    pub(super) fn not_tried(&self, rule: Rule, reason: impl Into<String>) {
        self.with(rule, |entry| entry.not_tried = entry.not_tried.take().or_else(|| Some(reason.into())));
    }

    /// The type has nothing that the rule is about.
    pub(super) fn not_applicable(&self, rule: Rule, reason: impl Into<String>) {
        self.with(rule, |entry| entry.not_applicable = entry.not_applicable.take().or_else(|| Some(reason.into())));
    }

    /// Whether the rule is known not to hold.
    pub(super) fn has_failed(&self, rule: Rule) -> bool {
        self.with(rule, |entry| entry.failed)
    }

    /// Writes down a finding.
    pub(super) fn find(&self, rule: Rule, finding: Finding) {
        self.with(rule, |entry| {
            entry.failed |= finding.severity == Severity::Failure;
            // The same again, with another declaration, says nothing new.
            if entry.findings.iter().any(|known| known.what == finding.what) {
                entry.more += 1;
                return;
            }
            if entry.findings.len() < MAX_FINDINGS {
                entry.findings.push(finding);
                return;
            }
            entry.more += 1;
            let milder = entry.findings.iter_mut().find(|known| known.severity < finding.severity);
            if let Some(milder) = milder {
                *milder = finding;
            }
        });
    }

    fn with<T>(&self, rule: Rule, change: impl FnOnce(&mut Entry) -> T) -> T {
        change(self.0.borrow_mut().entry(rule).or_default())
    }

    /// Every rule with its verdict. What nobody wrote about was not tried, for the reason `otherwise`.
    pub(super) fn conclude(self, otherwise: &str) -> Vec<RuleReport> {
        let mut entries = self.0.into_inner();
        let conclude = |rule: &Rule| {
            let mut entry = entries.remove(rule).unwrap_or_default();
            entry.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
            RuleReport {
                rule: *rule,
                verdict: verdict(&entry, otherwise),
                tried: entry.tried,
                findings: entry.findings,
                more: entry.more,
            }
        };
        Rule::ALL.iter().map(conclude).collect()
    }
}

fn verdict(entry: &Entry, otherwise: &str) -> Verdict {
    match entry {
        Entry { failed: true, .. } => Verdict::Failed,
        Entry { not_tried: Some(reason), .. } => Verdict::NotTried(reason.clone()),
        Entry { tried: 1.., .. } => Verdict::Passed,
        Entry { not_applicable: Some(reason), .. } => Verdict::NotApplicable(reason.clone()),
        _ => Verdict::NotTried(otherwise.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, what: &str) -> Finding {
        Finding { severity, what: what.into(), sample: None, input: None }
    }

    #[test]
    fn what_was_not_tried_never_counts_as_passed() {
        let ledger = Ledger::default();
        ledger.tried(Rule::EnsureWords);
        ledger.not_tried(Rule::EnsureWords, "no declaration with `link`");
        ledger.tried(Rule::CompilePure);
        ledger.not_applicable(Rule::AssignSlots, "no assets");
        ledger.tried(Rule::ValidateTypes);
        ledger.not_tried(Rule::ValidateTypes, "one");
        ledger.find(Rule::ValidateTypes, finding(Severity::Failure, "accepted"));
        let report = ledger.conclude("nothing got that far");
        let of = |rule: Rule| report.iter().find(|report| report.rule == rule).unwrap().verdict.clone();
        assert_eq!(of(Rule::EnsureWords), Verdict::NotTried("no declaration with `link`".into()));
        assert_eq!(of(Rule::CompilePure), Verdict::Passed);
        assert_eq!(of(Rule::AssignSlots), Verdict::NotApplicable("no assets".into()));
        assert_eq!(of(Rule::ValidateTypes), Verdict::Failed);
        assert_eq!(of(Rule::NeverTraps), Verdict::NotTried("nothing got that far".into()));
        assert_eq!(report.len(), Rule::ALL.len());
    }

    #[test]
    fn the_gravest_findings_are_kept_and_the_rest_counted() {
        let ledger = Ledger::default();
        for number in 0..7 {
            ledger.find(Rule::ValidateStrict, finding(Severity::Warning, &number.to_string()));
        }
        ledger.find(Rule::ValidateStrict, finding(Severity::Failure, "grave"));
        ledger.find(Rule::ValidateStrict, finding(Severity::Failure, "grave"));
        let report = ledger.conclude("").into_iter().find(|report| report.rule == Rule::ValidateStrict).unwrap();
        assert_eq!((report.findings.len(), report.more), (MAX_FINDINGS, 4));
        assert_eq!(report.findings[0].what, "grave");
    }
}
