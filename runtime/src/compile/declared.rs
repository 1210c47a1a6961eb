//! Declarations held against the descriptors of their resource type: spellings, what is missing, what is not known.

use std::collections::BTreeMap;

use crate::engine::Module;
use crate::language::diagnostic::Diagnostic;
use crate::language::suggest;
use crate::manifest::{Declaration, Evaluation};
use crate::model::description::Description;
use crate::model::ids::{ResourceId, TypeName};

/// How the attributes of one declaration are spelled in the manifest.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Spelling by canonical name.
    pub(super) spellings: BTreeMap<String, String>,
    /// Whether everything in it has a meaning. If not, it is not evaluated: messages have been given.
    pub(super) sound: bool,
}

/// Every declaration of the manifest. What is wrong is added to the messages of `evaluation`, before anything is evaluated.
pub(super) fn all(evaluation: &Evaluation, modules: &BTreeMap<TypeName, Module>) -> BTreeMap<ResourceId, Declared> {
    let declare = |declaration: &Declaration| {
        let declared = match modules.get(&declaration.id.type_name) {
            Some(module) => against(evaluation, declaration, module.description()),
            None => {
                evaluation.add(unknown_type(declaration, modules));
                Declared::default()
            }
        };
        (declaration.id.clone(), declared)
    };
    evaluation.manifest().resources.iter().map(declare).collect()
}

fn unknown_type(declaration: &Declaration, modules: &BTreeMap<TypeName, Module>) -> Diagnostic {
    let name = declaration.id.type_name.as_str();
    let known = modules.keys().map(TypeName::as_str);
    let hint = suggest::did_you_mean(name, known)
        .unwrap_or_else(|| format!("give the module that serves it: `--module {name}=PATH.wasm`"));
    Diagnostic::error(&declaration.type_place, format!("unknown resource type `{name}`")).label("no module serves it").hint(hint)
}

fn against(evaluation: &Evaluation, declaration: &Declaration, description: &Description) -> Declared {
    let mut declared = Declared { spellings: BTreeMap::new(), sound: true };
    for (spelling, attribute) in &declaration.attributes {
        let Some(found) = description.attribute(spelling) else {
            evaluation.add(unknown_attribute(declaration, spelling, description));
            declared.sound = false;
            continue;
        };
        if let Some(other) = declared.spellings.insert(found.name.clone(), spelling.clone()) {
            let summary = format!("`{spelling}` and `{other}` are two spellings of one attribute");
            let message = Diagnostic::error(&attribute.name_place, summary).label("given again");
            evaluation.add(message.related(&declaration.attributes[&other].name_place, "first given here"));
            declared.sound = false;
        }
    }
    for attribute in description.attributes.iter().filter(|attribute| attribute.required) {
        if !declared.spellings.contains_key(&attribute.name) {
            let summary = format!("`{}` needs the attribute `{}`", declaration.id, attribute.name);
            evaluation.add(
                Diagnostic::error(&declaration.place, summary).label("it is not given").hint(first_sentence(&attribute.doc)),
            );
            declared.sound = false;
        }
    }
    declared
}

fn unknown_attribute(declaration: &Declaration, spelling: &str, description: &Description) -> Diagnostic {
    let place = &declaration.attributes[spelling].name_place;
    let summary = format!("the resource type `{}` has no attribute `{spelling}`", declaration.id.type_name);
    Diagnostic::error(place, summary).hint(suggest::one_of(spelling, description.spellings()))
}

fn first_sentence(doc: &str) -> Option<String> {
    let sentence = doc.split_inclusive(". ").next()?.trim().trim_end_matches('.');
    (!sentence.is_empty()).then(|| sentence.to_owned())
}
