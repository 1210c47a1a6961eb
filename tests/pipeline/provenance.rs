//! What the values of a declaration come from: what is read, and nothing else, counts towards the result.

use runtime::model::catalog::{Catalog, EdgeReason, Resource, State};
use runtime::model::report::Outcome;
use runtime::run;
use serde_json::{Value as Json, json};
use testkit::Scene;
use testkit::scene::{assert_all, error_code, tell};

use crate::sampler;

fn compiled(manifest: &str) -> Catalog {
    let scene = sampler::scene();
    scene.write("site/page", "from a file\n");
    run::inspect_bundle(&scene.compile("site", manifest)).unwrap().1
}

#[track_caller]
fn refused(manifest: &str) -> String {
    let error = sampler::scene().try_compile("site", manifest).expect_err("it must be refused");
    assert_eq!(error_code(&error), 65);
    tell(&error)
}

fn resource<'c>(catalog: &'c Catalog, id: &str) -> &'c Resource {
    catalog.resources.iter().find(|resource| resource.id.to_string() == id).unwrap()
}

fn desired(catalog: &Catalog, id: &str) -> Json {
    match &resource(catalog, id).state {
        State::Compiled { desired, .. } => desired.json(),
        State::Deferred { .. } => panic!("`{id}` waits for the node"),
    }
}

/// What goes before `id` because it is read or named there.
fn references(catalog: &Catalog, id: &str) -> Vec<String> {
    let edges = catalog.edges.iter().filter(|edge| edge.dependent.to_string() == id && edge.reason == EdgeReason::Reference);
    edges.map(|edge| edge.prerequisite.to_string()).collect()
}

/// A sampler at `/srv/NAME` with more attributes.
fn it(name: &str, more: &str) -> String {
    format!("resource \"sampler\" \"{name}\" {{\n  path = \"/srv/{name}\"\n{more}\n}}\n")
}

fn file(name: &str) -> String {
    format!("resource \"file\" \"{name}\" {{\n  path = \"/srv/file-{name}\"\n}}\n")
}

#[test]
fn omitted_equals_null_where_null_may_be_written() {
    let nulls = "content = null\nsource = null\nensure = null\nlevel = null\nport = null\noptions = null\nlimits = null\npeer = null\n\
                 peers = null\ntoken = null\nignored = null\nvhost \"www\" {\n  root = null\n  page = null\n  port = null\n}";
    let (omitted, null) = (compiled(&it("it", "vhost \"www\" {}")), compiled(&it("it", nulls)));
    assert_eq!(desired(&omitted, "sampler.it"), desired(&null, "sampler.it"));
    assert_eq!((&omitted.resources[0].claims, &omitted.edges), (&null.resources[0].claims, &null.edges));
    // Where null is a value, it is one.
    let extra = compiled(&it("it", "extra = null"));
    assert_eq!(desired(&extra, "sampler.it")["settings"], json!({ "extra": null }));
    assert!(refused(&it("it", "retry {\n  tries = null\n}")).contains("`tries` may not be null"));
}

#[test]
fn aliases_are_canonical_before_anything_is_evaluated() {
    let manifest = "resource \"sampler\" \"it\" {\n  file  = \"/srv/it\"\n  state = \"there\"\n  retry {\n    tries = 1\n    pause = \"1s\"\n  }\n}\n";
    let catalog = compiled(manifest);
    assert_eq!(
        desired(&catalog, "sampler.it"),
        json!({
            "path": "/srv/it", "ensure": "present", "settings": {}, "retry": { "tries": 1, "wait": "1s" }, "rules": [], "vhosts": [],
        })
    );
}

#[test]
fn an_alias_of_an_exported_attribute_reads_that_attribute() {
    let catalog =
        compiled(&(it("a", "ensure = \"absent\"") + &it("b", "options = [sampler.a.file, sampler.a.state, sampler.a.path]")));
    assert_eq!(desired(&catalog, "sampler.b")["settings"]["options"], json!(["/srv/a", "absent", "/srv/a"]));
    assert_eq!(references(&catalog, "sampler.b"), ["sampler.a"]);
}

#[test]
fn an_alias_that_is_read_on_the_node_travels_under_its_canonical_name() {
    let scene = sampler::scene();
    scene.compile(
        "site",
        &(it("a", "state = facts.os.id == \"testos\" ? \"there\" : \"absent\"\ncontent = \"a\"")
            + &it("b", "content = sampler.a.state")),
    );
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(scene.read("/srv/b"), "present");
}

