//! Who subscribes to what changes is refreshed once, and what is owed is lost by nothing.

use std::fs;

use runtime::model::report::{Action, Outcome, RefreshEnding, Report};
use testkit::Scene;
use testkit::guests;
use testkit::scene::{assert_all, exit_code, of, outcomes};

/// A file with this content, and a bell with these attributes that subscribes to it.
fn site(content: &str, bell: &str, meta: &str) -> String {
    format!(
        "resource \"file\" \"conf\" {{\n  path = \"/srv/conf\"\n  content = \"{content}\\n\"\n}}\n\
         resource \"bell\" \"it\" {{\n  path = \"/srv/bell\"\n  {bell}\n  meta {{\n    subscribe = [file.conf]\n    {meta}\n  }}\n}}\n"
    )
}

fn scene() -> Scene {
    Scene::new().with_module("bell", guests::BELL).allowing("bell")
}

/// A scene that has converged once, with a bell that hangs.
fn hung() -> Scene {
    let scene = scene();
    scene.compile("site", &site("one", "", ""));
    assert_all(&scene.apply("site"), Outcome::Changed);
    scene
}

fn apply(scene: &Scene, manifest: &str) -> Report {
    scene.compile("site", manifest);
    scene.apply("site")
}

fn rings(scene: &Scene) -> usize {
    fs::read_to_string(scene.node("/srv/bell.rings")).map_or(0, |text| text.lines().count())
}

fn ending(report: &Report) -> Option<RefreshEnding> {
    of(report, "bell.it").refresh.as_ref().map(|refresh| refresh.ending)
}

fn because_of(report: &Report) -> Vec<String> {
    of(report, "bell.it").refresh.iter().flat_map(|refresh| &refresh.because_of).map(ToString::to_string).collect()
}

#[test]
fn to_hang_the_bell_is_all_that_its_first_refresh_would_do() {
    let scene = scene();
    scene.compile("site", &site("one", "", ""));
    let plan = scene.noop("site");
    assert_eq!((ending(&plan), because_of(&plan)), (Some(RefreshEnding::Handled), vec!["file.conf".into()]));
    let report = scene.apply("site");
    assert_all(&report, Outcome::Changed);
    assert_eq!((ending(&report), rings(&scene)), (Some(RefreshEnding::Handled), 0));
    assert_eq!(scene.ledger().obligations, ["bell.it because of file.conf: handled"]);
    let again = scene.apply("site");
    assert_all(&again, Outcome::Unchanged);
    assert_eq!(ending(&again), None);
}

#[test]
fn a_change_rings_it_once_as_the_plan_said() {
    let scene = hung();
    scene.compile("site", &site("two", "", ""));
    let plan = scene.noop("site");
    assert_eq!(outcomes(&plan), ["file.conf would-change", "bell.it would-change"]);
    assert_eq!((ending(&plan), of(&plan, "bell.it").action), (Some(RefreshEnding::Would), Action::Unchanged));
    assert_eq!(exit_code(&plan, true), 2);
    let report = scene.apply("site");
    assert_eq!(outcomes(&report), ["file.conf changed", "bell.it changed"]);
    assert_eq!((ending(&report), because_of(&report)), (Some(RefreshEnding::Refreshed), vec!["file.conf".into()]));
    assert_eq!(rings(&scene), 1);
    assert_all(&scene.noop("site"), Outcome::Unchanged);
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    assert_eq!(rings(&scene), 1, "once");
    scene.ledger().assert_settled();
}

#[test]
fn notify_says_the_same_from_the_other_side_and_both_together_ring_once() {
    let scene = hung();
    let notify = "resource \"file\" \"more\" {\n  path = \"/srv/more\"\n  content = \"x\\n\"\n  meta { notify = [bell.it] }\n}\n";
    let report = apply(&scene, &(notify.to_owned() + &site("two", "", "")));
    assert_eq!(because_of(&report), ["file.conf", "file.more"]);
    assert_eq!((ending(&report), rings(&scene)), (Some(RefreshEnding::Refreshed), 1));
    let closed = scene.ledger().obligations.iter().filter(|line| line.ends_with(": refreshed")).count();
    assert_eq!(closed, 2, "{:?}", scene.ledger().obligations);
}

#[test]
fn a_change_of_its_own_that_is_no_refresh_is_followed_by_one() {
    let scene = hung();
    let report = apply(&scene, &site("two", "note = \"ring me\"", ""));
    assert_eq!((of(&report, "bell.it").action, ending(&report)), (Action::Update, Some(RefreshEnding::Refreshed)));
    assert_eq!((rings(&scene), scene.read("/srv/bell")), (1, "hung\nring me\n".into()));
    scene.ledger().assert_settled();
}

#[test]
fn what_is_not_ensured_running_has_nothing_to_refresh() {
    let scene = scene();
    assert_all(&apply(&scene, &site("one", "hung = false", "")), Outcome::Changed);
    scene.compile("site", &site("two", "hung = false", ""));
    let plan = scene.noop("site");
    assert_eq!((outcomes(&plan)[1].as_str(), ending(&plan)), ("bell.it unchanged", Some(RefreshEnding::Suppressed)));
    let report = scene.apply("site");
    assert_eq!((outcomes(&report)[1].as_str(), ending(&report)), ("bell.it unchanged", Some(RefreshEnding::Suppressed)));
    assert_eq!(scene.ledger().obligations.last().unwrap(), "bell.it because of file.conf: suppressed");
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    assert_eq!(rings(&scene), 0);
}

