//! Values of attributes, each evaluated when it is asked for and at most once.
//!
//! An attribute may read what another resource exports. What that is only a module can say, so the evaluation asks back through
//! [`Exports`], whose answer will as a rule ask this evaluation for attributes of that other resource. The [`Trail`] goes along, so that a
//! cycle is found and shown whole. Nothing is locked while that happens, and calls may come from any thread.

mod scope;
mod trail;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;

use self::scope::Reader;
use self::trail::Step;
pub use self::trail::Trail;
use super::{Declaration, Files, Inputs, Manifest, Part};
use crate::language::diagnostic::{Diagnostic, Diagnostics};
use crate::language::evaluate::{Budget, Evaluated, Failure, Scope as _, evaluate};
use crate::language::source::Sources;
use crate::language::value::{Marks, Value, ValueError};
use crate::model::expression::{Expression, MAX_EXPRESSION_DEPTH};
use crate::model::ids::ResourceId;

/// What another resource exports.
pub trait Exports {
    /// The canonical name of an attribute that is spelled otherwise; none if this is it, or if there is none.
    fn canonical(&self, resource: &ResourceId, attribute: &str) -> Option<String> {
        let _ = (resource, attribute);
        None
    }

    /// The value of an exported attribute. `trail` is to be handed on to every attribute that is read to find it.
    ///
    /// # Errors
    /// If there is no such export, or it cannot be had.
    fn export(&self, resource: &ResourceId, attribute: &str, trail: &Trail) -> Result<Exported, ExportError>;
}

/// An exported value.
#[derive(Debug, Clone)]
pub enum Exported {
    /// Known now, with the marks of what it was computed from.
    Known(Value),
    /// Settled on the node; the marks of what is known to go into it.
    Deferred(Marks),
}

/// Why an export cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The resource type exports no such attribute.
    #[error("the resource type exports no such attribute")]
    NotExported {
        /// What it does export.
        exported: Vec<String>,
    },
    /// For another reason, in words that quote no value.
    #[error("{0}")]
    Refused(String),
    /// Something it needs failed, and that was reported where it failed.
    #[error("something that it needs failed")]
    Reported,
}

/// A value failed; the message is among the evaluation's diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an expression of the manifest cannot be evaluated")]
pub struct Failed;

/// The evaluation of one manifest with its inputs.
pub struct Evaluation {
    manifest: Arc<Manifest>,
    variables: BTreeMap<String, Value>,
    facts: Option<Value>,
    files: Arc<dyn Files>,
    budget: Budget,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    locals: BTreeMap<String, Evaluated>,
    attributes: BTreeMap<(ResourceId, Part, String), Result<Value, Failed>>,
    templates: BTreeMap<String, Arc<Expression>>,
    files: BTreeMap<String, Arc<str>>,
    facts_read: BTreeMap<String, Json>,
    diagnostics: Vec<Diagnostic>,
    /// Texts beside the manifest that messages point into: templates, files of variables.
    texts: Sources,
}

impl Evaluation {
    /// Begins an evaluation. Without `facts` (the facts of one target) everything that reads facts is deferred.
    ///
    /// What is wrong with the manifest and the inputs is among the messages from the start: what hangs on it has no value, and the rest is
    /// evaluated all the same.
    ///
    /// # Errors
    /// If the facts are no values of the language.
    pub fn new(
        manifest: Arc<Manifest>,
        inputs: &Inputs,
        facts: Option<&Json>,
        files: Arc<dyn Files>,
    ) -> Result<Self, Diagnostics> {
        let (variables, wrong) = inputs.values(&manifest);
        let facts = facts.map(Value::from_json).transpose().map_err(|error| Diagnostics {
            list: vec![Diagnostic::general(format!("the facts of the target: {error}"))],
            sources: Sources::default(),
        })?;
        let diagnostics = manifest.errors.iter().cloned().chain(wrong.list).collect();
        let state = Mutex::new(State { diagnostics, texts: wrong.sources, ..State::default() });
        Ok(Self { manifest, variables, facts, files, budget: Budget::new(Budget::MANIFEST), state })
    }

