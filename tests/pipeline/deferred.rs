//! Values that are known on the node only, and facts that the controller took for granted.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use runtime::model::report::Outcome;
use runtime::run;
use testkit::Scene;
use testkit::scene::{assert_all, error_code, of, tell};

const DEFERRED: &str = r#"
resource "file" "content" {
  path    = "/srv/content"
  content = "${facts.hostname} runs ${facts.os.id}\n"
}

resource "file" "owner" {
  path   = "/srv/owner"
  source = "taken"
  owner  = facts.os.id == "testos" ? "web" : "root"
}

resource "file" "chained" {
  path   = "/srv/chained"
  ensure = "symlink"
  target = "${file.content.path}-${facts.hostname}"
}
"#;

#[test]
fn what_waits_for_the_node_is_settled_there() {
    let scene = Scene::new();
    scene.write("site/taken", "from the manifest's folder\n");
    scene.compile("site", DEFERRED);
    assert_all(&scene.noop("site"), Outcome::WouldChange);
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(scene.read("/srv/content"), "db1 runs testos\n");
    assert_eq!(scene.read("/srv/owner"), "from the manifest's folder\n");
    assert_eq!(fs::metadata(scene.node("/srv/owner")).unwrap().uid(), 33);
    assert_eq!(fs::read_link(scene.node("/srv/chained")).unwrap().to_str(), Some("/srv/content-db1"));
    let before = scene.exact();
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    assert_eq!(scene.exact(), before);
}

#[test]
fn a_fact_that_changes_changes_what_hangs_on_it() {
    let scene = Scene::new();
    scene.write("site/taken", "");
    scene.compile("site", DEFERRED);
    let _ = scene.apply("site");
    scene.write("root/etc/hostname", "db2\n");
    let report = scene.apply("site");
    assert_eq!(of(&report, "file.content").outcome, Outcome::Changed);
    assert!(!of(&report, "file.content").drift, "another desired state is no drift");
    assert_eq!(
        (of(&report, "file.owner").outcome, scene.read("/srv/content").as_str()),
        (Outcome::Unchanged, "db2 runs testos\n")
    );
}

#[test]
fn a_fact_that_is_not_there_fails_its_resource_alone() {
    let scene = Scene::new();
    let lacking = "resource \"file\" \"a\" {\n  path = \"/srv/a\"\n  content = facts.os.nickname\n}\n";
    let well = "resource \"file\" \"b\" {\n  path = \"/srv/b\"\n  content = \"b\"\n}\n";
    scene.compile("site", &format!("{lacking}{well}"));
    let report = scene.apply("site");
    let failure = of(&report, "file.a").failure.clone().unwrap();
    assert!(failure.message.contains("nickname") && failure.message.contains("site.hcl"), "{failure:?}");
    assert_eq!(of(&report, "file.b").outcome, Outcome::Changed);
    assert!(!scene.node("/srv/a").exists());
}

#[test]
fn a_node_with_other_facts_than_the_target_is_refused() {
    let scene = Scene::new();
    scene.write("site/taken", "");
    scene.write("site/site.hcl", DEFERRED);
    scene.write("facts.json", run::facts(&scene.path("root")).unwrap().all().to_string());
    let mut request = scene.compile_request("site");
    request.target_facts = Some(scene.path("facts.json"));
    let summary = run::compile(&request).unwrap();
    assert_eq!(summary.deferred, 0, "all is known");
    scene.write("root/etc/hostname", "db2\n");
    let before = scene.exact();
    let error = scene.try_apply("site").unwrap_err();
    let told = tell(&error);
    assert!(error_code(&error) == 4 && told.contains("`facts.hostname` is \"db2\" here, not \"db1\""), "{told}");
    assert_eq!(scene.exact(), before);
    scene.write("root/etc/hostname", "db1\n");
    assert_all(&scene.apply("site"), Outcome::Changed);
}
