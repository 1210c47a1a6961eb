//! The test kit itself: it refuses what the host refuses, and finds definitions whose parts disagree.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::{Attribute, Attributes, Capability, Compiled, DefinitionError, Effect, Output, Semantics, Sensitive, TestedState};

#[derive(runtime_sdk_derive::Attributes)]
struct SiteGiven {
    /// Where it lies.
    #[attribute(identity, exported, alias = "location")]
    path: String,
    /// What it says.
    #[attribute(exported)]
    title: Option<String>,
    /// Who may look.
    #[attribute(nullable = false)]
    token: Option<Sensitive<String>>,
    /// Its parts.
    #[attribute(block)]
    part: std::collections::BTreeMap<String, PartGiven>,
    /// How often to try.
    #[attribute(block)]
    retry: Option<RetryGiven>,
}

#[derive(runtime_sdk_derive::Attributes)]
struct PartGiven {
    /// How large.
    #[attribute(identity, alias = "bytes")]
    size: u32,
    /// How it looks.
    colour: Option<String>,
}

#[derive(runtime_sdk_derive::Attributes)]
struct RetryGiven {
    /// How often.
    tries: u8,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Desired {
    parts: Vec<(String, u32)>,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<Sensitive<String>>,
}

/// Which part of the definition is broken, for the type parameter of [`Site`].
const WHOLE: u8 = 0;
const OTHER_FOOTPRINT: u8 = 1;
const OTHER_EXPORT: u8 = 2;
const HIDDEN_IN_VIEW: u8 = 3;
const READS_ALL_FOR_FOOTPRINT: u8 = 4;
const TELLS_NULL: u8 = 5;

struct Site<const BREAK: u8>;

impl<const BREAK: u8> Definition for Site<BREAK> {
    const TYPE: &'static str = "site";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A site.";

    type Given = SiteGiven;
    type Desired = Desired;

    fn outputs() -> Vec<Output> {
        vec![Output::string("address").doc("Where it is to be found.")]
    }

    fn capabilities() -> Vec<Capability> {
        Vec::new()
    }

    fn footprint(given: &Parameters) -> DefinitionResult<Footprint> {
        if BREAK == READS_ALL_FOR_FOOTPRINT {
            SiteGiven::title(given)?;
        }
        let parts = SiteGiven::part(given)?;
        parts.iter().try_for_each(|part| PartGiven::size(&part.given()).map(drop))?;
        Ok(Footprint::empty().effect(Effect::write_path(SiteGiven::path(given)?)))
    }

    fn compile(given: &Parameters) -> DefinitionResult<Compiled<Desired>> {
        let parts = SiteGiven::part(given)?;
        let parts = parts.iter().map(|part| Ok((part.required_label()?.to_owned(), PartGiven::size(&part.given())?)));
        let title = SiteGiven::title(given)?;
        let told = if BREAK == TELLS_NULL && given.id().name == "it" { title.or(Some(String::new())) } else { title };
        Ok(Compiled::new(Desired {
            parts: parts.collect::<DefinitionResult<_>>()?,
            path: SiteGiven::path(given)?,
            title: told,
            token: SiteGiven::token(given)?,
        }))
    }

    fn validate(desired: &Desired) -> DefinitionResult<Semantics> {
        let path = if BREAK == OTHER_FOOTPRINT { "/other" } else { desired.path.as_str() };
        Ok(Semantics::new(Footprint::empty().effect(Effect::write_path(path)), Duration::from_secs(1)))
    }

    fn resolve_export(attribute: &str, given: &Parameters) -> DefinitionResult<Value> {
        if BREAK == OTHER_EXPORT { Ok("another".into()) } else { SiteGiven::export(attribute, given) }
    }

