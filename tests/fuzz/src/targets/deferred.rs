//! Deferred expressions, as a catalog holds them: decoded, looked at as receipt does, evaluated on a node.
//!
//! An expression has one form: what is taken is written as it was.

use std::time::Duration;

use runtime::language::value::Value;
use runtime::language::{NodeScope, check_travelled, evaluate_on_node};
use runtime::model::expression::Expression;
use runtime::model::ids::{ResourceId, SecretName, SecretSlot};
use serde_json::{Value as Json, json};

use super::{Target, manifest, plainly};

const WORDS: &[&str] = &[
    "[\"call\",\"a:1:1+1\",\"",
    "[\"literal\",\"1:1+1\",",
    "[\"fact\",\"1:1+1\",\"os\",\"id\"]",
    "[\"export\",\"1:1+1\",\"file.a\",\"content\"]",
    "[\"if\",\"1:1+1\",",
    "[\"for_list\",\"1:1+1\",null,\"x\",",
    "[\"for_object\",\"1:1+1\",\"k\",\"v\",",
    "[\"for_group\",\"1:1+1\",",
    "[\"iterator\",\"1:1+1\",\"x\"]",
    "[\"template\",\"1:1+1\",",
    "[\"list\",\"1:1+1\",",
    "[\"object\",\"1:1+1\",",
    "[\"get\",\"1:1+1\",",
    "[\"index\",\"1:1+1\",",
    "[\"splat\",\"1:1+1\",",
    "[\"secret\",\"1:1+1\",\"file.a/content\"]",
    "[\"fail\",\"1:1+1\",\"no\"]",
    "[\"not\",\"1:1+1\",",
    "\"call_expand\"",
    "\"==\"",
    "\"+\"",
    "\"%\"",
    "\"&&\"",
    "null",
    "true",
    ",",
    "]",
    "[",
    "{\"a\":",
    "}",
    "1:1+1",
    "\"range\"",
    "\"regexall\"",
    "\"format\"",
    "\"try\"",
    "\"jsondecode\"",
    "\"setproduct\"",
];

pub(super) fn target() -> Target {
    Target {
        name: "deferred",
        seeds: || {
            let manifests = (manifest::target().seeds)();
            let mut seeds: Vec<Vec<u8>> =
                manifests.iter().flat_map(|text| manifest::evaluate(text)).map(|json| json.to_string().into_bytes()).collect();
            seeds.sort();
            seeds.dedup();
            seeds
        },
        words: WORDS,
        change: plainly,
        run,
        time: Duration::from_secs(30),
        memory: 1 << 29,
    }
}

fn run(input: &[u8]) {
    let Ok(json) = serde_json::from_slice::<Json>(input) else { return };
    let Ok(expression) = serde_json::from_value::<Expression>(json.clone()) else { return };
    assert_eq!(serde_json::to_value(&expression).expect("what was read can be written"), json, "an expression has one form");
    if check_travelled(&expression).is_err() {
        return;
    }
    if let Ok(settled) = evaluate_on_node(&expression, &Node) {
        assert_eq!(settled.value.json(), Some(settled.json), "a value on a node is known");
    }
}

struct Node;

impl NodeScope for Node {
    fn fact(&self, path: &[String]) -> Option<Json> {
        let facts =
            json!({"os": {"id": "debian", "family": "debian", "version_id": "12"}, "hostname": "web1", "cpus": [1, 2, 3]});
        path.iter().try_fold(&facts, |found, step| found.get(step)).cloned()
    }

    fn export(&self, _resource: &ResourceId, name: &str) -> Result<Value, String> {
        let value = json!({"text": name, "list": [1, "a", null]});
        Value::from_json(&value).map_err(|error| error.to_string())
    }

    fn slot(&self, slot: &SecretSlot) -> Result<Json, String> {
        Ok(json!(format!("value of {slot}")))
    }

    fn secret(&self, name: &SecretName) -> Result<Json, String> {
        Err(format!("no `{name}`"))
    }
}
