//! Resources that are compiled on the node are held to what the bundle says of them, and outputs to what `describe` lists.

use runtime::model::digest::ComponentDigest;
use runtime::model::report::{Outcome, Phase, Report};
use testkit::scene::{of, tell};
use testkit::{Scene, guests};

use crate::stage::{apply, manifest};

#[test]
fn outputs_that_are_not_as_described_are_the_modules_failure() {
    let acts = [
        ("wrong-output", "`stamp` that is a number, not string"),
        ("more-outputs", "the output `more`"),
        ("fewer-outputs", "no output `token`"),
        ("huge-outputs", "more than 1048576"),
        ("slot-output", "reserved"),
        ("no-outputs", "no outputs"),
    ];
    for (act, words) in acts {
        let ended = apply(&manifest(&format!("{act}@apply")));
        let failure = ended.failure();
        assert_eq!((ended.it().outcome, failure.phase), (Outcome::Failed, Phase::Apply), "{act}: {failure:?}");
        assert!(failure.message.contains("breaks the contract") && failure.message.contains(words), "{act}: {failure:?}");
        ended.assert_others_converge();
        if act == "no-outputs" {
            continue;
        }
        let scene = may_use_srv(&manifest(&format!("{act}@check")));
        scene.write("root/srv/scratch/it", "there already\n");
        let report = scene.apply("site");
        let failure = of(&report, "hostile.it").failure.as_ref().unwrap_or_else(|| panic!("{act}: {report:?}"));
        assert!(failure.phase == Phase::Check && failure.message.contains(words), "{act}: {failure:?}");
    }
}

/// A scene with a bundle of `manifest`, in which the hostile guest may use all of `/srv`.
fn may_use_srv(manifest: &str) -> Scene {
    let mut scene = Scene::new().with_module("hostile", guests::HOSTILE);
    std::fs::create_dir(scene.node("/srv/scratch")).unwrap();
    let digest = ComponentDigest::of(guests::HOSTILE);
    let files = "files {\n read = [\"/srv/**\"]\n write = [\"/srv/**\"]\n }";
    scene.set_policy(&format!("module \"hostile\" {{\n digest = \"{digest}\"\n {files}\n}}\n"));
    scene.compile("site", manifest);
    scene
}

/// One that puts out, and one with a `note` that waits: for facts, or for the first one's turn.
fn waiting(behaviour: &str, note: &str) -> String {
    format!(
        r#"
resource "hostile" "first" {{
  path  = "/srv/first"
  other = "/srv/none"
}}

resource "hostile" "it" {{
  path      = "/srv/it"
  other     = "/srv/other"
  behaviour = "{behaviour}"
  note      = "{note}"
}}

resource "file" "db1" {{
  path    = "/srv/db1"
  content = "db1\n"
}}
"#
    )
}

#[track_caller]
fn assert_refused(report: &Report, phase: Phase, words: &[&str]) {
    let it = of(report, "hostile.it");
    let failure = it.failure.as_ref().unwrap_or_else(|| panic!("it did not fail: {report:?}"));
    assert_eq!((it.outcome, failure.phase), (Outcome::Refused, phase), "{failure:?}");
    for word in words {
        assert!(failure.message.contains(word), "{word}: {failure:?}");
    }
    assert_eq!(of(report, "file.db1").outcome, Outcome::Changed, "{report:?}");
}

/// What waits for facts, and what waits for another's turn.
const NOTES: [&str; 2] = ["${facts.hostname}", "${hostile.first.stamp == \"\" ? \"\" : facts.hostname}"];

#[test]
fn a_module_that_claims_more_on_the_node_is_refused() {
    for note in NOTES {
        let scene = may_use_srv(&waiting("claim-noted@validate", &format!("/srv/{note}-too")));
        let report = scene.apply("site");
        assert_refused(&report, Phase::Resolve, &["other claims than the bundle says"]);
        assert!(!scene.node("/srv/it").exists());
    }
}

#[test]
fn a_module_that_derives_another_order_on_the_node_is_refused() {
    for note in NOTES {
        let scene = may_use_srv(&waiting("order-noted@relationships", &format!("file.{note}")));
        let report = scene.apply("site");
        assert_refused(&report, Phase::Resolve, &["`file.db1` goes before `hostile.it`, which the bundle does not say"]);
        assert!(!scene.node("/srv/it").exists());
    }
}

#[test]
fn an_action_for_which_it_is_ordered_must_be_asked_for_on_the_node_too() {
    // The first other resource by address waits for a fact, so that its prerequisites are known on the node only.
    let first = "resource \"file\" \"a\" {\n  path = \"/srv/a\"\n  content = facts.hostname\n}\n";
    let scene = may_use_srv(&(first.to_owned() + &waiting("push-action@relationships", "x")));
    let report = scene.apply("site");
    let failure = of(&report, "file.a").failure.as_ref().unwrap();
    assert_eq!(of(&report, "file.a").outcome, Outcome::Refused, "{failure:?}");
    assert!(failure.message.contains("after `hostile.it` for the action `hostile.tidy`"), "{failure:?}");
}

#[test]
fn what_waits_for_a_turn_takes_no_claims_then() {
    let scene = may_use_srv(&waiting("claim-other@inspect-safety", NOTES[1]));
    let report = scene.apply("site");
    assert_refused(&report, Phase::Inspect, &["also holds the path `/srv/other`"]);
    assert!(!scene.ledger().claims_of("site").contains_key("/srv/other"));
}

#[test]
fn what_waits_for_a_turn_is_checked_with_its_type_once_it_is_known() {
    let scene = may_use_srv(&waiting("conflict@composition-conflicts", NOTES[1]));
    let report = scene.apply("site");
    assert_refused(&report, Phase::Inspect, &["it is never alone"]);
    assert_eq!(of(&report, "hostile.first").outcome, Outcome::Changed, "one that cannot be managed hinders no other");
    assert!(!scene.node("/srv/it").exists());
    let error = may_use_srv(&waiting("conflict@composition-conflicts", NOTES[0])).try_apply("site").unwrap_err();
    assert!(tell(&error).contains("it is never alone"), "what is known in admission refuses the run: {}", tell(&error));
}
