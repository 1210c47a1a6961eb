//! Tool: what a test of a manifest expects of a resource, held against what that compiled to.
//!
//! [`evaluate`] asks the resource's module once for its test view, and reads the asset that is its content at most once, however many
//! expectations there are. Nothing here looks at a node, and nothing sensitive gets into a [`Mismatch`]. Deliberately not here: files of
//! tests, and running them.

mod content;
mod error;

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value as Json;

pub use content::{ContentMatcher, Contents, MAX_CONTENT};
pub use error::ExpectationError;

use crate::engine::{Module, TestedState};
use crate::language::suggest;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{Catalog, Resource, Semantics, State};
use crate::model::description::{Attribute, Description, is_secret_slot};
use crate::model::ids::{ResourceId, TypeName};
use content::Content;

/// A compiled manifest.
#[derive(Clone, Copy)]
pub struct Compiled<'a> {
    /// Its catalog.
    pub catalog: &'a Catalog,
    /// The modules of its resource types.
    pub modules: &'a BTreeMap<TypeName, Module>,
    /// The bytes of its assets.
    pub contents: &'a dyn Contents,
}

/// What is expected of one resource.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expectation {
    /// Values of attributes, by the names that a manifest may use; null for what is not managed.
    pub attributes: BTreeMap<String, Json>,
    /// What its content is like; each must hold.
    pub content: Vec<ContentMatcher>,
}

/// An expectation that does not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Mismatch {
    /// The attribute by its canonical name; none for the content.
    pub attribute: Option<String>,
    /// What was expected.
    pub expected: Shown,
    /// What there is.
    pub found: Shown,
}

/// A value in a mismatch.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// As it is.
    Value(Json),
    /// In words: how text was to be, or that there is none.
    Words(String),
    /// It is sensitive.
    Hidden,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.attribute {
            Some(name) => write!(f, "`{name}`")?,
            None => f.write_str("the content")?,
        }
        write!(f, " is {}, expected {}", self.found, self.expected)
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => f.write_str(&crate::model::key::escape(&value.to_string())),
            Self::Words(words) => f.write_str(&crate::model::key::escape(words)),
            Self::Hidden => f.write_str("(sensitive)"),
        }
    }
}

/// Holds the resource `id` against what is expected, and gives what differs.
///
/// # Errors
/// If the expectation makes no sense for the resource, or its state cannot be shown. A test that was wrong never passes.
pub fn evaluate(compiled: &Compiled<'_>, id: &ResourceId, expectation: &Expectation) -> Result<Vec<Mismatch>, ExpectationError> {
    let resource = compiled.catalog.resources.iter().find(|resource| resource.id == *id);
    let resource = resource.ok_or_else(|| unknown_resource(compiled.catalog, id))?;
    let module = compiled.modules.get(&id.type_name).ok_or_else(|| ExpectationError::NoModule { id: id.clone() })?;
    let (desired, semantics) = settled(resource)?;
    let view = module.test_view(&desired.json()).map_err(|source| ExpectationError::View { id: id.clone(), source })?;
    let content = Content::new(compiled.contents, view.content.as_ref(), semantics.sensitive);
    let mut mismatches = Vec::new();
    for (name, expected) in &expectation.attributes {
        let attribute = declared(module.description(), id, name)?;
        mismatches.extend(attribute_mismatch(attribute, semantics, &view, &content, id, expected)?);
    }
    for matcher in &expectation.content {
        mismatches.extend(content.mismatch(matcher, id)?);
    }
    Ok(mismatches)
}

fn unknown_resource(catalog: &Catalog, id: &ResourceId) -> ExpectationError {
    let known: Vec<String> = catalog.resources.iter().map(|resource| resource.id.to_string()).collect();
    let hint = suggest::one_of_addresses(&id.to_string(), '.', known.iter().map(String::as_str));
    ExpectationError::UnknownResource { id: id.clone(), hint }
}

fn settled(resource: &Resource) -> Result<(&CanonicalJson, &Semantics), ExpectationError> {
    match &resource.state {
        State::Compiled { desired, semantics } => Ok((desired, semantics)),
        State::Deferred { .. } => Err(ExpectationError::Waits { id: resource.id.clone() }),
    }
}

fn declared<'a>(description: &'a Description, id: &ResourceId, name: &str) -> Result<&'a Attribute, ExpectationError> {
    description.attribute(name).ok_or_else(|| {
        let declared = description.attributes.iter().map(|attribute| attribute.name.clone()).collect();
        ExpectationError::UnknownAttribute { id: id.clone(), attribute: name.to_owned(), declared }
    })
}

/// A value that names the content stands for its text: the two are one thing to who writes a manifest.
fn attribute_mismatch(
    attribute: &Attribute,
    semantics: &Semantics,
    view: &TestedState,
    content: &Content<'_>,
    id: &ResourceId,
    expected: &Json,
) -> Result<Option<Mismatch>, ExpectationError> {
    let name = &attribute.name;
    let Some(found) = view.attributes.get(name) else {
        return Err(ExpectationError::NotShown { id: id.clone(), attribute: name.clone() });
    };
    if let (Some(text), true) = (expected.as_str(), content.is_named_by(found)) {
        let mismatch = content.mismatch(&ContentMatcher::Equals(text.to_owned()), id)?;
        return Ok(mismatch.map(|mismatch| Mismatch { attribute: Some(name.clone()), ..mismatch }));
    }
    if found == expected {
        return Ok(None);
    }
    let is_hidden = attribute.sensitive || semantics.sensitive || holds_secret(found);
    let shown = |value: &Json| if is_hidden { Shown::Hidden } else { Shown::Value(value.clone()) };
    Ok(Some(Mismatch { attribute: Some(name.clone()), expected: shown(expected), found: shown(found) }))
}

fn holds_secret(value: &Json) -> bool {
    match value {
        Json::Array(list) => list.iter().any(holds_secret),
        Json::Object(map) => is_secret_slot(value) || map.values().any(holds_secret),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