#[test]
fn both_spellings_are_refused_before_either_is_evaluated() {
    let manifest = "resource \"sampler\" \"it\" {\n  path = file(\"none\")\n  file = file(\"none\")\n\
                    retry {\n    tries = 1\n    wait  = 1 / 0\n    pause = 1 / 0\n  }\n}\n";
    let told = refused(manifest);
    assert!(told.contains("`path` and `file` are two spellings of one attribute"), "{told}");
    assert!(told.contains("`wait` and `pause` are two spellings of one attribute"), "{told}");
    assert_eq!(told.matches("error:").count(), 2, "nothing is told of their values: {told}");
}

#[test]
fn reading_a_path_neither_evaluates_the_content_nor_depends_on_what_that_depends_on() {
    let manifest = file("x") + &it("a", "content = file.x.path") + &it("b", "content = sampler.a.path");
    let catalog = compiled(&manifest);
    assert_eq!(references(&catalog, "sampler.a"), ["file.x"]);
    assert_eq!(references(&catalog, "sampler.b"), ["sampler.a"], "not `file.x`");
    // What waits for the node, in the content, is no reason for the other to wait.
    let catalog = compiled(&(it("a", "content = facts.hostname") + &it("b", "content = sampler.a.path")));
    assert!(matches!(resource(&catalog, "sampler.a").state, State::Deferred { .. }));
    assert!(matches!(resource(&catalog, "sampler.b").state, State::Compiled { .. }));
    // An error in it is told where it is, and nowhere else.
    let told = refused(&(it("a", "content = [][1]") + &it("b", "content = sampler.a.path")));
    assert_eq!(told.matches("error:").count(), 1, "{told}");
}

#[test]
fn sensitivity_of_the_content_does_not_reach_who_reads_the_path() {
    let secret = "variable \"token\" {\n  sensitive = true\n  default = \"hush\"\n}\n";
    let of_path = it("b", "content = sampler.a.path");
    let catalog = compiled(&(secret.to_owned() + &it("a", "content = var.token") + &of_path));
    assert!(!catalog.secrets.is_empty() && catalog.secrets.iter().all(|slot| slot.as_str().starts_with("sampler.a/")));
    let State::Compiled { semantics, .. } = &resource(&catalog, "sampler.b").state else { panic!("it waits for nothing") };
    assert!(!semantics.assets.is_empty() && semantics.assets.iter().all(|asset| asset.digest().is_some()));
}

#[test]
fn every_read_counts_even_if_the_module_throws_the_value_away() {
    let catalog = compiled(&(file("x") + &it("a", "ignored = file.x.path") + &it("b", "options = [sampler.a.level]")));
    assert_eq!(references(&catalog, "sampler.a"), ["file.x"], "dependencies of a compiled state");
    assert_eq!(references(&catalog, "sampler.b"), ["file.x", "sampler.a"], "dependencies of an export");
    assert_eq!(desired(&catalog, "sampler.b")["settings"]["options"], json!(["low"]));

    let catalog = compiled(&(it("a", "ignored = facts.hostname") + &it("b", "options = [sampler.a.level]")));
    for id in ["sampler.a", "sampler.b"] {
        assert!(matches!(resource(&catalog, id).state, State::Deferred { .. }), "{id} waits for what was read");
    }
    // What cannot be evaluated is an error, and it is the author's to mend.
    let told = refused(&it("a", "ignored = [][1]"));
    assert!(told.contains("the list has no element at this index"), "{told}");
    let told = refused(&(it("a", "ignored = [][1]") + &it("b", "options = [sampler.a.level]")));
    assert_eq!(told.matches("error:").count(), 1, "{told}");
}

#[test]
fn reads_of_blocks_count_towards_the_same_result() {
    let catalog = compiled(&(file("x") + &it("a", "vhost \"www\" {\n  page = file.x.path\n}")));
    assert_eq!(references(&catalog, "sampler.a"), ["file.x"]);
    let catalog = compiled(&it("a", "rule {\n  action = \"allow\"\n  match = [facts.hostname]\n}"));
    assert!(matches!(resource(&catalog, "sampler.a").state, State::Deferred { .. }));
}

