//! What a component answers to each function for each declaration, as digests: two transcripts of one component must be equal,
//! whoever made them, and show no values.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use super::given::Given;
use super::sample::Sample;
use super::subject::asset_for;
use super::told::{Told, told};
use crate::engine::{CallError, DefinitionError, Module, Parameters, Peer, Peers, Session, canonical_json};
use crate::model::digest::ComponentDigest;

/// How the functions are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instances {
    /// Each on an instance of its own, as in a run.
    Fresh,
    /// All on one.
    One,
}

/// Digests of answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transcript {
    /// Of which component.
    pub component: ComponentDigest,
    /// By function, then by declaration (or empty, for `describe`).
    pub answers: BTreeMap<String, BTreeMap<String, String>>,
    /// Functions of which a call failed: they were not called again, as each call may take until the deadline.
    pub failed: BTreeSet<String>,
}

impl Transcript {
    /// Of nothing so far.
    pub(super) fn empty(component: ComponentDigest) -> Self {
        Self { component, answers: BTreeMap::new(), failed: BTreeSet::new() }
    }

    /// Adds the digest of an answer.
    pub(super) fn add(&mut self, function: &str, key: &str, digest: &str) {
        self.answers.entry(function.to_owned()).or_default().insert(key.to_owned(), digest.to_owned());
    }

    /// Asks everything, in the order of `samples`, which are canonical.
    pub(super) fn of(module: &Module, samples: &[Sample], instances: Instances) -> Self {
        let mut scribe = Scribe { module, instances, session: None, answers: BTreeMap::new(), failed: BTreeSet::new() };
        scribe.ask("describe", "", |session| Ok(session.describe()?));
        samples.iter().for_each(|sample| scribe.sample(sample));
        Self { component: module.digest(), answers: scribe.answers, failed: scribe.failed }
    }

    /// Where two transcripts differ: function and declaration. An answer that only one of them has is a difference, unless calls
    /// failed.
    pub(super) fn differences(&self, other: &Self) -> Vec<(String, String)> {
        let failed = !self.failed.is_empty() || !other.failed.is_empty();
        let differs = |function: &String, key: &String| {
            let (one, other) = (self.answer(function, key), other.answer(function, key));
            one != other && !(failed && (one.is_none() || other.is_none()))
        };
        let keys = |transcript: &Self| -> BTreeSet<(String, String)> {
            let of = |(function, answers): (&String, &BTreeMap<String, String>)| {
                answers.keys().map(|key| (function.clone(), key.clone())).collect::<Vec<_>>()
            };
            transcript.answers.iter().flat_map(of).collect()
        };
        keys(self).union(&keys(other)).filter(|(function, key)| differs(function, key)).cloned().collect()
    }

    fn answer(&self, function: &str, key: &str) -> Option<&String> {
        self.answers.get(function)?.get(key)
    }
}

struct Scribe<'a> {
    module: &'a Module,
    instances: Instances,
    session: Option<Session>,
    answers: BTreeMap<String, BTreeMap<String, String>>,
    failed: BTreeSet<String>,
}

impl Scribe<'_> {
    fn sample(&mut self, sample: &Sample) {
        let module = self.module;
        let description = module.description();
        let id = sample.id(description);
        let given = || Given::new(sample, description, &[]).0 as Rc<dyn Parameters>;
        self.ask("identity", &sample.name, |session| session.footprint(&id, given()));
        for attribute in description.attributes.iter().filter(|attribute| attribute.exported) {
            let key = format!("{} {}", sample.name, attribute.name);
            self.ask("resolve-export", &key, |session| session.resolve_export(&id, &attribute.name, given()));
        }
        let Some(compiled) = self.ask("compile", &sample.name, |session| session.compile(&id, given())) else { return };
        let mut desired = compiled.desired;
        for request in &compiled.assets {
            let key = format!("{} {}", sample.name, crate::model::key::escape(&request.slot));
            let assigned = self
                .ask("assign-asset", &key, |session| session.assign_asset(&desired, &request.slot, &asset_for(&request.slot)));
            let Some(assigned) = assigned else { return };
            desired = assigned;
        }
        self.state(sample, &desired);
    }

    fn state(&mut self, sample: &Sample, desired: &Json) {
        let id = sample.id(self.module.description());
        self.ask("test-view", &sample.name, |session| session.test_view(desired));
        let Some(validated) = self.ask("validate", &sample.name, |session| session.validate(desired)) else { return };
        let peer = Peer {
            id: id.clone(),
            desired: canonical_json(desired).ok(),
            claims: validated.footprint.claims,
            effects: validated.footprint.effects,
            affected_paths: validated.footprint.affected_paths,
        };
        let peers = Arc::new(Peers::new(vec![peer]));
        self.ask("relationships", &sample.name, |session| session.relationships(&id, Some(desired), peers));
    }

    /// Calls one function and keeps the digest of what it gave; none where it gave no result.
    fn ask<T: Told>(
        &mut self,
        function: &'static str,
        key: &str,
        call: impl FnOnce(&mut Session) -> Result<T, DefinitionError>,
    ) -> Option<T> {
        if self.failed.contains(function) {
            return None;
        }
        let answer = match self.take_session(function) {
            Ok(mut session) => {
                let answer = call(&mut session);
                let is_usable = !matches!(answer, Err(DefinitionError::Call(_)));
                self.session = Some(session).filter(|_| is_usable && self.instances == Instances::One);
                answer
            }
            Err(error) => Err(error.into()),
        };
        if matches!(answer, Err(DefinitionError::Call(_))) {
            // How a call fails may depend on how fast the machine is. That it fails is told elsewhere.
            self.failed.insert(function.to_owned());
            return None;
        }
        let digest = hex::encode(Sha256::digest(told(&answer).to_string()));
        self.answers.entry(function.to_owned()).or_default().insert(key.to_owned(), digest);
        answer.ok()
    }

    fn take_session(&mut self, function: &'static str) -> Result<Session, CallError> {
        self.session.take().map_or_else(|| self.module.session(function), Ok)
    }
}
