//! Values that only another resource's turn gives.

use std::collections::BTreeMap;
use std::fs;

use runtime::model::catalog::{EdgeReason, State};
use runtime::model::report::{Outcome, Phase, Report};
use runtime::run;
use testkit::scene::{assert_all, exit_code, of, outcomes, tell};
use testkit::{Scene, guests};

/// What the guest writes, and so its output `stamp`.
const STAMP: &str = "written by the hostile guest";

fn scene() -> Scene {
    Scene::new().with_module("hostile", guests::HOSTILE)
}

/// A scene in which `manifest` is compiled and its module is allowed.
#[track_caller]
fn compiled(manifest: &str) -> Scene {
    let mut scene = scene();
    scene.compile("site", manifest);
    scene.allow_as_told("site");
    scene
}

fn it(behaviour: &str, more: &str) -> String {
    let behaviour = if behaviour.is_empty() { String::new() } else { format!("  behaviour = \"{behaviour}\"\n") };
    format!("resource \"hostile\" \"it\" {{\n  path = \"/srv/it\"\n  other = \"/srv/other\"\n{behaviour}{more}}}\n")
}

fn gate(condition: &str) -> String {
    format!("  meta {{\n    control {{ if = {condition} }}\n  }}\n")
}

/// It reads facts and an output; another one requires it.
const READER: &str = r#"
resource "file" "reader" {
  path    = "/srv/reader"
  content = "${facts.hostname}: ${hostile.it.stamp}\n"
}

resource "file" "after" {
  path    = "/srv/after"
  content = "after\n"
  meta { require = [file.reader] }
}
"#;

#[track_caller]
fn reason(report: &Report, id: &str) -> String {
    let resource = of(report, id);
    let failure = resource.failure.as_ref().map(|failure| failure.message.clone());
    resource.reason.clone().or(failure).unwrap_or_else(|| panic!("no reason: {resource:?}"))
}

#[test]
fn what_a_resource_puts_out_is_read_by_others_at_their_turn() {
    let scene = compiled(&(it("", "") + READER));
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(scene.read("/srv/reader"), format!("db1: {STAMP}\n"));
    scene.ledger().assert_settled();
    let before = scene.exact();
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    assert_eq!(scene.exact(), before);
}

#[test]
fn a_resource_whose_content_waits_for_facts_and_an_output_has_its_claims_and_order_known() {
    let scene = compiled(&(it("", "") + READER));
    let (_, catalog) = run::inspect_bundle(&scene.bundle("site")).unwrap();
    let reader = catalog.resources.iter().find(|resource| resource.id.to_string() == "file.reader").unwrap();
    assert!(matches!(reader.state, State::Deferred { .. }));
    assert_eq!(reader.claims.iter().map(|claim| claim.key.to_string()).collect::<Vec<_>>(), ["/srv/reader"]);
    let edges = catalog.edges.iter().map(|edge| (edge.prerequisite.to_string(), edge.dependent.to_string(), edge.reason.clone()));
    let edges: Vec<_> = edges.collect();
    let edge = |from: &str, to: &str, reason| (from.to_owned(), to.to_owned(), reason);
    assert_eq!(
        edges,
        [edge("file.reader", "file.after", EdgeReason::Require), edge("hostile.it", "file.reader", EdgeReason::Reference),]
    );
    let _ = scene.apply("site");
    assert!(scene.ledger().claims_of("site").contains_key("/srv/reader"));
}

#[test]
fn a_plan_says_whose_change_it_waits_for_and_is_whole_once_nothing_changes() {
    let scene = compiled(&(it("", "") + READER));
    let plan = scene.noop("site");
    assert_eq!(outcomes(&plan), ["hostile.it would-change", "file.reader cannot-plan", "file.after unmet"]);
    assert_eq!(reason(&plan, "file.reader"), "waits for `hostile.it.stamp`, which this plan would change");
    assert_eq!(exit_code(&plan, true), 3);
    let _ = scene.apply("site");
    assert_eq!(exit_code(&scene.noop("site"), true), 0);
    scene.write("root/srv/reader", "edited\n");
    let plan = scene.noop("site");
    assert_eq!((of(&plan, "file.reader").outcome, of(&plan, "file.reader").drift), (Outcome::WouldChange, true));
    let diff = of(&plan, "file.reader").changes[0].diff.clone().unwrap();
    assert!(diff.contains(&format!("+db1: {STAMP}")), "{diff}");
}

