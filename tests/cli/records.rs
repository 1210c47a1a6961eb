//! What every command writes with `--json`, held against docs/formats/records.schema.json.

use std::path::Path;

use runtime::builtins;
use runtime::run::{StateRequest, show};
use serde_json::{Value as Json, json};
use testkit::TestNode;

use crate::node;

const SITE: &str = r#"
resource "file" "note" {
  path    = "/etc/note"
  content = "one\n"
}

resource "file" "lost" {
  path    = "/no/such/folder/lost"
  content = "x"
}

resource "file" "later" {
  path    = "/etc/later"
  content = "${facts.os.id}"
  meta {
    require = [file.lost]
    timeout = "5s"
  }
}
"#;

const GOOD: &str = "resource \"file\" \"note\" {\n  path    = \"/etc/good\"\n  content = \"x\"\n}\n";

/// Rules for a record, or for a part of one by its name among the definitions.
struct Schema {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl Schema {
    fn of(part: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/formats/records.schema.json");
        let text = std::fs::read_to_string(path).unwrap();
        let mut compiler = boon::Compiler::new();
        compiler.enable_format_assertions();
        compiler.add_resource("records.json", serde_json::from_str(&text).unwrap()).unwrap();
        let mut schemas = boon::Schemas::new();
        let index = compiler.compile(&format!("records.json{part}"), &mut schemas);
        let index = index.unwrap_or_else(|error| panic!("{error:#}"));
        Self { schemas, index }
    }

    fn problem(&self, instance: &Json) -> Option<String> {
        self.schemas.validate(instance, self.index).err().map(|error| format!("{error:#}"))
    }
}

/// A node with everything that the commands below name.
fn prepared() -> TestNode {
    let node = node();
    node.write("site.hcl", SITE);
    node.write("good.hcl", GOOD);
    node.write("other.hcl", GOOD.replace("\"x\"", "\"y\""));
    node.write("wrong.hcl", "resource \"file\" \"a\" {\n  paht = 1\n}\n");
    node.write("policy.hcl", "modul \"x\" {}\n");
    for name in ["site", "good", "other"] {
        node.run(&["compile", &format!("{name}.hcl"), "-o", &format!("{name}.wasm.tar")]).success();
    }
    node
}

/// Commands in the order in which they are run, each with its exit code.
fn commands() -> Vec<(Vec<&'static str>, i32)> {
    let file = builtins::all()[0].name;
    vec![
        (vec!["compile", "site.hcl", "-o", "site.wasm.tar"], 0),
        (vec!["compile", "wrong.hcl", "-o", "wrong.wasm.tar"], 65),
        (vec!["validate", "site.hcl"], 0),
        (vec!["validate", "site.wasm.tar"], 0),
        (vec!["inspect", "site.wasm.tar"], 0),
        (vec!["graph", "site.wasm.tar"], 0),
        (vec!["graph", "site.wasm.tar", "--format", "mermaid"], 0),
        (vec!["graph", "site.wasm.tar", "--format", "svg"], 0),
        (vec!["history"], 0),
        (vec!["plan", "site.wasm.tar", "--detailed-exitcode"], 2),
        (vec!["plan", "site.wasm.tar", "--policy", "policy.hcl"], 65),
        (vec!["apply", "site.wasm.tar"], 1),
        (vec!["show"], 0),
        (vec!["apply", "good.wasm.tar"], 0),
        (vec!["apply", "other.wasm.tar"], 4),
        (vec!["show"], 0),
        (vec!["recover"], 0),
        (vec!["show"], 0),
        (vec!["release", "site", "--noop"], 0),
        (vec!["release", "site"], 0),
        (vec!["show"], 0),
        (vec!["release", "nobody"], 64),
        (vec!["history"], 0),
        (vec!["facts"], 0),
        (vec!["facts", "os.id"], 0),
        (vec!["module", "new", "thing"], 0),
        (vec!["module", "list"], 0),
        (vec!["module", "inspect", file], 0),
        (vec!["module", "schema", file], 0),
        (vec!["module", "check", file], 0),
        (vec!["completions", "bash"], 0),
        (vec!["man", "man1"], 0),
        (vec!["--version"], 0),
        (vec!["aply"], 64),
    ]
}

fn records(node: &TestNode, arguments: &[&str], exit: i32) -> Vec<Json> {
    let output = node.command(arguments).arg("--json").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(exit), "{arguments:?}: {told}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

#[test]
fn every_record_is_as_its_schema_says() {
    let (node, schema) = (prepared(), Schema::of(""));
    let mut kinds = std::collections::BTreeSet::new();
    for (arguments, exit) in commands() {
        let records = records(&node, &arguments, exit);
        for (place, record) in records.iter().enumerate() {
            let problem = schema.problem(record);
            assert!(problem.is_none(), "{arguments:?}: {}\n{record:#}", problem.unwrap_or_default());
            assert_eq!(record["seq"], place, "{arguments:?}");
            let is_last = matches!(record["record"].as_str(), Some("result" | "error"));
            assert_eq!(is_last, place + 1 == records.len(), "{arguments:?}: one terminal record, and it is the last");
            kinds.insert(record["record"].as_str().unwrap().to_owned());
        }
        assert_eq!(records.last().unwrap()["exit"], exit, "{arguments:?}");
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["begun", "error", "resource", "result", "rule", "run"]);
}

/// Each object in `value` that the schema describes to its last member, by its path.
fn closed(value: &Json, path: &str, found: &mut Vec<String>) {
    const OPEN: [&str; 10] =
        ["catalog", "description", "facts", "value", "before", "after", "input", "modules", "detail", "$bytes"];
    match value {
        Json::Object(members) => {
            found.push(path.to_owned());
            for (name, member) in members.iter().filter(|(name, _)| !OPEN.contains(&name.as_str())) {
                closed(member, &format!("{path}/{name}"), found);
            }
        }
        Json::Array(list) => {
            list.iter().enumerate().for_each(|(place, member)| closed(member, &format!("{path}/{place}"), found));
        }
        _ => {}
    }
}

#[test]
fn what_a_record_does_not_have_is_refused_wherever_it_stands() {
    let (node, schema) = (prepared(), Schema::of(""));
    let mut tried = 0;
    // A JSON Schema is open by its nature.
    for (arguments, exit) in commands().into_iter().filter(|(arguments, _)| !arguments.contains(&"schema")) {
        for record in records(&node, &arguments, exit) {
            let mut places = Vec::new();
            closed(&record, "", &mut places);
            for place in places {
                let mut spoiled = record.clone();
                let object = spoiled.pointer_mut(&place).and_then(Json::as_object_mut).unwrap();
                object.insert("unheard_of".to_owned(), json!(1));
                assert!(schema.problem(&spoiled).is_some(), "{arguments:?}: `unheard_of` passes at `{place}` of\n{record:#}");
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn a_stored_report_is_as_its_schema_says() {
    let node = prepared();
    node.run(&["apply", "site.wasm.tar"]).exits_with(1);
    let request = StateRequest { root: node.root(), state_dir: node.state_dir(), scratch: node.path("home") };
    let report = json!(show(&request, None).unwrap().unwrap().report.unwrap());
    let schema = Schema::of("#/$defs/report");
    assert_eq!(schema.problem(&report), None);
    let mut older = report.clone();
    older["report_version"] = json!(1);
    assert!(schema.problem(&older).is_some());
    let mut lacking = report;
    lacking["resources"][0].as_object_mut().unwrap().remove("limits");
    assert!(schema.problem(&lacking).is_some());
}
