//! A compiled declaration before and after its assets are there.
//!
//! A draft is made and validated without any asset: each slot is given a placeholder, so that the module's `validate` sees a state of the form
//! that the final one will have. The draft says everything but which bytes: claims, effects, orders and deadlines are known, and checked over
//! the whole manifest, before the first source is acquired. The final state is made from what `compile` gave, each slot being assigned once
//! with the name of verified bytes, and may differ from the draft in nothing but those names.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value as Json;

use super::Compiler;
use super::assets::{Assets, Origin, Pending};
use super::parameters::Given;
use super::resource::Built;
use crate::engine::{AssetRequest, AssetSource, Compiled, Footprint, Module, ParameterError, Validated};
use crate::language::diagnostic::Diagnostic;
use crate::manifest::Declaration;
use crate::model::asset::AssetRef;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Semantics, State};
use crate::model::description::is_secret_slot;
use crate::model::digest::AssetDigest;
use crate::model::expression::Place;
use crate::model::secret;

/// A compiled declaration that waits for its assets.
pub(super) struct Draft {
    /// As `compile` gave it.
    pub(super) compiled: CanonicalJson,
    /// With placeholders.
    pub(super) desired: Json,
    pub(super) validated: Validated,
    pub(super) pending: Vec<Pending>,
}

/// A desired state as the catalog holds it.
pub(super) fn kept(desired: &Json) -> CanonicalJson {
    CanonicalJson::new(desired).expect("its module has given it or validated it as this text")
}

/// Why there is no draft.
pub(super) enum NoDraft {
    /// An attribute that is content waits for the node.
    Waits,
    /// Something is wrong, and has been told.
    Told,
}

impl Compiler {
    /// The draft of what `compile` gave.
    pub(super) fn draft(
        &self,
        declaration: &Declaration,
        module: &Module,
        compiled: Compiled,
        given: &Given,
    ) -> Result<Draft, NoDraft> {
        let pending = self.pending(declaration, &compiled.assets, given)?;
        // The name of sensitive bytes is known before them, and is the final one.
        let name = |pending: &Pending| match &pending.origin {
            Origin::Secret(slot) => AssetRef::Secret(slot.clone()),
            _ => AssetRef::placeholder(&pending.name),
        };
        let names: BTreeMap<String, AssetRef> = pending.iter().map(|pending| (pending.name.clone(), name(pending))).collect();
        let assigned = self.assign(declaration, module, &compiled.desired, &pending, &names);
        let (desired, validated) = assigned.ok_or(NoDraft::Told)?;
        self.check_names(declaration, &validated, &names).ok_or(NoDraft::Told)?;
        self.keep_secrets(declaration, given, &desired, &validated.semantics.assets).ok_or(NoDraft::Told)?;
        Ok(Draft { compiled: kept(&compiled.desired), desired, validated, pending })
    }

    /// Puts names in, in the order in which they were asked for, and validates the result.
    fn assign(
        &self,
        declaration: &Declaration,
        module: &Module,
        compiled: &Json,
        pending: &[Pending],
        names: &BTreeMap<String, AssetRef>,
    ) -> Option<(Json, Validated)> {
        let tell = |error| self.tell(declaration, None, error);
        let mut desired = compiled.clone();
        for pending in pending {
            desired = module.assign_asset(&desired, &pending.name, &names[&pending.name]).map_err(tell).ok()?;
        }
        let validated = module.validate(&desired).map_err(tell).ok()?;
        Some((desired, validated))
    }

    /// Every asset that the state names was asked for, and the other way round.
    fn check_names(&self, declaration: &Declaration, validated: &Validated, names: &BTreeMap<String, AssetRef>) -> Option<()> {
        if let Some(asset) = validated.semantics.assets.iter().find(|asset| !names.values().any(|name| name == *asset)) {
            self.broken(declaration, format!("names the asset {asset}, which it did not ask for"));
            return None;
        }
        if let Some((slot, _)) = names.iter().find(|(_, name)| !validated.semantics.assets.contains(name)) {
            self.broken(declaration, format!("asks for the asset `{slot}`, and does not name it in `validate`"));
            return None;
        }
        Some(())
    }

