//! Tests: a description that passes, and one for each rule that does not.

use serde_json::{Value as Json, json};

use super::check;
use crate::model::description::{Attribute, AttributeType, Block, BlockKind, Description, Ensure, Output, Selectors};

fn attribute(name: &str) -> Attribute {
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
        doc: String::new(),
    }
}

fn description(attributes: Vec<Attribute>) -> Description {
    Description {
        type_name: "thing".parse().unwrap(),
        schema_version: 1,
        summary: String::new(),
        attributes,
        blocks: vec![],
        outputs: vec![],
        ensure: None,
        capabilities: vec![],
        selectors: Selectors::default(),
        has_providers: false,
    }
}

#[test]
fn a_plain_description_passes() {
    assert_eq!(check(&description(vec![attribute("path"), attribute("tags")])), Ok(()));
}

/// The reason why a description is refused that is good but for a change.
#[track_caller]
fn refused(change: impl FnOnce(&mut Description)) -> String {
    let mut changed = description(vec![attribute("path"), attribute("ensure")]);
    assert_eq!(check(&changed), Ok(()));
    change(&mut changed);
    check(&changed).expect_err("the change must be found")
}

fn block(name: &str, attributes: Vec<Attribute>) -> Block {
    Block { name: name.into(), kind: BlockKind::Repeated, required: false, attributes, doc: String::new() }
}

fn aliased(name: &str, alias: &str) -> Attribute {
    Attribute { aliases: vec![alias.into()], ..attribute(name) }
}

#[test]
fn names_and_aliases_are_unique_in_their_namespace() {
    assert!(refused(|d| d.attributes.push(attribute("path"))).contains("`path` occurs twice"));
    assert!(refused(|d| d.attributes.push(aliased("mode", "path"))).contains("`path` occurs twice"));
    assert!(refused(|d| d.attributes.push(aliased("mode", "mode"))).contains("`mode` occurs twice"));
    let both = refused(|d| d.attributes.extend([aliased("mode", "m"), aliased("owner", "m")]));
    assert_eq!(both, "the attribute name `m` occurs twice");
    let within = refused(|d| d.blocks.push(block("part", vec![attribute("a"), aliased("b", "a")])));
    assert_eq!(within, "in the block `part`: the attribute name `a` occurs twice");
}

#[test]
fn attributes_of_a_block_are_a_namespace_of_their_own() {
    let mut shared = description(vec![attribute("path")]);
    shared.blocks = vec![block("one", vec![attribute("path")]), block("two", vec![attribute("path"), attribute("one")])];
    assert_eq!(check(&shared), Ok(()));
}

#[test]
fn blocks_and_outputs_cannot_have_the_name_of_an_attribute_or_of_each_other() {
    assert!(refused(|d| d.blocks.push(block("path", vec![]))).contains("twice"));
    assert!(refused(|d| d.blocks.extend([block("part", vec![]), block("part", vec![])])).contains("twice"));
    let aliases = refused(|d| {
        d.attributes.push(aliased("mode", "part"));
        d.blocks.push(block("part", vec![]));
    });
    assert!(aliases.contains("`part` occurs twice"), "{aliases}");
    let output =
        |name: &str| Output { name: name.into(), output_type: AttributeType::String, sensitive: false, doc: String::new() };
    assert!(refused(|d| d.outputs.push(output("path"))).contains("twice"));
    let both = refused(|d| {
        d.blocks.push(block("part", vec![]));
        d.outputs.push(output("part"));
    });
    assert!(both.contains("`part` occurs twice"), "{both}");
}

#[test]
fn meta_is_reserved_and_tags_stays_free() {
    assert!(refused(|d| d.attributes.push(attribute("meta"))).contains("reserved"));
    assert!(refused(|d| d.attributes.push(aliased("mode", "meta"))).contains("reserved"));
    assert!(refused(|d| d.blocks.push(block("meta", vec![]))).contains("reserved"));
    let mut free = description(vec![attribute("tags"), attribute("require"), attribute("notify")]);
    free.blocks.push(block("labels", vec![attribute("tags")]));
    assert_eq!(check(&free), Ok(()));
}

#[test]
fn names_are_plain_words() {
    for bad in ["", "Bad", "a-b", "1a", "a\u{1b}", &"a".repeat(64)] {
        assert!(refused(|d| d.attributes.push(attribute(bad))).contains("is not an attribute name"), "{bad}");
        assert!(refused(|d| d.blocks.push(block(bad, vec![]))).contains("is not an attribute name"), "{bad}");
    }
    assert!(!refused(|d| d.attributes.push(attribute("a\u{1b}"))).contains('\u{1b}'));
}

