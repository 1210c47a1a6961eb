use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::testing::Given as Written;
use crate::{Presence, ResourceId, Sensitive, Type};

/// A server.
#[derive(runtime_sdk_derive::Attributes)]
struct Given {
    /// The address it listens on.
    #[attribute(identity, exported, alias = "listen")]
    address: String,
    /// Whether it is there.
    #[attribute(ensure, identity, exported)]
    ensure: Presence,
    /// How many workers.
    #[attribute(default = 4, exported)]
    workers: u8,
    /// The kind of it. A name that Rust does not take as it is.
    r#type: Option<String>,
    /// A secret.
    token: Option<Sensitive<String>>,
    /// A value that may be secret.
    #[attribute(sensitive = false)]
    greeting: Option<Sensitive<String>>,
    /// Environment.
    #[attribute(exported)]
    environment: Option<BTreeMap<String, Vec<String>>>,
    /// Who owns it.
    #[attribute(name = "owner", nullable = false)]
    owned_by: Option<ResourceId>,
    /// How often to try.
    #[attribute(block)]
    retry: Option<Retry>,
    /// What it logs.
    #[attribute(block)]
    log: Log,
    /// Rules, in order.
    #[attribute(block, required)]
    rule: Vec<Rule>,
    /// Virtual hosts.
    #[attribute(block)]
    vhost: BTreeMap<String, Rule>,
}

/// How often to try.
#[derive(Debug, PartialEq, runtime_sdk_derive::Attributes)]
struct Retry {
    /// How often.
    #[attribute(default = 3)]
    tries: u32,
}

/// What it logs.
#[derive(runtime_sdk_derive::Attributes)]
struct Log {
    /// How much.
    level: String,
}

/// A rule.
#[derive(runtime_sdk_derive::Attributes)]
struct Rule {
    /// From where.
    from: String,
}

fn written() -> Written {
    Written::new()
        .set("address", "[::]:80")
        .child("log", Written::new().set("level", "info"))
        .child("rule", Written::new().set("from", "a"))
        .child("rule", Written::new().set("from", "b"))
        .labelled("vhost", "www", Written::new().set("from", "c"))
}

#[test]
fn fields_become_descriptors() {
    let attributes = Given::attributes();
    let names: Vec<&str> = attributes.iter().map(Attribute::name).collect();
    assert_eq!(names, ["address", "ensure", "workers", "type", "token", "greeting", "environment", "owner"]);
    let expected = Attribute::string("address").alias("listen").required().identity().exported();
    assert_eq!(attributes[0], expected.doc("The address it listens on."));
    assert_eq!(attributes[1], Attribute::ensure::<Presence>().identity().exported().doc("Whether it is there."));
    assert_eq!(attributes[2], Attribute::integer("workers").nullable().default_value(4).exported().doc("How many workers."));
    assert_eq!(
        attributes[3],
        Attribute::string("type").nullable().doc("The kind of it. A name that Rust does not take as it is.")
    );
    assert_eq!(attributes[4], Attribute::string("token").nullable().sensitive().doc("A secret."));
    assert_eq!(attributes[5], Attribute::string("greeting").nullable().doc("A value that may be secret."));
    let map = Type::Map(Box::new(Type::List(Box::new(Type::String))));
    assert_eq!(attributes[6], Attribute::new("environment", map).nullable().exported().doc("Environment."));
    assert_eq!(attributes[7], Attribute::new("owner", Type::Resource).doc("Who owns it."));
    assert_eq!(Given::ensure_vocabulary(), Some(<Presence as crate::Ensure>::vocabulary()));
}

#[test]
fn fields_with_structs_become_blocks() {
    let blocks = Given::blocks();
    assert_eq!(blocks[0], Block::single("retry").attributes(Retry::attributes()).doc("How often to try."));
    assert_eq!(blocks[1], Block::single("log").required().attributes(Log::attributes()).doc("What it logs."));
    assert_eq!(blocks[2], Block::repeated("rule").required().attributes(Rule::attributes()).doc("Rules, in order."));
    assert_eq!(blocks[3], Block::labelled("vhost").attributes(Rule::attributes()).doc("Virtual hosts."));
}