    /// The manifest.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The value of a given attribute of a resource or one of its blocks, by the name it was given under. None if it is not given.
    ///
    /// # Errors
    /// If it cannot be evaluated; the message is in [`Evaluation::diagnostics`].
    pub fn attribute(
        &self,
        resource: &ResourceId,
        part: Part,
        name: &str,
        trail: &Trail,
        exports: &dyn Exports,
    ) -> Result<Option<Value>, Failed> {
        let Some(declaration) = self.manifest.resource(resource) else { return Ok(None) };
        let Some(attribute) = declaration.attributes_of(part).and_then(|attributes| attributes.get(name)) else {
            return Ok(None);
        };
        let key = (resource.clone(), part, name.to_owned());
        if let Some(known) = self.state().attributes.get(&key) {
            return known.clone().map(Some);
        }
        let step = Step::Attribute(resource.clone(), declaration.path(part, name).to_string());
        let trail = trail.within(step, trail.depth());
        let value = self.settle(&attribute.value, &trail, exports);
        self.state().attributes.insert(key, value.clone());
        value.map(Some)
    }

    /// The value of an expression of a resource's `meta` block.
    ///
    /// # Errors
    /// If it cannot be evaluated; the message is in [`Evaluation::diagnostics`].
    pub fn expression(&self, declaration: &Declaration, expression: &Expression, exports: &dyn Exports) -> Result<Value, Failed> {
        let trail = Trail::default().within(Step::Attribute(declaration.id.clone(), "meta".to_owned()), 0);
        self.settle(expression, &trail, exports)
    }

    /// Evaluates every local, so that mistakes in those that nothing reads are found too.
    pub fn check_locals(&self, exports: &dyn Exports) {
        let reader = Reader { evaluation: self, exports, trail: &Trail::default() };
        for (name, expression) in &self.manifest.locals {
            match reader.local(name, &expression.place, 0) {
                Ok(value) => self.report_members(&value),
                Err(failure) => self.report(failure),
            }
        }
    }

    /// The facts that were read, by dotted path; null where there was none.
    pub fn facts_read(&self) -> BTreeMap<String, Json> {
        self.state().facts_read.clone()
    }

    /// Adds a message of the caller's to those of the evaluation.
    pub fn add(&self, diagnostic: Diagnostic) {
        self.state().diagnostics.push(diagnostic);
    }

    /// Everything that was found wrong so far, by place.
    pub fn diagnostics(&self) -> Diagnostics {
        let state = self.state();
        let sources = self.manifest.sources.joined(&state.texts);
        let mut diagnostics = Diagnostics { list: state.diagnostics.clone(), sources };
        diagnostics.sort();
        diagnostics
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held, and what it holds is whole after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn settle(&self, expression: &Expression, trail: &Trail, exports: &dyn Exports) -> Result<Value, Failed> {
        let reader = Reader { evaluation: self, exports, trail };
        let value = evaluate(expression, &reader, trail.depth()).and_then(|value| {
            let deep = !value.is_known() && value.residual(&expression.place).depth() > MAX_EXPRESSION_DEPTH;
            if deep { Err(Failure::fatal(&expression.place, ValueError::ExpressionTooDeep.to_string())) } else { Ok(value) }
        });
        match value {
            Ok(value) if value.failures().is_empty() => Ok(value),
            Ok(value) => {
                self.report_members(&value);
                Err(Failed)
            }
            Err(failure) => {
                self.report(failure);
                Err(Failed)
            }
        }
    }

    fn report_members(&self, value: &Value) {
        value.failures().into_iter().for_each(|error| self.add(error.clone()));
    }

    fn report(&self, failure: Failure) {
        if let Failure::Wrong(message) | Failure::Fatal(message) = failure {
            self.add(*message);
        }
    }
}
