//! A JSON Schema (2020-12) of a declaration.
//!
//! It is of a declaration as JSON: attributes are members; a single block is an object, a repeated one a list of objects, a labelled one an
//! object of objects by label.

use serde_json::{Map, Value as Json, json};

use crate::model::description::{Attribute, AttributeType, Block, BlockKind, Description};
use crate::model::provider::ProviderDescription;

/// The dialect.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// The largest whole number that JSON carries exactly.
const MAX_INTEGER: i64 = 1 << 53;

/// An address: a type and a name with a dot between.
const ADDRESS: &str = "^[a-z][a-z0-9_]{0,62}\\.[A-Za-z0-9_][A-Za-z0-9_.:-]{0,254}$";

/// The schema of a declaration of the type.
pub fn schema(description: &Description) -> Json {
    let mut schema = object(&description.attributes, &description.blocks);
    let head =
        [("$schema", json!(DIALECT)), ("title", json!(description.type_name)), ("description", json!(description.summary))];
    schema.extend(head.map(|(key, value)| (key.to_owned(), value)));
    let meta = json!({ "type": "object", "description": "What every resource has: order, gate, timeout." });
    if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
        properties.insert("meta".to_owned(), meta);
    }
    Json::Object(schema)
}

/// The schema of the options block of a provider.
pub fn options_schema(provider: &ProviderDescription) -> Json {
    let mut schema = object(&provider.options, &[]);
    let title = format!("{} of {}", provider.name, provider.type_name);
    let head = [("$schema", json!(DIALECT)), ("title", json!(title)), ("description", json!(provider.summary))];
    schema.extend(head.map(|(key, value)| (key.to_owned(), value)));
    Json::Object(schema)
}

/// An object with just these attributes, under their names or aliases, and blocks.
fn object(attributes: &[Attribute], blocks: &[Block]) -> Map<String, Json> {
    let mut properties = Map::new();
    let mut conditions = Vec::new();
    let mut required = Vec::new();
    for attribute in attributes {
        properties.insert(attribute.name.clone(), value(attribute));
        for alias in &attribute.aliases {
            properties.insert(alias.clone(), alias_of(attribute));
        }
        if attribute.required && attribute.aliases.is_empty() {
            required.push(attribute.name.clone());
        }
        conditions.extend(spellings(attribute));
    }
    for block in blocks {
        properties.insert(block.name.clone(), child(block));
        if block.required {
            required.push(block.name.clone());
        }
    }
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Json::Object(properties));
    object.insert("additionalProperties".to_owned(), json!(false));
    if !required.is_empty() {
        object.insert("required".to_owned(), json!(required));
    }
    if !conditions.is_empty() {
        object.insert("allOf".to_owned(), json!(conditions));
    }
    object
}

/// Of several spellings just one is given, or at most one where the attribute may be left out.
fn spellings(attribute: &Attribute) -> Option<Json> {
    if attribute.aliases.is_empty() {
        return None;
    }
    let names = || std::iter::once(&attribute.name).chain(&attribute.aliases);
    let mut choices: Vec<Json> = names().map(|name| json!({ "required": [name] })).collect();
    if !attribute.required {
        choices.push(json!({ "not": { "anyOf": choices.clone() } }));
    }
    Some(json!({ "oneOf": choices }))
}

fn value(attribute: &Attribute) -> Json {
    let mut schema = of_type(&attribute.attribute_type);
    if attribute.nullable && attribute.attribute_type != AttributeType::Any {
        schema = json!({ "anyOf": [schema, { "type": "null" }] });
    }
    if let Json::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), json!(attribute.doc));
        if let Some(default) = &attribute.default {
            schema.insert("default".to_owned(), default.clone());
        }
        if attribute.sensitive {
            schema.insert("writeOnly".to_owned(), json!(true));
        }
    }
    schema
}

fn alias_of(attribute: &Attribute) -> Json {
    let mut schema = value(attribute);
    if let Json::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), json!(format!("Another spelling of `{}`.", attribute.name)));
        schema.remove("default");
    }
    schema
}

fn of_type(ty: &AttributeType) -> Json {
    match ty {
        AttributeType::Boolean => json!({ "type": "boolean" }),
        AttributeType::Integer => json!({ "type": "integer", "minimum": -MAX_INTEGER, "maximum": MAX_INTEGER }),
        AttributeType::Number => json!({ "type": "number" }),
        AttributeType::String => json!({ "type": "string" }),
        AttributeType::Resource => json!({ "type": "string", "pattern": ADDRESS }),
        AttributeType::Any => json!({}),
        AttributeType::List(member) => json!({ "type": "array", "items": of_type(member) }),
        AttributeType::Map(member) => json!({ "type": "object", "additionalProperties": of_type(member) }),
        AttributeType::Union(members) => json!({ "anyOf": members.iter().map(of_type).collect::<Vec<_>>() }),
        AttributeType::Enum(words) => json!({ "enum": words }),
        AttributeType::Text(form) => json!({ "type": "string", "pattern": form.anchored() }),
    }
}