#[test]
fn exported_is_refused_in_blocks() {
    let exported = Attribute { exported: true, ..attribute("a") };
    let reason = refused(|d| d.blocks.push(block("part", vec![exported])));
    assert_eq!(reason, "the attribute `a` of the block `part` is exported, and nobody could read it");
}

#[test]
fn defaults_are_of_their_type_and_never_quoted() {
    let with =
        |attribute_type: AttributeType, default: Json| Attribute { attribute_type, default: Some(default), ..attribute("a") };
    let list = AttributeType::List(Box::new(AttributeType::Integer));
    let bad = [
        with(AttributeType::String, json!(1)),
        with(AttributeType::Integer, json!("hush")),
        with(list, json!([1, "hush"])),
        with(AttributeType::Enum(vec!["x".into()]), json!("hush")),
        with(AttributeType::String, Json::Null),
        with(AttributeType::String, json!({ "$secret": "hush" })),
        with(AttributeType::Any, json!([{ "$secret": "hush" }])),
    ];
    for attribute in bad {
        let within = refused(|d| d.blocks.push(block("part", vec![attribute.clone()])));
        assert_eq!(within, "in the block `part`: the default of the attribute `a` is not of its type");
        let reason = refused(|d| d.attributes.push(attribute));
        assert_eq!(reason, "the default of the attribute `a` is not of its type");
    }
    let required = Attribute { required: true, default: Some(json!("hush")), ..attribute("a") };
    assert_eq!(refused(|d| d.attributes.push(required)), "the required attribute `a` has a default");
    let mut good = description(vec![with(AttributeType::Any, Json::Null), attribute("b")]);
    good.blocks.push(block("part", vec![with(AttributeType::Boolean, json!(false))]));
    assert_eq!(check(&good), Ok(()));
}

#[test]
fn what_names_an_object_or_a_file_is_plain() {
    assert!(refused(|d| (d.attributes[0].identity, d.attributes[0].sensitive) = (true, true)).contains("hidden"));
    assert!(refused(|d| (d.attributes[0].source, d.attributes[0].sensitive) = (true, true)).contains("not plain text"));
    let number = Attribute { source: true, attribute_type: AttributeType::Integer, ..attribute("a") };
    assert!(refused(|d| d.blocks.push(block("part", vec![number]))).contains("not plain text"));
}

#[test]
fn a_checksum_is_of_one_source_beside_it() {
    let of = |source: &str, name: &str| Attribute { checksum_of: Some(source.into()), ..attribute(name) };
    let source = || Attribute { source: true, ..attribute("source") };
    assert!(refused(|d| d.attributes.push(of("path", "sum"))).contains("no source"));
    assert!(refused(|d| d.attributes.extend([source(), of("source", "a"), of("source", "b")])).contains("second checksum"));
    let elsewhere = refused(|d| {
        d.attributes.push(source());
        d.blocks.push(block("part", vec![of("source", "sum")]));
    });
    assert!(elsewhere.contains("no source beside it"), "{elsewhere}");
    let mut good = description(vec![source(), of("source", "sum")]);
    good.blocks.push(block("part", vec![source(), of("source", "sum")]));
    assert_eq!(check(&good), Ok(()));
}

#[test]
fn versions_begin_at_one_and_selectors_mean_something() {
    assert!(refused(|d| d.schema_version = 0).contains("schema-version"));
    assert!(refused(|d| d.selectors.equality.push("nope".into())).contains("selector `nope`"));
    assert!(refused(|d| d.selectors.drift.push("id".into())).contains("stable id"));
}

#[test]
fn ensure_has_words_that_are_different_and_a_default_among_them() {
    let ensure = |values: &[&str], aliases: &[(&str, &str)], default: &str| {
        let values = values.iter().map(|word| (word.to_string(), String::new())).collect();
        let aliases = aliases.iter().map(|(alias, word)| (alias.to_string(), word.to_string())).collect();
        Some(Ensure { values, aliases, default: Some(default.into()) })
    };
    assert!(refused(|d| d.ensure = ensure(&["a"], &[], "b")).contains("default"));
    assert!(refused(|d| d.ensure = ensure(&["a", "a"], &[], "a")).contains("twice"));
    assert!(refused(|d| d.ensure = ensure(&["a"], &[("b", "c")], "a")).contains("means none"));
    assert!(refused(|d| d.ensure = ensure(&["a", "b"], &[("b", "a")], "a")).contains("word itself"));
    let no_attribute = refused(|d| {
        d.attributes.truncate(1);
        d.ensure = ensure(&["a"], &[], "a");
    });
    assert!(no_attribute.contains("no such attribute"), "{no_attribute}");
}
