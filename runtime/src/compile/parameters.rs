//! The attributes of one declaration as its definition reads them, and exports as other declarations do. Every read adds the marks of
//! what it read to the result, whatever the module does with the value.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use crate::engine::{Child, DefinitionError, ParameterError, Parameters};
use crate::language::diagnostic::Diagnostic;
use crate::language::slots::{self, SlotPath, Told};
use crate::language::value::{Marks, Value, ValueError};
use crate::manifest::{ExportError, Exported, Exports, Trail};
use crate::model::description::Attribute;
use crate::model::expression::{Expression, MAX_EXPRESSION_DEPTH, Place};
use crate::model::ids::{ResourceId, SecretSlot};
use crate::model::secret::{SECRET_KEY, SecretValue, Secrets};

/// What expressions can read of other resources.
#[derive(Clone)]
pub(super) struct Scope(pub(super) Rc<Compiler>);

/// The attributes of one declaration, evaluated as they are read.
pub(super) struct Given {
    scope: Scope,
    id: ResourceId,
    trail: Trail,
    marks: RefCell<Marks>,
    /// The first attribute that was read and waits for the node.
    deferred: RefCell<Option<String>>,
    failed: Cell<bool>,
    /// The sensitive values that reading gave slots for.
    told: RefCell<Told>,
}

impl Given {
    pub(super) fn new(scope: Scope, id: ResourceId, trail: Trail) -> Rc<Self> {
        let (marks, deferred, told) = (RefCell::default(), RefCell::default(), RefCell::default());
        Rc::new(Self { scope, id, trail, marks, deferred, failed: Cell::new(false), told })
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

    /// The value of an attribute by canonical name, with its place; none if it is not given.
    pub(super) fn value(&self, name: &str) -> Result<Option<(Value, Place)>, ParameterError> {
        let compiler = &self.scope.0;
        let Some(spelling) = compiler.declared.get(&self.id).and_then(|declared| declared.spellings.get(name)) else {
            return Ok(None);
        };
        let evaluated = compiler.evaluation.attribute(&self.id, spelling, &self.trail, &self.scope);
        let value = evaluated.map_err(|_| self.fail())?.ok_or(ParameterError::Unknown)?;
        let attribute = self.descriptor(name)?;
        let mut marks = value.marks();
        if attribute.sensitive {
            marks.join(&Marks::sensitive());
        }
        self.marks.borrow_mut().join(&marks);
        let place = compiler.place_of(&self.id, spelling);
        let told = attribute.identity || attribute.source || attribute.checksum_of.is_some();
        if told && marks.is_sensitive() && value.is_known() {
            return Err(self.refuse(plain_only(attribute, &place)));
        }
        Ok(Some((value, place)))
    }

    /// The value of a slot that reading an attribute gave out.
    pub(super) fn told(&self, slot: &SecretSlot) -> Option<SecretValue> {
        self.told.borrow().get(slot)?.json().map(|json| SecretValue::of(&json))
    }

    /// What travels of an attribute whose value waits for the node, and the sensitive values in it.
    pub(super) fn travelling(&self, name: &str, value: &Value, place: &Place) -> Result<(Expression, Secrets), ParameterError> {
        let sensitive = self.descriptor(name)?.sensitive;
        let mut secrets = Secrets::new();
        let expression = slots::travelling(value, sensitive, place);
        let extracted = slots::extract(expression, &SlotPath::attribute(&self.id, name), &mut secrets);
        match extracted {
            Ok(expression) if expression.depth() <= MAX_EXPRESSION_DEPTH => Ok((expression, secrets)),
            Ok(_) => Err(self.refuse(Diagnostic::error(place, ValueError::ExpressionTooDeep.to_string()))),
            Err(_) => Err(self.refuse(too_long(name, place))),
        }
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

/// Of attributes that decide what a resource claims, or which file goes along: their values are told.
fn plain_only(attribute: &Attribute, place: &Place) -> Diagnostic {
    let why = if attribute.identity { "it names what the resource manages" } else { "it says which bytes are taken along" };
    Diagnostic::error(place, format!("`{}` cannot be sensitive: {why}", attribute.name))
        .label("sensitive")
        .hint("if it need not be kept secret, say so with `nonsensitive()`".to_owned())
}

fn too_long(name: &str, place: &Place) -> Diagnostic {
    let summary = format!("a sensitive part of `{name}` is nested too deep, or its keys are too long, to be given a name");
    Diagnostic::error(place, summary).hint("mark the whole value with `sensitive()`".to_owned())
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
        let checked = attribute.check(json).map_err(|mismatch| self.refuse(Diagnostic::error(&place, mismatch.to_string())))?;
        if checked.is_none() {
            return Ok(None);
        }
        // What was checked is the value itself; what the module gets has a slot in the place of each sensitive part.
        let path = SlotPath::attribute(&self.id, name);
        let concealed = slots::conceal(&value, attribute.sensitive, &path, &mut self.told.borrow_mut());
        concealed.map_err(|_| self.refuse(too_long(name, &place)))
    }
}

/// Whether an object in `json` has the key by which secrets are told.
fn holds_reserved_key(json: &Json) -> bool {
    match json {
        Json::Array(list) => list.iter().any(holds_reserved_key),
        Json::Object(map) => map.iter().any(|(key, value)| key == SECRET_KEY || holds_reserved_key(value)),
        _ => false,
    }
}

impl Exports for Scope {
    fn export(&self, resource: &ResourceId, attribute: &str, trail: &Trail) -> Result<Exported, ExportError> {
        let compiler = &self.0;
        let module = compiler.modules.get(&resource.type_name).ok_or(ExportError::Reported)?;
        if !compiler.declared.get(resource).is_some_and(|declared| declared.sound) {
            return Err(ExportError::Reported);
        }
        let exported = module.description().attribute(attribute).filter(|found| found.exported);
        let canonical = &exported.ok_or_else(|| ExportError::NotExported { exported: exported_names(module) })?.name;
        let given = Given::new(self.clone(), resource.clone(), trail.clone());
        let mut marks = Marks::resource(resource);
        match module.resolve_export(resource, canonical, Rc::clone(&given) as Rc<dyn Parameters>) {
            Ok(json) => {
                marks.join(&given.marks());
                let value = slots::reveal(&json, &given.told.borrow());
                let value = value.map_err(|error| ExportError::Refused(unreadable(resource, attribute, &error)))?;
                Ok(Exported::Known(value.marked(&marks)))
            }
            Err(DefinitionError::Parameter) if given.deferred().is_some() => {
                marks.join(&given.marks());
                Ok(Exported::Deferred(marks))
            }
            Err(DefinitionError::Parameter) => Err(ExportError::Reported),
            Err(error) => Err(ExportError::Refused(unreadable(resource, attribute, &error))),
        }
    }
}

fn unreadable(resource: &ResourceId, attribute: &str, error: &dyn std::error::Error) -> String {
    format!("`{resource}.{attribute}` cannot be read: {error}")
}

fn exported_names(module: &crate::engine::Module) -> Vec<String> {
    module.description().attributes.iter().filter(|a| a.exported).map(|a| a.name.clone()).collect()
}

impl Compiler {
    /// The place of an attribute's value.
    pub(super) fn place_of(&self, id: &ResourceId, spelling: &str) -> Place {
        let declaration = self.manifest().resource(id).expect("a declaration of this manifest");
        declaration.attributes.get(spelling).map_or_else(|| declaration.place.clone(), |given| given.value.place.clone())
    }
}
