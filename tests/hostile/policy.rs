//! What the node's owner has not allowed does not run, and the refusal says what would allow it.

use testkit::scene::{assert_all, error_code, tell};
use testkit::{Scene, guests};

use crate::stage::{manifest, manifest_with, policy, scene};

#[test]
fn without_a_row_it_is_refused_and_the_row_that_is_printed_makes_it_work() {
    let mut scene = Scene::new().with_module("hostile", guests::HOSTILE);
    std::fs::create_dir(scene.node("/srv/scratch")).unwrap();
    scene.compile("site", &manifest("claim-success@compile"));
    let before = scene.exact();
    let error = scene.try_apply("site").unwrap_err();
    let told = tell(&error);
    assert_eq!(error_code(&error), 4, "{told}");
    assert!(told.contains("no policy row allows the module `hostile`"), "{told}");
    assert_eq!(scene.exact(), before);
    scene.allow_as_told("site");
    assert_all(&scene.apply("site"), runtime::model::report::Outcome::Changed);
    assert_eq!(scene.read("/srv/scratch/it"), "written by the hostile guest\n");
}

#[test]
fn a_row_that_grants_too_little_is_refused_and_what_is_missing_is_printed() {
    let mut scene = scene();
    std::fs::create_dir(scene.node("/srv/elsewhere")).unwrap();
    scene.compile("site", &manifest_with("/srv/elsewhere/it", "/srv/secret/kept", "claim-success@compile", ""));
    let error = scene.try_apply("site").unwrap_err();
    assert!(error_code(&error) == 4 && tell(&error).contains("/srv/elsewhere/it"), "{}", tell(&error));
    scene.allow_as_told("site");
    assert_all(&scene.apply("site"), runtime::model::report::Outcome::Changed);
}

#[test]
fn a_row_for_another_version_is_none() {
    let mut scene = scene();
    let digest = runtime::model::digest::ComponentDigest::of(guests::HOSTILE).to_string();
    scene.set_policy(&policy().replace(&digest, &format!("sha256:{}", "00".repeat(32))));
    scene.compile("site", &manifest("claim-success@compile"));
    let error = scene.try_apply("site").unwrap_err();
    assert!(error_code(&error) == 4 && tell(&error).contains("has a row for another version of it"), "{}", tell(&error));
}

#[test]
fn a_claim_outside_the_grant_is_refused_at_receipt() {
    let scene = scene();
    scene.compile("site", &manifest("claim-other@identity"));
    let before = scene.exact();
    let error = scene.try_apply("site").unwrap_err();
    assert!(error_code(&error) == 4 && tell(&error).contains("/srv/secret/kept"), "{}", tell(&error));
    assert_eq!(scene.exact(), before);
}

#[test]
fn what_can_never_be_granted_is_not_offered() {
    let scene = scene();
    scene.compile("site", &manifest_with("/proc/it", "/srv/secret/kept", "claim-success@compile", ""));
    let error = scene.try_apply("site").unwrap_err();
    let told = tell(&error);
    assert!(error_code(&error) == 4 && told.contains("can never be granted") && !told.contains("hint"), "{told}");
}

#[test]
fn the_state_of_the_program_is_out_of_reach_of_everyone() {
    let scene = Scene::new();
    let mut request = scene.request("site", runtime::model::report::RunMode::Apply);
    request.state_dir = scene.node("/var/lib/runtime");
    std::fs::create_dir_all(scene.node("/var/lib")).unwrap();
    scene.compile("site", "resource \"file\" \"a\" {\n  path = \"/var/lib/runtime/state.db\"\n  ensure = \"absent\"\n}\n");
    let report = testkit::scene::apply(&request, &testkit::scene::Recorder::default()).unwrap();
    assert_all(&report, runtime::model::report::Outcome::Refused);
    assert!(request.state_dir.join("state.db").exists());
}
