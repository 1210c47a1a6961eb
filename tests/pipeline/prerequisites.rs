//! A shared action goes before a change: once for all who asked, on record before it is done, and the check is made again.

use std::fs;
use std::sync::{Arc, Mutex};

use runtime::journal::{Event, IntentEvent, Moment};
use runtime::model::report::{Outcome, Report, RunMode};
use runtime::run;
use testkit::Scene;
use testkit::guests;
use testkit::scene::{Recorder, assert_all, of};

/// Two bells that ask for the action as long as their files are there.
const SITE: &str = r#"
resource "bell" "a" { path = "/srv/a" }
resource "bell" "b" { path = "/srv/b" }
"#;

fn scene() -> Scene {
    let scene = Scene::new().with_module("bell", guests::BELL).allowing("bell");
    scene.write("root/srv/a.reload", "");
    scene.write("root/srv/b.reload", "");
    scene.compile("site", SITE);
    scene
}

/// Applies; when the first intent of the run is on disk the reason to ask goes away, as if the action had done that.
fn apply(scene: &Scene, parallelism: usize) -> (Report, Vec<String>) {
    let noted = Arc::new(Mutex::new(Vec::new()));
    let (files, into) = ([scene.node("/srv/a.reload"), scene.node("/srv/b.reload")], Arc::clone(&noted));
    let watch: runtime::journal::Observer = Arc::new(move |moment, entry| {
        if let (Moment::AfterDurable, Event::Intent(event), Some(id)) = (moment, entry.event, &entry.resource) {
            into.lock().unwrap().push(format!("{} {id}", event.as_str()));
            if event == IntentEvent::Intended {
                files.iter().for_each(|file| drop(fs::remove_file(file)));
            }
        }
    });
    let mut request = scene.request("site", RunMode::Apply);
    request.parallelism = parallelism;
    let report = run::apply_watched(&request, &Recorder::default(), Some(watch)).unwrap();
    let noted = noted.lock().unwrap().clone();
    (report, noted)
}

#[test]
fn it_is_done_before_the_change_and_the_check_is_made_again() {
    let scene = scene();
    let plan = scene.noop("site");
    assert_all(&plan, Outcome::WouldChange);
    assert_eq!(of(&plan, "bell.a").prerequisites, ["bell.reload.v1"]);
    let (report, entries) = apply(&scene, 1);
    assert_all(&report, Outcome::Changed);
    assert_eq!(of(&report, "bell.a").prerequisites, ["bell.reload.v1"]);
    assert_eq!(of(&report, "bell.a").log, ["the bells were told"]);
    assert_eq!(of(&report, "bell.b").prerequisites, [""; 0], "its own check came later");
    let own: Vec<&String> = entries.iter().filter(|entry| entry.ends_with("bell.a")).collect();
    assert_eq!(own, ["intended bell.a", "done bell.a", "intended bell.a", "done bell.a"], "the action has an intent of its own");
    scene.ledger().assert_settled();
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn an_action_that_does_not_help_is_not_done_over_and_over() {
    let scene = scene();
    let report = scene.apply("site");
    for id in ["bell.a", "bell.b"] {
        let failure = of(&report, id).failure.as_ref().unwrap();
        assert_eq!(failure.message, "it asks for the shared action `bell.reload.v1` first, which has just been done");
    }
    scene.ledger().assert_settled();
    assert!(!scene.node("/srv/a").exists(), "nothing was changed");
}

#[test]
fn an_object_that_only_needed_the_action_is_unchanged_and_nobody_is_refreshed_after_it() {
    let scene = scene();
    let _ = apply(&scene, 1);
    scene.write("root/srv/a.reload", "");
    let site = format!("{SITE}resource \"bell\" \"c\" {{\n  path = \"/srv/c\"\n  meta {{ subscribe = [bell.a] }}\n}}\n");
    scene.compile("site", &site);
    let (report, _) = apply(&scene, 1);
    assert_eq!(of(&report, "bell.a").outcome, Outcome::Unchanged);
    assert!(of(&report, "bell.a").changes.is_empty());
    assert_eq!(scene.ledger().obligations, [""; 0], "a shared action changes no object");
}
