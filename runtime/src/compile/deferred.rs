//! Declarations that the node compiles: every given attribute travels, and the files that they name are taken along.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use super::Compiler;
use super::assets::Pending;
use super::origins::Origins;
use super::parameters::Given;
use super::resource::Drafted;
use crate::engine::{Module, Parameters};
use crate::manifest::{Declaration, Part};
use crate::model::catalog::{DeferredBlock, State};
use crate::model::description::Attribute;
use crate::model::description::BlockKind;
use crate::model::expression::{Expression, Place};

/// What is gathered of one declaration.
struct Gathering<'g> {
    declaration: &'g Declaration,
    given: Rc<Given>,
    origins: &'g mut Origins,
    /// What the attributes flagged as source name, each under its path.
    sources: Vec<Pending>,
}

impl Compiler {
    /// Every given attribute, for the node to compile; none if something is wrong with one, which has been told.
    pub(super) fn deferred(
        self: &Rc<Self>,
        declaration: &Declaration,
        module: &Module,
        origins: &mut Origins,
    ) -> Option<Drafted> {
        let given = self.given(declaration);
        let mut gathering = Gathering { declaration, given, origins, sources: Vec::new() };
        let attributes = self.gather(&mut gathering, Part::Own)?;
        let mut blocks = Vec::new();
        for (place, block) in declaration.blocks.iter().enumerate() {
            // What the type does not describe are options of its providers.
            let Some(known) = module.description().block(&block.name) else { continue };
            let labelled = known.kind == BlockKind::Labelled;
            let label = block.labels.first().map(|(label, _)| label.clone()).filter(|_| labelled);
            let attributes = self.gather(&mut gathering, Part::Block(place))?;
            blocks.push(DeferredBlock { name: block.name.clone(), label, attributes });
        }
        let Gathering { given, sources, origins, .. } = gathering;
        origins.join(&given.origins());
        let state = State::Deferred { attributes, sources: BTreeMap::new(), blocks };
        (!given.has_failed()).then_some(Drafted { state, compiled: None, only_refreshed: false, pending: sources })
    }

    /// Every given attribute of one part, for the node to compile, and the files that they name.
    pub(super) fn deferred_part(
        self: &Rc<Self>,
        declaration: &Declaration,
        part: Part,
        given: &Rc<Given>,
    ) -> Option<(BTreeMap<String, Expression>, Vec<Pending>)> {
        let mut origins = Origins::default();
        let mut gathering = Gathering { declaration, given: Rc::clone(given), origins: &mut origins, sources: Vec::new() };
        let attributes = self.gather(&mut gathering, part)?;
        (!given.has_failed()).then_some((attributes, gathering.sources))
    }

    fn gather(self: &Rc<Self>, gathering: &mut Gathering<'_>, part: Part) -> Option<BTreeMap<String, Expression>> {
        let declaration = gathering.declaration;
        let given = gathering.given.of(part);
        let block = match part {
            Part::Own => None,
            Part::Block(place) => declaration.blocks.get(place).map(|block| block.name.as_str()),
        };
        let block_attributes = self.described[&declaration.id.type_name].attributes_of(block);
        let mut attributes = BTreeMap::new();
        for attribute in block_attributes {
            let Ok(value) = given.value(&attribute.name) else { continue };
            let Some((value, place)) = value else { continue };
            let Ok((expression, secrets)) = given.travelling(&attribute.name, &value, &place) else { continue };
            gathering.origins.note_deferred(&expression, &place);
            attributes.insert(attribute.name.clone(), expression);
            self.secrets.borrow_mut().extend(secrets);
            // Known values are checked here, as far as the module is not needed for it.
            let known = if value.is_known() { given.read(&attribute.name).ok()? } else { None };
            if !attribute.source {
                continue;
            }
            if !value.is_known() {
                self.evaluation.add(self.waits(&given, declaration, part, &attribute.name, "it names a file to take along"));
                return None;
            }
            if let Some(Json::String(text)) = known {
                let checksum = self.checksum_of(declaration, part, block_attributes, &attribute.name, &given)?;
                let path = declaration.path(part, &attribute.name).to_string();
                gathering.sources.push(self.source(&path, (&text, &place), checksum)?);
            }
        }
        Some(attributes)
    }

    /// The given checksum of a source, if the type has an attribute for it: none within none where it cannot be had.
    fn checksum_of(
        self: &Rc<Self>,
        declaration: &Declaration,
        part: Part,
        beside: &[Attribute],
        source: &str,
        given: &Given,
    ) -> Option<Option<(Json, Place)>> {
        let attribute = beside.iter().find(|found| found.checksum_of.as_deref() == Some(source));
        let Some(attribute) = attribute else { return Some(None) };
        let Some((value, place)) = given.value(&attribute.name).ok()? else { return Some(None) };
        if !value.is_known() {
            self.evaluation.add(self.waits(
                given,
                declaration,
                part,
                &attribute.name,
                "it is the checksum of a file to take along",
            ));
            return None;
        }
        Some(given.read(&attribute.name).ok()?.map(|checksum| (checksum, place)))
    }
}