    /// The final state of one draft, once its assets are there.
    pub(super) fn finish(self: &Rc<Self>, mut built: Built, assets: &mut Assets) -> Option<Built> {
        let sensitive = matches!(&built.resource.state, State::Compiled { semantics, .. } if semantics.sensitive);
        let acquired = self.acquire(&built.pending, sensitive, assets)?;
        let state = match &built.resource.state {
            State::Deferred { attributes, blocks, .. } => {
                let sources = acquired.into_iter().filter_map(|(path, asset)| Some((path, asset.digest()?))).collect();
                State::Deferred { attributes: attributes.clone(), sources, blocks: blocks.clone() }
            }
            State::Compiled { semantics, .. } => {
                // A state without assets has been validated as it is.
                match built.compiled.take().filter(|_| !built.pending.is_empty()) {
                    None => built.resource.state.clone(),
                    Some(compiled) => {
                        let (desired, validated) = self.final_state(&built, &compiled.json(), semantics, acquired)?;
                        State::Compiled { desired: kept(&desired), semantics: validated.semantics }
                    }
                }
            }
        };
        let is_other = state != built.resource.state;
        built.resource.state = state;
        self.finish_backends(&mut built, is_other, assets)?;
        Some(built)
    }

    /// The final candidates: of those that wait for bytes, and of all where the desired state is another than that of the draft.
    fn finish_backends(self: &Rc<Self>, built: &mut Built, is_other: bool, assets: &mut Assets) -> Option<()> {
        let Some(mut backends) = built.backends.take() else { return Some(()) };
        let resource = &built.resource;
        let declaration = self.declaration(&resource.id);
        let base = Footprint {
            claims: resource.claims.clone(),
            effects: resource.effects.clone(),
            affected_paths: resource.affected_paths.clone(),
        };
        let desired = match &resource.state {
            State::Compiled { desired, .. } => Some(desired.json()),
            State::Deferred { .. } => None,
        };
        let desired = desired.as_ref();
        for (name, candidate) in &mut backends.candidates {
            if is_other || !candidate.pending.is_empty() {
                let provider = &self.providers[&resource.id.type_name][name];
                self.finish_candidate(declaration, provider, (&base, desired), candidate, assets)?;
            }
        }
        built.resource.backends = Some(Box::new(backends.catalog()));
        Some(())
    }

    fn final_state(
        &self,
        built: &Built,
        compiled: &Json,
        draft: &Semantics,
        names: BTreeMap<String, AssetRef>,
    ) -> Option<(Json, Validated)> {
        let resource = &built.resource;
        let declaration = self.declaration(&resource.id);
        let module = &self.modules[&resource.id.type_name];
        let (desired, validated) = self.assign(declaration, module, compiled, &built.pending, &names)?;
        let assets: BTreeSet<AssetRef> = names.into_values().collect();
        let expected = Semantics { assets: assets.into_iter().collect(), ..draft.clone() };
        let Footprint { claims, effects, affected_paths } = &validated.footprint;
        let same_footprint = (claims, effects, affected_paths) == (&resource.claims, &resource.effects, &resource.affected_paths);
        if validated.semantics == expected && same_footprint && self.same_slots(&resource.id, &desired) {
            return Some((desired, validated));
        }
        let what = "says something else of the final state than of the draft, beyond the names of its assets";
        self.broken(declaration, what.to_owned());
        None
    }

    /// What a module's requests are for, as far as it is known without acquiring anything.
    pub(super) fn pending(
        &self,
        declaration: &Declaration,
        requests: &[AssetRequest],
        given: &Given,
    ) -> Result<Vec<Pending>, NoDraft> {
        // Each is looked at, so that all that is wrong comes out at once.
        let pending: Vec<Result<Pending, NoDraft>> =
            requests.iter().map(|request| self.pending_one(declaration, request, given)).collect();
        if pending.iter().any(|pending| matches!(pending, Err(NoDraft::Told))) {
            return Err(NoDraft::Told);
        }
        pending.into_iter().collect()
    }

