//! Calls into the module under check. Each is held against the rules that every call is held to; which rule a failed call breaks
//! is decided here, once.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::Value as Json;

use super::given::{Given, Reads};
use super::report::{Finding, Ledger, Severity};
use super::rule::Rule;
use super::sample::Sample;
use super::values;
use crate::engine::{CallError, Compiled, DefinitionError, Fault, Footprint, Module, Parameters, TestedState, Validated};
use crate::model::asset::AssetRef;
use crate::model::description::Description;

/// What every call is held to.
const EVERY_CALL: [Rule; 4] = [Rule::ImportsNone, Rule::LimitsKept, Rule::NeverTraps, Rule::AnswersForm];

/// A definition's own refusal: the call itself went well.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    /// The attribute that it blames.
    pub(super) attribute: Option<String>,
    /// Its words.
    pub(super) words: String,
    /// Which case of the contract it is.
    pub(super) case: Case,
}

/// The cases of `definition-error`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Parameter,
    Invalid,
    Unsupported,
    Other,
}

/// What a call gave: none if it failed, which is written down.
pub(super) type Answer<T> = Option<Result<T, Refusal>>;

/// The module under check.
pub(super) struct Probe<'a> {
    pub(super) module: &'a Module,
    pub(super) ledger: &'a Ledger,
    /// Functions that met a limit. They are not called again: each call would take as long.
    exhausted: RefCell<BTreeSet<&'static str>>,
}

impl<'a> Probe<'a> {
    pub(super) fn new(module: &'a Module, ledger: &'a Ledger) -> Self {
        Self { module, ledger, exhausted: RefCell::default() }
    }

    pub(super) fn description(&self) -> &Description {
        self.module.description()
    }

    pub(super) fn identity(&self, sample: &Sample) -> Answer<Footprint> {
        let (given, reads) = Given::new(sample, self.description(), &[]);
        let id = sample.id(self.description());
        let answer = self.call("identity", Some(sample), || self.module.footprint(&id, given as Rc<dyn Parameters>));
        self.check_reads("identity", sample, &reads);
        if answer.is_some() {
            self.ledger.tried(Rule::IdentityReads);
        }
        answer
    }

    pub(super) fn compile(&self, sample: &Sample) -> Answer<Compiled> {
        self.compile_waiting(sample, &[]).0
    }

    /// Compiles with attributes that wait for the node, and says which of them were read.
    pub(super) fn compile_waiting(&self, sample: &Sample, waiting: &[&str]) -> (Answer<Compiled>, Rc<Reads>) {
        let (given, reads) = Given::new(sample, self.description(), waiting);
        let id = sample.id(self.description());
        let answer = self.call("compile", Some(sample), || self.module.compile(&id, given as Rc<dyn Parameters>));
        self.check_reads("compile", sample, &reads);
        (answer, reads)
    }

    pub(super) fn export(&self, sample: &Sample, attribute: &str) -> (Answer<Json>, Rc<Reads>) {
        let (given, reads) = Given::new(sample, self.description(), &[]);
        let id = sample.id(self.description());
        let answer =
            self.call("resolve-export", Some(sample), || self.module.resolve_export(&id, attribute, given as Rc<dyn Parameters>));
        self.check_reads("resolve-export", sample, &reads);
        (answer, reads)
    }

    pub(super) fn assign(&self, sample: &Sample, desired: &Json, slot: &str, asset: &AssetRef) -> Answer<Json> {
        self.call("assign-asset", Some(sample), || self.module.assign_asset(desired, slot, asset))
    }

    pub(super) fn validate(&self, sample: &Sample, desired: &Json) -> Answer<Validated> {
        let answer = self.call("validate", Some(sample), || self.module.validate(desired));
        if matches!(answer, Some(Ok(_))) {
            self.ledger.tried(Rule::ValidateSemantics);
        }
        answer
    }

    pub(super) fn view(&self, sample: &Sample, desired: &Json) -> Answer<TestedState> {
        self.call("test-view", Some(sample), || self.module.test_view(desired))
    }

