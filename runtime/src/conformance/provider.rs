//! Holds a provider against the rules, as far as they are about what it has: its description, and options that are compiled and checked.
//!
//! The author's declarations are of the type that it serves; what counts is their options block. Others are made from the descriptors. What the
//! type says a resource touches is not known here: the base that the provider is given is empty.

use std::rc::Rc;

use host_functions::grant::Ask;
use serde_json::{Value as Json, json};
use sha2::{Digest as _, Sha256};

use super::given::{Given, Reads};
use super::mutate::{self, Kind};
use super::probe::broken_rule;
use super::report::{Finding, Ledger, Report, Severity};
use super::rule::Rule;
use super::sample::Sample;
use super::subject::asset_for;
use super::told::{Told as _, request};
use super::transcript::Transcript;
use super::{Elsewhere, generate};
use crate::engine::{CallError, CompiledOptions, DefinitionError, Footprint, Parameters, Provider, ValidatedOptions};
use crate::model::description::Description;
use crate::model::key::escape;

/// How many declarations are looked into, of those that were made.
const MAX_MADE: usize = 32;

/// Rules about what only a resource type has, or that are looked into for types alone.
const OF_TYPES: [Rule; 15] = [
    Rule::DefaultOmitted,
    Rule::DeferredPassedOn,
    Rule::EnsureWords,
    Rule::EnsureCanonical,
    Rule::AssetsNamed,
    Rule::ValidateSemantics,
    Rule::ValidateTypes,
    Rule::ValidateStrict,
    Rule::ViewDeclared,
    Rule::ExportEquals,
    Rule::ExportReads,
    Rule::RelationshipsOwn,
    Rule::RelationshipsActions,
    Rule::SelectorsTotal,
    Rule::MessagesSilent,
];

/// Checks a provider with the author's declarations.
pub(super) fn check(provider: &Provider, samples: &[Sample], elsewhere: Option<&(dyn Elsewhere + Sync)>) -> Report {
    let ledger = Ledger::default();
    let probe = ProviderProbe { provider, ledger: &ledger, described: provider.description().options_as_type() };
    ledger.tried(Rule::DescribeTotal);
    ledger.tried(Rule::DescribeValid);
    probe.description();
    let (given, made) = probe.samples(samples);
    let own: Vec<Sample> = given.iter().chain(&made).cloned().collect();
    own.iter().for_each(|sample| probe.sample(sample));
    probe.repeats(&own, elsewhere);
    for rule in OF_TYPES {
        ledger.not_applicable(rule, "it is not looked into for providers");
    }
    Report {
        component: provider.digest(),
        type_name: Some(provider.module_name()),
        given: given.len(),
        generated: made.len(),
        rules: ledger.conclude("no options got that far"),
    }
}

/// What a provider answers, for comparison with what it answers in another process.
pub(super) fn transcribe(provider: &Provider, samples: &[Sample]) -> Transcript {
    let ledger = Ledger::default();
    let probe = ProviderProbe { provider, ledger: &ledger, described: provider.description().options_as_type() };
    let (given, made) = probe.samples(samples);
    let all: Vec<Sample> = given.into_iter().chain(made).collect();
    // Backwards, so that the order of the calls is another, too.
    probe.transcript(all.iter().rev())
}

struct ProviderProbe<'a> {
    provider: &'a Provider,
    ledger: &'a Ledger,
    /// Its options as a type of their own.
    described: Description,
}

