//! A run that is killed at each entry of the journal, with what the next run makes of it.

use std::sync::{Arc, Mutex};

use runtime::journal::Moment;
use runtime::model::report::{Outcome, RunMode};
use runtime::run;
use testkit::Scene;
use testkit::scene::{Recorder, assert_all};

use crate::lost_run::{at_each_moment, killed_at};
use crate::node::{scene, sorted_account_files};

const SITE: &str = r#"
resource "group" "www" {
  name = "www"
  gid  = 813
}

resource "user" "web" {
  name        = "web"
  uid         = 812
  group       = "www"
  home        = "/srv/web"
  manage_home = true
}

resource "user" "bob" {
  name   = "bob"
  shell  = "/bin/false"
  groups = ["adm"]
}
"#;

/// Every entry of the journal of a whole run, before and after it is on disk, and the account files that the run leaves.
fn whole_run() -> (Vec<String>, Vec<Vec<String>>) {
    let scene = scene();
    scene.compile("site", SITE);
    let moments = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&moments);
    let watch = at_each_moment(move |_, moment, entry| {
        let when = if moment == Moment::BeforeDurable { "before" } else { "after" };
        noted.lock().unwrap().push(format!("{when} {}", entry.event.as_str()));
    });
    let mut request = scene.request("site", RunMode::Apply);
    request.parallelism = 1;
    let _ = run::apply_watched(&request, &Recorder::default(), Some(watch)).unwrap();
    let moments = moments.lock().unwrap().clone();
    (moments, sorted_account_files(&scene))
}

#[test]
fn whenever_it_is_killed_the_next_run_converges() {
    let (moments, files) = whole_run();
    assert!(moments.len() >= 2 * 3 * 2, "three resources have an intent and a settlement each: {moments:?}");
    for (index, moment) in moments.iter().enumerate() {
        let scene: Scene = scene();
        scene.compile("site", SITE);
        killed_at(&scene, "site", index + 1);
        let report = scene.apply("site");
        assert!(
            report.resources.iter().all(|it| matches!(it.outcome, Outcome::Changed | Outcome::Unchanged)),
            "{moment}: {report:?}"
        );
        scene.ledger().assert_settled();
        assert_eq!(sorted_account_files(&scene), files, "{moment}");
        assert!(scene.node("/srv/web/.profile").exists(), "{moment}");
        assert_all(&scene.apply("site"), Outcome::Unchanged);
    }
}
