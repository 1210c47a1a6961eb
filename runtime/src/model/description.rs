//! What a module says about its resource type: attribute descriptors, vocabulary, capabilities, selectors.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::ids::TypeName;

/// How deep the type of an attribute may nest.
const MAX_TYPE_DEPTH: usize = 8;

/// How many members a union or an enum may have.
const MAX_TYPE_MEMBERS: usize = 256;

/// A resource type as its module describes it. docs/module-authoring.md explains each part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Description {
    /// The resource type's name.
    pub type_name: TypeName,
    /// The version of its desired state, from 1.
    pub schema_version: u32,
    /// What it manages, one sentence.
    pub summary: String,
    /// Its attributes, in the module's order.
    pub attributes: Vec<Attribute>,
    /// Its child blocks, in the module's order.
    pub blocks: Vec<Block>,
    /// What others can read of it once it has been applied.
    pub outputs: Vec<Output>,
    /// The words of `ensure`, if it has that attribute.
    pub ensure: Option<Ensure>,
    /// The rights that it asks for.
    pub capabilities: Vec<Capability>,
    /// How its recorded state is compared.
    pub selectors: Selectors,
}

impl Description {
    /// The attribute that `name` means, canonical or alias.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.name == name || a.aliases.iter().any(|alias| alias == name))
    }

    /// The child block of this name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<&Output> {
        self.outputs.iter().find(|output| output.name == name)
    }

    /// Every spelling that a manifest may use.
    pub fn spellings(&self) -> BTreeSet<&str> {
        self.attributes.iter().flat_map(|a| std::iter::once(&a.name).chain(&a.aliases)).map(String::as_str).collect()
    }
}

/// One attribute of a resource type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attribute {
    /// Its canonical name.
    pub name: String,
    /// Other spellings in manifests.
    pub aliases: Vec<String>,
    /// What values it takes.
    #[serde(rename = "type")]
    pub attribute_type: AttributeType,
    /// It must be given.
    pub required: bool,
    /// `null` may be written and means the same as leaving it out.
    pub nullable: bool,
    /// Whatever is given is treated as sensitive.
    pub sensitive: bool,
    /// Other resources may read it.
    pub exported: bool,
    /// It names the object, and may not wait for the node.
    pub identity: bool,
    /// It names a file beneath the manifest's folder, and may not wait for the node.
    pub source: bool,
    /// What the type takes when it is left out, for readers.
    pub default: Option<Json>,
    /// The attribute flagged `source` of which this one is the checksum.
    pub checksum_of: Option<String>,
    /// One or more sentences.
    pub doc: String,
}

/// A child block of a resource type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Its name, in the namespace of attributes.
    pub name: String,
    /// How often it may occur, and whether it has a label.
    pub kind: BlockKind,
    /// At least one must be given.
    pub required: bool,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// One or more sentences.
    pub doc: String,
}

impl Block {
    /// The attribute that `name` means, canonical or alias.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|a| a.name == name || a.aliases.iter().any(|alias| alias == name))
    }
}

/// How often a child block may occur, and whether it has a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockKind {
    /// At most once, without a label.
    Single,
    /// Any number of times, without labels.
    Repeated,
    /// Any number of times, each with a label of its own.
    Labelled,
}

/// Something that is known once a resource has been applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Its name, in the namespace of attributes.
    pub name: String,
    /// What values it has.
    #[serde(rename = "type")]
    pub output_type: AttributeType,
    /// Whoever reads it reads a sensitive value.
    pub sensitive: bool,
    /// One or more sentences.
    pub doc: String,
}

/// A value that an attribute does not take. It does not hold the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// It is null where null may not be written.
    #[error("`{attribute}` may not be null")]
    Null {
        /// The attribute.
        attribute: String,
    },
    /// It has another type.
    #[error("`{attribute}` must be {wanted}, not {found}")]
    Type {
        /// The attribute.
        attribute: String,
        /// Its type, for people.
        wanted: String,
        /// What kind of value was given.
        found: &'static str,
    },
}

impl Attribute {
    /// The value as modules see it: none for null where null means omitted.
    ///
    /// # Errors
    /// If the attribute does not take it; nothing is coerced.
    pub fn check(&self, value: Json) -> Result<Option<Json>, Mismatch> {
        if value.is_null() && self.attribute_type != AttributeType::Any {
            return if self.nullable { Ok(None) } else { Err(Mismatch::Null { attribute: self.name.clone() }) };
        }
        if !self.attribute_type.accepts(&value) {
            let wanted = self.attribute_type.to_string();
            return Err(Mismatch::Type { attribute: self.name.clone(), wanted, found: kind_of(&value) });
        }
        Ok(Some(value))
    }
}

/// What kind of value it is, with its article.
pub fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

/// The vocabulary of `ensure`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ensure {
    /// The canonical words with their meanings.
    pub values: Vec<(String, String)>,
    /// Accepted words and the canonical one they mean.
    pub aliases: Vec<(String, String)>,
    /// The word when it is left out.
    pub default: Option<String>,
}

/// A right that a module asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// The host interface: `files`.
    pub interface: String,
    /// What it wants to do there: `write`.
    pub action: String,
    /// Where: for `files` an absolute path with `*` and `**`.
    pub scope: String,
    /// Why, for the node's owner.
    pub reason: String,
}

/// How recorded state is compared with what is desired next.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selectors {
    /// Attributes that the module's `equal` compares.
    pub equality: Vec<String>,
    /// Attributes whose change always replaces the object.
    pub replace: Vec<String>,
    /// Attributes whose change may replace it.
    pub replace_when: Vec<String>,
    /// Configuration fields whose change replaces it.
    pub configuration: Vec<String>,
    /// Outputs whose drift may replace it.
    pub drift: Vec<String>,
    /// Whether objects have an immutable id.
    pub has_stable_id: bool,
}

