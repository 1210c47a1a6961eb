//! A run that is lost while it changes something that waited for another's turn.

use runtime::model::report::{Outcome, RunMode};
use runtime::run;
use testkit::scene::{assert_all, of};
use testkit::{Scene, guests};

use crate::lost_run::killed_at;

const SITE: &str = r#"
resource "hostile" "it" {
  path  = "/srv/it"
  other = "/srv/other"
}

resource "file" "reader" {
  path    = "/srv/reader"
  content = "${facts.hostname}: ${hostile.it.stamp}\n"
}
"#;

/// A scene in which everything is as declared but for `file.reader`, and a run was lost after its intent.
fn lost() -> Scene {
    let mut scene = Scene::new().with_module("hostile", guests::HOSTILE);
    scene.compile("site", SITE);
    scene.allow_as_told("site");
    let _ = scene.apply("site");
    std::fs::remove_file(scene.node("/srv/reader")).unwrap();
    for moment in 1..20 {
        killed_at(&scene, "site", moment);
        if scene.ledger().open().iter().any(|intent| intent.resource == "file.reader") {
            return scene;
        }
    }
    panic!("there is no intent of it: {:?}", scene.ledger());
}

#[test]
fn the_next_run_settles_it_and_goes_on() {
    let scene = lost();
    assert_eq!(of(&scene.noop("site"), "file.reader").outcome, Outcome::Unresolved);
    let report = scene.apply("site");
    assert!(matches!(of(&report, "file.reader").outcome, Outcome::Changed | Outcome::Unchanged), "{report:?}");
    assert_eq!(scene.read("/srv/reader"), "db1: written by the hostile guest\n");
    scene.ledger().assert_settled();
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn recover_settles_it_without_knowing_what_it_waited_for() {
    let scene = lost();
    let mut request = scene.request("site", RunMode::Apply);
    request.bundle = None;
    let recovery = run::recover(&request).unwrap();
    assert_eq!(recovery.recovered.iter().map(ToString::to_string).collect::<Vec<_>>(), ["file.reader"]);
    scene.ledger().assert_settled();
}
