//! One declaration through its module's definition: what it holds, what it should be, what of it waits for the node.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use super::assets::Assets;
use super::parameters::{Given, Scope};
use crate::engine::{Compiled, DefinitionError, Footprint, Module, Parameters, Validated};
use crate::language::diagnostic::Diagnostic;
use crate::language::slots;
use crate::language::value::{Data, Marks, Value};
use crate::manifest::{Declaration, Trail};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Control, Resource, Source, State};
use crate::model::expression::{Expression, Place};
use crate::model::ids::ResourceId;

/// A compiled declaration.
pub(super) struct Built {
    pub(super) resource: Resource,
    /// The resources whose attributes it reads.
    pub(super) reads: BTreeSet<ResourceId>,
}

impl Compiler {
    /// Compiles one declaration; none if something is wrong with it, which has been told.
    pub(super) fn resource(self: &Rc<Self>, declaration: &Declaration, assets: &mut Assets) -> Option<Built> {
        let module = self.modules.get(&declaration.id.type_name)?;
        let mut marks = Marks::default();
        // The gate is looked at even where the rest is wrong: its mistakes are independent.
        let control = self.control(declaration, &mut marks);
        if !self.declared[&declaration.id].sound {
            return None;
        }
        let footprint = self.footprint(declaration, module)?;
        let state = self.state(declaration, module, &footprint, assets, &mut marks)?;
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
        Some(Built { resource, reads })
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
        assets: &mut Assets,
        marks: &mut Marks,
    ) -> Option<State> {
        let given = self.given(declaration);
        let compiled = module.compile(&declaration.id, Rc::clone(&given) as Rc<dyn Parameters>);
        marks.join(&given.marks());
        match compiled {
            Ok(compiled) => {
                let (desired, validated) = self.finish(declaration, module, compiled, &given, assets)?;
                self.check_footprint(declaration, footprint, &validated)?;
                Some(State::Compiled { desired, semantics: validated.semantics })
            }
            Err(DefinitionError::Parameter) if given.deferred().is_some() => self.deferred(declaration, module, assets, marks),
            Err(error) => {
                self.tell(declaration, Some(&given), error);
                None
            }
        }
    }

    /// Puts the digests of assets in, and checks the result.
    fn finish(
        &self,
        declaration: &Declaration,
        module: &Module,
        compiled: Compiled,
        given: &Given,
        assets: &mut Assets,
    ) -> Option<(Json, Validated)> {
        let tell = |error| self.tell(declaration, Some(given), error);
        let mut desired = compiled.desired;
        for request in &compiled.assets {
            let asset = self.acquire(declaration, request, given, assets)?;
            desired = module.assign_asset(&desired, &request.slot, &asset).map_err(tell).ok()?;
        }
        let validated = module.validate(&desired).map_err(tell).ok()?;
        let is_known = |asset: &AssetRef| asset.digest().is_none_or(|digest| assets.contains_key(&digest));
        if let Some(asset) = validated.semantics.assets.iter().find(|asset| !is_known(asset)) {
            self.broken(declaration, format!("names the asset {asset}, which it did not ask for"));
            return None;
        }
        self.keep_secrets(declaration, given, &desired, &validated.semantics)?;
        Some((desired, validated))
    }

    /// Every given attribute, for the node to compile.
    fn deferred(
        self: &Rc<Self>,
        declaration: &Declaration,
        module: &Module,
        assets: &mut Assets,
        marks: &mut Marks,
    ) -> Option<State> {
        let given = self.given(declaration);
        let mut attributes = BTreeMap::new();
        let mut sources = BTreeMap::new();
        for attribute in &module.description().attributes {
            let Ok(value) = given.value(&attribute.name) else { continue };
            let Some((value, place)) = value else { continue };
            let Ok((expression, secrets)) = given.travelling(&attribute.name, &value, &place) else { continue };
            attributes.insert(attribute.name.clone(), expression);
            self.secrets.borrow_mut().extend(secrets);
            // Known values are checked here, as far as the module is not needed for it.
            let known = if value.is_known() { given.read(&attribute.name).ok()? } else { None };
            if !attribute.source {
                continue;
            }
            if !value.is_known() {
                self.evaluation.add(self.waits(declaration, &attribute.name, "it names a file to take along"));
                return None;
            }
            if let Some(Json::String(path)) = known {
                sources.insert(attribute.name.clone(), self.acquire_local(&path, &place, None, assets)?);
            }
        }
        marks.join(&given.marks());
        (!given.has_failed()).then_some(State::Deferred { attributes, sources })
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
            let residual = value.residual(&expression.place);
            if !slots::holds_secret(&residual) {
                return Some(residual);
            }
            Diagnostic::error(&expression.place, "a secret cannot decide whether a resource is managed")
        };
        self.evaluation.add(message);
        None
    }

    fn given(self: &Rc<Self>, declaration: &Declaration) -> Rc<Given> {
        Given::new(Scope(Rc::clone(self)), declaration.id.clone(), Trail::default())
    }

    fn waits(self: &Rc<Self>, declaration: &Declaration, name: &str, why: &str) -> Diagnostic {
        let spelling = self.declared[&declaration.id].spellings.get(name).map_or(name, String::as_str);
        let place = self.place_of(&declaration.id, spelling);
        let value = self.evaluation.attribute(&declaration.id, spelling, &Trail::default(), &Scope(Rc::clone(self)));
        let secret = value.ok().flatten().is_some_and(|value| slots::holds_secret(&value.residual(&place)));
        let hint = match secret {
            true => "a secret can be content, and part of other attributes that say so; name this one without it",
            false => "pass the facts of the node: `--target FACTS.json`, as `runtime facts --json` prints them",
        };
        Diagnostic::error(&place, format!("`{name}` cannot wait for the node: {why}"))
            .label("known on the node only")
            .hint(hint.to_owned())
    }

    /// Tells of a module that breaks the contract.
    pub(super) fn broken(&self, declaration: &Declaration, what: String) {
        let summary = format!("the module `{}` {what}", declaration.id.type_name);
        let message = Diagnostic::error(&declaration.place, summary);
        self.evaluation.add(message.note("this is a defect of the module, not of the manifest"));
    }
}

/// A place as catalogs have it.
pub(super) fn source(place: &Place) -> Source {
    Source { file: place.file.to_string(), line: place.line, column: place.column }
}
