//! A process is killed at each entry of the journal, before and after it is on disk.

use std::sync::Arc;
use std::sync::Mutex;

use runtime::journal::Moment;
use runtime::model::report::{Outcome, RunMode};
use runtime::run;
use testkit::scene::{Recorder, assert_all, exit_code};
use testkit::{Scene, Tree};

use crate::lost_run::{at_each_moment, killed_at};

/// One made, one changed, a link, one removed, a directory with a file in it, one that is right already.
const SITE: &str = r#"
resource "file" "folder" {
  path   = "/srv/folder"
  ensure = "directory"
  mode   = "0750"
}

resource "file" "made" {
  path    = "${file.folder.path}/made"
  content = "made\n"
  mode    = "0640"
}

resource "file" "changed" {
  path    = "/srv/changed"
  content = "new\n"
}

resource "file" "link" {
  path   = "/srv/link"
  ensure = "symlink"
  target = "changed"
}

resource "file" "gone" {
  path   = "/srv/gone"
  ensure = "absent"
}

resource "file" "right" {
  path    = "/srv/right"
  content = "right\n"
}
"#;

/// How many of them need a change.
const CHANGES: usize = 5;

fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("root/srv/changed", "old\n");
    scene.write("root/srv/gone", "gone\n");
    scene.write("root/srv/right", "right\n");
    scene
}

/// A whole run of which each moment of the journal is noted.
struct Whole {
    moments: Vec<String>,
    state: Tree,
}

fn whole_run() -> Whole {
    let scene = scene();
    scene.compile("site", SITE);
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
    let moments = moments.lock().unwrap().clone();
    Whole { moments, state: scene.state() }
}

/// What must hold after a run that was not lost, whatever was before.
fn check(scene: &Scene, whole: &Whole, moment: &str) {
    let state = scene.state();
    assert!(state.differences(&whole.state).is_empty(), "{moment}: {:?}", state.differences(&whole.state));
    assert!(state.staged().is_empty(), "{moment}: {:?}", state.staged());
    let ledger = scene.ledger();
    ledger.assert_settled();
    assert_eq!(ledger.claims_of("site").len(), CHANGES + 1, "{moment}: {:?}", ledger.claims);
    assert_eq!(ledger.endings.last(), Some(&Some("converged".to_owned())), "{moment}");
}

#[test]
fn whenever_it_is_killed_the_next_run_converges() {
    let whole = whole_run();
    let expected = 2 * (["run_began", "admitted", "reported", "run_ended"].len() + 2 * CHANGES);
    assert_eq!(whole.moments.len(), expected, "each event has two moments: {:?}", whole.moments);
    let scenes = scene();
    scenes.compile("site", SITE);
    for (index, moment) in whole.moments.iter().enumerate() {
        let scene = scene();
        std::fs::copy(scenes.bundle("site"), scene.bundle("site")).unwrap();
        killed_at(&scene, "site", index + 1);
        let plan = scene.noop("site");
        let open = !scene.ledger().open().is_empty();
        assert_eq!(exit_code(&plan, false), if open { 5 } else { 0 }, "{moment}: {plan:?}");
        let report = scene.apply("site");
        assert!(
            report.resources.iter().all(|r| matches!(r.outcome, Outcome::Changed | Outcome::Unchanged)),
            "{moment}: {report:?}"
        );
        check(&scene, &whole, moment);
        let before = scene.exact();
        assert_all(&scene.apply("site"), Outcome::Unchanged);
        assert_eq!(scene.exact(), before, "{moment}: the run after that finds nothing to do");
    }
}

#[test]
fn a_run_that_recovers_may_be_killed_too() {
    let whole = whole_run();
    let changed = whole.moments.iter().position(|moment| moment == "after intended file.changed").unwrap() + 1;
    // The second run begins and recovers the one intent; it is killed at each moment of that, and once when it changes again.
    for second in 1..=6 {
        let scene = scene();
        scene.compile("site", SITE);
        killed_at(&scene, "site", changed);
        killed_at(&scene, "site", second);
        let _ = scene.apply("site");
        check(&scene, &whole, &format!("moment {second} of the second run"));
    }
}
