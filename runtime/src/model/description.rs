//! What a module says about its resource type: attribute descriptors, vocabulary, capabilities, selectors.

mod attribute_type;
mod text_form;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use self::attribute_type::{AttributeType, TypeError, holds_reserved_key, is_secret_slot};
pub use self::text_form::TextForm;
use super::ids::TypeName;
use super::kind::Unshown;

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
    /// Whether it leaves its work on the node to a provider.
    pub has_providers: bool,
}

impl Description {
    /// The attribute that `name` means, canonical or alias.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        spelled(&self.attributes, name)
    }

    /// The attributes of the child block of this name, or the type's own.
    pub fn attributes_of(&self, block: Option<&str>) -> &[Attribute] {
        match block {
            None => &self.attributes,
            Some(name) => self.block(name).map_or(&[], |block| &block.attributes),
        }
    }

    /// The child block of this name.
    pub fn block(&self, name: &str) -> Option<&Block> {
        self.blocks.iter().find(|block| block.name == name)
    }

    /// The output of this name.
    pub fn output(&self, name: &str) -> Option<&Output> {
        self.outputs.iter().find(|output| output.name == name)
    }

    /// Every spelling of its attributes that a manifest may use.
    pub fn spellings(&self) -> BTreeSet<&str> {
        spellings(&self.attributes)
    }
}

/// Every spelling of `attributes` that a manifest may use.
pub fn spellings(attributes: &[Attribute]) -> BTreeSet<&str> {
    attributes.iter().flat_map(|a| std::iter::once(&a.name).chain(&a.aliases)).map(String::as_str).collect()
}

/// The one of `attributes` that `name` means, canonical or alias.
pub fn spelled<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|a| a.name == name || a.aliases.iter().any(|alias| alias == name))
}

/// One attribute of a resource type. Its debug output does not show the default.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
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
        spelled(&self.attributes, name)
    }

    /// How it is written, for messages: `vhost "LABEL" { … }`.
    pub fn written(&self) -> String {
        match self.kind {
            BlockKind::Labelled => format!("{} \"LABEL\" {{ … }}", self.name),
            BlockKind::Single | BlockKind::Repeated => format!("{} {{ … }}", self.name),
        }
    }
}

/// How many child blocks one resource may have.
pub const MAX_CHILD_BLOCKS: usize = 1_000;

/// How many bytes the label of a child block may have.
pub const MAX_LABEL: usize = 255;

/// What a label must be, for people.
pub const LABEL_RULE: &str = "a label is text of 1 to 255 bytes without control characters";

/// Whether `text` may be the label of a child block.
pub fn is_label(text: &str) -> bool {
    (1..=MAX_LABEL).contains(&text.len()) && !text.chars().any(super::key::needs_escape)
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
        found: String,
    },
}

impl fmt::Debug for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = [
            (self.required, "required"),
            (self.nullable, "nullable"),
            (self.sensitive, "sensitive"),
            (self.exported, "exported"),
            (self.identity, "identity"),
            (self.source, "source"),
        ];
        let flags: Vec<&str> = flags.into_iter().filter(|(set, _)| *set).map(|(_, word)| word).collect();
        f.debug_struct("Attribute")
            .field("name", &self.name)
            .field("aliases", &self.aliases)
            .field("attribute_type", &self.attribute_type)
            .field("flags", &flags)
            .field("default", &self.default.as_ref().map(Unshown))
            .field("checksum_of", &self.checksum_of)
            .finish_non_exhaustive()
    }
}

impl Attribute {
    /// The value as modules see it: none for null where null means omitted.
    ///
    /// # Errors
    /// If the attribute does not take it; nothing is coerced.
    pub fn check(&self, value: Json) -> Result<Option<Json>, Mismatch> {
        if value.is_null() && self.nullable {
            return Ok(None);
        }
        if value.is_null() && !self.attribute_type.accepts(&value) {
            return Err(Mismatch::Null { attribute: self.name.clone() });
        }
        if !self.attribute_type.accepts(&value) {
            let wanted = self.attribute_type.to_string();
            return Err(Mismatch::Type { attribute: self.name.clone(), wanted, found: self.attribute_type.found(&value) });
        }
        Ok(Some(value))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn attribute(attribute_type: &str, nullable: bool) -> Attribute {
        let json = json!({
            "name": "a", "aliases": [], "type": attribute_type, "required": false, "nullable": nullable, "sensitive": false,
            "exported": false, "identity": false, "source": false, "default": "hush", "checksum_of": null, "doc": "",
        });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn null_means_omitted_where_it_may_be_written_and_is_a_value_where_anything_is() {
        assert_eq!(attribute("string", true).check(Json::Null), Ok(None));
        assert_eq!(attribute("any", true).check(Json::Null), Ok(None));
        assert_eq!(attribute("any", false).check(Json::Null), Ok(Some(Json::Null)));
        assert_eq!(attribute("string", false).check(Json::Null), Err(Mismatch::Null { attribute: "a".into() }));
    }

    #[test]
    fn neither_values_nor_defaults_are_in_messages_or_debug_output() {
        let attribute = attribute("integer", false);
        let error = attribute.check(json!("hush")).unwrap_err();
        assert_eq!(error.to_string(), "`a` must be integer, not a string");
        let debug = format!("{attribute:?} {error:?}");
        assert!(!debug.contains("hush") && debug.contains("default: Some(a string)"), "{debug}");
    }

    #[test]
    fn a_label_is_text_that_can_be_shown() {
        assert!(is_label("www.example.org") && is_label(&"a".repeat(MAX_LABEL)));
        for bad in ["", "a\nb", "\u{202e}", &"a".repeat(MAX_LABEL + 1)] {
            assert!(!is_label(bad), "{bad:?}");
        }
    }
}
