//! Values of attributes, each evaluated when it is asked for and at most once.
//!
//! An attribute may read what another resource exports. What that is only a module can say, so the evaluation asks back through
//! [`Exports`], whose answer will as a rule ask this evaluation for attributes of that other resource. The [`Trail`] goes along, so that a
//! cycle is found and shown whole. Nothing is locked while that happens, and calls may come from any thread.

mod trail;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;

pub use self::trail::Trail;
use self::trail::{MAX_EXPORTS, Step};
use super::{Declaration, FileError, Files, Inputs, Manifest};
use crate::language::diagnostic::{Diagnostic, Diagnostics};
use crate::language::evaluate::{Budget, Evaluated, Failure, Scope, evaluate};
use crate::language::source::{Source, Sources};
use crate::language::value::{Data, Marks, Value, ValueError};
use crate::language::{Lowering, parse, suggest};
use crate::model::expression::{Expression, MAX_EXPRESSION_DEPTH, Place};
use crate::model::ids::ResourceId;

/// What another resource exports.
pub trait Exports {
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
    attributes: BTreeMap<(ResourceId, String), Result<Value, Failed>>,
    templates: BTreeMap<String, Arc<Expression>>,
    files: BTreeMap<String, Arc<str>>,
    facts_read: BTreeMap<String, Json>,
    diagnostics: Vec<Diagnostic>,
    templates_read: Sources,
}

impl Evaluation {
    /// Begins an evaluation. Without `facts` (the facts of one target) everything that reads facts is deferred.
    ///
    /// # Errors
    /// With everything that is wrong with the inputs.
    pub fn new(
        manifest: Arc<Manifest>,
        inputs: &Inputs,
        facts: Option<&Json>,
        files: Arc<dyn Files>,
    ) -> Result<Self, Diagnostics> {
        let variables = inputs.values(&manifest)?;
        let facts = facts.map(Value::from_json).transpose().map_err(|error| Diagnostics {
            list: vec![Diagnostic::general(format!("the facts of the target: {error}"))],
            sources: Sources::default(),
        })?;
        let (budget, state) = (Budget::new(Budget::MANIFEST), Mutex::default());
        Ok(Self { manifest, variables, facts, files, budget, state })
    }

    /// The manifest.
    pub fn manifest(&self) -> &Arc<Manifest> {
        &self.manifest
    }

    /// The value of a given attribute, by the name it was given under. None if it is not given.
    ///
    /// # Errors
    /// If it cannot be evaluated; the message is in [`Evaluation::diagnostics`].
    pub fn attribute(
        &self,
        resource: &ResourceId,
        name: &str,
        trail: &Trail,
        exports: &dyn Exports,
    ) -> Result<Option<Value>, Failed> {
        let Some(attribute) = self.manifest.resource(resource).and_then(|declaration| declaration.attributes.get(name)) else {
            return Ok(None);
        };
        let key = (resource.clone(), name.to_owned());
        if let Some(known) = self.state().attributes.get(&key) {
            return known.clone().map(Some);
        }
        let trail = trail.within(Step::Attribute(resource.clone(), name.to_owned()), trail.depth());
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
        let sources = self.manifest.sources.joined(&state.templates_read);
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

/// The scope of one expression of the manifest.
struct Reader<'e> {
    evaluation: &'e Evaluation,
    exports: &'e dyn Exports,
    trail: &'e Trail,
}

impl Reader<'_> {
    /// The failure for a step that is on the trail already.
    fn cycle(&self, step: &Step, place: &Place) -> Option<Failure> {
        let cycle = self.trail.cycle(step)?;
        let message = Diagnostic::error(place, "these values need each other").label("closes the cycle").note(cycle);
        Some(Failure::Fatal(Box::new(message)))
    }
}

