//! Guests that do what they may not: the host denies it, says by which rule, and nothing has changed.

use runtime::model::report::{EffectClass, Outcome, Phase};
use testkit::scene::{exit_code, of};

use crate::stage::{apply, manifest, manifest_with, scene};

/// Everything that changes a node, at the path that the resource may change in an apply.
const CHANGES: [&str; 6] = ["write", "stage-only", "set-attributes", "make-directory", "make-symlink", "remove"];

#[test]
fn whatever_it_changes_in_a_check_is_denied_and_its_answer_is_not_believed() {
    for act in CHANGES {
        let scene = scene();
        scene.write("root/srv/scratch/it", "as it was\n");
        scene.compile("site", &manifest(&format!("{act}@check")));
        let plan = scene.noop("site");
        let it = of(&plan, "hostile.it");
        let failure = it.failure.clone().unwrap_or_else(|| panic!("{act}: {it:?}"));
        assert_eq!((it.outcome, failure.phase, exit_code(&plan, true)), (Outcome::Refused, Phase::Check, 1), "{act}");
        assert!(failure.message.contains("tried to change the node in a check"), "{act}: {failure:?}");
        assert!(failure.message.contains("the check phase does not allow"), "{act}: {failure:?}");
        let before = testkit::Tree::exact(&scene.node("/srv/scratch"));
        let report = scene.apply("site");
        assert_eq!((of(&report, "hostile.it").outcome, exit_code(&report, false)), (Outcome::Refused, 1), "{act}");
        assert_eq!(testkit::Tree::exact(&scene.node("/srv/scratch")), before, "{act}");
        assert_eq!(scene.read("/srv/apart"), "apart\n", "{act}");
        assert!(scene.ledger().intents.iter().all(|intent| intent.resource != "hostile.it"), "{act}");
    }
}

#[test]
fn a_change_that_is_denied_and_passed_over_in_silence_is_told_all_the_same() {
    let places = [
        ("inspect-safety", Phase::Inspect),
        ("composition-conflicts", Phase::Inspect),
        ("check", Phase::Check),
        ("verify", Phase::Verify),
    ];
    for (place, phase) in places {
        let ended = apply(&manifest(&format!("write-quietly@{place}")));
        let failure = ended.failure();
        assert_eq!((ended.it().outcome, failure.phase), (Outcome::Refused, phase), "{place}: {failure:?}");
        assert!(failure.message.contains("`files.object.stage` on `/srv/scratch/it` is denied"), "{place}: {failure:?}");
        assert_eq!(exit_code(&ended.report, false), 1, "{place}");
        if place != "verify" {
            ended.assert_nothing_changed();
        }
        ended.assert_others_converge();
    }
}

#[test]
fn nothing_may_change_in_an_inspection_or_a_verification_either() {
    for (place, phase) in
        [("inspect-safety", Phase::Inspect), ("composition-conflicts", Phase::Inspect), ("verify", Phase::Verify)]
    {
        let ended = apply(&manifest(&format!("make-directory@{place}")));
        assert_eq!(ended.failure().phase, phase, "{place}: {:?}", ended.failure());
        assert!(ended.failure().message.contains("phase does not allow"), "{place}: {:?}", ended.failure());
        assert_eq!(ended.it().outcome, Outcome::Refused, "{place}");
        assert!(!ended.scene.node("/srv/scratch/it").is_dir(), "{place}");
        ended.assert_others_converge();
    }
}

#[test]
fn outside_its_effects_it_can_do_nothing() {
    for act in [
        "write-other@apply",
        "remove-other@apply",
        "observe-other@check",
        "read-other@check",
        "observe-other@apply",
        "read-other@apply",
        "write-other@check",
        "remove-other@check",
        "write-other@inspect-safety",
        "read-other@inspect-safety",
        "remove-other@composition-conflicts",
    ] {
        // The neighbour is within the grant, so it is the effects alone that keep it out.
        let ended = apply(&manifest_with("/srv/scratch/it", "/srv/scratch/neighbour", act, ""));
        let failure = ended.failure();
        assert_eq!(ended.it().outcome, Outcome::Refused, "{act}: {failure:?}");
        assert!(failure.message.contains("the resource's effects do not name it"), "{act}: {failure:?}");
        assert!(failure.message.contains("`/srv/scratch/neighbour`"), "{act}: {failure:?}");
        assert_eq!(failure.effect, EffectClass::BeforeChange, "{act}");
        ended.assert_nothing_changed();
        ended.assert_others_converge();
        ended.scene.ledger().assert_settled();
    }
}

