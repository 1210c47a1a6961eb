//! A run that only looks leaves no trace, whatever it finds.

use runtime::model::report::{Outcome, RunMode};
use testkit::Scene;
use testkit::scene::{Recorder, assert_all, exit_code, of};

const SITE: &str = r#"
resource "file" "a" {
  path    = "/srv/a"
  content = "one\ntwo\n"
}

resource "file" "b" {
  path    = "/srv/b"
  content = "b\n"

  meta {
    require = [file.a]
  }
}
"#;

#[test]
fn a_plan_on_a_new_node_does_not_even_make_the_state_folder() {
    let scene = Scene::new();
    scene.compile("site", SITE);
    let report = scene.noop("site");
    assert_all(&report, Outcome::WouldChange);
    assert!(!scene.path("state").exists());
    assert_eq!((report.run.clone(), report.mode), (None, RunMode::Noop));
    assert_eq!((exit_code(&report, false), exit_code(&report, true)), (0, 2));
}

#[test]
fn a_plan_says_what_an_apply_then_does() {
    let scene = Scene::new();
    scene.write("root/srv/a", "one\nthree\n");
    scene.compile("site", SITE);
    let (plan, report) = (scene.noop("site"), scene.apply("site"));
    for (planned, done) in plan.resources.iter().zip(&report.resources) {
        assert_eq!((&planned.id, planned.action), (&done.id, done.action));
        let told = |resource: &runtime::model::report::ResourceReport| {
            resource
                .changes
                .iter()
                .map(|change| (change.attribute.clone(), change.before.clone(), change.after.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(planned), told(done));
    }
    let content = of(&plan, "file.a").changes.iter().find(|change| change.attribute == "content").unwrap();
    let diff = content.diff.as_deref().unwrap();
    assert!(diff.contains("-three") && diff.contains("+two"), "{diff}");
}

#[test]
fn a_plan_of_a_converged_node_finds_nothing_and_leaves_nothing() {
    let scene = Scene::new();
    scene.compile("site", SITE);
    let _ = scene.apply("site");
    let report = scene.noop("site");
    assert_all(&report, Outcome::Unchanged);
    assert_eq!(exit_code(&report, true), 0);
}

#[test]
fn a_refused_plan_leaves_nothing_either() {
    let scene = Scene::new();
    scene.compile("site", SITE);
    let _ = scene.apply("site");
    scene.compile("other", &SITE.replace("one", "mine"));
    let before = (scene.exact(), testkit::Tree::exact(&scene.path("state")));
    let error = testkit::scene::apply(&scene.request("other", RunMode::Noop), &Recorder::default()).unwrap_err();
    assert_eq!(testkit::scene::error_code(&error), 4, "{error}");
    assert_eq!((scene.exact(), testkit::Tree::exact(&scene.path("state"))), before);
}
