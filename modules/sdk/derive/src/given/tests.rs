use super::*;

fn expanded(fields: &str) -> syn::Result<String> {
    expand(&syn::parse_str(&format!("struct G {{ {fields} }}")).unwrap()).map(|tokens| tokens.to_string().replace(' ', ""))
}

fn refusal(fields: &str) -> String {
    let error = expanded(fields).expect_err("the fields are refused");
    error.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("\n")
}

const DOC: &str = "#[doc = \" A word.\"] ";

fn of(options: &str, field: &str) -> String {
    refusal(&format!("{DOC} #[attribute({options})] {field}"))
}

#[test]
fn descriptors_have_all_that_the_field_says() {
    let fields = "#[doc = \" One\"] #[doc = \" and more.\"] #[attribute(identity, exported, alias = \"old\")] path: String,
                  #[doc = \"Two.\"] #[attribute(default = false)] force: bool,
                  #[doc = \"Three.\"] #[attribute(name = \"type\", nullable = false)] kind: Option<Kind>,
                  #[doc = \"Four.\"] #[attribute(source)] source: Option<String>,
                  #[doc = \"Five.\"] #[attribute(checksum_of = \"source\")] checksum: Option<String>,
                  #[doc = \"Six.\"] #[attribute(sensitive = false)] token: Option<Sensitive<String>>";
    let text = expanded(fields).unwrap();
    for part in [
        "::of::<String>(\"path\").required().alias(\"old\").identity().exported().doc(\"Oneandmore.\")",
        "::of::<bool>(\"force\").nullable().default_value(false).doc(\"Two.\")",
        "::of::<Kind>(\"type\").doc(\"Three.\")",
        "::of::<String>(\"source\").nullable().source().doc(\"Four.\")",
        "::of::<String>(\"checksum\").nullable().checksum_of(\"source\").doc(\"Five.\")",
        "::new(\"token\",<Sensitive<String>as::runtime_sdk::AttributeType>::attribute_type()).nullable().doc(\"Six.\")",
        "fnpath<'given>(given:&::runtime_sdk::Parameters<'given>",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn blocks_are_told_by_their_types() {
    let fields = "#[doc = \"A.\"] #[attribute(block)] one: One,
                  #[doc = \"B.\"] #[attribute(block)] maybe: Option<One>,
                  #[doc = \"C.\"] #[attribute(block, required)] many: Vec<One>,
                  #[doc = \"D.\"] #[attribute(block)] named: BTreeMap<String, One>";
    let text = expanded(fields).unwrap();
    for part in [
        "single(\"one\").required()",
        "single(\"maybe\").attributes",
        "repeated(\"many\").required()",
        "labelled(\"named\").attributes",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn every_mistake_names_the_field_and_says_what_to_do() {
    assert!(refusal("path: String").starts_with("`path` has no document: say in a comment `/// …` above it"));
    assert!(of("secret", "a: String").starts_with("this is none of `alias`, `block`"));
    assert_eq!(of("identity, identity", "a: String"), "this is said twice: keep one of them");
    assert_eq!(
        of("name = \"A-b\"", "a: String"),
        "`A-b` is no attribute name: lower-case letters, digits and `_`, a letter first, at most 63"
    );
    assert_eq!(of("alias = \"meta\"", "a: String"), "`meta` is the block that every resource has: choose another name");
    assert!(
        of("default = 1", "a: Option<u8>")
            .starts_with("`a` always has a value where there is a default: write its type without `Option`")
    );
    assert!(of("default", "a: u8").contains("expected"));
    assert!(of("required", "a: u8").starts_with("`a` is required by its type already"));
    assert!(of("nullable", "a: u8").starts_with("`a` must be given, so null is never allowed"));
    assert!(of("identity, sensitive", "a: String").starts_with("`a` names the object, so it cannot be hidden"));
    assert!(of("source, sensitive", "a: String").starts_with("`a` says where content comes from"));
    assert!(of("ensure", "state: E").starts_with("`state` has the vocabulary of `ensure`, and so must have its name"));
    assert!(of("ensure, default = 1", "ensure: E").starts_with("`ensure` has the default of its vocabulary"));
    assert!(of("ensure, nullable", "ensure: E").starts_with("`ensure` takes null as its vocabulary says"));
    assert!(of("block, identity", "a: B").starts_with("`a` is a block, which takes only"));
    assert!(of("block, default = 1", "a: B").starts_with("`a` is a block, and blocks have no default"));
    assert!(of("block, required", "a: Option<B>").starts_with("`a` is required: write its type without `Option`"));
    assert!(of("checksum_of = \"b\"", "a: String").starts_with("`a` is the checksum of `b`, which is no source here"));
}

#[test]
fn all_fields_with_mistakes_are_told_at_once() {
    assert_eq!(refusal("a: u8, b: u8").lines().count(), 2);
}

#[test]
fn names_share_one_namespace() {
    let fields = "#[doc = \"A.\"] a: u8, #[doc = \"B.\"] #[attribute(alias = \"a\")] b: u8";
    assert_eq!(refusal(fields), "the name `a` stands twice: attributes, their aliases and blocks share one namespace");
}

#[test]
fn only_plain_structs_hold_attributes() {
    let refusal = |text: &str| expand(&syn::parse_str(text).unwrap()).unwrap_err().to_string();
    assert_eq!(refusal("struct G(u8);"), "attributes have names: make `G` a struct with named fields");
    assert_eq!(refusal("enum G {}"), "attributes have names: make `G` a struct with named fields");
    assert_eq!(refusal("struct G<T> { a: T }"), "a struct of attributes has no parameters: leave them out");
}
