//! The providers that a node may select for a declaration, each with what it would be given.
//!
//! Which of them it will be is not known here, so all are asked: with their options block, or without options. What a provider refuses of a
//! declaration that does not name it is no mistake of the manifest; it is kept, and held against the resource where that provider is selected.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use super::assets::{Assets, Origin, Pending};
use super::draft::NoDraft;
use super::origins::Origins;
use super::parameters::Given;
use crate::engine::{
    AssetRequest, AssetSource, CompiledOptions, DefinitionError, Diagnostic as ModuleDiagnostic, Footprint, Module, Parameters,
    Provider, ValidatedOptions,
};
use crate::language::diagnostic::Diagnostic;
use crate::manifest::{Declaration, Part};
use crate::model::asset::AssetRef;
use crate::model::catalog::{Backends, Beyond, Candidate};
use crate::model::ids::ProviderName;
use crate::model::key::escape;
use crate::providers::{NoOptions, missing_option};

/// The candidates of a declaration, some of which wait for bytes.
pub(super) struct BuiltBackends {
    pub(super) forced: Option<ProviderName>,
    pub(super) candidates: BTreeMap<ProviderName, BuiltCandidate>,
}

/// One candidate, with placeholders where bytes are not there yet.
pub(super) struct BuiltCandidate {
    pub(super) candidate: Candidate,
    /// What `compile-options` gave.
    compiled: Option<Json>,
    pub(super) pending: Vec<Pending>,
}

impl BuiltBackends {
    /// As the catalog has them, as far as they are known.
    pub(super) fn catalog(&self) -> Backends {
        let candidates = self.candidates.iter().map(|(name, built)| (name.clone(), built.candidate.clone()));
        Backends { forced: self.forced.clone(), candidates: candidates.collect() }
    }
}

/// Why there is no candidate.
enum NoCandidate {
    /// The provider cannot serve it.
    Refuses(ModuleDiagnostic),
    /// An option waits for the node.
    Waits,
    /// Something is wrong, and has been told.
    Told,
}

/// One declaration before one provider.
struct Question<'q> {
    declaration: &'q Declaration,
    provider: &'q Provider,
    base: &'q Footprint,
    /// Its desired state, unless that waits for the node.
    desired: Option<&'q Json>,
    given: Rc<Given>,
    /// Its options block.
    part: Option<Part>,
    /// Whether the declaration names the provider, so that what it refuses is a mistake.
    is_named: bool,
}

impl Compiler {
    /// The candidates of a declaration: none within none if something is wrong, which has been told.
    pub(super) fn backends(
        self: &Rc<Self>,
        declaration: &Declaration,
        module: &Module,
        base: &Footprint,
        desired: Option<&Json>,
        origins: &mut Origins,
    ) -> Option<Option<BuiltBackends>> {
        if !module.description().has_providers {
            return Some(None);
        }
        let Some(known) = self.providers.get(&declaration.id.type_name) else {
            let summary = format!("no provider of the resource type `{}` is known", declaration.id.type_name);
            let hint = format!("give one: `--module {}_NAME=PATH.wasm`", declaration.id.type_name);
            self.evaluation.add(Diagnostic::error(&declaration.type_place, summary).hint(hint));
            return None;
        };
        let forced = declaration.meta.provider.as_ref().map(|(name, _)| name.clone());
        let wanted = known.iter().filter(|(name, _)| forced.as_ref().is_none_or(|forced| forced == *name));
        // Each is looked at, so that all that is wrong comes out at once.
        let built: Vec<Option<(ProviderName, BuiltCandidate)>> = wanted
            .map(|(name, provider)| {
                let part = declaration.blocks_named(name.as_str()).next().map(|(part, _)| part);
                let (given, is_named) = (self.given(declaration), part.is_some() || forced.is_some());
                let question = Question { declaration, provider, base, desired, given, part, is_named };
                let candidate = self.candidate(&question);
                origins.join(&question.given.origins());
                if let Some(BuiltCandidate { candidate: Candidate::Deferred { attributes, .. }, .. }) = &candidate {
                    let place = part.map_or(&declaration.place, |part| declaration.place_of(part));
                    attributes.values().for_each(|expression| origins.note_deferred(expression, place));
                }
                Some((name.clone(), candidate?))
            })
            .collect();
        Some(Some(BuiltBackends { forced, candidates: built.into_iter().collect::<Option<_>>()? }))
    }

