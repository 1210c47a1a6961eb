//! What expressions of a manifest can read: variables, locals, facts, exports, files.

use std::sync::Arc;

use serde_json::Value as Json;

use super::trail::{MAX_EXPORTS, Step};
use super::{Evaluation, ExportError, Exported, Exports, Trail};
use crate::language::diagnostic::Diagnostic;
use crate::language::evaluate::{Budget, Evaluated, Failure, Scope, evaluate};
use crate::language::source::Source;
use crate::language::value::{Data, Marks, Value};
use crate::language::{Lowering, parse, suggest};
use crate::manifest::FileError;
use crate::model::expression::{Expression, Kind, Place};
use crate::model::ids::ResourceId;

/// The scope of one expression of the manifest.
pub(super) struct Reader<'e> {
    pub(super) evaluation: &'e Evaluation,
    pub(super) exports: &'e dyn Exports,
    pub(super) trail: &'e Trail,
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
        match self.evaluation.variables.get(name) {
            Some(value) => Ok(value.clone()),
            // It has no good value, which has been told.
            None if self.evaluation.manifest.variables.contains_key(name) => Err(Failure::Reported),
            None => Err(Failure::wrong(place, format!("unknown variable `{name}`"))),
        }
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
            let fact = Expression::new(Kind::Fact(path.to_vec()), place);
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
        let canonical = self.exports.canonical(resource, attribute);
        let attribute = canonical.as_deref().unwrap_or(attribute);
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
                let kind = Kind::Export { resource: resource.clone(), attribute: attribute.to_owned() };
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
        self.evaluation.state().texts.add(source.clone());
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
