//! The attributes of one declaration, read one at a time, and its child blocks.
//!
//! Each attribute that is read counts towards what the result came from, so a definition reads just what it needs. Where the
//! attributes come from is behind [`Source`]: the host in a component, a map in tests.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::attribute_type::{another_type, may_not_be_sensitive};
use crate::bindings::runtime::module::parameters as wit;
use crate::definition::DefinitionResult;
use crate::values::secret_slot;
use crate::{Attributes, DefinitionError, Diagnostic, ResourceId, json};

pub use crate::bindings::runtime::module::parameters::ParameterError;

/// Where attributes come from.
pub trait Source {
    /// Whether the attribute is given and not null.
    fn has(&self, name: &str) -> Result<bool, ParameterError>;

    /// The value as JSON text; none if it is omitted or null.
    fn read(&self, name: &str) -> Result<Option<String>, ParameterError>;

    /// The child blocks of this name, in order.
    fn children<'a>(&'a self, block: &str) -> Result<Vec<SourceChild<'a>>, ParameterError>;
}

/// One child block, as a [`Source`] gives it.
pub struct SourceChild<'a> {
    /// Its label, in labelled blocks.
    pub label: Option<String>,
    /// Its attributes.
    pub given: Box<dyn Source + 'a>,
}

impl Source for wit::Parameters {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Self::has(self, name)
    }

    fn read(&self, name: &str) -> Result<Option<String>, ParameterError> {
        Self::read(self, name)
    }

    fn children<'a>(&'a self, block: &str) -> Result<Vec<SourceChild<'a>>, ParameterError> {
        let children = Self::children(self, block)?;
        Ok(children.into_iter().map(|wit::Child { label, given }| SourceChild { label, given: Box::new(given) }).collect())
    }
}

/// The declaration under compilation, or one child block of it.
#[derive(Clone, Copy)]
pub struct Parameters<'a> {
    id: &'a ResourceId,
    source: &'a dyn Source,
    place: Option<&'a Place>,
}

/// Which child block, for messages.
struct Place {
    block: String,
    label: Option<String>,
    /// From 1, among the blocks of this name.
    number: usize,
}

impl<'a> Parameters<'a> {
    /// The attributes of the resource `id`.
    pub fn new(id: &'a ResourceId, source: &'a dyn Source) -> Self {
        Self { id, source, place: None }
    }

    /// The resource's address.
    pub fn id(&self) -> &ResourceId {
        self.id
    }

    /// Whether the attribute is given and not null.
    pub fn has(&self, name: &str) -> DefinitionResult<bool> {
        self.source.has(name).map_err(unreadable)
    }

    /// The value, which may hold `{"$secret":"slot"}` anywhere; none if it is omitted, or null where null is allowed.
    pub fn value(&self, name: &str) -> DefinitionResult<Option<Value>> {
        match self.source.read(name).map_err(unreadable)? {
            Some(text) => Ok(Some(json::parse(&text)?)),
            None => Ok(None),
        }
    }

    /// The value as any type that serde can read.
    pub fn read<T: DeserializeOwned>(&self, name: &str) -> DefinitionResult<Option<T>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        let is_secret = secret_slot(&value).is_some();
        match T::deserialize(value) {
            Ok(value) => Ok(Some(value)),
            Err(_) if is_secret => Err(self.placed(may_not_be_sensitive(name)).into()),
            Err(_) => Err(self.placed(another_type(name)).into()),
        }
    }

    /// The value of an attribute that holds text.
    pub fn string(&self, name: &str) -> DefinitionResult<Option<String>> {
        self.read(name)
    }

    /// The value of an attribute that holds a whole number.
    pub fn integer(&self, name: &str) -> DefinitionResult<Option<i64>> {
        self.read(name)
    }

    /// The value of an attribute that is true or false.
    pub fn boolean(&self, name: &str) -> DefinitionResult<Option<bool>> {
        self.read(name)
    }

    /// The value of an attribute that must be given.
    pub fn required<T: DeserializeOwned>(&self, name: &str) -> DefinitionResult<T> {
        self.read(name)?.ok_or_else(|| self.at(name, format!("`{name}` is missing")).into())
    }

    /// The child blocks of this name, in the order of the manifest.
    pub fn children(&self, block: &str) -> DefinitionResult<Vec<Child<'a>>> {
        let children = self.source.children(block).map_err(unreadable)?;
        let child = |(index, SourceChild { label, given })| {
            let place = Place { block: block.to_owned(), label, number: index + 1 };
            Child { id: self.id, source: given, place }
        };
        Ok(children.into_iter().enumerate().map(child).collect())
    }

    /// The one child block of this name, if it is given.
    pub fn child(&self, block: &str) -> DefinitionResult<Option<Child<'a>>> {
        let mut children = self.children(block)?;
        match children.len() {
            0 | 1 => Ok(children.pop()),
            _ => Err(Diagnostic::at(block, format!("the block `{block}` stands twice")).hint("keep one of them").into()),
        }
    }

    /// The one child block of this name, which must be given.
    pub fn required_child(&self, block: &str) -> DefinitionResult<Child<'a>> {
        self.child(block)?.ok_or_else(|| Diagnostic::at(block, format!("the block `{block}` is missing")).into())
    }

    /// A message about an attribute here. In a child block it says in which, and is told of the block.
    pub fn at(&self, attribute: &str, message: impl Into<String>) -> Diagnostic {
        self.placed(Diagnostic::at(attribute, message))
    }

    /// A message about an attribute, as of here.
    pub(crate) fn placed(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.place {
            None => diagnostic,
            Some(place) => Diagnostic {
                attribute: Some(place.block.clone()),
                message: format!("in {}: {}", place.words(), diagnostic.message),
                ..diagnostic
            },
        }
    }
}

impl Place {
    fn words(&self) -> String {
        match &self.label {
            Some(label) => format!("the block `{} \"{label}\"`", self.block),
            None if self.number > 1 => format!("the block `{}`, number {}", self.block, self.number),
            None => format!("the block `{}`", self.block),
        }
    }
}

/// One child block of a declaration. Its attributes are read one at a time, too.
pub struct Child<'a> {
    id: &'a ResourceId,
    source: Box<dyn Source + 'a>,
    place: Place,
}

impl Child<'_> {
    /// Its label, in labelled blocks.
    pub fn label(&self) -> Option<&str> {
        self.place.label.as_deref()
    }

    /// Its label, of a block that is described as a labelled one.
    pub fn required_label(&self) -> DefinitionResult<&str> {
        let missing = || DefinitionError::Other(format!("the host gave a block `{}` without its label", self.place.block));
        self.label().ok_or_else(missing)
    }

    /// Its attributes.
    pub fn given(&self) -> Parameters<'_> {
        Parameters { id: self.id, source: &*self.source, place: Some(&self.place) }
    }

    /// All of its attributes at once.
    pub fn read<T: Attributes>(&self) -> DefinitionResult<T> {
        T::read(&self.given())
    }
}

fn unreadable(error: ParameterError) -> DefinitionError {
    match error {
        ParameterError::Deferred | ParameterError::Failed => DefinitionError::Parameter,
        ParameterError::Unknown(name) => {
            DefinitionError::Other(format!("the module reads `{name}`, which is not among what it describes"))
        }
    }
}

#[cfg(test)]
mod tests;
