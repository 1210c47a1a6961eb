//! Declarations that the node compiles: every given attribute travels, and the files that they name are taken along.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use super::assets::Assets;
use super::origins::Origins;
use super::parameters::Given;
use crate::engine::{Module, Parameters};
use crate::manifest::{Declaration, Part};
use crate::model::catalog::{DeferredBlock, State};
use crate::model::description::BlockKind;
use crate::model::digest::AssetDigest;
use crate::model::expression::Expression;

/// What is gathered of one declaration.
struct Gathering<'g> {
    declaration: &'g Declaration,
    module: &'g Module,
    given: Rc<Given>,
    origins: &'g mut Origins,
    /// By the path of the attribute.
    sources: BTreeMap<String, AssetDigest>,
    assets: &'g mut Assets,
}

impl Compiler {
    /// Every given attribute, for the node to compile; none if something is wrong with one, which has been told.
    pub(super) fn deferred(
        self: &Rc<Self>,
        declaration: &Declaration,
        module: &Module,
        assets: &mut Assets,
        origins: &mut Origins,
    ) -> Option<State> {
        let given = self.given(declaration);
        let mut gathering = Gathering { declaration, module, given, origins, sources: BTreeMap::new(), assets };
        let attributes = self.gather(&mut gathering, Part::Own)?;
        let mut blocks = Vec::new();
        for (place, block) in declaration.blocks.iter().enumerate() {
            let labelled = module.description().block(&block.name).is_some_and(|known| known.kind == BlockKind::Labelled);
            let label = block.labels.first().map(|(label, _)| label.clone()).filter(|_| labelled);
            let attributes = self.gather(&mut gathering, Part::Block(place))?;
            blocks.push(DeferredBlock { name: block.name.clone(), label, attributes });
        }
        let Gathering { given, sources, origins, .. } = gathering;
        origins.join(&given.origins());
        (!given.has_failed()).then_some(State::Deferred { attributes, sources, blocks })
    }

    fn gather(&self, gathering: &mut Gathering<'_>, part: Part) -> Option<BTreeMap<String, Expression>> {
        let declaration = gathering.declaration;
        let given = gathering.given.of(part);
        let block = match part {
            Part::Own => None,
            Part::Block(place) => declaration.blocks.get(place).map(|block| block.name.as_str()),
        };
        let mut attributes = BTreeMap::new();
        for attribute in gathering.module.description().attributes_of(block) {
            let Ok(value) = given.value(&attribute.name) else { continue };
            let Some((value, place)) = value else { continue };
            let residual = value.residual(&place);
            gathering.origins.note_deferred(&residual, &place);
            attributes.insert(attribute.name.clone(), residual);
            // Known values are checked here, as far as the module is not needed for it.
            let known = if value.is_known() { given.read(&attribute.name).ok()? } else { None };
            if !attribute.source {
                continue;
            }
            if !value.is_known() {
                self.evaluation.add(self.waits(&given, declaration, part, &attribute.name, "it names a file to take along"));
                return None;
            }
            if let Some(Json::String(path)) = known {
                let digest = self.acquire_local(&path, &place, None, gathering.assets)?;
                gathering.sources.insert(declaration.path(part, &attribute.name).to_string(), digest);
            }
        }
        Some(attributes)
    }
}
