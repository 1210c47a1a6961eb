//! Recovery and what comes after it have one deadline.

use runtime::model::report::{Outcome, Phase};
use testkit::scene::{exit_code, of};
use testkit::{Scene, guests};

use crate::lost_run::killed_at;

/// Its recovery takes three seconds, which its type allows.
const SITE: &str = r#"
resource "hostile" "it" {
  path      = "/srv/it"
  other     = "/srv/other"
  behaviour = "dawdle@recover"
  meta { timeout = "2s" }
}
"#;

#[test]
fn what_recovery_took_is_taken_off_the_deadline() {
    let mut scene = Scene::new().with_module("hostile", guests::HOSTILE);
    scene.compile("site", SITE);
    scene.allow_as_told("site");
    let mut moment = 5;
    while moment == 5 || scene.ledger().open().is_empty() {
        killed_at(&scene, "site", moment);
        moment += 1;
        assert!(moment < 40, "there is no intent of it: {:?}", scene.ledger());
    }
    let report = scene.apply("site");
    let it = of(&report, "hostile.it");
    let failure = it.failure.as_ref().unwrap_or_else(|| panic!("its time was over: {it:?}"));
    assert_eq!((it.outcome, failure.phase), (Outcome::Failed, Phase::Check));
    assert!(failure.limit.is_some() || failure.message.contains("deadline"), "{failure:?}");
    scene.ledger().assert_settled();
    assert!(!scene.node("/srv/it").exists());
    assert_eq!(exit_code(&scene.apply("site"), true), 2, "the next run has all of it");
}
