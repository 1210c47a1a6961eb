//! What goes before what, what a gate leaves out, and whom a failure takes along.

use runtime::model::report::{Outcome, RunMode};
use testkit::Scene;
use testkit::scene::{Recorder, exit_code, of, outcomes};

/// A file with more lines in its block.
fn file(name: &str, path: &str, more: &str) -> String {
    format!("resource \"file\" \"{name}\" {{\n  path = \"{path}\"\n  content = \"{name}\"\n{more}}}\n")
}

fn meta(lines: &str) -> String {
    format!("  meta {{\n    {lines}\n  }}\n")
}

#[test]
fn require_and_before_decide_the_order_whatever_the_text_says() {
    let scene = Scene::new();
    let manifest = file("a", "/srv/a", &meta("require = [file.c, file.d]"))
        + &file("b", "/srv/b", &meta("before = [file.c]"))
        + &file("c", "/srv/c", "")
        + &file("d", "/srv/d", &meta("require = [file.c]"));
    scene.compile("site", &manifest);
    for parallelism in [1, 16] {
        let mut request = scene.request("site", RunMode::Noop);
        request.parallelism = parallelism;
        let order = Recorder::default();
        let _ = testkit::scene::apply(&request, &order).unwrap();
        assert_eq!(order.ended(), ["file.b", "file.c", "file.d", "file.a"]);
    }
}

#[test]
fn a_declared_folder_goes_before_what_lies_in_it_and_after_what_is_removed_from_it() {
    let scene = Scene::new();
    let object = |name: &str, path: &str, ensure: &str| {
        format!("resource \"file\" \"{name}\" {{\n  path = \"{path}\"\n  ensure = \"{ensure}\"\n}}\n")
    };
    let waits = "resource \"file\" \"host\" {\n  path = \"/srv/a/b/host\"\n  content = facts.hostname\n}\n";
    let wanted = waits.to_owned()
        + &object("page", "/srv/a/b/page", "file")
        + &object("inner", "/srv/a/b", "directory")
        + &object("outer", "/srv/a", "directory");
    scene.compile("site", &wanted);
    let mut request = scene.request("site", RunMode::Apply);
    request.parallelism = 16;
    let order = Recorder::default();
    let report = testkit::scene::apply(&request, &order).unwrap();
    assert_eq!(exit_code(&report, true), 2, "{report:?}");
    assert_eq!(order.ended()[..2], ["file.outer", "file.inner"]);
    assert!(scene.node("/srv/a/b/page").exists() && scene.node("/srv/a/b/host").exists());

    let gone = object("outer", "/srv/a", "absent")
        + &object("inner", "/srv/a/b", "absent")
        + &object("page", "/srv/a/b/page", "absent")
        + &object("host", "/srv/a/b/host", "absent");
    scene.compile("site", &gone);
    let request = scene.request("site", RunMode::Apply);
    let order = Recorder::default();
    let report = testkit::scene::apply(&request, &order).unwrap();
    assert_eq!(exit_code(&report, true), 2, "{report:?}");
    assert_eq!(order.ended()[2..], ["file.inner", "file.outer"]);
    assert!(!scene.node("/srv/a").exists());
}

#[test]
fn a_closed_gate_skips_its_resource_and_those_after_it_still_run() {
    let scene = Scene::new();
    let gate = |word: &str, condition: &str| meta(&format!("control {{\n      {word} = {condition}\n    }}"));
    let manifest = file("if_not", "/srv/1", &gate("if", "facts.os.family == \"redhat\""))
        + &file("unless", "/srv/2", &gate("unless", "facts.hostname == \"db1\""))
        + &file("open", "/srv/3", &gate("if", "facts.os.family == \"debian\""))
        + &file("after", "/srv/4", &meta("require = [file.if_not, file.unless]"));
    scene.compile("site", &manifest);
    let report = scene.apply("site");
    assert_eq!(outcomes(&report).len(), 4);
    for (name, outcome) in
        [("if_not", Outcome::Skipped), ("unless", Outcome::Skipped), ("open", Outcome::Changed), ("after", Outcome::Changed)]
    {
        assert_eq!(of(&report, &format!("file.{name}")).outcome, outcome, "{report:?}");
    }
    assert_eq!(of(&report, "file.unless").reason.as_deref(), Some("`control { unless }` is true on this node"));
    assert!(!scene.node("/srv/1").exists() && !scene.node("/srv/2").exists());
    assert_eq!(exit_code(&report, true), 2, "what its own gate skips counts as converged");
}

#[test]
fn behind_a_closed_gate_nothing_is_looked_at() {
    let scene = Scene::new();
    let gate = meta("control {\n      if = facts.os.id == \"other\"\n    }");
    let manifest = format!("resource \"file\" \"a\" {{\n  path = \"/srv/a\"\n  content = facts.not_there\n{gate}}}\n");
    scene.compile("site", &manifest);
    assert_eq!(outcomes(&scene.apply("site")), ["file.a skipped"]);
}

/// `bad` fails, since its folder is missing; `after` and `last` require it.
fn with_a_failure() -> Scene {
    let scene = Scene::new();
    let manifest = file("bad", "/srv/missing/x", "")
        + &file("after", "/srv/after", &meta("require = [file.bad]"))
        + &file("last", "/srv/last", &meta("require = [file.after]"))
        + &file("other", "/srv/other", "")
        + &file("other_too", "/srv/other_too", &meta("require = [file.other]"));
    scene.compile("site", &manifest);
    scene
}

#[test]
fn a_failure_takes_along_what_requires_it_and_nothing_else() {
    let scene = with_a_failure();
    let report = scene.apply("site");
    let outcome = |name: &str| of(&report, &format!("file.{name}")).outcome;
    assert_eq!((outcome("bad"), outcome("after"), outcome("last")), (Outcome::Failed, Outcome::Unmet, Outcome::Unmet));
    assert_eq!((outcome("other"), outcome("other_too")), (Outcome::Changed, Outcome::Changed));
    assert_eq!(of(&report, "file.after").reason.as_deref(), Some("it requires `file.bad`, which is failed"));
    assert!(!scene.node("/srv/after").exists() && scene.node("/srv/other_too").exists());
    let failure = of(&report, "file.bad").failure.clone().unwrap();
    assert_eq!(failure.message, "the directory that is to hold it does not exist");
    assert_eq!(exit_code(&report, true), 1);
    scene.ledger().assert_settled();
    std::fs::create_dir(scene.node("/srv/missing")).unwrap();
    assert_eq!(exit_code(&scene.apply("site"), true), 2, "what failed before any change hinders nobody");
}

#[test]
fn fail_fast_ends_the_run_at_the_first_failure() {
    let scene = with_a_failure();
    let mut request = scene.request("site", RunMode::Apply);
    (request.fail_fast, request.parallelism) = (true, 1);
    let order = Recorder::default();
    let report = testkit::scene::apply(&request, &order).unwrap();
    let first_failure = order.ended().iter().position(|id| id == "file.bad").unwrap();
    let not_reached = report.resources.iter().filter(|resource| resource.outcome == Outcome::NotReached);
    let unreached: Vec<String> = not_reached.map(|resource| resource.id.to_string()).collect();
    assert_eq!(of(&report, "file.after").outcome, Outcome::Unmet);
    assert!(!unreached.is_empty() && order.ended()[..first_failure].iter().all(|id| !unreached.contains(id)), "{report:?}");
    assert!(unreached.iter().all(|id| !scene.node(&id.replace("file.", "/srv/")).exists()));
    assert_eq!(exit_code(&report, false), 1);
}
