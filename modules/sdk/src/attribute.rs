//! Descriptors of attributes, built by chaining: `Attribute::string("path").required().identity().doc("…")`.

use serde_json::{Value, json};

use crate::attribute_type::AttributeType;
use crate::bindings::exports::runtime::module::definition as wit;
use crate::ensure::{Ensure, Vocabulary};
use crate::values::secret_slot;

/// The type of an attribute's value. The host checks values against it and never coerces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    /// Text.
    String,
    /// A whole number within 2^53.
    Integer,
    /// Any number.
    Number,
    /// True or false.
    Boolean,
    /// Whatever is written.
    Any,
    /// The address of another resource.
    Resource,
    /// A list of values of one type.
    List(Box<Type>),
    /// Names with values of one type.
    Map(Box<Type>),
    /// One of several types.
    Union(Vec<Type>),
    /// One of these words.
    Enum(Vec<String>),
    /// Text of a form. The host holds a value to it before the module gets it, one that the module never sees too.
    Text {
        /// A regular expression that the whole text must match.
        pattern: String,
        /// What such a text is, for people: "a hash as crypt(5) has them".
        is: String,
    },
}

impl Type {
    /// One of these words.
    pub fn words(words: &[&str]) -> Self {
        Self::Enum(words.iter().map(|word| (*word).to_owned()).collect())
    }

    /// Text of a form: `pattern` is a regular expression for the whole of it, `is` what such a text is.
    pub fn text(pattern: &str, is: &str) -> Self {
        Self::Text { pattern: pattern.to_owned(), is: is.to_owned() }
    }

    /// Whether the host takes the value for an attribute of this type. A sensitive value's slot is of every type. Patterns are the host's to match:
    /// here any text is of any form.
    pub fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            _ if secret_slot(value).is_some() => true,
            Self::String | Self::Text { .. } => value.is_string(),
            Self::Integer => value.as_i64().is_some(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Resource => value.as_str().is_some_and(|text| text.split_once('.').is_some()),
            Self::List(item) => value.as_array().is_some_and(|items| items.iter().all(|value| item.accepts(value))),
            Self::Map(item) => value.as_object().is_some_and(|fields| fields.values().all(|value| item.accepts(value))),
            Self::Union(types) => types.iter().any(|kind| kind.accepts(value)),
            Self::Enum(words) => value.as_str().is_some_and(|text| words.iter().any(|word| word == text)),
        }
    }

    pub(crate) fn json(&self) -> Value {
        match self {
            Self::String => json!("string"),
            Self::Integer => json!("integer"),
            Self::Number => json!("number"),
            Self::Boolean => json!("boolean"),
            Self::Any => json!("any"),
            Self::Resource => json!("resource"),
            Self::List(item) => json!({ "list": item.json() }),
            Self::Map(item) => json!({ "map": item.json() }),
            Self::Union(types) => json!({ "union": types.iter().map(Self::json).collect::<Vec<_>>() }),
            Self::Enum(words) => json!({ "enum": words }),
            Self::Text { pattern, is } => json!({ "text": { "pattern": pattern, "is": is } }),
        }
    }
}

/// One attribute of a resource type.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "an attribute counts once it is in the list that `attributes` returns"]
pub struct Attribute {
    name: String,
    aliases: Vec<String>,
    kind: Type,
    flags: wit::AttributeFlags,
    default: Option<Value>,
    checksum_of: Option<String>,
    doc: String,
}

