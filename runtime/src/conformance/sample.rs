//! Declarations that a component is tried with: the author's, brought into canonical form, and their values.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use crate::model::attribute_path::AttributePath;
use crate::model::description::{Attribute, Block, BlockKind, Description, spelled};
use crate::model::ids::{ResourceId, TypeName};

/// A declaration, with names as they are written or, once `canonical`, as `describe` has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// The resource type that it declares.
    pub type_name: TypeName,
    /// What it is called in findings.
    pub name: String,
    /// Whether the author gave it, rather than it being made from descriptors.
    pub is_given: bool,
    /// Given attributes.
    pub attributes: BTreeMap<String, Json>,
    /// Child blocks, in order.
    pub blocks: Vec<ChildBlock>,
}

/// A child block of a declaration.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildBlock {
    /// The block's name.
    pub name: String,
    /// Its label, if it has one.
    pub label: Option<String>,
    /// Given attributes.
    pub attributes: BTreeMap<String, Json>,
}

impl Sample {
    /// The sample with canonical names, without nulls that mean nothing, and with slots for sensitive attributes, as a module sees it.
    ///
    /// # Errors
    /// In words that quote no value, if the descriptors do not allow it.
    pub(super) fn canonical(&self, description: &Description) -> Result<Self, String> {
        if self.type_name != description.type_name {
            return Err(format!("it declares a `{}`, and the component serves `{}`", self.type_name, description.type_name));
        }
        let attributes = canonical(&self.attributes, &description.attributes, &self.name)?;
        let mut blocks = Vec::new();
        for child in &self.blocks {
            let Some(block) = description.block(&child.name) else {
                return Err(format!("the type has no block `{}`", child.name));
            };
            if (block.kind == BlockKind::Labelled) != child.label.is_some() {
                return Err(format!("the block `{}` has a label where it may not, or none where it needs one", child.name));
            }
            let attributes = canonical(&child.attributes, &block.attributes, &format!("{}.{}", self.name, child.name))?;
            blocks.push(ChildBlock { attributes, ..child.clone() });
        }
        for block in &description.blocks {
            check_count(block, blocks.iter().filter(|child| child.name == block.name).count())?;
        }
        Ok(Self { attributes, blocks, ..self.clone() })
    }

    /// The address under which it is compiled.
    pub(super) fn id(&self, description: &Description) -> ResourceId {
        let name = self.name.parse().unwrap_or_else(|_| "sample".parse().expect("letters are a resource name"));
        ResourceId { type_name: description.type_name.clone(), name }
    }

    /// The sample with an attribute set, or left out where `value` is none.
    pub(super) fn with(&self, name: &str, value: Option<Json>) -> Self {
        let mut changed = self.clone();
        match value {
            Some(value) => drop(changed.attributes.insert(name.to_owned(), value)),
            None => drop(changed.attributes.remove(name)),
        }
        changed
    }

    /// The sample without the attribute that a path leads to, its own or one of a child block.
    pub(super) fn without(&self, path: &str) -> Self {
        let mut changed = self.clone();
        let Ok(AttributePath { block, name: Some(name) }) = path.parse() else { return changed };
        match block {
            None => drop(changed.attributes.remove(&name)),
            Some((block, place)) => {
                if let Some(child) = changed.blocks.iter_mut().filter(|child| child.name == block).nth(place) {
                    child.attributes.remove(&name);
                }
            }
        }
        changed
    }

    /// Its attributes and blocks, for people.
    pub(super) fn shown(&self) -> Json {
        let mut shown: serde_json::Map<String, Json> = self.attributes.clone().into_iter().collect();
        for child in &self.blocks {
            let list = shown.entry(child.name.clone()).or_insert_with(|| json!([]));
            if let Json::Array(list) = list {
                list.push(json!({ "label": child.label, "attributes": child.attributes }));
            }
        }
        Json::Object(shown)
    }
}

fn check_count(block: &Block, count: usize) -> Result<(), String> {
    match count {
        0 if block.required => Err(format!("the block `{}` is missing", block.name)),
        2.. if block.kind == BlockKind::Single => Err(format!("the block `{}` may occur once only", block.name)),
        _ => Ok(()),
    }
}

fn canonical(given: &BTreeMap<String, Json>, described: &[Attribute], place: &str) -> Result<BTreeMap<String, Json>, String> {
    let mut canonical = BTreeMap::new();
    for (spelling, value) in given {
        let attribute = spelled(described, spelling).ok_or_else(|| format!("the type has no attribute `{spelling}`"))?;
        let checked = attribute.check(value.clone()).map_err(|mismatch| mismatch.to_string())?;
        let value = checked.map(|value| if attribute.sensitive { slot(place, &attribute.name) } else { value });
        if let Some(value) = value
            && canonical.insert(attribute.name.clone(), value).is_some()
        {
            return Err(format!("`{}` is given in two spellings", attribute.name));
        }
    }
    match described.iter().find(|attribute| attribute.required && !canonical.contains_key(&attribute.name)) {
        Some(missing) => Err(format!("the attribute `{}` is missing", missing.name)),
        None => Ok(canonical),
    }
}

/// What stands for a sensitive value.
pub fn slot(place: &str, attribute: &str) -> Json {
    json!({ "$secret": format!("{place}/{attribute}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::testing::{attribute, description};

    fn sample(attributes: Json) -> Sample {
        let Json::Object(attributes) = attributes else { panic!("an object") };
        Sample {
            type_name: "thing".parse().unwrap(),
            name: "s".into(),
            is_given: true,
            attributes: attributes.into_iter().collect(),
            blocks: vec![],
        }
    }

    #[test]
    fn names_become_canonical_and_sensitive_values_slots() {
        let mut key = attribute("key");
        (key.sensitive, key.nullable) = (true, true);
        let path = Attribute { aliases: vec!["name".into()], required: true, ..attribute("path") };
        let description = description(vec![path, key]);
        let canonical = |json: Json| sample(json).canonical(&description).map(|sample| sample.shown());
        assert_eq!(canonical(json!({"name": "/a", "key": "k"})).unwrap(), json!({"path": "/a", "key": {"$secret": "s/key"}}));
        assert_eq!(canonical(json!({"path": "/a", "key": null})).unwrap(), json!({"path": "/a"}));
        assert!(canonical(json!({"path": "/a", "name": "/a"})).unwrap_err().contains("two spellings"));
        assert!(canonical(json!({"key": "k"})).unwrap_err().contains("`path` is missing"));
        assert!(canonical(json!({"path": 3})).unwrap_err().contains("must be string"));
        assert!(canonical(json!({"path": "/a", "more": 1})).unwrap_err().contains("no attribute `more`"));
    }
}
