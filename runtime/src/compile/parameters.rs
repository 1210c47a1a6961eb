//! The attributes of one declaration as its definition reads them. Every read adds the marks of what it read to the result, whatever the
//! module does with the value.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use super::exports::Scope;
use super::origins::Origins;
use crate::engine::{Child, ParameterError, Parameters};
use crate::language::diagnostic::Diagnostic;
use crate::language::slots::{self, RevealError, SlotPath, Told};
use crate::language::value::{Marks, Value, ValueError};
use crate::manifest::{Declaration, Part, Trail};
use crate::model::attribute_path::AttributePath;
use crate::model::description::{Attribute, BlockKind, holds_reserved_key};
use crate::model::expression::{Expression, Kind, MAX_EXPRESSION_DEPTH, Place};
use crate::model::ids::{ResourceId, SecretSlot};
use crate::model::secret::{SecretValue, Secrets};

/// The attributes of one declaration or one of its child blocks, evaluated as they are read.
pub(super) struct Given {
    scope: Scope,
    id: ResourceId,
    part: Part,
    trail: Trail,
    reads: Rc<Reads>,
}

/// What came of everything that was read of one declaration, its child blocks included.
#[derive(Default)]
struct Reads {
    marks: RefCell<Marks>,
    /// The resources that those are of, each with the attribute that reads it.
    origins: RefCell<Origins>,
    /// The first attribute that was read and waits for the node.
    deferred: RefCell<Option<(Part, String)>>,
    failed: Cell<bool>,
    /// The sensitive values that reading gave slots for.
    told: RefCell<Told>,
}

impl Given {
    /// The declaration's own attributes.
    pub(super) fn new(scope: Scope, id: ResourceId, trail: Trail) -> Rc<Self> {
        Rc::new(Self { scope, id, part: Part::Own, trail, reads: Rc::default() })
    }

    /// Those of another part of the same declaration, whose reads count towards the same result.
    pub(super) fn of(&self, part: Part) -> Rc<Self> {
        let (scope, id, trail) = (self.scope.clone(), self.id.clone(), self.trail.clone());
        Rc::new(Self { scope, id, part, trail, reads: Rc::clone(&self.reads) })
    }

    /// The marks of everything that was read.
    pub(super) fn marks(&self) -> Marks {
        self.reads.marks.borrow().clone()
    }

    /// The resources from which something was read.
    pub(super) fn origins(&self) -> Origins {
        self.reads.origins.borrow().clone()
    }

    /// The first attribute that was read and waits for the node, unless reading another failed.
    pub(super) fn deferred(&self) -> Option<(Part, String)> {
        self.reads.deferred.borrow().clone().filter(|_| !self.has_failed())
    }

    /// Whether reading failed, and the author has been told why.
    pub(super) fn has_failed(&self) -> bool {
        self.reads.failed.get()
    }

    /// The value of an attribute by canonical name, with its place; none if it is not given.
    pub(super) fn value(&self, name: &str) -> Result<Option<(Value, Place)>, ParameterError> {
        let compiler = &self.scope.0;
        let Some(spelling) = compiler.declared.get(&self.id).and_then(|declared| declared.spelling(self.part, name)) else {
            return Ok(None);
        };
        let evaluated = compiler.evaluation.attribute(&self.id, self.part, spelling, &self.trail, &self.scope);
        let value = evaluated.map_err(|_| self.fail())?.ok_or(ParameterError::Unknown)?;
        let attribute = self.descriptor(name)?;
        let mut marks = value.marks();
        if attribute.sensitive {
            marks.join(&Marks::sensitive());
        }
        self.note(&marks, name);
        let place = compiler.place_of(&self.id, self.part, name);
        let told = attribute.identity || attribute.source || attribute.checksum_of.is_some();
        if told && marks.is_sensitive() && value.is_known() {
            return Err(self.refuse(plain_only(attribute, &place)));
        }
        Ok(Some((value, place)))
    }

