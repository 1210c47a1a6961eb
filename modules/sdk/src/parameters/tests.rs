use serde_json::json;

use super::*;
use crate::testing::Given;

#[test]
fn reads_by_type() {
    let given = Given::new().set("a", "x").set("b", 3).set("c", true).set("d", json!(["y"]));
    let given = given.parameters();
    assert_eq!(given.string("a").unwrap().as_deref(), Some("x"));
    assert_eq!(given.integer("b").unwrap(), Some(3));
    assert_eq!(given.boolean("c").unwrap(), Some(true));
    assert_eq!(given.read::<Vec<String>>("d").unwrap(), Some(vec!["y".to_owned()]));
    assert_eq!(given.string("e").unwrap(), None);
    assert!(given.has("a").unwrap() && !given.has("e").unwrap());
}

fn message(error: DefinitionError) -> (String, String) {
    match error {
        DefinitionError::Invalid(diagnostic) => (diagnostic.attribute.unwrap(), diagnostic.message),
        other => panic!("{other:?}"),
    }
}

#[test]
fn refusals_name_the_attribute() {
    let given = Given::new().set("a", 1).sensitive("b", "0");
    let given = given.parameters();
    assert_eq!(message(given.string("a").unwrap_err()), ("a".into(), "`a` has a value of another type".into()));
    assert_eq!(message(given.string("b").unwrap_err()), ("b".into(), "`b` may not be sensitive".into()));
    assert_eq!(message(given.required::<String>("c").unwrap_err()), ("c".into(), "`c` is missing".into()));
}

#[test]
fn what_waits_for_the_node_is_left_to_the_host() {
    let given = Given::new().deferred("a");
    assert!(matches!(given.parameters().string("a"), Err(DefinitionError::Parameter)));
    assert!(matches!(given.parameters().has("a"), Err(DefinitionError::Parameter)));
}

#[test]
fn child_blocks_come_in_their_order_with_labels_and_are_read_lazily() {
    let given = Given::new().labelled("vhost", "www", Given::new().set("port", 80)).labelled(
        "vhost",
        "api",
        Given::new().set("port", 81).deferred("root"),
    );
    let parameters = given.parameters();
    let children = parameters.children("vhost").unwrap();
    let labels: Vec<_> = children.iter().map(|child| child.required_label().unwrap()).collect();
    assert_eq!(labels, ["www", "api"]);
    assert_eq!(given.asked(), [""; 0]);
    assert_eq!(children[1].given().integer("port").unwrap(), Some(81));
    assert_eq!(given.asked(), ["vhost.port"]);
    assert!(parameters.children("other").unwrap().is_empty());
}

#[test]
fn refusals_in_a_block_say_in_which() {
    let given = Given::new()
        .labelled("vhost", "www", Given::new().set("port", "x"))
        .child("rule", Given::new())
        .child("rule", Given::new());
    let given = given.parameters();
    let vhosts = given.children("vhost").unwrap();
    let refusal = message(vhosts[0].given().integer("port").unwrap_err());
    assert_eq!(refusal, ("vhost".into(), "in the block `vhost \"www\"`: `port` has a value of another type".into()));
    let rules = given.children("rule").unwrap();
    let refusal = |at: usize| message(rules[at].given().required::<String>("to").unwrap_err()).1;
    assert_eq!(refusal(0), "in the block `rule`: `to` is missing");
    assert_eq!(refusal(1), "in the block `rule`, number 2: `to` is missing");
    assert_eq!(rules[0].label(), None);
    assert!(matches!(rules[0].required_label(), Err(DefinitionError::Other(_))));
}

#[test]
fn a_block_that_may_stand_once_does() {
    let given = Given::new().child("retry", Given::new()).child("twice", Given::new()).child("twice", Given::new());
    let given = given.parameters();
    assert!(given.child("retry").unwrap().is_some() && given.child("none").unwrap().is_none());
    assert_eq!(message(given.child("twice").err().unwrap()), ("twice".into(), "the block `twice` stands twice".into()));
    assert_eq!(message(given.required_child("none").err().unwrap()), ("none".into(), "the block `none` is missing".into()));
}