impl Attribute {
    /// An attribute of this type.
    pub fn new(name: &str, kind: Type) -> Self {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            kind,
            flags: wit::AttributeFlags::empty(),
            default: None,
            checksum_of: None,
            doc: String::new(),
        }
    }

    /// An attribute whose value is read as a `T`. Where `T` can hold a sensitive value ([`Sensitive`](crate::Sensitive)), it is flagged so.
    pub fn of<T: AttributeType>(name: &str) -> Self {
        let attribute = Self::new(name, T::attribute_type());
        if T::is_sensitive() { attribute.sensitive() } else { attribute }
    }

    /// An attribute that holds text.
    pub fn string(name: &str) -> Self {
        Self::new(name, Type::String)
    }

    /// An attribute that holds a whole number.
    pub fn integer(name: &str) -> Self {
        Self::new(name, Type::Integer)
    }

    /// An attribute that is true or false.
    pub fn boolean(name: &str) -> Self {
        Self::new(name, Type::Boolean)
    }

    /// `ensure`, with the words and the default of `E`.
    pub fn ensure<E: Ensure>() -> Self {
        let Vocabulary { words, aliases, default, nullable } = E::VOCABULARY;
        let all = words.iter().map(|(_, word, _)| *word).chain(aliases.iter().map(|(alias, _)| *alias));
        let mut attribute = Self::new("ensure", Type::Enum(all.map(str::to_owned).collect()));
        attribute.default = default.map(|word| json!(word.word()));
        if nullable { attribute.nullable() } else { attribute }
    }

    /// Another spelling in manifests.
    pub fn alias(mut self, alias: &str) -> Self {
        self.aliases.push(alias.into());
        self
    }

    /// It must be given.
    pub fn required(self) -> Self {
        self.flag(wit::AttributeFlags::REQUIRED)
    }

    /// `null` may be written, and means the same as leaving it out.
    pub fn nullable(self) -> Self {
        self.flag(wit::AttributeFlags::NULLABLE)
    }

    /// Whatever is given is treated as sensitive.
    pub fn sensitive(self) -> Self {
        self.flag(wit::AttributeFlags::SENSITIVE)
    }

    /// Other resources may read it.
    pub fn exported(self) -> Self {
        self.flag(wit::AttributeFlags::EXPORTED)
    }

    /// It names the object: [`footprint`](crate::Definition::footprint) reads it, and it may not wait for the node.
    pub fn identity(self) -> Self {
        self.flag(wit::AttributeFlags::IDENTITY)
    }

    /// It names a file beneath the manifest's folder, or an `https` address, which `compile` asks for as
    /// [`AssetSource::Local`](crate::AssetSource::Local) or [`AssetSource::Url`](crate::AssetSource::Url). It may not wait for the node.
    pub fn source(self) -> Self {
        self.flag(wit::AttributeFlags::SOURCE)
    }

    /// It is the checksum of the attribute `source`, which is flagged [`source`](Self::source). Then neither may wait for the node.
    pub fn checksum_of(mut self, source: &str) -> Self {
        self.checksum_of = Some(source.into());
        self
    }

    /// What leaving it out means, for readers: the host never fills it in.
    pub fn default_value(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// One or more sentences in plain text.
    pub fn doc(mut self, doc: &str) -> Self {
        self.doc = doc.into();
        self
    }

    /// Its canonical name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name, and every other spelling.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        self.aliases.iter().chain([&self.name]).map(String::as_str)
    }

    /// Its type.
    pub fn kind(&self) -> &Type {
        &self.kind
    }

    /// Its document.
    pub fn document(&self) -> &str {
        &self.doc
    }

    /// What leaving it out means, for readers.
    pub fn declared_default(&self) -> Option<&Value> {
        self.default.as_ref()
    }

    /// Whether it must be given.
    pub fn is_required(&self) -> bool {
        self.flags.contains(wit::AttributeFlags::REQUIRED)
    }

    /// Whether `null` may be written for leaving it out.
    pub fn is_nullable(&self) -> bool {
        self.flags.contains(wit::AttributeFlags::NULLABLE)
    }

    /// Whether what is given is treated as sensitive.
    pub fn is_sensitive(&self) -> bool {
        self.flags.contains(wit::AttributeFlags::SENSITIVE)
    }

    /// Whether it names bytes to take along.
    pub fn is_source(&self) -> bool {
        self.flags.contains(wit::AttributeFlags::SOURCE)
    }

    /// The source whose checksum it is.
    pub fn source_of_checksum(&self) -> Option<&str> {
        self.checksum_of.as_deref()
    }

    /// Whether [`footprint`](crate::Definition::footprint) may read it.
    pub fn is_identity(&self) -> bool {
        self.flags.contains(wit::AttributeFlags::IDENTITY)
    }

    /// Whether other resources may read it.
    pub fn is_exported(&self) -> bool {
        self.flags.contains(wit::AttributeFlags::EXPORTED)
    }

    fn flag(mut self, flag: wit::AttributeFlags) -> Self {
        self.flags |= flag;
        self
    }
}

impl From<Attribute> for wit::Attribute {
    fn from(attribute: Attribute) -> Self {
        Self {
            type_json: canonical(&attribute.kind.json()),
            default_json: attribute.default.as_ref().map(canonical),
            name: attribute.name,
            aliases: attribute.aliases,
            attribute_flags: attribute.flags,
            checksum_of: attribute.checksum_of,
            doc: attribute.doc,
        }
    }
}

/// `describe` must not fail, so a default that JSON cannot hold is the module's bug and ends the call.
pub(crate) fn canonical(value: &Value) -> String {
    crate::json::canonical(value).expect("an attribute's default is within what canonical JSON can hold")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_cross_as_canonical_json() {
        let kind = Type::Map(Box::new(Type::List(Box::new(Type::Union(vec![Type::String, Type::Enum(vec!["a".into()])])))));
        let attribute =
            Attribute::new("limits", kind).alias("limit").nullable().exported().default_value(json!({"b": 1, "a": []}));
        let wit = wit::Attribute::from(attribute.doc("Limits."));
        assert_eq!(wit.type_json, r#"{"map":{"list":{"union":["string",{"enum":["a"]}]}}}"#);
        assert_eq!(wit.default_json.as_deref(), Some(r#"{"a":[],"b":1}"#));
        assert_eq!(wit.attribute_flags, wit::AttributeFlags::NULLABLE | wit::AttributeFlags::EXPORTED);
        assert_eq!((wit.name.as_str(), wit.aliases, wit.doc.as_str()), ("limits", vec!["limit".to_owned()], "Limits."));
    }
}
