//! A struct whose fields are attributes, and what its derive macro is made of.

use serde::Serialize;
use serde_json::Value;

pub use crate::attribute_type::refusal;

use crate::{Attribute, AttributeType, Block, DefinitionError, DefinitionResult, Diagnostic, EnsureVocabulary, Parameters};

/// The attributes and child blocks of a resource type, or the attributes of a child block.
///
/// Derive it for a struct with a field for each. A doc comment is the attribute's document, the type is its type, and the derive adds a
/// function of each field's name that reads just that attribute, with the default filled in. Nothing else is read, so what a
/// value came from stays exact:
///
/// ```
/// # use std::collections::BTreeMap;
/// # use runtime_sdk::{Attributes, Parameters, DefinitionResult, Presence, Sensitive};
/// #[derive(Attributes)]
/// struct Given {
///     /// Where the certificate is kept.
///     #[attribute(identity, exported)]
///     path: String,
///     /// Whether it is there.
///     #[attribute(ensure, identity, exported)]
///     ensure: Presence,
///     /// How long it is good for, in days.
///     #[attribute(default = 90, alias = "validity")]
///     days: u16,
///     /// The pass phrase of the key.
///     phrase: Option<Sensitive<String>>,
///     /// Other names, each with what it is for.
///     #[attribute(block)]
///     name: BTreeMap<String, Name>,
/// }
///
/// #[derive(Attributes)]
/// struct Name {
///     /// What it is for.
///     purpose: Option<String>,
/// }
///
/// fn footprint(given: &Parameters) -> DefinitionResult<String> {
///     Given::path(given) // `days` is not read
/// }
/// ```
///
/// | type of the field | what may be written |
/// |---|---|
/// | `T` | it must be given |
/// | `Option<T>` | it may be left out or null; `#[attribute(nullable = false)]`: not null |
/// | `T` with `#[attribute(default = …)]` | the same, and then it has the default |
/// | `E` with `#[attribute(ensure)]`, where `E` is an [`Ensure`](trait@crate::Ensure) | its words; without a default in the vocabulary write `Option<E>` |
/// | `B`, `Option<B>` with `#[attribute(block)]`, where `B` is such a struct | a block, once; at most once |
/// | `Vec<B>`, `BTreeMap<String, B>` with `#[attribute(block)]` | blocks, without and with labels; `required`: at least one |
///
/// Options: `name = "type"` (a name that Rust does not take), `alias = "old"`, `identity`, `exported`, `source`, `checksum_of = "source"`,
/// `sensitive` (a [`Sensitive`](crate::Sensitive) is so by itself; `sensitive = false`: it takes sensitive values, and leaves others open).
/// [`Attribute`] says what they mean.
pub trait Attributes: Sized {
    /// Descriptors of the attributes, in the order of the fields.
    fn attributes() -> Vec<Attribute>;

    /// Descriptors of the child blocks, in the order of the fields.
    fn blocks() -> Vec<Block> {
        Vec::new()
    }

    /// The vocabulary of `ensure`, if it is among the attributes.
    fn ensure_vocabulary() -> Option<EnsureVocabulary> {
        None
    }

    /// Reads every attribute and block. A definition that may do with less should read them one by one.
    fn read(given: &Parameters<'_>) -> DefinitionResult<Self>;

    /// The value of an exported attribute, read as by its function: null where it is left out.
    fn export(attribute: &str, given: &Parameters<'_>) -> DefinitionResult<Value>;
}

/// No attributes: for a type without any, or one that describes them by hand.
impl Attributes for () {
    fn attributes() -> Vec<Attribute> {
        Vec::new()
    }

    fn read(_given: &Parameters<'_>) -> DefinitionResult<Self> {
        Ok(())
    }

    fn export(attribute: &str, _given: &Parameters<'_>) -> DefinitionResult<Value> {
        Err(not_exported(attribute))
    }
}

/// The value of an attribute that must be given.
pub fn required<T: AttributeType>(given: &Parameters<'_>, name: &str) -> DefinitionResult<T> {
    match optional(given, name)? {
        Some(value) => Ok(value),
        None => Err(given.at(name, format!("`{name}` is missing")).into()),
    }
}

/// The value of an attribute; none if it is left out or null.
pub fn optional<T: AttributeType>(given: &Parameters<'_>, name: &str) -> DefinitionResult<Option<T>> {
    match given.value(name)?.filter(|value| !value.is_null()) {
        Some(value) => Ok(Some(T::from_value(name, value).map_err(|diagnostic| given.placed(diagnostic))?)),
        None => Ok(None),
    }
}

/// The value of an attribute, or the default.
pub fn or_default<T: AttributeType, V: Into<Value>>(
    given: &Parameters<'_>,
    name: &str,
    default: impl FnOnce() -> V,
) -> DefinitionResult<T> {
    if let Some(value) = optional(given, name)? {
        return Ok(value);
    }
    let wrong = |_: Diagnostic| DefinitionError::Other(format!("the default of `{name}` is not of its type"));
    T::from_value(name, default().into()).map_err(wrong)
}

/// A value as others read it.
pub fn exported<T: Serialize>(value: &T) -> DefinitionResult<Value> {
    serde_json::to_value(value).map_err(|_| DefinitionError::Other("an exported attribute has no JSON form".into()))
}

/// The answer to whoever asks for an attribute that others may not read.
pub fn not_exported(attribute: &str) -> DefinitionError {
    DefinitionError::Unsupported(format!("`{attribute}` is not exported"))
}

#[cfg(test)]
mod tests;
