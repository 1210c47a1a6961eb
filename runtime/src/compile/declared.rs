//! Declarations held against the descriptors of their resource type: spellings, what is missing, what is not known.

mod blocks;

use std::collections::BTreeMap;

use super::Providers;
use crate::engine::Provider;
use crate::language::diagnostic::Diagnostic;
use crate::language::{address_hint, suggest};
use crate::manifest::{Attribute, Declaration, Evaluation, Part};
use crate::model::description::{self, Attribute as Descriptor, Description};
use crate::model::expression::{Expression, Kind, Place};
use crate::model::ids::{ProviderName, ResourceId, TypeName};

/// How the attributes of one declaration are spelled in the manifest.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Spelling by canonical name, of the declaration and of each child block. What is given in two spellings is not there.
    spellings: BTreeMap<Part, BTreeMap<String, String>>,
    /// Whether everything in it has a meaning. If not, its module is not asked: messages have been given.
    pub(super) sound: bool,
}

impl Declared {
    /// How an attribute is spelled, by canonical name; none if it is not given.
    pub(super) fn spelling(&self, part: Part, name: &str) -> Option<&str> {
        self.spellings.get(&part)?.get(name).map(String::as_str)
    }

    /// Every attribute that is given, by canonical name.
    pub(super) fn given(&self) -> impl Iterator<Item = (Part, &str)> {
        self.spellings.iter().flat_map(|(part, names)| names.keys().map(|name| (*part, name.as_str())))
    }
}

/// Every declaration of the manifest. What is wrong is added to the messages of `evaluation`, before anything is evaluated.
pub(super) fn all(
    evaluation: &Evaluation,
    described: &BTreeMap<TypeName, Description>,
    providers: &Providers,
) -> BTreeMap<ResourceId, Declared> {
    let declare = |declaration: &Declaration| {
        let type_name = &declaration.id.type_name;
        let declared = match described.get(type_name) {
            Some(description) => against(evaluation, declaration, description, providers.get(type_name)),
            None => {
                evaluation.add(unknown_type(declaration, described));
                Declared::default()
            }
        };
        (declaration.id.clone(), declared)
    };
    evaluation.manifest().resources.iter().map(declare).collect()
}

fn unknown_type(declaration: &Declaration, modules: &BTreeMap<TypeName, Description>) -> Diagnostic {
    let name = declaration.id.type_name.as_str();
    let known = modules.keys().map(TypeName::as_str);
    let hint = suggest::did_you_mean(name, known)
        .unwrap_or_else(|| format!("give the module that serves it: `--module {name}=PATH.wasm`"));
    Diagnostic::error(&declaration.type_place, format!("unknown resource type `{name}`")).label("no module serves it").hint(hint)
}

fn against(
    evaluation: &Evaluation,
    declaration: &Declaration,
    description: &Description,
    providers: Option<&BTreeMap<ProviderName, Provider>>,
) -> Declared {
    let mut check = Check { evaluation, declaration, description, declared: Declared { sound: true, ..Declared::default() } };
    let own = Space {
        part: Part::Own,
        place: &declaration.place,
        given: &declaration.attributes,
        known: &description.attributes,
        whole: format!("`{}`", declaration.id),
        kind: format!("the resource type `{}`", declaration.id.type_name),
    };
    check.attributes(&own);
    check.blocks();
    check.provider(providers);
    check.declared
}

/// One declaration as it is looked through.
struct Check<'c> {
    evaluation: &'c Evaluation,
    declaration: &'c Declaration,
    description: &'c Description,
    declared: Declared,
}

/// Attributes that share a namespace: those of the declaration, or of one child block.
struct Space<'c> {
    part: Part,
    /// Where it is declared.
    place: &'c Place,
    given: &'c BTreeMap<String, Attribute>,
    known: &'c [Descriptor],
    /// It, for messages: "`file.motd`".
    whole: String,
    /// What describes it, for messages: "the resource type `file`".
    kind: String,
}