fn child(block: &Block) -> Json {
    let one = Json::Object(object(&block.attributes, &[]));
    let mut schema = match block.kind {
        BlockKind::Single => one,
        BlockKind::Repeated if block.required => json!({ "type": "array", "items": one, "minItems": 1 }),
        BlockKind::Repeated => json!({ "type": "array", "items": one }),
        BlockKind::Labelled if block.required => {
            json!({ "type": "object", "additionalProperties": one, "minProperties": 1 })
        }
        BlockKind::Labelled => json!({ "type": "object", "additionalProperties": one }),
    };
    if let Json::Object(schema) = &mut schema {
        schema.insert("description".to_owned(), json!(block.doc));
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::testing::{attribute, description};

    /// Whether `instance` is valid. The schema itself is held against the dialect's own.
    fn accepts(schema: &Json, instance: &Json) -> bool {
        let mut compiler = boon::Compiler::new();
        compiler.enable_format_assertions();
        compiler.add_resource("schema.json", schema.clone()).unwrap();
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile("schema.json", &mut schemas).unwrap_or_else(|error| panic!("{error:#}: {schema:#}"));
        schemas.validate(instance, index).is_ok()
    }

    fn of_kind(name: &str, ty: Json) -> Attribute {
        Attribute { attribute_type: AttributeType::parse(&ty).unwrap(), ..attribute(name) }
    }

    #[test]
    fn types_are_what_the_host_accepts() {
        let attributes = vec![
            of_kind("flag", json!("boolean")),
            of_kind("count", json!("integer")),
            of_kind("share", json!("number")),
            of_kind("after", json!("resource")),
            of_kind("anything", json!("any")),
            of_kind("args", json!({"list": "string"})),
            of_kind("limits", json!({"map": {"union": ["string", "integer"]}})),
            of_kind("kind", json!({"enum": ["a", "b"]})),
            of_kind("hex", json!({"text": {"pattern": "[0-9a-f]+", "is": "a number in hex"}})),
        ];
        let schema = schema(&description(attributes.clone()));
        let values = [
            json!(true),
            json!(3),
            json!(1.5),
            json!("file.motd"),
            json!("motd"),
            json!(["x"]),
            json!({"x": "y", "z": 1}),
            json!({"x": [1]}),
            json!("a"),
            json!(1_u64 << 54),
        ];
        for attribute in &attributes {
            for value in &values {
                // Beyond 2^53 the host's JSON refuses an integer before any type is asked.
                let is_exact = *value != json!(1_u64 << 54) || !matches!(attribute.attribute_type, AttributeType::Integer);
                let wanted = attribute.attribute_type.accepts(value) && is_exact;
                assert_eq!(accepts(&schema, &json!({ &attribute.name: value })), wanted, "{} = {value}", attribute.name);
            }
        }
        assert!(!accepts(&schema, &json!({"more": 1})), "unknown attributes are refused");
        assert!(accepts(&schema, &json!({"meta": {"require": []}})));
    }

    #[test]
    fn what_is_required_nullable_aliased_sensitive_and_a_default() {
        let path = Attribute { required: true, aliases: vec!["name".into()], ..attribute("path") };
        let key = Attribute { sensitive: true, nullable: true, ..attribute("key") };
        let mode = Attribute { default: Some(json!("0644")), aliases: vec!["perm".into()], ..attribute("mode") };
        let schema = schema(&description(vec![path, key, mode]));
        for good in [json!({"path": "/a"}), json!({"name": "/a", "key": null}), json!({"path": "/a", "perm": "1"})] {
            assert!(accepts(&schema, &good), "{good}");
        }
        let bad = [
            json!({}),
            json!({"path": "/a", "name": "/a"}),
            json!({"path": null}),
            json!({"path": "/a", "mode": "1", "perm": "1"}),
            json!({"path": "/a", "mode": null}),
        ];
        for bad in bad {
            assert!(!accepts(&schema, &bad), "{bad}");
        }
        let properties = &schema["properties"];
        assert_eq!(properties["key"]["writeOnly"], json!(true));
        assert_eq!(properties["mode"]["default"], json!("0644"));
        assert_eq!(properties["perm"]["description"], json!("Another spelling of `mode`."));
        assert_eq!(properties["path"]["description"], json!("What is called path."));
    }

    #[test]
    fn blocks_by_their_kind() {
        let block = |name: &str, kind, required| Block {
            name: name.into(),
            kind,
            required,
            attributes: vec![Attribute { required: true, ..attribute("size") }],
            doc: "A part.".into(),
        };
        let mut description = description(vec![]);
        description.blocks = vec![
            block("one", BlockKind::Single, false),
            block("many", BlockKind::Repeated, true),
            block("named", BlockKind::Labelled, false),
        ];
        let schema = schema(&description);
        let part = json!({"size": "1"});
        assert!(accepts(&schema, &json!({"one": part, "many": [part, part], "named": {"a": part}})));
        for bad in [json!({}), json!({"many": []}), json!({"many": [{}]}), json!({"many": [part], "named": part})] {
            assert!(!accepts(&schema, &bad), "{bad}");
        }
    }
}