    fn pending_one(&self, declaration: &Declaration, request: &AssetRequest, given: &Given) -> Result<Pending, NoDraft> {
        let origin = match &request.source {
            AssetSource::Inline(text) => Origin::Text(Arc::from(text.as_bytes())),
            AssetSource::Parameter(name) => self.text_of(declaration, name, given, request.checksum)?,
            AssetSource::Local(path) => Origin::Local(path.clone()),
            AssetSource::Url(address) => Origin::Url(address.clone()),
        };
        let pending = Pending {
            name: request.slot.clone(),
            origin,
            checksum: request.checksum,
            checksum_error: request.checksum_error.clone(),
            place: self.place_at(declaration, &request.attribute),
        };
        self.check_pending(&pending).ok_or(NoDraft::Told)?;
        Ok(pending)
    }

    /// The text of an attribute that is content.
    fn text_of(
        &self,
        declaration: &Declaration,
        name: &str,
        given: &Given,
        checksum: Option<AssetDigest>,
    ) -> Result<Origin, NoDraft> {
        match given.read_path(name) {
            Ok(Some(Json::String(text))) => Ok(Origin::Text(Arc::from(text.into_bytes()))),
            Ok(Some(told)) if is_secret_slot(&told) => self.secret_text(declaration, name, given, &told, checksum),
            Err(ParameterError::Deferred) => Err(NoDraft::Waits),
            Err(ParameterError::Failed) => Err(NoDraft::Told),
            Ok(_) | Err(ParameterError::Unknown) => {
                self.broken(declaration, format!("asks for `{name}` as content, which is not text"));
                Err(NoDraft::Told)
            }
        }
    }

    /// Sensitive text that is content. No digest of it is told, not even where it does not have its checksum.
    fn secret_text(
        &self,
        declaration: &Declaration,
        name: &str,
        given: &Given,
        told: &Json,
        checksum: Option<AssetDigest>,
    ) -> Result<Origin, NoDraft> {
        let slot = secret::slot_of(told).ok().flatten().ok_or(NoDraft::Told)?;
        let Some(content) = given.told(&slot).and_then(|value| value.content()) else {
            self.broken(declaration, format!("asks for `{name}` as content, which is not text"));
            return Err(NoDraft::Told);
        };
        if checksum.is_some_and(|wanted| AssetDigest::of(&content) != wanted) {
            let place = self.place_at(declaration, name);
            self.evaluation.add(Diagnostic::error(&place, "the content does not have the checksum that is given"));
            return Err(NoDraft::Told);
        }
        Ok(Origin::Secret(slot))
    }

    /// The source that an attribute names where the resource is compiled on the node, to be taken along from here.
    pub(super) fn source(
        &self,
        attribute: &str,
        (text, place): (&str, &Place),
        checksum: Option<(Json, Place)>,
    ) -> Option<Pending> {
        let checksum = match checksum {
            None => None,
            Some((checksum, place)) => Some(self.checksum(&checksum, &place)?),
        };
        let origin = match crate::acquire::is_address(text) {
            true => Origin::Url(text.to_owned()),
            false => Origin::Local(text.to_owned()),
        };
        let pending = Pending { name: attribute.to_owned(), origin, checksum, checksum_error: None, place: place.clone() };
        self.check_pending(&pending)?;
        Some(pending)
    }

    fn checksum(&self, checksum: &Json, place: &Place) -> Option<AssetDigest> {
        let parsed = checksum.as_str().and_then(|text| text.parse().ok());
        if parsed.is_none() {
            let message = Diagnostic::error(place, "this is no checksum");
            self.evaluation.add(message.hint("write `sha256:` and 64 lower-case hex digits".to_owned()));
        }
        parsed
    }
}
