//! The attributes of one declaration as its definition reads them, and exports as other declarations do. Every read adds the marks of
//! what it read to the result, whatever the module does with the value.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use super::reads::Reads;
use crate::engine::{Child, DefinitionError, ParameterError, Parameters};
use crate::language::diagnostic::Diagnostic;
use crate::language::value::{Marks, Value};
use crate::manifest::{ExportError, Exported, Exports, Trail};
use crate::model::description::{Attribute, Output, holds_reserved_key};
use crate::model::expression::{Kind, Place};
use crate::model::ids::ResourceId;

/// What expressions can read of other resources.
#[derive(Clone)]
pub(super) struct Scope(pub(super) Rc<Compiler>);

/// The attributes of one declaration, evaluated as they are read.
pub(super) struct Given {
    scope: Scope,
    id: ResourceId,
    trail: Trail,
    marks: RefCell<Marks>,
    /// The resources that those are of, each with the attribute that reads it.
    reads: RefCell<Reads>,
    /// The first attribute that was read and waits for the node.
    deferred: RefCell<Option<String>>,
    failed: Cell<bool>,
}

impl Given {
    pub(super) fn new(scope: Scope, id: ResourceId, trail: Trail) -> Rc<Self> {
        Rc::new(Self {
            scope,
            id,
            trail,
            marks: RefCell::default(),
            reads: RefCell::default(),
            deferred: RefCell::default(),
            failed: Cell::new(false),
        })
    }

    /// The resources from which something was read.
    pub(super) fn reads(&self) -> Reads {
        self.reads.borrow().clone()
    }

    /// The marks of everything that was read.
    pub(super) fn marks(&self) -> Marks {
        self.marks.borrow().clone()
    }

    /// The first attribute that was read and waits for the node, unless reading another failed.
    pub(super) fn deferred(&self) -> Option<String> {
        self.deferred.borrow().clone().filter(|_| !self.failed.get())
    }

    /// Whether reading failed, and the author has been told why.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    /// The first output of another resource that the value of an attribute waits for, as `TYPE.NAME.OUTPUT`.
    pub(super) fn output_of(&self, name: &str) -> Option<String> {
        let (value, place) = self.value(name).ok()??;
        let residual = value.residual(&place);
        let mut found = None;
        residual.walk(&mut |part| match &part.kind {
            Kind::Export { resource, attribute } if found.is_none() && self.is_output(resource, attribute) => {
                found = Some(format!("{resource}.{attribute}"));
            }
            _ => {}
        });
        found
    }

    fn is_output(&self, resource: &ResourceId, name: &str) -> bool {
        self.scope.0.modules.get(&resource.type_name).is_some_and(|module| module.description().output(name).is_some())
    }

    /// The value of an attribute by canonical name, with its place; none if it is not given.
    pub(super) fn value(&self, name: &str) -> Result<Option<(Value, Place)>, ParameterError> {
        let compiler = &self.scope.0;
        let Some(spelling) = compiler.declared.get(&self.id).and_then(|declared| declared.spellings.get(name)) else {
            return Ok(None);
        };
        let evaluated = compiler.evaluation.attribute(&self.id, spelling, &self.trail, &self.scope);
        let value = evaluated.map_err(|_| self.fail())?.ok_or(ParameterError::Unknown)?;
        let marks = value.marks();
        self.marks.borrow_mut().join(&marks);
        self.reads.borrow_mut().note(&marks, &compiler.name_place_of(&self.id, spelling));
        let place = compiler.place_of(&self.id, spelling);
        if marks.is_sensitive() && !value.is_known() {
            return Err(self.refuse(secret_of_the_node(name, &place)));
        }
        if marks.is_sensitive() || self.descriptor(name)?.sensitive {
            return Err(self.refuse(secret(name, &place)));
        }
        Ok(Some((value, place)))
    }

    fn descriptor(&self, name: &str) -> Result<&Attribute, ParameterError> {
        let module = self.scope.0.modules.get(&self.id.type_name).ok_or(ParameterError::Failed)?;
        module.description().attributes.iter().find(|attribute| attribute.name == name).ok_or(ParameterError::Unknown)
    }

    fn fail(&self) -> ParameterError {
        self.failed.set(true);
        ParameterError::Failed
    }

    fn refuse(&self, message: Diagnostic) -> ParameterError {
        self.scope.0.evaluation.add(message);
        self.fail()
    }
}