impl Check<'_> {
    fn refuse(&mut self, message: Diagnostic) {
        self.evaluation.add(message);
        self.declared.sound = false;
    }

    /// The provider that the manifest wants, and options of others beside it.
    fn provider(&mut self, known: Option<&BTreeMap<ProviderName, Provider>>) {
        let declaration = self.declaration;
        let Some((wanted, place)) = &declaration.meta.provider else { return };
        let type_name = &declaration.id.type_name;
        if !self.description.has_providers {
            let summary = format!("the resource type `{type_name}` has no providers");
            return self.refuse(Diagnostic::error(place, summary).hint("leave `provider` out".to_owned()));
        }
        let names = || known.into_iter().flat_map(|known| known.keys().map(ProviderName::as_str));
        if !names().any(|name| name == wanted.as_str()) {
            let summary = format!("the resource type `{type_name}` has no provider `{wanted}`");
            let hint = suggest::one_of(wanted.as_str(), names());
            return self.refuse(Diagnostic::error(place, summary).label("no module is this provider").hint(hint));
        }
        for block in declaration.blocks.iter().filter(|block| block.name != wanted.as_str()) {
            if names().any(|name| name == block.name) {
                let summary =
                    format!("options of the provider `{}`, where `{wanted}` is to serve `{}`", block.name, declaration.id);
                self.refuse(Diagnostic::error(&block.place, summary).related(place, "wanted here"));
            }
        }
    }

    fn attributes(&mut self, space: &Space<'_>) {
        let mut canonical: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (spelling, attribute) in space.given {
            match description::spelled(space.known, spelling) {
                Some(found) => {
                    canonical.entry(&found.name).or_default().push(spelling);
                    self.addresses(found, &attribute.value);
                }
                None => self.refuse(self.unknown_attribute(space, spelling)),
            }
        }
        for attribute in space.known.iter().filter(|attribute| attribute.required) {
            if !canonical.contains_key(attribute.name.as_str()) {
                let summary = format!("{} needs the attribute `{}`", space.whole, attribute.name);
                let message = Diagnostic::error(space.place, summary).label("it is not given");
                self.refuse(message.hint(first_sentence(&attribute.doc)));
            }
        }
        for spellings in canonical.values().filter(|spellings| spellings.len() > 1) {
            self.given_twice(space, spellings);
        }
        canonical.retain(|_, spellings| spellings.len() == 1);
        let single = canonical.into_iter().map(|(name, spellings)| (name.to_owned(), spellings[0].to_owned()));
        self.declared.spellings.insert(space.part, single.collect());
    }

    /// Tells of an attribute in several spellings. It is evaluated in none of them.
    fn given_twice(&mut self, space: &Space<'_>, spellings: &[&str]) {
        let mut places: Vec<(&str, &Place)> = spellings.iter().map(|name| (*name, &space.given[*name].name_place)).collect();
        places.sort_by_key(|(_, place)| (*place).clone());
        let (first, first_place) = places[0];
        for (other, place) in &places[1..] {
            let summary = format!("`{first}` and `{other}` are two spellings of one attribute");
            self.refuse(Diagnostic::error(place, summary).label("given again").related(first_place, "first given here"));
        }
    }

    fn unknown_attribute(&self, space: &Space<'_>, spelling: &str) -> Diagnostic {
        let place = &space.given[spelling].name_place;
        let block = self.description.block(spelling).filter(|_| space.part == Part::Own);
        let hint = match block {
            Some(block) => Some(format!("`{spelling}` is a block: write `{}`", block.written())),
            None => suggest::one_of(spelling, description::spellings(space.known)),
        };
        Diagnostic::error(place, format!("{} has no attribute `{spelling}`", space.kind)).hint(hint)
    }

    /// Refuses addresses of resources where the attribute takes none.
    fn addresses(&mut self, attribute: &Descriptor, value: &Expression) {
        if attribute.attribute_type.holds_addresses() {
            return;
        }
        let mut found = Vec::new();
        value.walk(&mut |part| {
            if let Kind::Address(id) = &part.kind {
                found.push((part.place.clone(), id.clone()));
            }
        });
        for (place, id) in found {
            let message = Diagnostic::error(&place, format!("the resource `{id}` is not a value"));
            self.refuse(message.hint(address_hint(&id)));
        }
    }
}

fn first_sentence(doc: &str) -> Option<String> {
    let sentence = doc.split_inclusive(". ").next()?.trim().trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.to_owned())
}
