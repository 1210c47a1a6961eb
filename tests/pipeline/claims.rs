//! What one manifest manages, another one cannot have, unless both want the same.

use runtime::model::report::Outcome;
use testkit::Scene;
use testkit::scene::{assert_all, error_code, exit_code, tell};

fn file(name: &str, path: &str, content: &str) -> String {
    format!("resource \"file\" \"{name}\" {{\n  path = \"{path}\"\n  content = \"{content}\"\n}}\n")
}

#[test]
fn another_manifest_with_other_content_is_refused_and_both_are_named() {
    let scene = Scene::new();
    scene.compile("first", &file("a", "/srv/a", "first"));
    scene.compile("second", &(file("b", "/srv/a", "second") + &file("c", "/srv/c", "")));
    let _ = scene.apply("first");
    let (before, ledger) = (scene.exact(), scene.ledger());
    for error in [scene.try_noop("second").unwrap_err(), scene.try_apply("second").unwrap_err()] {
        let told = tell(&error);
        assert_eq!(error_code(&error), 4, "{told}");
        for word in ["`/srv/a`", "`file.b` of `second`", "`file.a` of `first`"] {
            assert!(told.contains(word), "{word} is missing: {told}");
        }
    }
    assert_eq!(scene.exact(), before, "nothing was touched, not even what nobody else has");
    assert_eq!((scene.ledger().claims, scene.ledger().intents), (ledger.claims, ledger.intents));
    assert_eq!(scene.ledger().endings.last(), Some(&Some("refused".to_owned())));
}

#[test]
fn the_same_content_is_shared() {
    let scene = Scene::new();
    scene.compile("first", &file("a", "/srv/a", "same"));
    scene.compile("second", &file("b", "/srv/a", "same"));
    let _ = scene.apply("first");
    assert_all(&scene.apply("second"), Outcome::Unchanged);
    let ledger = scene.ledger();
    assert_eq!((ledger.claims_of("first")["/srv/a"], ledger.claims_of("second")["/srv/a"]), ("file.a", "file.b"));
    scene.compile("first", &file("a", "/srv/a", "other"));
    assert_eq!(error_code(&scene.try_apply("first").unwrap_err()), 4, "a share binds both");
}

#[test]
fn a_tree_holds_all_that_is_beneath_it() {
    let scene = Scene::new();
    let tree = "resource \"file\" \"tree\" {\n  path = \"/srv/old\"\n  ensure = \"absent\"\n  force = true\n}\n";
    scene.compile("first", tree);
    scene.compile("second", &file("inside", "/srv/old/inside", "x"));
    let _ = scene.apply("first");
    assert_eq!(error_code(&scene.try_apply("second").unwrap_err()), 4);
}

#[test]
fn a_resource_that_is_removed_gives_its_object_free() {
    let scene = Scene::new();
    scene.compile("first", &(file("a", "/srv/a", "first") + &file("b", "/srv/b", "")));
    scene.compile("second", &file("mine", "/srv/a", "second"));
    let _ = scene.apply("first");
    scene.compile("first", &file("b", "/srv/b", ""));
    let _ = scene.apply("first");
    assert_eq!(scene.ledger().claims_of("first").into_keys().collect::<Vec<_>>(), ["/srv/b"]);
    assert_eq!(scene.read("/srv/a"), "first", "what is no longer managed stays as it is");
    assert_all(&scene.apply("second"), Outcome::Changed);
    assert_eq!(scene.read("/srv/a"), "second");
}

#[test]
fn a_failed_resource_keeps_its_claim() {
    let scene = Scene::new();
    scene.compile("first", &file("a", "/srv/missing/a", "first"));
    scene.compile("second", &file("a", "/srv/missing/a", "second"));
    assert_eq!(exit_code(&scene.apply("first"), false), 1);
    assert_eq!(error_code(&scene.try_apply("second").unwrap_err()), 4);
}

#[test]
fn a_skipped_resource_takes_no_claim_and_keeps_the_one_it_had() {
    let scene = Scene::new();
    let gated = |condition: &str| {
        let gate = format!("  meta {{\n    control {{\n      if = {condition}\n    }}\n  }}\n}}\n");
        file("a", "/srv/a", "first").trim_end().trim_end_matches('}').to_owned() + &gate
    };
    scene.compile("first", &gated("facts.os.id == \"other\""));
    assert_all(&scene.apply("first"), Outcome::Skipped);
    assert!(scene.ledger().claims.is_empty());
    scene.compile("first", &gated("facts.os.id == \"testos\""));
    assert_all(&scene.apply("first"), Outcome::Changed);
    scene.compile("first", &gated("facts.os.id == \"other\""));
    assert_all(&scene.apply("first"), Outcome::Skipped);
    assert_eq!(scene.ledger().claims_of("first").into_keys().collect::<Vec<_>>(), ["/srv/a"]);
}
