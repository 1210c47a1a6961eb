//! What only the node can tell of a resource is asked again before anything is done for it.

use std::fs;
use std::sync::Arc;

use runtime::journal::{Event, IntentEvent, Moment};
use runtime::model::report::{Outcome, Phase, Report, RunMode};
use runtime::run;
use testkit::Scene;
use testkit::guests;
use testkit::scene::{Recorder, of};

fn scene(manifest: &str) -> Scene {
    let scene = Scene::new().with_module("bell", guests::BELL).allowing("bell");
    scene.compile("site", manifest);
    scene
}

/// Asserts that `bell.b` was refused with nothing done for it.
#[track_caller]
fn assert_refused(scene: &Scene, report: &Report) {
    let it = of(report, "bell.b");
    let failure = it.failure.as_ref().unwrap_or_else(|| panic!("it was not refused: {it:?}"));
    assert_eq!((it.outcome, failure.phase), (Outcome::Refused, Phase::Inspect));
    assert_eq!(failure.message, "what it holds on this node has changed since the run began: run again");
    assert!(scene.ledger().intents.iter().all(|intent| intent.resource != "bell.b"), "nothing was done for it");
}

#[test]
fn what_changed_before_its_turn_refuses_the_change_and_the_next_run_goes_on() {
    let scene = scene(
        r#"
resource "file" "moved" {
  path    = "/srv/b.moved"
  content = "x"
}

resource "bell" "b" {
  path = "/srv/b"
  meta { require = [file.moved] }
}
"#,
    );
    let report = scene.apply("site");
    assert_eq!(of(&report, "file.moved").outcome, Outcome::Changed);
    assert_refused(&scene, &report);
    assert!(!scene.node("/srv/b").exists());
    assert_eq!(of(&scene.apply("site"), "bell.b").outcome, Outcome::Changed);
}

#[test]
fn what_changed_before_its_turn_refuses_its_shared_action_too() {
    let scene = scene("resource \"bell\" \"a\" { path = \"/srv/a\" }\nresource \"bell\" \"b\" { path = \"/srv/b\" }\n");
    scene.write("root/srv/a.reload", "");
    scene.write("root/srv/b.reload", "");
    let moved = scene.node("/srv/b.moved");
    let watch: runtime::journal::Observer = Arc::new(move |moment, entry| {
        let is_first = entry.resource.as_ref().is_some_and(|id| id.to_string() == "bell.a");
        if moment == Moment::AfterDurable && is_first && entry.event == Event::Intent(IntentEvent::Intended) {
            fs::write(&moved, "").unwrap();
        }
    });
    let mut request = scene.request("site", RunMode::Apply);
    request.parallelism = 1;
    let report = run::apply_watched(&request, &Recorder::default(), Some(watch)).unwrap();
    assert_refused(&scene, &report);
}
