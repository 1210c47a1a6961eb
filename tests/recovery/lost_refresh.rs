//! A run is killed at each entry of the journal between a change and the refresh that it makes owed: the refresh is not lost.

use std::fs;
use std::sync::{Arc, Mutex};

use runtime::journal::Moment;
use runtime::model::report::{Outcome, RunMode};
use runtime::run;
use testkit::Scene;
use testkit::guests;
use testkit::scene::{Recorder, assert_all};

use crate::lost_run::{at_each_moment, killed_at};

fn site(content: &str) -> String {
    format!(
        "resource \"file\" \"conf\" {{\n  path = \"/srv/conf\"\n  content = \"{content}\\n\"\n}}\n\
         resource \"bell\" \"it\" {{\n  path = \"/srv/bell\"\n  meta {{ subscribe = [file.conf] }}\n}}\n"
    )
}

/// A bell that hangs, and a bundle by which its file changes.
fn about_to_ring() -> Scene {
    let scene = Scene::new().with_module("bell", guests::BELL).allowing("bell");
    scene.compile("site", &site("one"));
    assert_all(&scene.apply("site"), Outcome::Changed);
    scene.compile("site", &site("two"));
    scene
}

fn rings(scene: &Scene) -> usize {
    fs::read_to_string(scene.node("/srv/bell.rings")).map_or(0, |text| text.lines().count())
}

fn moments() -> Vec<String> {
    let scene = about_to_ring();
    let moments = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&moments);
    let watch = at_each_moment(move |_, moment, entry| {
        let when = if moment == Moment::BeforeDurable { "before" } else { "after" };
        let resource = entry.resource.as_ref().map_or(String::new(), |id| format!(" {id}"));
        noted.lock().unwrap().push(format!("{when} {}{resource}", entry.event.as_str()));
    });
    let mut request = scene.request("site", RunMode::Apply);
    request.parallelism = 1;
    let _ = run::apply_watched(&request, &Recorder::default(), Some(watch)).unwrap();
    assert_eq!(rings(&scene), 1);
    moments.lock().unwrap().clone()
}

#[test]
fn whenever_it_is_killed_the_bell_rings() {
    let moments = moments();
    for (index, moment) in moments.iter().enumerate() {
        let scene = about_to_ring();
        killed_at(&scene, "site", index + 1);
        let _ = scene.apply("site");
        // Only who dies after the ring and before that is on record rings again: it cannot be known.
        let at_most = if moment == "before done bell.it" { 2 } else { 1 };
        assert!((1..=at_most).contains(&rings(&scene)), "{moment}: {} times", rings(&scene));
        let ledger = scene.ledger();
        ledger.assert_settled();
        assert!(
            !ledger.obligations.iter().any(|line| line.ends_with("owed") || line.ends_with("pending")),
            "{moment}: {ledger:?}"
        );
        let before = rings(&scene);
        assert_all(&scene.apply("site"), Outcome::Unchanged);
        assert_eq!(rings(&scene), before, "{moment}: once it is done it is done");
    }
}
