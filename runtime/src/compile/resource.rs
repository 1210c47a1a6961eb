//! One declaration through its module's definition: what it holds, what it should be, what of it waits for the node.

use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use super::assets::Assets;
use super::exports::Scope;
use super::origins::Origins;
use super::parameters::Given;
use crate::engine::{Compiled, DefinitionError, Footprint, Module, Parameters, Validated};
use crate::language::diagnostic::Diagnostic;
use crate::language::value::{Data, Value};
use crate::manifest::{Declaration, Part, Trail};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Control, Resource, Source, State};
use crate::model::expression::Expression;

/// A compiled declaration.
pub(super) struct Built {
    pub(super) resource: Resource,
    /// The resources whose attributes and outputs it reads.
    pub(super) origins: Origins,
}

impl Compiler {
    /// Compiles one declaration; none if something is wrong with it, which has been told.
    pub(super) fn resource(self: &Rc<Self>, declaration: &Declaration, assets: &mut Assets) -> Option<Built> {
        let module = self.modules.get(&declaration.id.type_name)?;
        let mut origins = Origins::default();
        // The gate is looked at even where the rest is wrong: its mistakes are independent.
        let control = self.control(declaration, &mut origins);
        let sound = self.declared[&declaration.id].sound;
        let built = sound.then(|| self.built(declaration, module, assets, &mut origins)).flatten();
        let Some((footprint, state)) = built else {
            self.examine(&self.given(declaration));
            return None;
        };
        let resource = Resource {
            id: declaration.id.clone(),
            source: Source::from(&declaration.place),
            claims: footprint.claims,
            effects: footprint.effects,
            affected_paths: footprint.affected_paths,
            timeout_ms: declaration.meta.timeout_ms,
            control: control?,
            state,
        };
        Some(Built { resource, origins })
    }

    fn built(
        self: &Rc<Self>,
        declaration: &Declaration,
        module: &Module,
        assets: &mut Assets,
        origins: &mut Origins,
    ) -> Option<(Footprint, State)> {
        let footprint = self.footprint(declaration, module, origins)?;
        let state = self.state(declaration, module, &footprint, assets, origins)?;
        Some((footprint, state))
    }

    fn footprint(self: &Rc<Self>, declaration: &Declaration, module: &Module, origins: &mut Origins) -> Option<Footprint> {
        let given = self.given(declaration);
        let footprint = module.footprint(&declaration.id, Rc::clone(&given) as Rc<dyn Parameters>);
        origins.join(&given.origins());
        match (footprint, given.deferred()) {
            (Ok(_) | Err(DefinitionError::Parameter), Some((part, name))) => {
                self.evaluation.add(self.waits(&given.of(part), declaration, part, &name, "it names what the resource manages"));
                None
            }
            (Ok(footprint), None) => (!given.has_failed()).then_some(footprint),
            (Err(error), _) => {
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
        origins: &mut Origins,
    ) -> Option<State> {
        let given = self.given(declaration);
        let compiled = module.compile(&declaration.id, Rc::clone(&given) as Rc<dyn Parameters>);
        origins.join(&given.origins());
        match compiled {
            // A module may throw away what it read, and that it could not be read.
            Ok(_) if given.has_failed() => None,
            Ok(_) | Err(DefinitionError::Parameter) if given.deferred().is_some() => {
                self.deferred(declaration, module, assets, origins)
            }
            Ok(compiled) => {
                let (desired, validated) = self.finish(declaration, module, compiled, &given, assets)?;
                self.check_footprint(declaration, footprint, &validated)?;
                Some(State::Compiled { desired, semantics: validated.semantics })
            }
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
            let digest = self.acquire(declaration, request, given, assets)?;
            desired = module.assign_asset(&desired, &request.slot, &AssetRef::Plain(digest)).map_err(tell).ok()?;
        }
        let validated = module.validate(&desired).map_err(tell).ok()?;
        let unknown =
            validated.semantics.assets.iter().find(|asset| !asset.digest().is_some_and(|digest| assets.contains_key(&digest)));
        if let Some(asset) = unknown {
            self.broken(declaration, format!("names the asset {asset}, which it did not ask for"));
            return None;
        }
        Some((desired, validated))
    }

    fn check_footprint(&self, declaration: &Declaration, footprint: &Footprint, validated: &Validated) -> Option<()> {
        if validated.footprint == *footprint {
            return Some(());
        }
        self.broken(declaration, "gives other claims or effects in `validate` than in `identity`".into());
        None
    }

    /// The gate, if it is sound: none within none where it is not.
    fn control(self: &Rc<Self>, declaration: &Declaration, origins: &mut Origins) -> Option<Option<Control>> {
        let Some(gate) = &declaration.meta.control else { return Some(None) };
        let mut condition = |word: &str, expression: &Option<Expression>| match expression {
            None => Some(None),
            Some(expression) => self.condition(declaration, word, expression, origins).map(Some),
        };
        let (if_, unless) = (condition("if", &gate.if_), condition("unless", &gate.unless));
        Some(Some(Control { if_: if_?, unless: unless? }))
    }

    fn condition(
        self: &Rc<Self>,
        declaration: &Declaration,
        word: &str,
        expression: &Expression,
        origins: &mut Origins,
    ) -> Option<Expression> {
        let value: Value = self.evaluation.expression(declaration, expression, &Scope(Rc::clone(self))).ok()?;
        let message = if value.marks().is_sensitive() {
            Diagnostic::error(&expression.place, "a sensitive value cannot decide whether a resource is managed")
        } else if value.is_known() && !matches!(value.data(), Data::Bool(_)) {
            let summary = format!("`control {{ {word} }}` must be true or false, not {}", value.type_name());
            Diagnostic::error(&expression.place, summary)
        } else {
            origins.note(&value.marks(), &expression.place);
            let residual = value.residual(&expression.place);
            origins.note_deferred(&residual, &expression.place);
            return Some(residual);
        };
        self.evaluation.add(message);
        None
    }

    pub(super) fn given(self: &Rc<Self>, declaration: &Declaration) -> Rc<Given> {
        Given::new(Scope(Rc::clone(self)), declaration.id.clone(), Trail::default())
    }

    /// Tells of an attribute that only the node knows and that must be known here.
    pub(super) fn waits(&self, given: &Given, declaration: &Declaration, part: Part, name: &str, why: &str) -> Diagnostic {
        let place = self.place_of(&declaration.id, part, name);
        let message =
            Diagnostic::error(&place, format!("`{name}` cannot wait for the node: {why}")).label("known on the node only");
        match given.output_of(name) {
            Some(output) => message
                .note(format!("`{output}` is known once that resource has been applied, and never before"))
                .hint("give a value that is known when the manifest is compiled, and tell it to both resources".to_owned()),
            None => message
                .hint("pass the facts of the node: `--target FACTS.json`, as `runtime facts --json` prints them".to_owned()),
        }
    }

    /// Tells of a module that breaks the contract.
    pub(super) fn broken(&self, declaration: &Declaration, what: String) {
        let summary = format!("the module `{}` {what}", declaration.id.type_name);
        let message = Diagnostic::error(&declaration.place, summary);
        self.evaluation.add(message.note("this is a defect of the module, not of the manifest"));
    }
}
