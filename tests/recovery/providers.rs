//! An operation that a provider was at when the run was lost: its type asks the provider to make going on safe.

use runtime::model::report::Outcome;
use testkit::scene::{exit_code, of};
use testkit::{Scene, guests};

use crate::lost_run::killed_at;

fn lost(resume: bool) -> Scene {
    let mut scene = Scene::new().with_module("gadget", guests::GADGET).with_module("gadget_shelf", guests::GADGET_SHELF);
    let digest = |component: &[u8]| runtime::model::digest::ComponentDigest::of(component);
    let row = |name: &str, component| {
        let files = "files {\n    read  = [\"/srv/*\"]\n    write = [\"/srv/*\"]\n  }";
        format!("module \"{name}\" {{\n  digest = \"{}\"\n  {files}\n}}\n", digest(component))
    };
    scene.set_policy(&(row("gadget", guests::GADGET) + &row("gadget_shelf", guests::GADGET_SHELF)));
    let text = format!(
        "resource \"gadget\" \"it\" {{\n  path = \"/srv/it\"\n  text = \"words\"\n  shelf {{\n    resume = {resume}\n    label = \"l\"\n  }}\n}}\n"
    );
    scene.compile("site", &text);
    let mut moment = 5;
    loop {
        killed_at(&scene, "site", moment);
        if !scene.ledger().open().is_empty() {
            return scene;
        }
        moment += 1;
        assert!(moment < 40, "there is no intent of it: {:?}", scene.ledger());
    }
}

#[test]
fn a_provider_that_can_go_on_is_asked_and_the_resource_converges() {
    let scene = lost(true);
    let report = scene.apply("site");
    assert_eq!((of(&report, "gadget.it").outcome, exit_code(&report, true)), (Outcome::Changed, 2), "{report:?}");
    assert_eq!((scene.read("/srv/it"), scene.read("/srv/it.label")), ("words".to_owned(), "l".to_owned()));
    scene.ledger().assert_settled();
}

#[test]
fn a_provider_that_cannot_leaves_it_to_a_person() {
    let scene = lost(false);
    let report = scene.apply("site");
    let it = of(&report, "gadget.it");
    assert_eq!((it.outcome, exit_code(&report, true)), (Outcome::Unresolved, 5));
    assert!(it.reason.as_deref().unwrap().contains("the shelf may be in any state"), "{it:?}");
    assert_eq!(scene.ledger().open().len(), 1);
}

#[test]
fn without_the_provider_at_hand_it_stays_open() {
    let mut scene = lost(true);
    let rows = scene.policy().unwrap().to_owned();
    scene.set_policy(rows.split_once("module \"gadget_shelf\"").unwrap().0);
    let report = scene.apply("site");
    let it = of(&report, "gadget.it");
    assert_eq!(it.outcome, Outcome::Unresolved);
    assert!(it.reason.as_deref().unwrap().contains("the provider `shelf` of `gadget`"), "{it:?}");
    scene.set_policy(&rows);
    assert_eq!(of(&scene.apply("site"), "gadget.it").outcome, Outcome::Changed);
}
