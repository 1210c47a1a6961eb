//! Two runs at once: the second one does not wait, and does nothing.

use std::process::Stdio;

use runtime::model::report::RunMode;
use testkit::Scene;
use testkit::scene::{Recorder, error_code};

use crate::killed_at_random::apply;
use crate::lost_run::held_at;

const SITE: &str = "resource \"file\" \"a\" {\n  path = \"/srv/a\"\n  content = \"a\"\n}\n";

#[test]
fn the_second_run_exits_with_75_at_once() {
    let scene = Scene::new();
    scene.compile("site", SITE);
    // The intent is written and nothing is done yet.
    let mut first = held_at(&scene, "site", 6);
    let before = scene.exact();
    let second = apply(&scene, "site").stderr(Stdio::piped()).output().unwrap();
    assert_eq!(second.status.code(), Some(75), "{second:?}");
    let told = String::from_utf8_lossy(&second.stderr);
    assert!(told.contains(&first.id().to_string()), "it says which process has the lock: {told}");
    let looking = testkit::scene::apply(&scene.request("site", RunMode::Noop), &Recorder::default()).unwrap_err();
    assert_eq!(error_code(&looking), 75, "who looks while another writes would see half of it");
    assert_eq!(scene.exact(), before);
    assert!(first.try_wait().unwrap().is_none(), "the first is still there");
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert_eq!(scene.read("/srv/a"), "a");
    scene.ledger().assert_settled();
    assert_eq!(scene.ledger().intents.len(), 1);
}