#[test]
fn each_field_reads_itself_alone() {
    let given = written().deferred("greeting").sensitive("token", "s");
    assert_eq!(Given::address(&given.parameters()).unwrap(), "[::]:80");
    assert_eq!(given.asked(), ["address"]);
    assert_eq!(Given::workers(&given.parameters()).unwrap(), 4);
    assert_eq!(Given::token(&given.parameters()).unwrap(), Some(Sensitive::Slot("s".into())));
    assert_eq!(Given::r#type(&given.parameters()).unwrap(), None);
    assert!(matches!(Given::greeting(&given.parameters()), Err(DefinitionError::Parameter)));
    assert_eq!(given.asked(), ["address", "greeting", "token", "type", "workers"]);
}

#[test]
fn blocks_are_read_as_lazily() {
    let given = written();
    let parameters = given.parameters();
    assert!(Given::retry(&parameters).unwrap().is_none());
    let rules = Given::rule(&parameters).unwrap();
    assert_eq!(given.asked(), [""; 0]);
    assert_eq!(Rule::from(&rules[1].given()).unwrap(), "b");
    assert_eq!(Given::vhost(&parameters).unwrap()[0].label(), Some("www"));
    assert_eq!(given.asked(), ["rule.from"]);
}

#[test]
fn everything_can_be_read_at_once() {
    let given = written().child("retry", Written::new()).set("owner", "user.web").set("environment", json!({"A": ["b"]}));
    let read = <Given as Attributes>::read(&given.parameters()).unwrap();
    assert_eq!((read.ensure, read.workers, read.retry), (Presence::Present, 4, Some(Retry { tries: 3 })));
    assert_eq!(read.log.level, "info");
    assert_eq!(read.rule.iter().map(|rule| rule.from.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(read.vhost["www"].from, "c");
    assert_eq!(read.owned_by.unwrap().to_string(), "user.web");
    assert_eq!(read.environment.unwrap()["A"], ["b"]);
}

#[test]
fn exports_are_what_the_field_reads_and_nothing_else_is_exported() {
    let given = written().deferred("environment");
    let export = |name: &str| <Given as Attributes>::export(name, &given.parameters());
    assert_eq!(export("workers").unwrap(), json!(4));
    assert_eq!(export("ensure").unwrap(), json!("present"));
    assert!(matches!(export("environment"), Err(DefinitionError::Parameter)));
    assert!(matches!(export("token"), Err(DefinitionError::Unsupported(_))));
    assert!(matches!(export("rule"), Err(DefinitionError::Unsupported(_))));
    assert_eq!(given.asked(), ["ensure", "environment", "workers"]);
    assert_eq!(<Given as Attributes>::export("environment", &written().parameters()).unwrap(), Value::Null);
}

#[test]
fn refusals_name_the_attribute_and_quote_no_value() {
    let given = written().set("workers", 1000).set("type", 5).set("owner", "hunter2");
    let given = given.parameters();
    let refusals = [
        (Given::workers(&given).map(|_| ()), "`workers` is out of range"),
        (Given::r#type(&given).map(|_| ()), "`type` has a value of another type"),
        (Given::owned_by(&given).map(|_| ()), "`owner` has a value of another type"),
        (Given::address(&Written::new().parameters()).map(|_| ()), "`address` is missing"),
    ];
    for (refused, message) in refusals {
        assert!(matches!(&refused, Err(DefinitionError::Invalid(told)) if told.message == message), "{refused:?}");
    }
}

#[test]
fn null_is_the_same_as_leaving_it_out() {
    let given = written().set("workers", Value::Null).set("type", Value::Null);
    assert_eq!(Given::workers(&given.parameters()).unwrap(), 4);
    assert_eq!(Given::r#type(&given.parameters()).unwrap(), None);
}
