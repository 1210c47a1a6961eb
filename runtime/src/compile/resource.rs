//! One declaration through its module's definition: what it holds, what it should be, what of it waits for the node.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use super::assets::Pending;
use super::draft::NoDraft;
use super::parameters::{Given, Scope};
use crate::engine::{DefinitionError, Footprint, Module, Parameters, Validated};
use crate::language::diagnostic::Diagnostic;
use crate::language::value::{Data, Marks, Value};
use crate::manifest::{Declaration, Trail};
use crate::model::catalog::{Control, Resource, Source, State};
use crate::model::expression::{Expression, Place};
use crate::model::ids::ResourceId;

/// A compiled declaration.
pub(super) struct Built {
    /// As the catalog has it, but for the bytes that are not there yet: in their place stand placeholders.
    pub(super) resource: Resource,
    /// The resources whose attributes it reads.
    pub(super) reads: BTreeSet<ResourceId>,
    /// What the module's `compile` gave, before anything was put in.
    pub(super) compiled: Option<Json>,
    /// Bytes that are not there yet.
    pub(super) pending: Vec<Pending>,
}

/// What a declaration should be, with what is still to come.
struct Drafted {
    state: State,
    compiled: Option<Json>,
    pending: Vec<Pending>,
}

impl Compiler {
    /// Compiles one declaration; none if something is wrong with it, which has been told.
    pub(super) fn resource(self: &Rc<Self>, declaration: &Declaration) -> Option<Built> {
        let module = self.modules.get(&declaration.id.type_name)?;
        let mut marks = Marks::default();
        // The gate is looked at even where the rest is wrong: its mistakes are independent.
        let control = self.control(declaration, &mut marks);
        if !self.declared[&declaration.id].sound {
            return None;
        }
        let footprint = self.footprint(declaration, module)?;
        let Drafted { state, compiled, pending } = self.state(declaration, module, &footprint, &mut marks)?;
        let resource = Resource {
            id: declaration.id.clone(),
            source: source(&declaration.place),
            claims: footprint.claims,
            effects: footprint.effects,
            affected_paths: footprint.affected_paths,
            timeout_ms: declaration.meta.timeout_ms,
            control: control?,
            state,
        };
        let reads = marks.resources().filter(|id| **id != declaration.id).cloned().collect();
        Some(Built { resource, reads, compiled, pending })
    }

    fn footprint(self: &Rc<Self>, declaration: &Declaration, module: &Module) -> Option<Footprint> {
        let given = self.given(declaration);
        match module.footprint(&declaration.id, Rc::clone(&given) as Rc<dyn Parameters>) {
            Ok(footprint) => Some(footprint),
            Err(DefinitionError::Parameter) if given.deferred().is_some() => {
                let name = given.deferred().expect("looked at just now");
                self.evaluation.add(self.waits(declaration, &name, "it names what the resource manages"));
                None
            }
            Err(error) => {
                self.tell(declaration, Some(&given), error);
                None
            }
        }
    }

    fn state(
        self: &Rc<Self>,
        declaration: &Declaration,
        module: &Module,
        footprint: &Footprint,
        marks: &mut Marks,
    ) -> Option<Drafted> {
        let given = self.given(declaration);
        let compiled = module.compile(&declaration.id, Rc::clone(&given) as Rc<dyn Parameters>);
        let drafted = match compiled {
            Ok(compiled) => self.draft(declaration, module, compiled, &given),
            Err(DefinitionError::Parameter) if given.deferred().is_some() => Err(NoDraft::Waits),
            Err(error) => {
                self.tell(declaration, Some(&given), error);
                Err(NoDraft::Told)
            }
        };
        // Content that the host has read for the module counts as what the module has read.
        marks.join(&given.marks());
        match drafted {
            Ok(draft) => {
                self.check_footprint(declaration, footprint, &draft.validated)?;
                let state = State::Compiled { desired: draft.desired, semantics: draft.validated.semantics };
                Some(Drafted { state, compiled: Some(draft.compiled), pending: draft.pending })
            }
            Err(NoDraft::Waits) => self.deferred(declaration, module, marks),
            Err(NoDraft::Told) => None,
        }
    }

