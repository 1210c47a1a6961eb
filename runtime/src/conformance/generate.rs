//! Declarations made from descriptors: every required attribute, then each optional one and each word of an enum in turn.
//!
//! Whether a module accepts one cannot be known beforehand. What it refuses is simply not used, so these add to the author's declarations
//! and do not replace them.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::sample::{ChildBlock, Sample};
use super::values;
use crate::model::description::{Attribute, Block, BlockKind, Description};

/// How many declarations are made of one base at most.
const MAX_VARIATIONS: usize = 48;

/// How many values of one attribute are tried.
const MAX_VALUES: usize = 8;

/// The smallest declarations, one for each guess of what text means.
pub(super) fn bases(description: &Description) -> Vec<Sample> {
    let mut bases: Vec<Sample> = (0..2).map(|guess| base(description, guess)).collect();
    bases.dedup_by(|one, other| one.attributes == other.attributes);
    bases
}

/// Only what must be there; `guess` chooses among the values of each attribute.
fn base(description: &Description, guess: usize) -> Sample {
    Sample {
        type_name: description.type_name.clone(),
        name: "made".to_owned(),
        is_given: false,
        attributes: required(&description.attributes, guess),
        blocks: description.blocks.iter().filter(|block| block.required).map(|block| child(block, guess)).collect(),
    }
}

fn required(attributes: &[Attribute], guess: usize) -> BTreeMap<String, Json> {
    let needed = attributes.iter().filter(|attribute| attribute.required);
    needed.filter_map(|attribute| Some((attribute.name.clone(), choice(attribute, guess)?))).collect()
}

fn choice(attribute: &Attribute, guess: usize) -> Option<Json> {
    let values = values::plausible(&attribute.attribute_type);
    values.get(guess).or_else(|| values.first()).cloned()
}

fn child(block: &Block, guess: usize) -> ChildBlock {
    ChildBlock {
        name: block.name.clone(),
        label: (block.kind == BlockKind::Labelled).then(|| "sample".to_owned()),
        attributes: required(&block.attributes, guess),
    }
}

/// `base` with one thing more or otherwise, for each thing that the type has.
pub(super) fn variations(description: &Description, base: &Sample) -> Vec<Sample> {
    let mut made: Vec<Sample> = Vec::new();
    let mut add = |sample: Sample| {
        let is_new = |known: &Sample| known.attributes != sample.attributes || known.blocks != sample.blocks;
        if made.len() < MAX_VARIATIONS && is_new(base) && made.iter().all(is_new) {
            made.push(Sample { is_given: false, ..sample });
        }
    };
    for attribute in &description.attributes {
        let default = attribute.default.clone();
        let candidates = default.into_iter().chain(values::plausible(&attribute.attribute_type));
        candidates.take(MAX_VALUES).for_each(|value| add(base.with(&attribute.name, Some(value))));
        if !attribute.required {
            add(base.with(&attribute.name, None));
        }
    }
    for block in &description.blocks {
        let mut more = base.clone();
        more.blocks.push(child(block, 0));
        add(more);
    }
    made
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::conformance::testing::{attribute, description};
    use crate::model::description::AttributeType;

    #[test]
    fn each_optional_attribute_and_word_occurs() {
        let path = Attribute { required: true, ..attribute("path") };
        let kind = AttributeType::parse(&json!({"enum": ["a", "b"]})).unwrap();
        let kind = Attribute { attribute_type: kind, ..attribute("kind") };
        let description = description(vec![path, kind, attribute("note")]);
        let base = &bases(&description)[0];
        assert_eq!(base.shown(), json!({"path": "/srv/sample"}));
        let made: Vec<Json> = variations(&description, base).iter().map(Sample::shown).collect();
        for wanted in [json!({"path": "/srv/sample", "kind": "b"}), json!({"path": "/srv/sample", "note": "sample"})] {
            assert!(made.contains(&wanted), "{made:?}");
        }
        assert!(made.len() <= MAX_VARIATIONS);
    }
}
