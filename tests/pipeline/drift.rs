//! What somebody else changed is found, called by its name, and repaired.

use std::fs;

use runtime::model::report::{Action, Outcome};
use testkit::Scene;
use testkit::scene::{exit_code, of};

const SITE: &str = r#"
variable "word" {
  type    = string
  default = "one"
}

resource "file" "a" {
  path    = "/srv/a"
  content = "${var.word}\n"
  mode    = "0644"
}
"#;

#[test]
fn drift_is_found_without_a_trace_named_and_repaired() {
    let scene = Scene::new();
    scene.compile("site", SITE);
    let first = scene.apply("site");
    assert!(!of(&first, "file.a").drift, "what was never right has not drifted");
    scene.write("root/srv/a", "edited by hand\n");
    let plan = scene.noop("site");
    let found = of(&plan, "file.a");
    assert_eq!((found.outcome, found.drift, exit_code(&plan, true)), (Outcome::WouldChange, true, 2));
    let report = scene.apply("site");
    let repaired = of(&report, "file.a");
    assert_eq!((repaired.outcome, repaired.drift, report.summary().drifted), (Outcome::Changed, true, 1));
    assert_eq!(repaired.changes.iter().map(|change| change.attribute.as_str()).collect::<Vec<_>>(), ["content"]);
    assert_eq!(scene.read("/srv/a"), "one\n");
    assert!(!of(&scene.noop("site"), "file.a").drift);
}

#[test]
fn a_removed_object_has_drifted_and_is_made_again() {
    let scene = Scene::new();
    scene.compile("site", SITE);
    let _ = scene.apply("site");
    fs::remove_file(scene.node("/srv/a")).unwrap();
    let report = scene.apply("site");
    let made = of(&report, "file.a");
    assert_eq!((made.outcome, made.action, made.drift), (Outcome::Changed, Action::Create, true));
}

#[test]
fn another_version_of_the_manifest_is_no_drift_and_applies_over_the_first() {
    let scene = Scene::new();
    scene.compile("site", SITE);
    let _ = scene.apply("site");
    scene.compile("site", &SITE.replace("\"one\"", "\"two\""));
    let report = scene.apply("site");
    let changed = of(&report, "file.a");
    assert_eq!((changed.outcome, changed.drift), (Outcome::Changed, false));
    assert_eq!(scene.read("/srv/a"), "two\n");
}

#[test]
fn what_was_right_before_the_first_run_can_drift_too() {
    let scene = Scene::new();
    scene.write("root/srv/a", "one\n");
    scene.compile("site", SITE);
    assert_eq!(of(&scene.apply("site"), "file.a").outcome, Outcome::Unchanged);
    scene.write("root/srv/a", "edited\n");
    assert!(of(&scene.apply("site"), "file.a").drift);
}
