//! The attributes of one declaration, read one at a time.
//!
//! Each attribute that is read counts towards what the result came from, so a definition reads just what it needs. Where the
//! attributes come from is behind [`Source`]: the host in a component, a map in tests.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::runtime::module::parameters as wit;
use crate::definition::DefinitionResult;
use crate::values::secret_slot;
use crate::{DefinitionError, Diagnostic, ResourceId, json};

pub use crate::bindings::runtime::module::parameters::ParameterError;

/// Where attributes come from.
pub trait Source {
    /// Whether the attribute is given and not null.
    fn has(&self, name: &str) -> Result<bool, ParameterError>;

    /// The value as JSON text; none if it is omitted or null.
    fn read(&self, name: &str) -> Result<Option<String>, ParameterError>;
}

impl Source for wit::Parameters {
    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Self::has(self, name)
    }

    fn read(&self, name: &str) -> Result<Option<String>, ParameterError> {
        Self::read(self, name)
    }
}

/// The declaration under compilation.
#[derive(Clone, Copy)]
pub struct Parameters<'a> {
    id: &'a ResourceId,
    source: &'a dyn Source,
}

impl<'a> Parameters<'a> {
    /// The attributes of the resource `id`.
    pub fn new(id: &'a ResourceId, source: &'a dyn Source) -> Self {
        Self { id, source }
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
            Err(_) if is_secret => Err(Diagnostic::at(name, format!("`{name}` may not be sensitive"))
                .hint("only the attributes that say so can take a sensitive value")
                .into()),
            Err(_) => Err(Diagnostic::at(name, format!("`{name}` has a value of another type")).into()),
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
        self.read(name)?.ok_or_else(|| Diagnostic::at(name, format!("`{name}` is missing")).into())
    }
}

fn unreadable(error: ParameterError) -> DefinitionError {
    match error {
        ParameterError::Deferred | ParameterError::Failed => DefinitionError::Parameter,
        ParameterError::Unknown(name) => {
            DefinitionError::Other(format!("the module reads `{name}`, which is not among the attributes it describes"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Given;
    use serde_json::json;

    #[test]
    fn reads_by_type() {
        let given = Given::new().set("a", "x").set("b", 3).set("c", true).set("d", json!(["y"]));
        let given = given.parameters();
        assert_eq!(given.string("a").unwrap().as_deref(), Some("x"));
        assert_eq!(given.integer("b").unwrap(), Some(3));
        assert_eq!(given.boolean("c").unwrap(), Some(true));
        assert_eq!(given.read::<Vec<String>>("d").unwrap(), Some(vec!["y".to_owned()]));
        assert_eq!(given.string("e").unwrap(), None);
        assert!(given.has("a").unwrap() && !given.has("e").unwrap());
    }

    #[test]
    fn refusals_name_the_attribute() {
        let given = Given::new().set("a", 1).set("b", json!({"$secret": "0"}));
        let given = given.parameters();
        let message = |error| match error {
            DefinitionError::Invalid(diagnostic) => (diagnostic.attribute.unwrap(), diagnostic.message),
            other => panic!("{other:?}"),
        };
        assert_eq!(message(given.string("a").unwrap_err()), ("a".into(), "`a` has a value of another type".into()));
        assert_eq!(message(given.string("b").unwrap_err()), ("b".into(), "`b` may not be sensitive".into()));
        assert_eq!(message(given.required::<String>("c").unwrap_err()), ("c".into(), "`c` is missing".into()));
    }

    #[test]
    fn what_waits_for_the_node_is_left_to_the_host() {
        let given = Given::new().deferred("a");
        assert!(matches!(given.parameters().string("a"), Err(DefinitionError::Parameter)));
    }
}