#[test]
fn a_refresh_that_fails_is_owed_until_it_is_done() {
    let scene = hung();
    scene.write("root/srv/bell.jam", "");
    let report = apply(&scene, &site("two", "", ""));
    assert_eq!(outcomes(&report), ["file.conf changed", "bell.it failed"]);
    let failure = of(&report, "bell.it").failure.as_ref().unwrap();
    assert_eq!(
        (failure.message.as_str(), failure.phase.word(), ending(&report)),
        ("the bell is jammed", "refresh", Some(RefreshEnding::Owed))
    );
    scene.ledger().assert_settled();
    fs::remove_file(scene.node("/srv/bell.jam")).unwrap();
    let plan = scene.noop("site");
    assert_eq!(outcomes(&plan), ["file.conf unchanged", "bell.it would-change"], "it is still owed");
    let report = scene.apply("site");
    assert_eq!((outcomes(&report)[1].as_str(), ending(&report)), ("bell.it changed", Some(RefreshEnding::Refreshed)));
    assert_eq!(rings(&scene), 1);
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn a_subscriber_that_is_skipped_still_owes_it() {
    let scene = hung();
    let skipped = apply(&scene, &site("two", "", "control { if = false }"));
    assert_eq!(outcomes(&skipped), ["file.conf changed", "bell.it skipped"]);
    assert_eq!(rings(&scene), 0);
    let report = apply(&scene, &site("two", "", ""));
    assert_eq!((ending(&report), rings(&scene)), (Some(RefreshEnding::Refreshed), 1));
}

#[test]
fn what_a_subscriber_owes_that_is_no_longer_declared_lapses() {
    let scene = hung();
    scene.write("root/srv/bell.jam", "");
    let _ = apply(&scene, &site("two", "", ""));
    fs::remove_file(scene.node("/srv/bell.jam")).unwrap();
    let alone = "resource \"file\" \"conf\" {\n  path = \"/srv/conf\"\n  content = \"two\\n\"\n}\n";
    assert_all(&apply(&scene, alone), Outcome::Unchanged);
    assert_eq!(scene.ledger().obligations.last().unwrap(), "bell.it because of file.conf: orphaned");
    assert_all(&apply(&scene, &site("two", "", "")), Outcome::Unchanged);
    assert_eq!(rings(&scene), 0);
}

#[test]
fn a_refresh_that_leaves_it_broken_is_a_failure() {
    let scene = hung();
    scene.write("root/srv/bell.cracked", "");
    let report = apply(&scene, &site("two", "", ""));
    let failure = of(&report, "bell.it").failure.clone().unwrap();
    assert_eq!(failure.message, "it was refreshed and is no longer as desired: the bell is another one");
    fs::remove_file(scene.node("/srv/bell.cracked")).unwrap();
    let report = scene.apply("site");
    assert_eq!((outcomes(&report)[1].as_str(), ending(&report)), ("bell.it changed", Some(RefreshEnding::Handled)), "{report:?}");
    assert_eq!(scene.read("/srv/bell"), "hung\n\n");
    scene.ledger().assert_settled();
}

#[test]
fn a_failed_change_refreshes_nobody_until_it_has_happened() {
    let scene = hung();
    fs::remove_file(scene.node("/srv/conf")).unwrap();
    fs::create_dir(scene.node("/srv/conf")).unwrap();
    scene.write("root/srv/conf/kept", "");
    let report = apply(&scene, &site("two", "", ""));
    assert_eq!(outcomes(&report), ["file.conf failed", "bell.it unmet"]);
    assert_eq!(rings(&scene), 0);
    fs::remove_dir_all(scene.node("/srv/conf")).unwrap();
    let report = scene.apply("site");
    assert_eq!((outcomes(&report)[1].as_str(), rings(&scene)), ("bell.it changed", 1));
}

#[test]
fn who_takes_no_refresh_cannot_subscribe() {
    let scene = scene();
    let deaf = "resource \"file\" \"a\" {\n  path = \"/srv/a\"\n  content = \"\"\n  meta { subscribe = [file.b] }\n}\n\
                resource \"file\" \"b\" {\n  path = \"/srv/b\"\n  content = \"\"\n  meta { notify = [file.a] }\n}\n";
    let error = scene.try_compile("site", deaf).expect_err("a file takes no refresh");
    let told = testkit::scene::tell(&error);
    insta::assert_snapshot!(told, @r"
    error: `file.a` takes no refresh
     --> site.hcl:4:23
      |
    4 |   meta { subscribe = [file.b] }
      |                       ^^^^^^ it would have to be refreshed when the other one changes
      |
      = help: to order the two without a refresh, write `require` or `before`

    error: `file.a` takes no refresh
     --> site.hcl:9:20
      |
    9 |   meta { notify = [file.a] }
      |                    ^^^^^^ it would have to be refreshed when the other one changes
      |
      = help: to order the two without a refresh, write `require` or `before`
    ");
}