#[test]
fn a_bare_reference_is_an_address_and_an_order() {
    let more = "peer  = file.x\npeers = [file.y, file[\"z\"]]\nvhost \"www\" {\n  peer = (true ? file.w : file.x)\n}";
    let catalog = compiled(&(["w", "x", "y", "z"].map(file).concat() + &it("it", more)));
    let desired = desired(&catalog, "sampler.it");
    assert_eq!(desired["settings"], json!({ "peer": "file.x", "peers": ["file.y", "file.z"] }));
    assert_eq!(desired["vhosts"][0]["peer"], "file.w");
    assert_eq!(references(&catalog, "sampler.it"), ["file.w", "file.x", "file.y", "file.z"]);
}

#[test]
fn an_address_is_of_a_declared_resource_and_of_another() {
    assert!(refused(&it("it", "peer = file.none")).contains("unknown"));
    let told = refused(&it("it", "peer = \"file.none\""));
    assert!(told.contains("`peer` names a resource that is not declared") && !told.contains("`file.none`"), "{told}");
    assert!(refused(&it("it", "peer = sampler.it")).contains("`sampler.it` names itself in `peer`"));
    assert!(refused(&it("it", "peer = \"no address\"")).contains("`peer` must be resource, not a string"));
    assert_eq!(references(&compiled(&(file("x") + &it("it", "peer = \"file.x\""))), "sampler.it"), ["file.x"]);
}

#[test]
fn a_resource_is_no_value_of_another_type() {
    for more in ["content = file.x", "extra = { a = [file.x] }", "vhost \"www\" {\n  page = file.x\n}", "content = \"${file.x}\""]
    {
        let told = refused(&(file("x") + &it("it", more)));
        assert!(told.contains("the resource `file.x` is not a value"), "{more}: {told}");
        assert!(told.contains("name an attribute that it exports: `file.x.ATTRIBUTE`"), "{more}: {told}");
    }
    assert!(refused(&(file("x") + "locals {\n  x = file.x\n}\n" + &it("it", "peer = local.x"))).contains("is not a value"));
}

#[test]
fn an_address_that_the_node_chooses_has_its_order_all_the_same() {
    let choice = "peer = facts.os.id == \"testos\" ? file.x : file.y\ncontent = facts.hostname";
    let scene = sampler::scene();
    let bundle = scene.compile("site", &(file("x") + &file("y") + &it("it", choice)));
    assert_eq!(references(&run::inspect_bundle(&bundle).unwrap().1, "sampler.it"), ["file.x", "file.y"]);
    assert_all(&scene.apply("site"), Outcome::Changed);
    // One that is made of facts cannot have been ordered.
    let scene = sampler::scene();
    scene.compile("site", &(file("x") + &it("it", "peer = \"file.${facts.os.id == \"testos\" ? \"x\" : \"y\"}\"")));
    let report = scene.apply("site");
    let failure = testkit::scene::of(&report, "sampler.it").failure.clone().unwrap();
    assert!(failure.message.contains("`peer` names a resource on this node that it does not wait for"), "{failure:?}");
}

#[test]
fn values_and_defaults_are_in_no_message() {
    let wrong = "port = [\"hush\"]\nlevel = \"hush\"\noptions = { hush = 1 }\nlimits = { hush = \"hush\" }\npeer = \"hush\"\nextra = { \"$secret\" = \"hush\" }\n\
                 vhost \"www\" {\n  port = \"hush\"\n}\nretry {\n  tries = 1.5\n}\nensure = \"hush\"";
    let scene = sampler::scene();
    let error = scene.try_compile("site", &it("it", wrong)).unwrap_err();
    let run::RunError::Manifest(diagnostics) = &error else { panic!("{error:?}") };
    assert_eq!(diagnostics.list.len(), 9, "each is told: {diagnostics}");
    for message in &diagnostics.list {
        let words = format!("{} {} {:?} {:?}", message.summary, message.label, message.notes, message.hint);
        assert!(!words.contains("hush"), "{words}");
    }
}

/// So that the scene is used as it is elsewhere.
#[test]
fn the_sampler_converges() {
    let scene: Scene = sampler::scene();
    scene.compile("site", &it("it", "content = \"text\\n\""));
    assert_all(&scene.noop("site"), Outcome::WouldChange);
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(scene.read("/srv/it"), "text\n");
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}