#[test]
fn what_a_check_reads_counts_before_what_is_on_record() {
    let scene = compiled(&(it("", "") + READER));
    let _ = scene.apply("site");
    scene.write("root/srv/it", "another text\n");
    let report = scene.apply("site");
    assert_eq!((of(&report, "hostile.it").outcome, of(&report, "file.reader").outcome), (Outcome::Unchanged, Outcome::Changed));
    assert_eq!(scene.read("/srv/reader"), "db1: another text\n");
}

#[test]
fn what_is_on_record_is_read_where_a_check_says_nothing() {
    let scene = compiled(&(it("no-outputs@check", "") + READER));
    assert_all(&scene.apply("site"), Outcome::Changed);
    scene.write("root/srv/it", "another text\n");
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    assert_eq!(scene.read("/srv/reader"), format!("db1: {STAMP}\n"));
}

#[test]
fn what_was_never_put_out_fails_who_reads_it_and_no_other() {
    let scene = compiled(&(it("no-outputs@check", "") + READER + &file("apart", "\"apart\"", "")));
    scene.write("root/srv/it", "there already\n");
    for report in [scene.noop("site"), scene.apply("site")] {
        assert_eq!((of(&report, "file.reader").outcome, of(&report, "file.after").outcome), (Outcome::Failed, Outcome::Unmet));
        let told = reason(&report, "file.reader");
        assert!(told.contains("`hostile.it.stamp`") && told.contains("as desired already"), "{told}");
        assert_eq!(of(&report, "file.reader").failure.as_ref().unwrap().phase, Phase::Resolve);
    }
    assert_eq!(scene.read("/srv/apart"), "apart");
    assert!(!scene.node("/srv/reader").exists());
}

fn file(name: &str, content: &str, more: &str) -> String {
    format!("resource \"file\" \"{name}\" {{\n  path = \"/srv/{name}\"\n  content = {content}\n{more}}}\n")
}

#[test]
fn of_a_skipped_resource_what_is_on_record_is_read_else_nothing() {
    let closed = gate("facts.hostname != \"db1\"");
    let scene = compiled(&(it("", &closed) + READER));
    let report = scene.apply("site");
    assert_eq!(outcomes(&report), ["hostile.it skipped", "file.reader unmet", "file.after unmet"]);
    let told = reason(&report, "file.reader");
    assert!(told.contains("`hostile.it` is skipped") && told.contains("no earlier run"), "{told}");
    scene.compile("site", &(it("", "") + READER));
    let _ = scene.apply("site");
    fs::remove_file(scene.node("/srv/reader")).unwrap();
    scene.compile("site", &(it("", &closed) + READER));
    let report = scene.apply("site");
    assert_eq!((of(&report, "hostile.it").outcome, of(&report, "file.reader").outcome), (Outcome::Skipped, Outcome::Changed));
    assert_eq!(scene.read("/srv/reader"), format!("db1: {STAMP}\n"));
}

#[test]
fn who_reads_a_failed_resource_has_no_turn() {
    let scene = compiled(&(it("never-converge@verify", "") + READER));
    let report = scene.apply("site");
    assert_eq!(outcomes(&report), ["hostile.it failed", "file.reader unmet", "file.after unmet"]);
}