    /// Every given attribute, for the node to compile.
    fn deferred(self: &Rc<Self>, declaration: &Declaration, module: &Module, marks: &mut Marks) -> Option<Drafted> {
        let given = self.given(declaration);
        let mut attributes = BTreeMap::new();
        let mut pending = Vec::new();
        for attribute in &module.description().attributes {
            let Ok(value) = given.value(&attribute.name) else { continue };
            let Some((value, place)) = value else { continue };
            attributes.insert(attribute.name.clone(), value.residual(&place));
            // Known values are checked here, as far as the module is not needed for it.
            let known = if value.is_known() { given.read(&attribute.name).ok()? } else { None };
            if !attribute.source {
                continue;
            }
            if !value.is_known() {
                self.evaluation.add(self.waits(declaration, &attribute.name, "it names a file to take along"));
                return None;
            }
            if let Some(Json::String(text)) = known {
                let checksum = self.checksum_of(declaration, module, &attribute.name, &given)?;
                pending.push(self.source(&attribute.name, (&text, &place), checksum)?);
            }
        }
        marks.join(&given.marks());
        let state = State::Deferred { attributes, sources: BTreeMap::new() };
        (!given.has_failed()).then_some(Drafted { state, compiled: None, pending })
    }

    /// The given checksum of a source, if the type has an attribute for it: none within none where it cannot be had.
    fn checksum_of(
        self: &Rc<Self>,
        declaration: &Declaration,
        module: &Module,
        source: &str,
        given: &Given,
    ) -> Option<Option<(Json, Place)>> {
        let attribute = module.description().attributes.iter().find(|found| found.checksum_of.as_deref() == Some(source));
        let Some(attribute) = attribute else { return Some(None) };
        let Some((value, place)) = given.value(&attribute.name).ok()? else { return Some(None) };
        if !value.is_known() {
            self.evaluation.add(self.waits(declaration, &attribute.name, "it is the checksum of a file to take along"));
            return None;
        }
        Some(given.read(&attribute.name).ok()?.map(|checksum| (checksum, place)))
    }

    fn check_footprint(&self, declaration: &Declaration, footprint: &Footprint, validated: &Validated) -> Option<()> {
        if validated.footprint == *footprint {
            return Some(());
        }
        self.broken(declaration, "gives other claims or effects in `validate` than in `identity`".into());
        None
    }

    /// The gate, if it is sound: none within none where it is not.
    fn control(self: &Rc<Self>, declaration: &Declaration, marks: &mut Marks) -> Option<Option<Control>> {
        let Some(gate) = &declaration.meta.control else { return Some(None) };
        let mut condition = |word: &str, expression: &Option<Expression>| match expression {
            None => Some(None),
            Some(expression) => self.condition(declaration, word, expression, marks).map(Some),
        };
        let (if_, unless) = (condition("if", &gate.if_), condition("unless", &gate.unless));
        Some(Some(Control { if_: if_?, unless: unless? }))
    }

    fn condition(
        self: &Rc<Self>,
        declaration: &Declaration,
        word: &str,
        expression: &Expression,
        marks: &mut Marks,
    ) -> Option<Expression> {
        let value: Value = self.evaluation.expression(declaration, expression, &Scope(Rc::clone(self))).ok()?;
        let message = if value.marks().is_sensitive() {
            Diagnostic::error(&expression.place, "a sensitive value cannot decide whether a resource is managed")
        } else if value.is_known() && !matches!(value.data(), Data::Bool(_)) {
            let summary = format!("`control {{ {word} }}` must be true or false, not {}", value.type_name());
            Diagnostic::error(&expression.place, summary)
        } else {
            marks.join(&value.marks());
            return Some(value.residual(&expression.place));
        };
        self.evaluation.add(message);
        None
    }

    fn given(self: &Rc<Self>, declaration: &Declaration) -> Rc<Given> {
        Given::new(Scope(Rc::clone(self)), declaration.id.clone(), Trail::default())
    }

    fn waits(&self, declaration: &Declaration, name: &str, why: &str) -> Diagnostic {
        let spelling = self.declared[&declaration.id].spellings.get(name).map_or(name, String::as_str);
        let place = self.place_of(&declaration.id, spelling);
        Diagnostic::error(&place, format!("`{name}` cannot wait for the node: {why}"))
            .label("known on the node only")
            .hint("pass the facts of the node: `--target FACTS.json`, as `runtime facts --json` prints them".to_owned())
    }

    /// Tells of a module that breaks the contract.
    pub(super) fn broken(&self, declaration: &Declaration, what: String) {
        let summary = format!("the module `{}` {what}", declaration.id.type_name);
        let message = Diagnostic::error(&declaration.place, summary);
        self.evaluation.add(message.note("this is a defect of the module, not of the manifest"));
    }
}

/// A place as catalogs have it.
fn source(place: &Place) -> Source {
    Source { file: place.file.to_string(), line: place.line, column: place.column }
}