impl ProviderProbe<'_> {
    fn description(&self) {
        let said = self.provider.description();
        self.ledger.tried(Rule::DescribeDocumented);
        let options = said.options.iter().map(|option| (format!("the option `{}`", option.name), option.doc.as_str()));
        for (name, text) in std::iter::once(("the summary".to_owned(), said.summary.as_str())).chain(options) {
            if text.trim().is_empty() {
                self.fail(Rule::DescribeDocumented, None, format!("{name} has no text"));
            }
        }
        if said.capabilities.is_empty() {
            self.ledger.not_applicable(Rule::CapabilityAsks, "the provider asks for no right");
        }
        for capability in &said.capabilities {
            self.ledger.tried(Rule::CapabilityAsks);
            let shown = format!("{}.{} `{}`", capability.interface, capability.action, capability.scope);
            if let Err(error) = Ask::parse(&capability.interface, &capability.action, &capability.scope) {
                self.fail(Rule::CapabilityAsks, None, format!("{shown}: {}", escape(&error.to_string())));
            }
            if capability.reason.trim().is_empty() {
                self.fail(Rule::CapabilityAsks, None, format!("{shown} has no reason for the owner of a node"));
            }
        }
        match self.provider.describe() {
            Ok(Ok(again)) if again == *said => self.ledger.tried(Rule::DescribeStable),
            Ok(_) => self.fail(Rule::DescribeStable, None, "`describe` gives something else the second time".to_owned()),
            Err(error) => self.broken(&error, None),
        }
    }

    /// The author's options and those that were made, each with canonical names.
    fn samples(&self, samples: &[Sample]) -> (Vec<Sample>, Vec<Sample>) {
        let mut given = Vec::new();
        for sample in samples {
            match self.options_of(sample).and_then(|options| options.canonical(&self.described)) {
                Ok(options) => given.push(options),
                Err(why) => self.fail(Rule::SamplesAccepted, Some(sample), why),
            }
        }
        if given.is_empty() {
            self.ledger.not_tried(Rule::SamplesAccepted, "no declaration was given: do so with `--declaration`");
        }
        let mut made: Vec<Sample> = Vec::new();
        for base in given.iter().cloned().chain(generate::bases(&self.described)) {
            let variations = generate::variations(&self.described, &base);
            for sample in std::iter::once(base).chain(variations) {
                let Ok(canonical) = sample.canonical(&self.described) else { continue };
                let is_known = given.iter().chain(&made).any(|known| known.attributes == canonical.attributes);
                if made.len() < MAX_MADE && !is_known && self.compiled(&canonical).is_some_and(|answer| answer.is_ok()) {
                    made.push(Sample { name: format!("made:{}", made.len()), is_given: false, ..canonical });
                }
            }
        }
        (given, made)
    }

    /// The options block of a declaration, as a declaration of its own.
    fn options_of(&self, sample: &Sample) -> Result<Sample, String> {
        let said = self.provider.description();
        if sample.type_name != said.type_name {
            return Err(format!("it declares a `{}`, and the provider serves `{}`", sample.type_name, said.type_name));
        }
        let block = sample.blocks.iter().find(|block| block.name == said.name.as_str());
        let attributes = block.map(|block| block.attributes.clone()).unwrap_or_default();
        Ok(Sample { type_name: self.described.type_name.clone(), attributes, blocks: Vec::new(), ..sample.clone() })
    }

    /// What the provider makes of options, followed through all of its functions.
    fn sample(&self, sample: &Sample) {
        let Some(answer) = self.compiled(sample) else { return };
        let compiled = match answer {
            Ok(compiled) => compiled,
            Err(error) if sample.is_given => {
                return self.fail(Rule::SamplesAccepted, Some(sample), format!("`compile-options` refuses it: {error}"));
            }
            Err(_) => return,
        };
        self.ledger.tried(Rule::SamplesAccepted);
        let (parameters, reads) = self.given(sample);
        let id = sample.id(&self.described);
        let footprint = self.call(Some(sample), || self.provider.footprint(&id, &Footprint::default(), parameters));
        self.reads("identity", sample, &reads);
        self.ledger.tried(Rule::IdentityReads);
        let Some(options) = self.assigned(sample, &compiled) else { return };
        let Some(validated) = self.call(Some(sample), || self.provider.validate(&options, &Footprint::default(), None)) else {
            return;
        };
        let validated = match validated {
            Ok(validated) => validated,
            Err(error) => return self.fail(Rule::ValidateAccepts, Some(sample), error.to_string()),
        };
        self.ledger.tried(Rule::ValidateAccepts);
        match footprint {
            Some(Ok(footprint)) => {
                self.ledger.tried(Rule::IdentityFootprint);
                if footprint != validated.beyond {
                    let what = "`identity` and `validate` give other claims, effects or paths";
                    self.fail(Rule::IdentityFootprint, Some(sample), what.to_owned());
                }
            }
            Some(Err(error)) => {
                let what = format!("`identity` refuses what `compile-options` accepts: {error}");
                self.fail(Rule::IdentityFootprint, Some(sample), what);
            }
            None => {}
        }
        self.strict(sample, &options);
    }

    /// Unknown fields, at each level, are refused.
    fn strict(&self, sample: &Sample, options: &Json) {
        for mutation in mutate::all(options).into_iter().filter(|mutation| mutation.kind == Kind::Unknown) {
            let answer = self.call(Some(sample), || self.provider.validate(&mutation.state, &Footprint::default(), None));
            let Some(answer) = answer else { continue };
            self.ledger.tried(Rule::ValidateUnknown);
            if answer.is_ok() {
                self.fail(Rule::ValidateUnknown, Some(sample), format!("`validate` accepts {}", mutation.what));
            }
        }
    }

    fn assigned(&self, sample: &Sample, compiled: &CompiledOptions) -> Option<Json> {
        let mut options = compiled.options.clone();
        if compiled.assets.is_empty() {
            self.ledger.not_applicable(Rule::AssignSlots, "no options ask for an asset");
        }
        for asset in &compiled.assets {
            let assigned =
                self.call(Some(sample), || self.provider.assign_asset(&options, &asset.slot, &asset_for(&asset.slot)))?;
            match assigned {
                Ok(assigned) => options = assigned,
                Err(error) => {
                    let what = format!("the slot `{}` is refused: {error}", escape(&asset.slot));
                    self.fail(Rule::AssignSlots, Some(sample), what);
                    return None;
                }
            }
            self.ledger.tried(Rule::AssignSlots);
        }
        Some(options)
    }

    /// The same question has the same answer, on another instance and in another process.
    fn repeats(&self, samples: &[Sample], elsewhere: Option<&(dyn Elsewhere + Sync)>) {
        let own = self.transcript(samples.iter());
        let again = self.transcript(samples.iter().rev());
        let mut others = vec![("again", Ok(again))];
        match elsewhere {
            Some(elsewhere) => others.push(("in another process", elsewhere.transcript())),
            None => self.ledger.not_tried(Rule::AnswersRepeat, "there was no other process to ask"),
        }
        for (where_, other) in others {
            let other = match other {
                Ok(other) => other,
                Err(why) => {
                    self.ledger.not_tried(Rule::CompilePure, why.clone());
                    self.ledger.not_tried(Rule::AnswersRepeat, why);
                    continue;
                }
            };
            self.ledger.tried(Rule::CompilePure);
            self.ledger.tried(Rule::AnswersRepeat);
            for (function, sample) in own.differences(&other) {
                let rule = if function == "compile-options" { Rule::CompilePure } else { Rule::AnswersRepeat };
                self.fail(rule, None, format!("`{function}` gives something else {where_}, for `{}`", escape(&sample)));
            }
        }
    }

    fn transcript<'s>(&self, samples: impl Iterator<Item = &'s Sample>) -> Transcript {
        let mut transcript = Transcript::empty(self.provider.digest());
        if let Ok(said) = self.provider.describe() {
            transcript.add("describe", "", &digest(&json!(said.ok())));
        }
        for sample in samples {
            let Some(answer) = self.compiled(sample) else { continue };
            let told = answer.as_ref().map_or_else(|error| json!({ "refused": error.to_string() }), options_told);
            transcript.add("compile-options", &sample.name, &digest(&told));
            let Some(options) = answer.ok().and_then(|compiled| self.assigned(sample, &compiled)) else { continue };
            let validated = self.call(None, || self.provider.validate(&options, &Footprint::default(), None));
            let told =
                validated.map(|answer| answer.map_or_else(|error| json!({ "refused": error.to_string() }), validated_told));
            transcript.add("validate", &sample.name, &digest(&json!(told)));
        }
        transcript
    }

    fn compiled(&self, sample: &Sample) -> Option<Result<CompiledOptions, DefinitionError>> {
        let (parameters, reads) = self.given(sample);
        let id = sample.id(&self.described);
        let answer = self.call(Some(sample), || self.provider.compile_options(&id, parameters));
        self.reads("compile-options", sample, &reads);
        answer
    }

    fn given(&self, sample: &Sample) -> (Rc<dyn Parameters>, Rc<Reads>) {
        let (given, reads) = Given::new(sample, &self.described, &[]);
        (given, reads)
    }

    fn reads(&self, function: &str, sample: &Sample, reads: &Reads) {
        self.ledger.tried(Rule::ReadsDescribed);
        for name in reads.unknown.borrow().iter() {
            self.fail(Rule::ReadsDescribed, Some(sample), format!("`{function}` reads `{name}`, which `describe` does not have"));
        }
    }

    fn call<T>(
        &self,
        sample: Option<&Sample>,
        call: impl FnOnce() -> Result<T, DefinitionError>,
    ) -> Option<Result<T, DefinitionError>> {
        match call() {
            Err(DefinitionError::Call(error)) => {
                self.broken(&error, sample);
                None
            }
            answer => {
                for rule in [Rule::ImportsNone, Rule::LimitsKept, Rule::NeverTraps, Rule::AnswersForm] {
                    self.ledger.tried(rule);
                }
                Some(answer)
            }
        }
    }

    fn broken(&self, error: &CallError, sample: Option<&Sample>) {
        self.fail(broken_rule(error), sample, format!("`{}`: {}", error.function, error.fault));
    }

    fn fail(&self, rule: Rule, sample: Option<&Sample>, what: String) {
        let (name, input) = (sample.map(|sample| sample.name.clone()), sample.map(Sample::shown));
        self.ledger.find(rule, Finding { severity: Severity::Failure, what, sample: name, input });
    }
}

fn options_told(compiled: &CompiledOptions) -> Json {
    json!({ "options": compiled.options, "assets": compiled.assets.iter().map(request).collect::<Vec<_>>() })
}

fn validated_told(validated: ValidatedOptions) -> Json {
    json!([validated.beyond.told(), validated.semantics])
}

fn digest(told: &Json) -> String {
    hex::encode(Sha256::digest(told.to_string()))
}