impl Scope for Reader<'_> {
    fn budget(&self) -> &Budget {
        &self.evaluation.budget
    }

    fn variable(&self, name: &str, place: &Place) -> Evaluated {
        let value = self.evaluation.variables.get(name).cloned();
        value.ok_or_else(|| Failure::wrong(place, format!("unknown variable `{name}`")))
    }

    fn local(&self, name: &str, place: &Place, depth: u32) -> Evaluated {
        let step = Step::Local(name.to_owned());
        if let Some(failure) = self.cycle(&step, place) {
            return Err(failure);
        }
        if let Some(known) = self.evaluation.state().locals.get(name) {
            return known.clone();
        }
        let manifest = &self.evaluation.manifest;
        let expression = manifest.locals.get(name).ok_or_else(|| Failure::wrong(place, format!("unknown local `{name}`")))?;
        let trail = self.trail.within(step, depth);
        let reader = Reader { evaluation: self.evaluation, exports: self.exports, trail: &trail };
        let value = evaluate(expression, &reader, depth);
        self.evaluation.state().locals.insert(name.to_owned(), value.clone());
        value
    }

    fn fact(&self, path: &[String], place: &Place) -> Evaluated {
        let Some(facts) = &self.evaluation.facts else {
            let fact = Expression::new(crate::model::expression::Kind::Fact(path.to_vec()), place);
            return Value::deferred(fact, Marks::default()).map_err(|error| Failure::fatal(place, error.to_string()));
        };
        let mut found = Some(facts);
        let mut siblings = Vec::new();
        for step in path {
            let members = found.and_then(|value| match value.data() {
                Data::Object(members) => Some(members),
                _ => None,
            });
            siblings = members.into_iter().flat_map(|members| members.keys().map(String::as_str)).collect();
            found = members.and_then(|members| members.get(step));
            if found.is_none() {
                break;
            }
        }
        let dotted = path.join(".");
        let json = found.and_then(Value::json).unwrap_or(Json::Null);
        self.evaluation.state().facts_read.insert(dotted.clone(), json);
        let last = path.last().map(String::as_str).unwrap_or_default();
        found.cloned().ok_or_else(|| {
            let failure = Failure::wrong(place, format!("the target has no fact `{dotted}`"));
            failure.map(|message| message.hint(suggest::did_you_mean(last, siblings.iter().copied())))
        })
    }

    fn export(&self, resource: &ResourceId, attribute: &str, place: &Place, depth: u32) -> Evaluated {
        let step = Step::Export(resource.clone(), attribute.to_owned());
        if let Some(failure) = self.cycle(&step, place) {
            return Err(failure);
        }
        if self.trail.exports() >= MAX_EXPORTS {
            return Err(Failure::fatal(place, format!("more than {MAX_EXPORTS} resources read one another in a row")));
        }
        let trail = self.trail.within(step, depth);
        match self.exports.export(resource, attribute, &trail) {
            Ok(Exported::Known(value)) => Ok(value),
            Ok(Exported::Deferred(marks)) => {
                let kind = crate::model::expression::Kind::Export { resource: resource.clone(), attribute: attribute.to_owned() };
                Value::deferred(Expression::new(kind, place), marks).map_err(|error| Failure::fatal(place, error.to_string()))
            }
            Err(ExportError::NotExported { exported }) => {
                let summary = format!("the resource type `{}` exports no attribute `{attribute}`", resource.type_name);
                let hint = suggest::one_of(attribute, exported.iter().map(String::as_str));
                Err(Failure::fatal(place, summary).map(|message| message.hint(hint)))
            }
            Err(ExportError::Refused(summary)) => Err(Failure::fatal(place, summary)),
            Err(ExportError::Reported) => Err(Failure::Reported),
        }
    }

    fn file(&self, path: &str, place: &Place) -> Result<Arc<str>, Failure> {
        if let Some(known) = self.evaluation.state().files.get(path) {
            return Ok(known.clone());
        }
        let bytes = self.evaluation.files.read(path).map_err(|error| unreadable(path, &error, place))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            let failure = Failure::fatal(place, format!("the file `{path}` is not UTF-8 text"));
            failure
                .map(|message| message.hint("a file that is copied as it is needs no `file()`: name it as a source".to_owned()))
        })?;
        let text: Arc<str> = text.into();
        self.evaluation.state().files.insert(path.to_owned(), text.clone());
        Ok(text)
    }

    fn file_exists(&self, path: &str, place: &Place) -> Result<bool, Failure> {
        self.evaluation.files.exists(path).map_err(|error| unreadable(path, &error, place))
    }

    fn template(&self, path: &str, place: &Place) -> Result<Arc<Expression>, Failure> {
        if let Some(known) = self.evaluation.state().templates.get(path) {
            return Ok(known.clone());
        }
        let source = Arc::new(Source::new(path, self.file(path, place)?.to_string()));
        self.evaluation.state().templates_read.add(source.clone());
        let parsed = parse::template(&source).map_err(|error| Failure::Fatal(Box::new((*error).related(place, "read here"))))?;
        let mut lowering = Lowering::of_template(&source);
        let template = Arc::new(lowering.template_file(&parsed));
        let mut errors = lowering.into_errors().into_iter();
        let Some(first) = errors.next() else {
            self.evaluation.state().templates.insert(path.to_owned(), template.clone());
            return Ok(template);
        };
        errors.for_each(|error| self.evaluation.add(error));
        Err(Failure::Fatal(Box::new(first.related(place, "read here"))))
    }
}

fn unreadable(path: &str, error: &FileError, place: &Place) -> Failure {
    Failure::fatal(place, format!("the file `{path}` cannot be read")).map(|message| message.label(error.describe()))
}
