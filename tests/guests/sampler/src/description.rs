//! What `describe` says.

use runtime_sdk::bindings::exports::runtime::module::definition::{Block, BlockKind, Description, Output};
use runtime_sdk::{Attribute, Capability, EnsureVocabulary, RecordSelectors, Type};
use serde_json::json;

/// Attributes that are taken into the desired state as they are.
pub const SETTINGS: [&str; 7] = ["level", "port", "options", "limits", "extra", "peer", "peers"];

pub fn describe() -> Description {
    Description {
        type_name: "sampler".into(),
        schema_version: 1,
        summary: "Has one of everything.".into(),
        attributes: attributes().into_iter().map(Into::into).collect(),
        blocks: vec![retry(), rule(), vhost()],
        outputs: vec![Output {
            name: "size".into(),
            type_json: "\"integer\"".into(),
            sensitive: false,
            doc: "The size of the file at the path in bytes.".into(),
        }],
        ensure: Some(EnsureVocabulary {
            values: vec![("present".into(), "The files are there.".into()), ("absent".into(), "They are not.".into())],
            aliases: vec![("there".into(), "present".into())],
            default_value: Some("present".into()),
        }),
        capabilities: vec![
            Capability::new("files", "read", "/srv/**", "to compare its files"),
            Capability::new("files", "write", "/srv/**", "to write its files"),
        ],
        selectors: RecordSelectors {
            equality: Vec::new(),
            replace: Vec::new(),
            replace_when: Vec::new(),
            configuration: Vec::new(),
            drift: Vec::new(),
            has_stable_id: false,
        },
        has_providers: false,
    }
}

fn words(words: &[&str]) -> Type {
    Type::Enum(words.iter().map(|word| (*word).to_owned()).collect())
}

fn attributes() -> Vec<Attribute> {
    vec![
        Attribute::string("path").alias("file").required().exported().identity().doc("The path of the file."),
        Attribute::new("ensure", words(&["present", "absent", "there"]))
            .alias("state")
            .nullable()
            .exported()
            .default_value("present")
            .doc("Whether the files are there."),
        Attribute::string("content").nullable().exported().doc("The text of the file."),
        Attribute::string("source").nullable().source().doc("A file that has the text."),
        Attribute::string("checksum").nullable().checksum_of("source").doc("The digest that the source must have."),
        Attribute::new("level", words(&["low", "high"])).nullable().exported().default_value("low").doc("A word."),
        Attribute::new("port", Type::Union(vec![Type::Integer, Type::String])).nullable().doc("A number or a name."),
        Attribute::new("options", Type::List(Box::new(Type::String))).nullable().doc("Words."),
        Attribute::new("limits", Type::Map(Box::new(Type::Integer))).nullable().default_value(json!({})).doc("Numbers."),
        Attribute::new("extra", Type::Any).doc("Anything; null is a value."),
        Attribute::new("peer", Type::Resource).nullable().doc("A resource."),
        Attribute::new("peers", Type::List(Box::new(Type::Resource))).nullable().doc("Resources."),
        Attribute::string("token").nullable().sensitive().doc("A secret."),
        Attribute::new("ignored", Type::Any).nullable().doc("Read, and thrown away."),
    ]
}

fn retry() -> Block {
    block(
        "retry",
        BlockKind::Single,
        "How often to try.",
        vec![
            Attribute::integer("tries").required().doc("How often."),
            Attribute::string("wait").alias("pause").nullable().doc("How long between two."),
        ],
    )
}

fn rule() -> Block {
    block(
        "rule",
        BlockKind::Repeated,
        "What is allowed, in order.",
        vec![
            Attribute::new("action", words(&["allow", "deny"])).required().doc("What to do."),
            Attribute::new("match", Type::Any).nullable().doc("With what."),
        ],
    )
}

fn vhost() -> Block {
    block(
        "vhost",
        BlockKind::Labelled,
        "A host by name.",
        vec![
            Attribute::string("root").nullable().identity().doc("Where its page is written."),
            Attribute::string("page").nullable().doc("The text of the page."),
            Attribute::string("source").nullable().source().doc("A file that has the text."),
            Attribute::integer("port").nullable().doc("Its port."),
            Attribute::new("peer", Type::Resource).nullable().doc("A resource."),
        ],
    )
}

fn block(name: &str, kind: BlockKind, doc: &str, attributes: Vec<Attribute>) -> Block {
    let attributes = attributes.into_iter().map(Into::into).collect();
    Block { name: name.into(), kind, required: false, attributes, doc: doc.into() }
}