    /// Calls `function`, and writes down whether the call kept to what every call must keep to.
    pub(super) fn call<T>(
        &self,
        function: &'static str,
        sample: Option<&Sample>,
        call: impl FnOnce() -> Result<T, DefinitionError>,
    ) -> Answer<T> {
        if self.exhausted.borrow().contains(function) {
            return None;
        }
        match call() {
            Err(DefinitionError::Call(error)) => {
                self.broken(&error, sample);
                None
            }
            answer => {
                EVERY_CALL.iter().for_each(|rule| self.ledger.tried(*rule));
                Some(answer.map_err(|error| self.refusal(function, sample, error)))
            }
        }
    }

    /// Writes down that a call failed.
    pub(super) fn broken(&self, error: &CallError, sample: Option<&Sample>) {
        let rule = broken_rule(error);
        if rule == Rule::LimitsKept {
            self.exhausted.borrow_mut().insert(error.function);
        }
        self.fail(rule, sample, format!("`{}`: {}", error.function, error.fault));
    }

    fn refusal(&self, function: &'static str, sample: Option<&Sample>, error: DefinitionError) -> Refusal {
        let words = error.to_string();
        let refusal = match error {
            DefinitionError::Invalid(message) => {
                let all = [message.attribute.as_deref(), Some(&message.message), message.hint.as_deref()];
                if all.into_iter().flatten().any(values::quotes_mark) {
                    self.fail(Rule::MessagesSilent, sample, format!("`{function}` quotes a value in its message"));
                }
                Refusal { attribute: message.attribute, words, case: Case::Invalid }
            }
            DefinitionError::Unsupported { .. } => Refusal { attribute: None, words, case: Case::Unsupported },
            DefinitionError::Parameter => Refusal { attribute: None, words, case: Case::Parameter },
            DefinitionError::Other(_) | DefinitionError::Call(_) => Refusal { attribute: None, words, case: Case::Other },
        };
        if refusal.case != Case::Invalid && values::quotes_mark(&refusal.words) {
            self.fail(Rule::MessagesSilent, sample, format!("`{function}` quotes a value in its message"));
        }
        self.ledger.tried(Rule::MessagesSilent);
        refusal
    }

    fn check_reads(&self, function: &str, sample: &Sample, reads: &Reads) {
        self.ledger.tried(Rule::ReadsDescribed);
        for name in reads.unknown.borrow().iter() {
            self.fail(Rule::ReadsDescribed, Some(sample), format!("`{function}` reads `{name}`, which `describe` does not have"));
        }
    }

    /// Writes down that `rule` does not hold.
    pub(super) fn fail(&self, rule: Rule, sample: Option<&Sample>, what: impl Into<String>) {
        self.find(rule, Severity::Failure, sample, what, None);
    }

    /// Writes down a finding of any weight.
    pub(super) fn find(
        &self,
        rule: Rule,
        severity: Severity,
        sample: Option<&Sample>,
        what: impl Into<String>,
        input: Option<Json>,
    ) {
        let (name, shown) = (sample.map(|sample| sample.name.clone()), sample.map(Sample::shown));
        self.ledger.find(rule, Finding { severity, what: what.into(), sample: name, input: input.or(shown) });
    }
}

/// Which rule a failed call breaks.
pub(super) fn broken_rule(error: &CallError) -> Rule {
    match (&error.fault, error.function) {
        (Fault::Impure { .. }, _) => Rule::ImportsNone,
        (Fault::Deadline { .. } | Fault::Memory { .. } | Fault::Table { .. } | Fault::Stack, _) => Rule::LimitsKept,
        (Fault::NotIdentity { .. }, _) => Rule::IdentityReads,
        (Fault::Trap { .. }, _) => Rule::NeverTraps,
        (Fault::Answer { .. }, "validate") => Rule::ValidateSemantics,
        (Fault::Answer { .. }, "relationships") => Rule::RelationshipsOwn,
        (Fault::Answer { .. }, _) => Rule::AnswersForm,
    }
}