#[test]
fn an_output_reaches_through_exports_of_others_and_through_gates() {
    let link = "resource \"file\" \"link\" {\n  path = \"/srv/link\"\n  ensure = \"symlink\"\n  target = hostile.it.stamp\n}\n";
    let third = file("third", "upper(file.link.target)", "");
    let open = file("open", "\"open\"", &gate(&format!("hostile.it.stamp == \"{STAMP}\"")));
    let closed = file("closed", "\"closed\"", &gate("hostile.it.stamp == \"other\""));
    let scene = compiled(&[it("", "").as_str(), link, &third, &open, &closed].concat());
    let plan = scene.noop("site");
    for name in ["link", "open", "closed"] {
        let id = format!("file.{name}");
        assert_eq!(of(&plan, &id).outcome, Outcome::CannotPlan, "{:?}", of(&plan, &id));
    }
    assert_eq!(of(&plan, "file.third").outcome, Outcome::Unmet);
    let report = scene.apply("site");
    let outcome: BTreeMap<String, Outcome> = report.resources.iter().map(|one| (one.id.to_string(), one.outcome)).collect();
    assert_eq!((outcome["file.open"], outcome["file.closed"]), (Outcome::Changed, Outcome::Skipped));
    assert_eq!(scene.read("/srv/third"), STAMP.to_uppercase());
}

#[test]
fn a_sensitive_output_reaches_no_module_and_no_record() {
    for (content, hidden) in [("\"x ${hostile.it.token}\"", true), ("nonsensitive(hostile.it.token)", false)] {
        let scene = compiled(&(it("no-outputs@check", "") + &file("reader", content, "")));
        let report = scene.apply("site");
        assert_all(&report, Outcome::Changed);
        let written = scene.read("/srv/reader");
        let value = written.strip_prefix("x ").unwrap_or(&written);
        let told = serde_json::to_string(&report).unwrap();
        assert!(!hidden || !told.contains(value), "a sensitive output is in the report");
        for entry in fs::read_dir(scene.path("state")).unwrap() {
            let content = fs::read(entry.unwrap().path()).unwrap();
            assert!(!content.windows(value.len()).any(|part| part == value.as_bytes()), "a sensitive output is on record");
        }
        let report = scene.apply("site");
        let told = reason(&report, "file.reader");
        assert!(of(&report, "file.reader").outcome == Outcome::Failed && told.contains("not among the outputs"), "{told}");
    }
}

/// Its desired state holds a slot and so stays the same: only a stamp can tell its new value from a change by another hand.
#[test]
fn a_new_secret_of_a_resource_that_waits_is_a_change_and_no_drift() {
    let manifest = |token: &str| {
        let variable = format!("variable \"token\" {{\n  sensitive = true\n  default   = \"{token}\"\n}}\n");
        variable + &it("", "") + &file("reader", "\"${var.token} ${hostile.it.stamp}\"", "")
    };
    let scene = compiled(&manifest("first-value"));
    assert_all(&scene.apply("site"), Outcome::Changed);
    scene.compile("site", &manifest("other-value"));
    let report = scene.apply("site");
    let reader = of(&report, "file.reader");
    assert!(reader.outcome == Outcome::Changed && !reader.drift, "{reader:?}");
    assert!(scene.read("/srv/reader").starts_with("other-value "));
    fs::write(scene.path("root/srv/reader"), "by another hand").unwrap();
    let report = scene.apply("site");
    let reader = of(&report, "file.reader");
    assert!(reader.outcome == Outcome::Changed && reader.drift, "{reader:?}");
}

#[test]
fn an_identity_attribute_that_waits_is_refused_with_what_to_do() {
    let scene = scene();
    let of_output = it("", "") + "resource \"file\" \"reader\" {\n  path = \"/srv/${hostile.it.stamp}\"\n}\n";
    let told = tell(&scene.try_compile("site", &of_output).unwrap_err());
    for words in ["`path` cannot wait for the node", "`hostile.it.stamp` is known once", "known when the manifest is compiled"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let of_fact = "resource \"file\" \"reader\" {\n  path = \"/srv/${facts.hostname}\"\n}\n";
    let told = tell(&scene.try_compile("site", of_fact).unwrap_err());
    assert!(told.contains("`path` cannot wait for the node") && told.contains("--target"), "{told}");
}

#[test]
fn an_unknown_name_suggests_attributes_and_outputs() {
    let scene = scene();
    for (wrong, right) in [("stmp", "stamp"), ("paht", "path")] {
        let manifest = it("", "") + &file("reader", &format!("hostile.it.{wrong}"), "");
        let told = tell(&scene.try_compile("site", &manifest).unwrap_err());
        assert!(told.contains(&format!("`{wrong}`")) && told.contains(&format!("`{right}`")), "{told}");
    }
}