    fn test_view(desired: &Desired) -> DefinitionResult<TestedState> {
        if BREAK == HIDDEN_IN_VIEW {
            return TestedState::new(&json!({ "path": desired.path }));
        }
        TestedState::new(&json!({ "path": desired.path, "title": desired.title }))
    }
}

fn site() -> Given {
    Given::new().set("path", "/srv/site").set("title", "Hello").labelled("part", "a", Given::new().set("size", 3))
}

fn refusal(given: &Given) -> String {
    match compile::<Site<WHOLE>>(given, any_digest).expect_err("the declaration is refused") {
        DefinitionError::Invalid(diagnostic) => diagnostic.message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_whole_definition_agrees_with_blocks_and_all() {
    check_description::<Site<WHOLE>>();
    agree::<Site<WHOLE>>(&site());
    agree::<Site<WHOLE>>(&site().unset("title").sensitive("token", "s"));
    let desired = compile::<Site<WHOLE>>(&site(), any_digest).unwrap();
    assert_eq!(desired.parts, [("a".to_owned(), 3)]);
}

#[test]
fn what_the_host_refuses_never_reaches_the_definition() {
    let refused = [
        (site().set("colour", "red"), "there is no attribute `colour`"),
        (Given::new(), "`path` is missing"),
        (site().set("location", "/x"), "`location` and `path` are one attribute, and both are given"),
        (site().set("path", Value::Null), "`path` may not be null"),
        (site().set("token", Value::Null), "`token` may not be null"),
        (site().set("title", 5), "`title` has a value of another type"),
        (site().deferred("path"), "`path` cannot wait for the node"),
        (site().child("other", Given::new()), "there is no block `other`"),
        (site().child("part", Given::new().set("size", 1)), "the block `part` has no label"),
        (site().labelled("part", "a", Given::new().set("size", 1)), "the block `part` has a label that stands twice"),
        (site().labelled("part", "b", Given::new()), "in the block `part`: `size` is missing"),
        (
            site().labelled("part", "b", Given::new().set("size", 1).set("bytes", 2)),
            "in the block `part`: `bytes` and `size` are one attribute, and both are given",
        ),
        (site().labelled("part", "b", Given::new().set("size", 1).child("part", Given::new())), "the block `part` holds a block"),
        (site().labelled("retry", "x", Given::new().set("tries", 1)), "the block `retry` has a label"),
        (
            site().child("retry", Given::new().set("tries", 1)).child("retry", Given::new().set("tries", 1)),
            "the block `retry` stands twice",
        ),
    ];
    for (given, message) in refused {
        given.forget();
        assert_eq!(refusal(&given), message);
        assert_eq!(given.asked(), [""; 0], "{message}");
    }
}

#[test]
fn both_spellings_are_one_attribute() {
    let given = Given::new().set("location", "/srv/site").labelled("part", "a", Given::new().set("bytes", 3));
    let desired = compile::<Site<WHOLE>>(&given, any_digest).unwrap();
    assert_eq!((desired.path.as_str(), desired.parts[0].1), ("/srv/site", 3));
    assert_eq!(export::<Site<WHOLE>>("location", &given).unwrap(), json!("/srv/site"));
}

#[test]
fn reading_an_export_reads_nothing_else() {
    let given = site().deferred("title").labelled("part", "b", Given::new().set("size", 1).deferred("colour"));
    assert_eq!(export::<Site<WHOLE>>("path", &given).unwrap(), json!("/srv/site"));
    assert_eq!(given.asked(), ["path"]);
    assert!(matches!(export::<Site<WHOLE>>("title", &given), Err(DefinitionError::Parameter)));
    given.forget();
    footprint::<Site<WHOLE>>(&given).unwrap();
    assert_eq!(given.values_read(), ["part.size", "path"]);
}

#[test]
fn what_is_flagged_sensitive_reaches_the_definition_as_a_slot_only() {
    let desired = compile::<Site<WHOLE>>(&site().set("token", "hunter2"), any_digest).unwrap();
    assert_eq!(desired.token, Some(Sensitive::Slot("test.it/token".into())));
    assert!(!format!("{desired:?}").contains("hunter2"));
}

/// The message with which `check` panics.
fn panics(check: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(check).expect_err("it panics");
    panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap()
}

#[test]
fn parts_that_disagree_are_found() {
    assert!(panics(|| drop(agree::<Site<OTHER_FOOTPRINT>>(&site()))).contains("`validate` and `footprint` differ"));
    assert!(panics(|| drop(agree::<Site<OTHER_EXPORT>>(&site()))).contains("is exported as another value"));
    assert!(panics(|| drop(agree::<Site<HIDDEN_IN_VIEW>>(&site()))).contains("`title` is not in the test view"));
    assert!(panics(|| drop(agree::<Site<READS_ALL_FOR_FOOTPRINT>>(&site()))).contains("needs identity attributes only"));
    assert!(panics(|| drop(agree::<Site<TELLS_NULL>>(&site().unset("title")))).contains("is exported as another value"));
}

/// A type with attributes made by hand, of which `WHICH` is described wrongly.
struct Described<const WHICH: usize>;

impl<const WHICH: usize> Definition for Described<WHICH> {
    const TYPE: &'static str = "described";
    const SCHEMA_VERSION: u32 = 1;
    const SUMMARY: &'static str = "A type.";

    type Given = ();
    type Desired = ();

    fn attributes() -> Vec<Attribute> {
        let path = || Attribute::string("path").doc("A path.");
        let wrong: [Vec<Attribute>; 8] = [
            vec![path(), path()],
            vec![path(), Attribute::string("other").alias("path").doc("Another.")],
            vec![Attribute::string("Path").doc("A path.")],
            vec![Attribute::string("path")],
            vec![Attribute::integer("path").default_value("x").doc("A path.")],
            vec![path().identity().sensitive()],
            vec![path(), Attribute::string("checksum").checksum_of("path").doc("A checksum.")],
            vec![Attribute::string("ensure").doc("Without words.")],
        ];
        wrong[WHICH].clone()
    }

    fn capabilities() -> Vec<Capability> {
        Vec::new()
    }

    fn footprint(_: &Parameters) -> DefinitionResult<Footprint> {
        Ok(Footprint::empty())
    }

    fn compile(_: &Parameters) -> DefinitionResult<Compiled<()>> {
        Ok(Compiled::new(()))
    }

    fn validate(_: &()) -> DefinitionResult<Semantics> {
        Ok(Semantics::new(Footprint::empty(), Duration::from_secs(1)))
    }

    fn test_view(_: &()) -> DefinitionResult<TestedState> {
        TestedState::new(&json!({}))
    }
}

#[test]
fn bad_descriptors_are_found() {
    assert!(panics(check_description::<Described<0>>).contains("`path` is used twice"));
    assert!(panics(check_description::<Described<1>>).contains("`path` is used twice"));
    assert!(panics(check_description::<Described<2>>).contains("`Path` is no attribute name"));
    assert!(panics(check_description::<Described<3>>).contains("`path` has no document"));
    assert!(panics(check_description::<Described<4>>).contains("the default of `path` is not of its type"));
    assert!(panics(check_description::<Described<5>>).contains("`path` names the object and cannot be hidden"));
    assert!(panics(check_description::<Described<6>>).contains("`checksum` is no checksum of a source beside it"));
    assert!(panics(check_description::<Described<7>>).contains("`ensure` needs both an attribute and a vocabulary"));
}
