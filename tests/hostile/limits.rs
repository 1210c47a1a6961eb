//! Guests that would take all there is: they end at their limit, which is named, and the rest of the bundle converges.

use std::time::{Duration, Instant};

use runtime::model::report::{EffectClass, Outcome, Phase};
use testkit::scene::exit_code;

use crate::stage::{Ended, apply, manifest, manifest_with};

fn spin(place: &str, timeout: &str) -> Ended {
    let text = manifest_with("/srv/scratch/it", "/srv/secret/kept", &format!("spin@{place}"), "");
    apply(&text.replace("\"60s\"", &format!("{timeout:?}")))
}

#[test]
fn one_that_spins_ends_at_its_deadline() {
    let places = [
        ("inspect-safety", Phase::Inspect),
        ("composition-conflicts", Phase::Inspect),
        ("check", Phase::Check),
        ("apply", Phase::Apply),
        ("verify", Phase::Verify),
    ];
    for (place, phase) in places {
        let since = Instant::now();
        let ended = spin(place, "1s");
        assert!(since.elapsed() < Duration::from_secs(120), "{place}: it did end");
        let failure = ended.failure();
        assert_eq!((failure.module.as_str(), failure.phase), ("hostile", phase), "{place}: {failure:?}");
        assert_eq!(failure.limit.as_deref(), Some("deadline 1000ms"), "{place}: {failure:?}");
        assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("timeout")), "{place}: {failure:?}");
        assert_eq!((ended.it().outcome, exit_code(&ended.report, true)), (Outcome::Failed, 1), "{place}");
        ended.assert_others_converge();
    }
}

#[test]
fn one_that_spins_before_it_changed_anything_leaves_nothing_open() {
    let ended = spin("apply", "1s");
    assert_eq!(ended.failure().effect, EffectClass::BeforeChange);
    ended.assert_nothing_changed();
    ended.scene.ledger().assert_settled();
}

#[test]
fn one_that_spins_after_its_change_leaves_an_unknown_outcome_which_the_next_run_settles() {
    let ended = spin("verify", "1s");
    assert_eq!(ended.failure().effect, EffectClass::UnknownOutcome);
    assert_eq!(ended.scene.ledger().open().len(), 1);
    let report = ended.scene.apply("site");
    assert_eq!(exit_code(&report, true), 0, "the change was whole: {report:?}");
    ended.scene.ledger().assert_settled();
}

/// Two of one type. The second dawdles for three seconds whenever its type is asked for conflicts.
fn slow_composition(first: &str, second: &str) -> String {
    format!(
        r#"
resource "hostile" "it" {{
  path  = "/srv/scratch/it"
  other = "/srv/secret/kept"
  meta {{ timeout = "{first}" }}
}}

resource "hostile" "slow" {{
  path      = "/srv/scratch/neighbour"
  other     = "/srv/secret/kept"
  behaviour = "dawdle@composition-conflicts"
  meta {{ timeout = "{second}" }}
}}
"#
    )
}

#[test]
fn conflicts_are_told_under_the_longest_deadline_of_the_type_before_checks_and_before_a_change() {
    let scene = crate::stage::scene();
    scene.compile("site", &slow_composition("2s", "60s"));
    let since = Instant::now();
    let report = scene.apply("site");
    let it = testkit::scene::of(&report, "hostile.it");
    assert_eq!(it.outcome, Outcome::Changed, "its own deadline stands still meanwhile: {it:?}");
    assert_eq!(testkit::scene::of(&report, "hostile.slow").outcome, Outcome::Unchanged);
    assert!(since.elapsed() >= Duration::from_secs(6), "it was asked twice");
    scene.ledger().assert_settled();
}

#[test]
fn conflicts_that_take_longer_than_any_deadline_of_the_type_end_it() {
    let scene = crate::stage::scene();
    scene.compile("site", &slow_composition("1s", "2s"));
    let report = scene.apply("site");
    for id in ["hostile.it", "hostile.slow"] {
        let failure = testkit::scene::of(&report, id).failure.clone().unwrap();
        assert_eq!((failure.phase, failure.limit.as_deref()), (Phase::Inspect, Some("deadline 2000ms")), "{id}: {failure:?}");
    }
    assert!(!scene.node("/srv/scratch/it").exists());
}

#[test]
fn policy_may_shorten_the_deadline() {
    let mut scene = crate::stage::scene();
    scene.set_policy(&crate::stage::policy().replace("memory = \"32MiB\"", "deadline = \"500ms\""));
    scene.compile("site", &manifest("spin@check"));
    let report = scene.apply("site");
    let failure = testkit::scene::of(&report, "hostile.it").failure.clone().unwrap();
    assert_eq!(failure.limit.as_deref(), Some("deadline 500ms"));
}

#[test]
fn one_that_wants_all_memory_meets_its_limit() {
    for (place, phase) in [("inspect-safety", Phase::Inspect), ("check", Phase::Check), ("apply", Phase::Apply)] {
        let ended = apply(&manifest(&format!("allocate@{place}")));
        let failure = ended.failure();
        assert_eq!((failure.phase, failure.limit.as_deref()), (phase, Some("memory 33554432B")), "{place}: {failure:?}");
        assert!(failure.hint.as_deref().is_some_and(|hint| hint.contains("limits { memory }")), "{place}: {failure:?}");
        ended.assert_nothing_changed();
        ended.assert_others_converge();
        ended.scene.ledger().assert_settled();
    }
}

#[test]
fn one_that_recurses_without_end_ends_alone() {
    for (place, phase) in [("check", Phase::Check), ("apply", Phase::Apply)] {
        let ended = apply(&manifest(&format!("recurse@{place}")));
        let failure = ended.failure();
        assert_eq!(failure.phase, phase, "{place}: {failure:?}");
        // A guest keeps part of its stack in its own memory, and which end it reaches first is up to its compiler.
        let ends = ["its stack overflowed", "it trapped: wasm trap: out of bounds memory access"];
        assert!(ends.iter().any(|end| failure.message.ends_with(end)), "{place}: {failure:?}");
        ended.assert_nothing_changed();
        ended.assert_others_converge();
    }
}

#[test]
fn one_that_traps_ends_alone_and_is_named() {
    for (place, phase) in
        [("inspect-safety", Phase::Inspect), ("check", Phase::Check), ("apply", Phase::Apply), ("verify", Phase::Verify)]
    {
        let ended = apply(&manifest(&format!("trap@{place}")));
        let failure = ended.failure();
        assert_eq!((failure.phase, failure.limit.as_deref()), (phase, None), "{place}: {failure:?}");
        assert!(failure.message.contains("`hostile`") && failure.message.contains("trapped"), "{place}: {failure:?}");
        ended.assert_others_converge();
    }
}

#[test]
fn handles_and_log_are_bounded() {
    for behaviour in ["leak-handles@check", "flood-log@check", "leak-handles@apply", "flood-log@apply"] {
        let ended = apply(&manifest(behaviour));
        let log: usize = ended.it().log.iter().map(String::len).sum();
        assert!(log <= 64 << 10, "{behaviour}: {log} bytes");
        ended.assert_others_converge();
    }
}
