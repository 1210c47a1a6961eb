//! Descriptions for unit tests.

use crate::model::description::{Attribute, AttributeType, Description, Selectors};

/// Text that may be left out.
pub(crate) fn attribute(name: &str) -> Attribute {
    Attribute {
        name: name.into(),
        aliases: vec![],
        attribute_type: AttributeType::String,
        required: false,
        nullable: false,
        sensitive: false,
        exported: false,
        identity: false,
        source: false,
        default: None,
        checksum_of: None,
        doc: format!("What is called {name}."),
    }
}

/// The type `thing`.
pub(crate) fn description(attributes: Vec<Attribute>) -> Description {
    Description {
        type_name: "thing".parse().unwrap(),
        schema_version: 1,
        summary: "A thing.".into(),
        attributes,
        blocks: vec![],
        outputs: vec![],
        ensure: None,
        capabilities: vec![],
        selectors: Selectors::default(),
        has_providers: false,
    }
}