    /// Notes what the value of an attribute came from.
    fn note(&self, marks: &Marks, name: &str) {
        self.reads.marks.borrow_mut().join(marks);
        self.reads.origins.borrow_mut().note(marks, &self.scope.0.name_place_of(&self.id, self.part, name));
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

    /// The value of a slot that reading an attribute gave out.
    pub(super) fn told(&self, slot: &SecretSlot) -> Option<SecretValue> {
        self.reads.told.borrow().get(slot)?.json().map(|json| SecretValue::of(&json))
    }

    /// The value that a module's answer is.
    pub(super) fn reveal(&self, json: &Json) -> Result<Value, RevealError> {
        slots::reveal(json, &self.reads.told.borrow())
    }

    /// What travels of an attribute whose value waits for the node, and the sensitive values in it.
    pub(super) fn travelling(&self, name: &str, value: &Value, place: &Place) -> Result<(Expression, Secrets), ParameterError> {
        let sensitive = self.descriptor(name)?.sensitive;
        let mut secrets = Secrets::new();
        let expression = slots::travelling(value, sensitive, place);
        match slots::extract(expression, &self.slot_path(name), &mut secrets) {
            Ok(expression) if expression.depth() <= MAX_EXPRESSION_DEPTH => Ok((expression, secrets)),
            Ok(_) => Err(self.refuse(Diagnostic::error(place, ValueError::ExpressionTooDeep.to_string()))),
            Err(_) => Err(self.refuse(too_long(name, place))),
        }
    }

    fn slot_path(&self, name: &str) -> SlotPath {
        SlotPath::attribute(&self.id, &self.declaration().path(self.part, name))
    }

    /// The value of the attribute that a path leads to.
    pub(super) fn read_path(&self, path: &str) -> Result<Option<Json>, ParameterError> {
        let path: AttributePath = path.parse().map_err(|_| ParameterError::Unknown)?;
        let part = self.declaration().part(&path).ok_or(ParameterError::Unknown)?;
        self.of(part).read(path.name.as_deref().ok_or(ParameterError::Unknown)?)
    }

    fn declaration(&self) -> &Declaration {
        self.scope.0.declaration(&self.id)
    }

    /// The descriptors of the attributes that there are here.
    fn descriptors(&self) -> Result<&[Attribute], ParameterError> {
        let described = self.scope.0.described.get(&self.id.type_name).ok_or(ParameterError::Failed)?;
        let block = match self.part {
            Part::Own => None,
            Part::Block(place) => self.declaration().blocks.get(place).map(|block| block.name.as_str()),
        };
        Ok(described.attributes_of(block))
    }

    fn descriptor(&self, name: &str) -> Result<&Attribute, ParameterError> {
        self.descriptors()?.iter().find(|attribute| attribute.name == name).ok_or(ParameterError::Unknown)
    }

    /// Holds the addresses in a value to the manifest, and notes whose they are: who names a resource goes after it.
    fn note_addresses(&self, attribute: &Attribute, json: &Json, place: &Place) -> Result<(), ParameterError> {
        for text in attribute.attribute_type.addresses(json) {
            // The text is of the type, so it is an address; a value may be a secret, and is not quoted.
            let id: ResourceId = text.parse().map_err(|_| ParameterError::Unknown)?;
            let message = if id == self.id {
                Diagnostic::error(place, format!("`{}` names itself in `{}`", self.id, attribute.name))
            } else if self.scope.0.manifest().resource(&id).is_none() {
                Diagnostic::error(place, format!("`{}` names a resource that is not declared", attribute.name))
                    .hint("write its address without quotes: `TYPE.NAME`".to_owned())
            } else {
                self.note(&Marks::resource(&id), &attribute.name);
                continue;
            };
            return Err(self.refuse(message));
        }
        Ok(())
    }

    fn fail(&self) -> ParameterError {
        self.reads.failed.set(true);
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
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.read(name)?.is_some())
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        let attribute = self.descriptor(name)?;
        let Some((value, place)) = self.value(name)? else { return Ok(None) };
        let Some(json) = value.json() else {
            self.reads.deferred.borrow_mut().get_or_insert_with(|| (self.part, name.to_owned()));
            return Err(ParameterError::Deferred);
        };
        if holds_reserved_key(&json) {
            return Err(self.refuse(Diagnostic::error(&place, "the key `$secret` is reserved").label("in this value")));
        }
        let checked = attribute.check(json);
        let checked = checked.map_err(|mismatch| self.refuse(Diagnostic::error(&place, mismatch.to_string())))?;
        let Some(json) = checked else { return Ok(None) };
        self.note_addresses(attribute, &json, &place)?;
        // What was checked is the value itself; what the module gets has a slot in the place of each sensitive part.
        let concealed = slots::conceal(&value, attribute.sensitive, &self.slot_path(name), &mut self.reads.told.borrow_mut());
        concealed.map_err(|_| self.refuse(too_long(name, &place)))
    }

    fn children(&self, block: &str) -> Result<Vec<Child>, ParameterError> {
        let module = self.scope.0.modules.get(&self.id.type_name).ok_or(ParameterError::Failed)?;
        let described = module.description().block(block).filter(|_| self.part == Part::Own).ok_or(ParameterError::Unknown)?;
        let children = self.declaration().blocks_named(block).map(|(part, given)| Child {
            label: given.labels.first().map(|(label, _)| label.clone()).filter(|_| described.kind == BlockKind::Labelled),
            given: self.of(part),
        });
        Ok(children.collect())
    }
}

impl Compiler {
    /// The place of an attribute's value, by canonical name; of the whole part if it is not given.
    pub(super) fn place_of(&self, id: &ResourceId, part: Part, name: &str) -> Place {
        let declaration = self.declaration(id);
        let spelling = self.declared.get(id).and_then(|declared| declared.spelling(part, name)).unwrap_or(name);
        let given = declaration.attributes_of(part).and_then(|attributes| attributes.get(spelling));
        given.map_or_else(|| declaration.place_of(part).clone(), |given| given.value.place.clone())
    }

    /// The place of an attribute's name, by canonical name; of the whole part if it is not given.
    fn name_place_of(&self, id: &ResourceId, part: Part, name: &str) -> Place {
        let declaration = self.declaration(id);
        let spelling = self.declared.get(id).and_then(|declared| declared.spelling(part, name)).unwrap_or(name);
        let given = declaration.attributes_of(part).and_then(|attributes| attributes.get(spelling));
        given.map_or_else(|| declaration.place_of(part).clone(), |given| given.name_place.clone())
    }

    /// The place that a module's path to an attribute means; of the declaration if it leads nowhere.
    pub(super) fn place_at(&self, declaration: &Declaration, path: &str) -> Place {
        let found = path.parse::<AttributePath>().ok().and_then(|path| Some((declaration.part(&path)?, path)));
        match found {
            Some((part, AttributePath { name: Some(name), .. })) => self.place_of(&declaration.id, part, &name),
            Some((part, AttributePath { name: None, .. })) => declaration.place_of(part).clone(),
            None => declaration.place.clone(),
        }
    }

    /// Reads everything that is given in a declaration that is refused already, so that every mistake in it is told at once.
    pub(super) fn examine(&self, given: &Given) {
        let Some(declared) = self.declared.get(&given.id) else { return };
        for (part, name) in declared.given() {
            // What is wrong is told by reading; the values are of no use.
            drop(given.of(part).read(name));
        }
    }
}
