//! Guests whose answers break the contract: they end as if they had trapped.

use runtime::model::report::{Outcome, Phase};
use testkit::scene::{error_code, of, tell};

use crate::stage::{apply, manifest, manifest_with, scene};

#[test]
fn an_answer_that_is_no_canonical_json_ends_the_attempt() {
    for (place, phase) in [("check", Phase::Check), ("apply", Phase::Apply), ("verify", Phase::Verify)] {
        for act in ["bad-json", "loose-json"] {
            let ended = apply(&manifest(&format!("{act}@{place}")));
            let failure = ended.failure();
            assert_eq!((ended.it().outcome, failure.phase), (Outcome::Failed, phase), "{act}@{place}: {failure:?}");
            assert!(failure.message.contains("breaks the contract"), "{act}@{place}: {failure:?}");
            ended.assert_others_converge();
        }
    }
}

#[test]
fn an_answer_that_is_too_large_ends_the_attempt_and_is_not_kept() {
    let places = ["inspect-safety", "composition-conflicts", "check", "apply", "verify"];
    for (act, place) in places.iter().flat_map(|place| [("huge-string", place), ("huge-list", place)]) {
        let told_to = format!("{act}@{place}");
        let ended = apply(&manifest(&told_to));
        let size = serde_json::to_string(&ended.report).unwrap().len();
        assert!(size < 1 << 20, "{told_to}: a report of {size} bytes");
        // A list of numbers is a long text, but no longer than any JSON may be.
        let is_short = act == "huge-list" && matches!(*place, "apply" | "verify");
        let has_no_such_act = matches!((act, *place), ("huge-string", "inspect-safety") | ("huge-list", "composition-conflicts"));
        if !is_short && !has_no_such_act {
            assert_eq!(ended.it().outcome, Outcome::Failed, "{told_to}: {:?}", ended.it().outcome);
        }
        ended.assert_others_converge();
    }
}

#[test]
fn a_shared_action_that_the_host_does_not_deliver_is_not_passed_over() {
    let ended = apply(&manifest("undeclared-prerequisite@check"));
    assert_eq!(ended.it().outcome, Outcome::Failed, "{:?}", ended.it());
    assert!(ended.failure().message.contains("daemon-reload"), "{:?}", ended.failure());
    ended.assert_nothing_changed();
}

#[test]
fn a_claim_that_only_the_node_tells_must_be_granted_too() {
    let ended = apply(&manifest("claim-other@inspect-safety"));
    assert_eq!((ended.it().outcome, ended.failure().phase), (Outcome::Refused, Phase::Inspect), "{:?}", ended.it());
    assert!(ended.failure().message.contains("/srv/secret/kept"), "{:?}", ended.failure());
    let ledger = ended.scene.ledger();
    assert!(ledger.claims.iter().all(|held| held.key != "/srv/secret/kept"), "{ledger:?}");
    ended.assert_others_converge();
}

#[test]
fn a_claim_that_only_the_node_tells_conflicts_like_any_other() {
    let scene = scene();
    let file = "resource \"file\" \"neighbour\" {\n  path = \"/srv/scratch/neighbour\"\n  content = \"x\"\n}\n";
    let it = manifest_with("/srv/scratch/it", "/srv/scratch/neighbour", "claim-other@inspect-safety", "");
    scene.compile("site", &(it + file));
    let before = scene.exact();
    let error = scene.try_apply("site").unwrap_err();
    let told = tell(&error);
    assert!(error_code(&error) == 4 && told.contains("`file.neighbour`") && told.contains("`hostile.it`"), "{told}");
    assert_eq!(scene.exact(), before);
}

#[test]
fn what_the_node_does_not_offer_to_its_type_ends_it_before_anything_is_checked() {
    let ended = apply(&manifest("need-more@validate"));
    assert_eq!((ended.it().outcome, ended.failure().phase), (Outcome::Failed, Phase::Inspect), "{:?}", ended.it());
    assert_eq!(ended.failure().message, "this node does not offer `files.read`, which it needs");
    ended.assert_nothing_changed();
    ended.assert_others_converge();
}

#[test]
fn a_conflict_that_comes_about_in_the_run_refuses_the_change_before_its_intent() {
    let scene = scene();
    let flag = "resource \"file\" \"flag\" {\n  path    = \"/srv/scratch/flag\"\n  content = \"x\"\n}\n";
    let behaviour = "conflict-with-other@composition-conflicts";
    let it = manifest_with("/srv/scratch/it", "/srv/scratch/flag", behaviour, "require = [file.flag]");
    scene.compile("site", &(it + flag));
    let report = scene.apply("site");
    let it = of(&report, "hostile.it");
    let failure = it.failure.as_ref().unwrap_or_else(|| panic!("it did not fail: {it:?}"));
    assert_eq!((it.outcome, failure.phase), (Outcome::Refused, Phase::Inspect), "{failure:?}");
    assert_eq!(failure.message, "it does not go with the other one");
    assert_eq!(of(&report, "file.flag").outcome, Outcome::Changed, "what went before is not undone");
    assert!(scene.ledger().intents.iter().all(|intent| intent.resource != "hostile.it"));
    let error = scene.try_apply("site").unwrap_err();
    assert_eq!(error_code(&error), 4, "from then on it refuses the run: {}", tell(&error));
}
