//! Messages about a declaration, and definition errors made of them.
//!
//! A message says what is wrong and never quotes an attribute's value, which may be sensitive; the host adds the place.

use crate::json::JsonError;
use crate::{DefinitionError, Diagnostic};

impl Diagnostic {
    /// A message about the whole resource: one sentence without a full stop.
    pub fn new(message: impl Into<String>) -> Self {
        Self { attribute: None, message: message.into(), hint: None }
    }

    /// A message about the attribute of this canonical name.
    pub fn at(attribute: &str, message: impl Into<String>) -> Self {
        Self { attribute: Some(attribute.into()), message: message.into(), hint: None }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Diagnostic> for DefinitionError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Invalid(diagnostic)
    }
}

impl From<JsonError> for DefinitionError {
    /// A desired or recorded state that is not what this module writes.
    fn from(error: JsonError) -> Self {
        Self::Invalid(Diagnostic::new(error.to_string()))
    }
}