#[test]
fn an_asset_that_it_did_not_name_is_out_of_reach() {
    let ended = apply(&manifest("read-asset@check"));
    assert!(ended.failure().message.contains("did not list this asset"), "{:?}", ended.failure());
    assert_eq!(ended.it().outcome, Outcome::Refused);
}

#[test]
fn a_name_for_staged_files_of_its_own_choice_is_refused() {
    let ended = apply(&manifest("discard-staged@apply"));
    assert!(matches!(ended.it().outcome, Outcome::Refused | Outcome::Failed), "{:?}", ended.it());
    ended.assert_nothing_changed();
    ended.assert_others_converge();
}

#[test]
fn handles_that_it_does_not_have_end_it() {
    for behaviour in ["closed-handle@check", "forged-handle@check", "closed-handle@apply", "forged-handle@apply"] {
        let ended = apply(&manifest(behaviour));
        assert_eq!(ended.it().outcome, Outcome::Failed, "{behaviour}: {:?}", ended.it());
        ended.assert_nothing_changed();
        ended.assert_others_converge();
    }
}

#[test]
fn what_it_stages_and_forgets_is_cleaned_up() {
    let ended = apply(&manifest("stage-only@apply"));
    assert!(ended.after.staged().is_empty(), "{:?}", ended.after);
    assert_eq!(ended.it().outcome, Outcome::Failed, "it is not there, so it did not converge: {:?}", ended.it());
    ended.assert_others_converge();
}

#[test]
fn a_link_out_of_its_folder_leads_nowhere() {
    let scene = scene();
    std::os::unix::fs::symlink("/srv/secret", scene.node("/srv/scratch/way_out")).unwrap();
    scene.compile("site", &manifest_with("/srv/scratch/way_out/new", "/srv/scratch/neighbour", "claim-success@compile", ""));
    let report = scene.apply("site");
    let failure = of(&report, "hostile.it").failure.clone().unwrap();
    assert_eq!(of(&report, "hostile.it").outcome, Outcome::Refused, "{failure:?}");
    assert!(!scene.node("/srv/secret/new").exists());
}

#[test]
fn that_nothing_was_changed_is_not_believed_if_something_was() {
    let ended = apply(&manifest("deny-change@apply"));
    assert_eq!((ended.it().outcome, ended.failure().effect), (Outcome::Failed, EffectClass::PartialChangeUnknown));
    let open = ended.scene.ledger();
    assert_eq!(open.open().len(), 1, "it stays open, whatever the module says: {open:?}");
    assert_eq!(exit_code(&ended.scene.apply("site"), false), 0, "the next run asks the module to make it safe");
    ended.scene.ledger().assert_settled();
}

#[test]
fn a_change_that_did_not_take_is_a_failure_and_the_next_run_recovers() {
    let ended = apply(&manifest("never-converge@verify"));
    let failure = ended.failure();
    assert_eq!((ended.it().outcome, failure.phase, exit_code(&ended.report, true)), (Outcome::Failed, Phase::Verify, 1));
    assert!(failure.message.contains("still differs in path: nothing is there yet"), "{failure:?}");
    assert_eq!(ended.scene.ledger().open().len(), 1);
    let report = ended.scene.apply("site");
    assert_eq!((of(&report, "hostile.it").outcome, exit_code(&report, true)), (Outcome::Unchanged, 0));
    let ledger = ended.scene.ledger();
    ledger.assert_settled();
    assert!(ledger.intents.iter().any(|intent| intent.status == "recovered"), "{ledger:?}");
}