fn secret(name: &str, place: &Place) -> Diagnostic {
    Diagnostic::error(place, format!("the sensitive value of `{name}` cannot be put into a bundle"))
        .label("sensitive")
        .note("a bundle of this version has no place that keeps secrets")
        .hint("if it need not be kept secret, say so with `nonsensitive()`".to_owned())
}

fn secret_of_the_node(name: &str, place: &Place) -> Diagnostic {
    Diagnostic::error(place, format!("the sensitive value of `{name}` cannot be handed to a module"))
        .label("sensitive, and known on the node only")
        .note("this version has no way to use on the node what a module may not see")
        .hint("if it need not be kept secret, say so with `nonsensitive()`".to_owned())
}

impl Parameters for Given {
    fn children(&self, block: &str) -> Result<Vec<Child>, ParameterError> {
        let module = self.scope.0.modules.get(&self.id.type_name).ok_or(ParameterError::Failed)?;
        if module.description().block(block).is_some() { Ok(Vec::new()) } else { Err(ParameterError::Unknown) }
    }

    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        let attribute = self.descriptor(name)?;
        let Some((value, place)) = self.value(name)? else { return Ok(None) };
        let Some(json) = value.json() else {
            self.deferred.borrow_mut().get_or_insert_with(|| name.to_owned());
            return Err(ParameterError::Deferred);
        };
        if holds_reserved_key(&json) {
            return Err(self.refuse(Diagnostic::error(&place, "the key `$secret` is reserved").label("in this value")));
        }
        attribute.check(json).map_err(|mismatch| self.refuse(Diagnostic::error(&place, mismatch.to_string())))
    }
}

impl Exports for Scope {
    fn export(&self, resource: &ResourceId, attribute: &str, trail: &Trail) -> Result<Exported, ExportError> {
        let compiler = &self.0;
        let module = compiler.modules.get(&resource.type_name).ok_or(ExportError::Reported)?;
        if !compiler.declared.get(resource).is_some_and(|declared| declared.sound) {
            return Err(ExportError::Reported);
        }
        if let Some(output) = module.description().output(attribute) {
            return Ok(Exported::Deferred(marks_of(resource, output)));
        }
        let exported = module.description().attribute(attribute).filter(|found| found.exported);
        let canonical = &exported.ok_or_else(|| ExportError::NotExported { exported: readable_names(module) })?.name;
        let given = Given::new(self.clone(), resource.clone(), trail.clone());
        let mut marks = Marks::resource(resource);
        match module.resolve_export(resource, canonical, Rc::clone(&given) as Rc<dyn Parameters>) {
            Ok(json) => {
                marks.join(&given.marks());
                let value = Value::from_json(&json).map_err(|error| ExportError::Refused(error.to_string()))?;
                Ok(Exported::Known(value.marked(&marks)))
            }
            Err(DefinitionError::Parameter) if given.deferred().is_some() => {
                marks.join(&given.marks());
                Ok(Exported::Deferred(marks))
            }
            Err(DefinitionError::Parameter) => Err(ExportError::Reported),
            Err(error) => Err(ExportError::Refused(format!("`{resource}.{attribute}` cannot be read: {error}"))),
        }
    }
}

/// What only the node knows, and what is known of it here: whose it is, and whether it may be shown.
fn marks_of(resource: &ResourceId, output: &Output) -> Marks {
    let mut marks = Marks::resource(resource);
    if output.sensitive {
        marks.join(&Marks::sensitive());
    }
    marks
}

/// Everything that other resources may read.
fn readable_names(module: &crate::engine::Module) -> Vec<String> {
    let description = module.description();
    let exported = description.attributes.iter().filter(|a| a.exported).map(|a| a.name.clone());
    exported.chain(description.outputs.iter().map(|output| output.name.clone())).collect()
}

impl Compiler {
    /// The place of an attribute's value.
    pub(super) fn place_of(&self, id: &ResourceId, spelling: &str) -> Place {
        let declaration = self.manifest().resource(id).expect("a declaration of this manifest");
        declaration.attributes.get(spelling).map_or_else(|| declaration.place.clone(), |given| given.value.place.clone())
    }

    /// The place of an attribute's name.
    fn name_place_of(&self, id: &ResourceId, spelling: &str) -> Place {
        let declaration = self.manifest().resource(id).expect("a declaration of this manifest");
        declaration.attributes.get(spelling).map_or_else(|| declaration.place.clone(), |given| given.name_place.clone())
    }
}
