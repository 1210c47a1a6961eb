//! Child blocks, from the manifest to the node.

use runtime::model::catalog::{Catalog, State};
use runtime::model::report::Outcome;
use runtime::run;
use serde_json::{Value as Json, json};
use testkit::scene::{assert_all, of, tell};

use crate::sampler;

const BLOCKS: &str = r#"
resource "sampler" "it" {
  path = "/srv/it"

  retry {
    tries = 1 + 2
  }
  rule {
    action = "deny"
    match  = { from = "a" }
  }
  vhost "www" {
    root = "/srv/www"
    page = "www\n"
    port = 80
  }
  rule { action = "allow" }
  vhost "api.example.org" {
    root   = "/srv/api"
    source = "page"
  }
}
"#;

fn catalog(manifest: &str) -> Catalog {
    let scene = sampler::scene();
    scene.write("site/page", "from a file\n");
    run::inspect_bundle(&scene.compile("site", manifest)).unwrap().1
}

#[track_caller]
fn refused(manifest: &str) -> String {
    let scene = sampler::scene();
    scene.write("site/page", "from a file\n");
    tell(&scene.try_compile("site", manifest).expect_err("it must be refused"))
}

fn it(blocks: &str) -> String {
    format!("resource \"sampler\" \"it\" {{\n  path = \"/srv/it\"\n{blocks}\n}}\n")
}

#[test]
fn single_repeated_and_labelled_blocks_reach_the_module_in_their_order() {
    let catalog = catalog(BLOCKS);
    let State::Compiled { desired, semantics } = &catalog.resources[0].state else { panic!("it is known") };
    let desired = desired.json();
    assert_eq!(desired["retry"], json!({ "tries": 3 }));
    assert_eq!(desired["rules"], json!([{ "action": "deny", "match": { "from": "a" } }, { "action": "allow" }]));
    let names: Vec<&Json> = desired["vhosts"].as_array().unwrap().iter().map(|vhost| &vhost["label"]).collect();
    assert_eq!(names, ["www", "api.example.org"]);
    assert_eq!(semantics.assets.len(), 2, "one of an attribute, one of a file");
    assert_eq!(catalog.assets.len(), 2);
}

#[test]
fn labels_and_identity_attributes_of_blocks_make_claims() {
    let catalog = catalog(BLOCKS);
    let claims: Vec<String> = catalog.resources[0].claims.iter().map(|claim| format!("{} {}", claim.domain, claim.key)).collect();
    assert_eq!(claims, ["path /srv/api", "path /srv/it", "path /srv/www", "sampler/host api.example.org", "sampler/host www"]);
    let other = "resource \"sampler\" \"other\" {\n  path = \"/srv/other\"\n  vhost \"www\" {}\n}\n";
    assert!(refused(&(BLOCKS.to_owned() + other)).contains("both manage the sampler/host `www`"));
    let told = refused(&it("vhost \"www\" {\n  root = \"/srv/${facts.hostname}\"\n}"));
    assert!(told.contains("`root` cannot wait for the node") && told.contains("site.hcl:4:10"), "{told}");
}

#[test]
fn what_blocks_say_is_what_the_node_becomes() {
    let scene = sampler::scene();
    scene.write("site/page", "from a file\n");
    scene.compile("site", BLOCKS);
    assert_all(&scene.noop("site"), Outcome::WouldChange);
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!((scene.read("/srv/www"), scene.read("/srv/api")), ("www\n".into(), "from a file\n".into()));
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn blocks_wait_for_the_node_with_their_labels_and_files() {
    let scene = sampler::scene();
    scene.write("site/page", "from a file\n");
    let waiting = BLOCKS.replace("\"www\\n\"", "\"${facts.hostname}\\n\"").replace("1 + 2", "length(facts.hostname)");
    let bundle = scene.compile("site", &waiting);
    let (_, catalog) = run::inspect_bundle(&bundle).unwrap();
    let State::Deferred { blocks, sources, attributes } = &catalog.resources[0].state else { panic!("it waits") };
    let shown: Vec<String> =
        blocks.iter().map(|block| format!("{} {}", block.name, block.label.as_deref().unwrap_or("-"))).collect();
    assert_eq!(shown, ["retry -", "rule -", "vhost www", "rule -", "vhost api.example.org"]);
    assert_eq!(attributes.keys().collect::<Vec<_>>(), ["path"]);
    assert_eq!(sources.keys().collect::<Vec<_>>(), ["vhost[1].source"]);
    let claims = catalog.resources[0].claims.len();
    assert_eq!(claims, 5, "what it holds is known");
    assert_all(&scene.noop("site"), Outcome::WouldChange);
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!((scene.read("/srv/www"), scene.read("/srv/api")), ("db1\n".into(), "from a file\n".into()));
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn a_value_in_a_block_that_the_node_cannot_have_fails_its_resource() {
    let scene = sampler::scene();
    scene.compile("site", &it("vhost \"www\" {\n  port = facts.hostname\n}"));
    let failure = of(&scene.apply("site"), "sampler.it").failure.clone().unwrap();
    assert_eq!(failure.message, "`port` must be integer, not a string");
    let scene = sampler::scene();
    scene.compile("site", &it("rule {\n  action = facts.none.such\n}"));
    let failure = of(&scene.apply("site"), "sampler.it").failure.clone().unwrap();
    assert!(failure.message.contains("none.such") && failure.message.contains("site.hcl:4:12"), "{failure:?}");
}

#[test]
fn a_file_that_a_block_names_is_known_beforehand() {
    let told = refused(&it("vhost \"www\" {\n  source = facts.hostname\n}"));
    assert!(told.contains("`source` cannot wait for the node: it names a file to take along"), "{told}");
    let told = refused(&it("vhost \"www\" {\n  source = \"none\"\n}"));
    assert!(told.contains("the file `none` cannot be taken along") && told.contains("site.hcl:4:12"), "{told}");
}

#[test]
fn what_a_module_says_of_an_attribute_in_a_block_is_shown_there() {
    let told = refused(&it("vhost \"a\" {}\nvhost \"b\" {\n  port = 70000\n}"));
    assert!(told.contains("a port is from 1 to 65535") && told.contains("site.hcl:5:10"), "{told}");
    let told = refused(&it("vhost \"a\" {\n  page = \"x\"\n  source = \"page\"\n}"));
    assert!(told.contains("are two ways to say one thing") && told.contains("site.hcl:4:10"), "{told}");
}

#[test]
fn more_blocks_than_there_may_be_are_refused_before_a_module_sees_them() {
    let told = refused(&it(&"rule { action = \"allow\" }\n".repeat(1_001)));
    assert!(told.contains("has more than 1000 blocks") && told.contains("site.hcl:1003"), "{told}");
    let most = it(&"rule { action = \"allow\" }\n".repeat(1_000));
    assert_eq!(catalog(&most).resources.len(), 1);
}