    fn candidate(self: &Rc<Self>, question: &Question<'_>) -> Option<BuiltCandidate> {
        let refused = |diagnostic: ModuleDiagnostic| BuiltCandidate {
            candidate: Candidate::Refused { message: diagnostic.message, hint: diagnostic.hint },
            compiled: None,
            pending: Vec::new(),
        };
        if let Some(missing) = question.missing() {
            return match question.is_named {
                false => Some(refused(missing)),
                true => {
                    self.evaluation.add(Diagnostic::error(&question.declaration.place, missing.message).hint(missing.hint));
                    None
                }
            };
        }
        let beyond = match self.beyond(question) {
            Ok(beyond) => beyond,
            Err(NoCandidate::Refuses(diagnostic)) => return Some(refused(diagnostic)),
            Err(NoCandidate::Waits | NoCandidate::Told) => return None,
        };
        match self.options(question, &beyond) {
            Ok(built) => Some(built),
            Err(NoCandidate::Refuses(diagnostic)) => Some(refused(diagnostic)),
            Err(NoCandidate::Waits) => self.deferred_options(question, beyond),
            Err(NoCandidate::Told) => None,
        }
    }

    /// What the provider adds to what the type says.
    fn beyond(self: &Rc<Self>, question: &Question<'_>) -> Result<Beyond, NoCandidate> {
        let said = question.provider.footprint(&question.declaration.id, question.base, question.parameters());
        match (said, question.given.deferred()) {
            (Ok(_) | Err(DefinitionError::Parameter), Some((part, name))) => {
                let why = "it names what the resource manages";
                self.evaluation.add(self.waits(&question.given.of(part), question.declaration, part, &name, why));
                Err(NoCandidate::Told)
            }
            (Ok(_), None) if question.given.has_failed() => Err(NoCandidate::Told),
            (Ok(footprint), None) => Ok(beyond_of(footprint)),
            (Err(error), _) => Err(self.refusal(question, error)),
        }
    }

    fn options(self: &Rc<Self>, question: &Question<'_>, beyond: &Beyond) -> Result<BuiltCandidate, NoCandidate> {
        let Question { declaration, provider, given, .. } = question;
        let compiled = provider.compile_options(&declaration.id, question.parameters());
        let CompiledOptions { options: compiled, assets } = match compiled {
            Ok(_) if given.has_failed() => return Err(NoCandidate::Told),
            Ok(_) | Err(DefinitionError::Parameter) if given.deferred().is_some() => return Err(NoCandidate::Waits),
            Ok(compiled) => compiled,
            Err(error) => return Err(self.refusal(question, error)),
        };
        let requests: Vec<AssetRequest> = assets.into_iter().map(|request| question.placed(request)).collect();
        let pending = self.pending(declaration, &requests, given).map_err(|why| match why {
            NoDraft::Waits => NoCandidate::Waits,
            NoDraft::Told => NoCandidate::Told,
        })?;
        let name = |pending: &Pending| match &pending.origin {
            Origin::Secret(slot) => AssetRef::Secret(slot.clone()),
            _ => AssetRef::placeholder(&pending.name),
        };
        let names = pending.iter().map(|pending| (pending.name.clone(), name(pending))).collect();
        let (options, validated) = self.assign_options(question, &compiled, &pending, &names)?;
        self.check_options(question, &validated, beyond, &names)?;
        let assets = &validated.semantics.assets;
        self.keep_secrets(declaration, given, &options, assets).ok_or(NoCandidate::Told)?;
        let candidate = Candidate::Compiled { options, semantics: validated.semantics, beyond: beyond.clone() };
        Ok(BuiltCandidate { candidate, compiled: Some(compiled), pending })
    }

    /// Puts names in, and validates the result.
    fn assign_options(
        &self,
        question: &Question<'_>,
        compiled: &Json,
        pending: &[Pending],
        names: &BTreeMap<String, AssetRef>,
    ) -> Result<(Json, ValidatedOptions), NoCandidate> {
        let provider = question.provider;
        let mut options = compiled.clone();
        for pending in pending {
            let assigned = provider.assign_asset(&options, &pending.name, &names[&pending.name]);
            options = assigned.map_err(|error| self.refusal(question, error))?;
        }
        let validated = provider.validate(&options, question.base, question.desired);
        Ok((options, validated.map_err(|error| self.refusal(question, error))?))
    }

    /// That `validate` says what `identity` said, and names the assets that were asked for.
    fn check_options(
        &self,
        question: &Question<'_>,
        validated: &ValidatedOptions,
        beyond: &Beyond,
        names: &BTreeMap<String, AssetRef>,
    ) -> Result<(), NoCandidate> {
        let assets = &validated.semantics.assets;
        let what = if beyond_of(validated.beyond.clone()) != *beyond {
            "gives other claims or effects in `validate` than in `identity`".to_owned()
        } else if let Some(asset) = assets.iter().find(|asset| !names.values().any(|name| name == *asset)) {
            format!("names the asset {asset}, which it did not ask for")
        } else if let Some((slot, _)) = names.iter().find(|(_, name)| !assets.contains(name)) {
            format!("asks for the asset `{}`, and does not name it in `validate`", escape(slot))
        } else {
            return Ok(());
        };
        self.broken_by(&question.provider.module_name(), question.declaration, what);
        Err(NoCandidate::Told)
    }

