//! One declaration through its module's definition: what it holds, what it should be, what of it waits for the node.

use std::rc::Rc;

use super::Compiler;
use super::assets::Pending;
use super::draft::{NoDraft, kept};
use super::exports::Scope;
use super::origins::Origins;
use super::parameters::Given;
use super::providers::BuiltBackends;
use crate::engine::{DefinitionError, Footprint, Module, Parameters, Validated};
use crate::language::diagnostic::Diagnostic;
use crate::language::slots;
use crate::language::value::{Data, Value};
use crate::manifest::{Declaration, Part, Trail};
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Control, Resource, Source, State};
use crate::model::expression::Expression;
use crate::model::ids::TypeName;

/// A compiled declaration.
pub(super) struct Built {
    /// As the catalog has it, but for the bytes that are not there yet: in their place stand placeholders.
    pub(super) resource: Resource,
    /// The resources whose attributes and outputs it reads.
    pub(super) origins: Origins,
    /// What the module's `compile` gave, before anything was put in.
    pub(super) compiled: Option<CanonicalJson>,
    /// Whether it is known to do something only when it is refreshed.
    pub(super) only_refreshed: bool,
    /// Bytes that are not there yet.
    pub(super) pending: Vec<Pending>,
    /// For types with providers: the candidates, some of which wait for bytes too.
    pub(super) backends: Option<BuiltBackends>,
}

impl Built {
    /// Whether bytes are not there yet.
    pub(super) fn waits(&self) -> bool {
        let of_options = self.backends.iter().flat_map(|backends| backends.candidates.values());
        !self.pending.is_empty() || of_options.into_iter().any(|candidate| !candidate.pending.is_empty())
    }
}

/// What a declaration should be, with what is still to come.
pub(super) struct Drafted {
    pub(super) state: State,
    pub(super) compiled: Option<CanonicalJson>,
    pub(super) only_refreshed: bool,
    pub(super) pending: Vec<Pending>,
}

impl Compiler {
    /// Compiles one declaration; none if something is wrong with it, which has been told.
    pub(super) fn resource(self: &Rc<Self>, declaration: &Declaration) -> Option<Built> {
        let module = self.modules.get(&declaration.id.type_name)?;
        let mut origins = Origins::default();
        // The gate is looked at even where the rest is wrong: its mistakes are independent.
        let control = self.control(declaration, &mut origins);
        let sound = self.declared[&declaration.id].sound;
        let built = sound.then(|| self.built(declaration, module, &mut origins)).flatten();
        let Some((footprint, drafted, backends)) = built else {
            self.examine(&self.given(declaration));
            return None;
        };
        let Drafted { state, compiled, only_refreshed, pending } = drafted;
        let resource = Resource {
            id: declaration.id.clone(),
            source: Source::from(&declaration.place),
            claims: footprint.claims,
            effects: footprint.effects,
            affected_paths: footprint.affected_paths,
            timeout_ms: declaration.meta.timeout_ms,
            control: control?.map(Box::new),
            health: declaration.meta.health.clone().map(Box::new),
            state,
            backends: backends.as_ref().map(BuiltBackends::catalog).map(Box::new),
        };
        Some(Built { resource, origins, compiled, only_refreshed, pending, backends })
    }

    fn built(
        self: &Rc<Self>,
        declaration: &Declaration,
        module: &Module,
        origins: &mut Origins,
    ) -> Option<(Footprint, Drafted, Option<BuiltBackends>)> {
        let footprint = self.footprint(declaration, module, origins)?;
        let drafted = self.state(declaration, module, &footprint, origins)?;
        let desired = match &drafted.state {
            State::Compiled { desired, .. } => Some(desired.json()),
            State::Deferred { .. } => None,
        };
        let backends = self.backends(declaration, module, &footprint, desired.as_ref(), origins)?;
        Some((footprint, drafted, backends))
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
        origins: &mut Origins,
    ) -> Option<Drafted> {
        let given = self.given(declaration);
        let compiled = module.compile(&declaration.id, Rc::clone(&given) as Rc<dyn Parameters>);
        let drafted = match compiled {
            // A module may throw away what it read, and that it could not be read.
            Ok(_) if given.has_failed() => Err(NoDraft::Told),
            Ok(_) | Err(DefinitionError::Parameter) if given.deferred().is_some() => Err(NoDraft::Waits),
            Ok(compiled) => self.draft(declaration, module, compiled, &given),
            Err(error) => {
                self.tell(declaration, Some(&given), error);
                Err(NoDraft::Told)
            }
        };
        // Content that the host has read for the module counts as what the module has read.
        origins.join(&given.origins());
        match drafted {
            Ok(draft) => {
                self.check_footprint(declaration, footprint, &draft.validated)?;
                let state = State::Compiled { desired: kept(&draft.desired), semantics: draft.validated.semantics };
                let only_refreshed = draft.validated.only_refreshed;
                Some(Drafted { state, compiled: Some(draft.compiled), only_refreshed, pending: draft.pending })
            }
            Err(NoDraft::Waits) => self.deferred(declaration, module, origins),
            Err(NoDraft::Told) => None,
        }
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
            let residual = value.residual(&expression.place);
            if !slots::holds_secret(&residual) {
                origins.note(&value.marks(), &expression.place);
                origins.note_deferred(&residual, &expression.place);
                return Some(residual);
            }
            Diagnostic::error(&expression.place, "a secret cannot decide whether a resource is managed")
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
        if let Some(output) = given.output_of(name) {
            return message
                .note(format!("`{output}` is known once that resource has been applied, and never before"))
                .hint("give a value that is known when the manifest is compiled, and tell it to both resources".to_owned());
        }
        let value = given.value(name).ok().flatten();
        let secret = value.is_some_and(|(value, place)| slots::holds_secret(&value.residual(&place)));
        let hint = match secret {
            true => "a secret can be content, and part of other attributes that say so; name this one without it",
            false => "pass the facts of the node: `--target FACTS.json`, as `runtime facts --json` prints them",
        };
        message.hint(hint.to_owned())
    }

    /// Tells of a module that breaks the contract.
    pub(super) fn broken(&self, declaration: &Declaration, what: String) {
        self.broken_by(&declaration.id.type_name, declaration, what);
    }

    /// As [`Self::broken`], of any module.
    pub(super) fn broken_by(&self, module: &TypeName, declaration: &Declaration, what: String) {
        let summary = format!("the module `{module}` {what}");
        let message = Diagnostic::error(&declaration.place, summary);
        self.evaluation.add(message.note("this is a defect of the module, not of the manifest"));
    }
}