/// The type of an attribute. Values are checked against it and never coerced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttributeType {
    /// `true` or `false`.
    Boolean,
    /// A whole number within 2^53.
    Integer,
    /// A number.
    Number,
    /// Text.
    String,
    /// The address of a resource of the catalog, as text.
    Resource,
    /// Anything.
    Any,
    /// A list whose members all have this type.
    List(Box<AttributeType>),
    /// A map from text to this type.
    Map(Box<AttributeType>),
    /// A value of any of these types.
    Union(Vec<AttributeType>),
    /// One of these words.
    Enum(Vec<String>),
}

/// A type that cannot be, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is not an attribute type: {reason}")]
pub struct TypeError {
    /// What is wrong with it.
    pub reason: String,
}

impl AttributeType {
    /// Reads the JSON form of the contract, of at most 8 levels.
    ///
    /// # Errors
    /// If it is no type, nests too deep, or has an empty or too large union or enum.
    pub fn parse(json: &Json) -> Result<Self, TypeError> {
        if nesting(json) > 2 * MAX_TYPE_DEPTH {
            return Err(TypeError { reason: format!("it nests more than {MAX_TYPE_DEPTH} levels") });
        }
        let parsed: Self = serde_json::from_value(json.clone()).map_err(|error| TypeError { reason: error.to_string() })?;
        parsed.check_members()?;
        Ok(parsed)
    }

    fn check_members(&self) -> Result<(), TypeError> {
        let check_count = |count: usize| match count {
            0 => Err(TypeError { reason: "a union or enum needs a member".into() }),
            n if n > MAX_TYPE_MEMBERS => Err(TypeError { reason: format!("more than {MAX_TYPE_MEMBERS} members") }),
            _ => Ok(()),
        };
        match self {
            Self::List(member) | Self::Map(member) => member.check_members(),
            Self::Union(members) => {
                check_count(members.len())?;
                members.iter().try_for_each(Self::check_members)
            }
            Self::Enum(words) => check_count(words.len()),
            Self::Boolean | Self::Integer | Self::Number | Self::String | Self::Resource | Self::Any => Ok(()),
        }
    }

    /// Whether `value` is of this type. A sensitive value's slot (`{"$secret":…}`) is of every type: its content is checked
    /// where it is known.
    pub fn accepts(&self, value: &Json) -> bool {
        match self {
            Self::Any => true,
            _ if is_secret_slot(value) => true,
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.as_i64().is_some(),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
            Self::Resource => value.as_str().is_some_and(|text| text.parse::<super::ids::ResourceId>().is_ok()),
            Self::List(member) => value.as_array().is_some_and(|list| list.iter().all(|v| member.accepts(v))),
            Self::Map(member) => value.as_object().is_some_and(|map| map.values().all(|v| member.accepts(v))),
            Self::Union(members) => members.iter().any(|member| member.accepts(value)),
            Self::Enum(words) => value.as_str().is_some_and(|text| words.iter().any(|word| word == text)),
        }
    }
}

/// Whether `value` stands for a sensitive one.
pub fn is_secret_slot(value: &Json) -> bool {
    value.as_object().is_some_and(|map| map.len() == 1 && map.get("$secret").is_some_and(Json::is_string))
}

/// Whether something in `value` has the key by which sensitive values are told, which no other value may have.
pub fn holds_reserved_key(value: &Json) -> bool {
    match value {
        Json::Array(list) => list.iter().any(holds_reserved_key),
        Json::Object(map) => map.iter().any(|(key, value)| key == "$secret" || holds_reserved_key(value)),
        _ => false,
    }
}

fn nesting(json: &Json) -> usize {
    match json {
        Json::Array(list) => 1 + list.iter().map(nesting).max().unwrap_or(0),
        Json::Object(map) => 1 + map.values().map(nesting).max().unwrap_or(0),
        _ => 0,
    }
}

impl fmt::Display for AttributeType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("boolean"),
            Self::Integer => f.write_str("integer"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::Resource => f.write_str("resource"),
            Self::Any => f.write_str("any"),
            Self::List(member) => write!(f, "list of {member}"),
            Self::Map(member) => write!(f, "map of {member}"),
            Self::Union(members) => {
                let names: Vec<String> = members.iter().map(ToString::to_string).collect();
                f.write_str(&names.join(" or "))
            }
            Self::Enum(words) => {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                f.write_str(&quoted.join(" | "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn types_parse_print_and_check_without_coercion() {
        let parse = |json: Json| AttributeType::parse(&json).unwrap();
        assert!(parse(json!("string")).accepts(&json!("1")) && !parse(json!("string")).accepts(&json!(1)));
        assert!(parse(json!("integer")).accepts(&json!(1)) && !parse(json!("integer")).accepts(&json!(1.5)));
        let list = parse(json!({"list": {"union": ["string", "integer"]}}));
        assert!(list.accepts(&json!(["a", 1])) && !list.accepts(&json!([true])));
        assert_eq!(list.to_string(), "list of string or integer");
        assert!(parse(json!({"enum": ["a", "b"]})).accepts(&json!("b")));
        assert!(parse(json!("integer")).accepts(&json!({"$secret": "s0"})));
    }

    #[test]
    fn bad_types_are_refused() {
        let mut deep = json!("string");
        for _ in 0..64 {
            deep = json!({ "list": deep });
        }
        for bad in [json!("text"), json!({"list": "x"}), json!({"enum": []}), json!({"union": []}), json!(3), deep] {
            assert!(AttributeType::parse(&bad).is_err(), "{bad}");
        }
    }
}