    /// An options block of which something waits for the node.
    fn deferred_options(self: &Rc<Self>, question: &Question<'_>, beyond: Beyond) -> Option<BuiltCandidate> {
        let part = question.part?;
        let (attributes, sources) = self.deferred_part(question.declaration, part, &question.given)?;
        let prefix = format!("{}[0].", question.provider.name());
        let pending = sources
            .into_iter()
            .map(|pending| Pending { name: pending.name.strip_prefix(&prefix).unwrap_or(&pending.name).to_owned(), ..pending });
        let candidate = Candidate::Deferred { attributes, sources: BTreeMap::new(), beyond };
        Some(BuiltCandidate { candidate, compiled: None, pending: pending.collect() })
    }

    /// The final candidate, once its bytes are there.
    pub(super) fn finish_candidate(
        self: &Rc<Self>,
        declaration: &Declaration,
        provider: &Provider,
        (base, desired): (&Footprint, Option<&Json>),
        built: &mut BuiltCandidate,
        assets: &mut Assets,
    ) -> Option<()> {
        let sensitive = matches!(&built.candidate, Candidate::Compiled { semantics, .. } if semantics.sensitive);
        let names = self.acquire(&built.pending, sensitive, assets)?;
        match &mut built.candidate {
            Candidate::Refused { .. } => {}
            Candidate::Deferred { sources, .. } => {
                *sources = names.into_iter().filter_map(|(name, asset)| Some((name, asset.digest()?))).collect();
            }
            Candidate::Compiled { options, semantics, beyond } => {
                let part = declaration.blocks_named(provider.name().as_str()).next().map(|(part, _)| part);
                let given = self.given(declaration);
                let question = Question { declaration, provider, base, desired, given, part, is_named: true };
                let compiled = built.compiled.take()?;
                let (settled, validated) = self.assign_options(&question, &compiled, &built.pending, &names).ok()?;
                self.check_options(&question, &validated, beyond, &names).ok()?;
                let mut expected = semantics.clone();
                expected.assets.clone_from(&validated.semantics.assets);
                if validated.semantics != expected || !self.same_slots(&declaration.id, &settled) {
                    let what = "says something else of the final options than of the draft, beyond the names of its assets";
                    self.broken_by(&provider.module_name(), declaration, what.to_owned());
                    return None;
                }
                (*options, *semantics) = (settled, validated.semantics);
            }
        }
        Some(())
    }

    /// What a provider's error means: a refusal where the declaration does not name it, else a message.
    fn refusal(&self, question: &Question<'_>, error: DefinitionError) -> NoCandidate {
        let diagnostic = match error {
            DefinitionError::Invalid(diagnostic) => diagnostic,
            DefinitionError::Unsupported { message, .. } => ModuleDiagnostic { attribute: None, message, hint: None },
            error => {
                self.tell(question.declaration, Some(&question.given), error);
                return NoCandidate::Told;
            }
        };
        if !question.is_named {
            return NoCandidate::Refuses(diagnostic);
        }
        let place = match &diagnostic.attribute {
            Some(path) => self.place_at(question.declaration, &question.path(path)),
            None => question.part.map_or(&question.declaration.place, |part| question.declaration.place_of(part)).clone(),
        };
        self.evaluation.add(Diagnostic::error(&place, diagnostic.message).hint(diagnostic.hint));
        NoCandidate::Told
    }
}

impl Question<'_> {
    /// Its options.
    fn parameters(&self) -> Rc<dyn Parameters> {
        match self.part {
            Some(part) => self.given.of(part),
            None => Rc::new(NoOptions(self.provider.clone())),
        }
    }

    /// What is said of a declaration without the options that the provider must have.
    fn missing(&self) -> Option<ModuleDiagnostic> {
        if self.part.is_none() { missing_option(self.provider) } else { None }
    }

    /// An option's path in the declaration; what is no option is an attribute of the resource.
    fn path(&self, path: &str) -> String {
        let is_option = self.provider.description().options.iter().any(|option| option.name == path);
        if is_option && self.part.is_some() { format!("{}[0].{path}", self.provider.name()) } else { path.to_owned() }
    }

    /// A request for bytes, with paths of the declaration.
    fn placed(&self, request: AssetRequest) -> AssetRequest {
        let source = match request.source {
            AssetSource::Parameter(path) => AssetSource::Parameter(self.path(&path)),
            source => source,
        };
        AssetRequest { source, attribute: self.path(&request.attribute), ..request }
    }
}

/// What a provider adds, as the catalog has it.
pub(super) fn beyond_of(footprint: Footprint) -> Beyond {
    let Footprint { claims, effects, affected_paths } = footprint;
    Beyond { claims, effects, affected_paths }
}
