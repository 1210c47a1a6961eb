//! Secrets that a node does not give out, and values that cannot be secret.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use runtime::model::report::Outcome;
use testkit::Scene;
use testkit::scene::{error_code, of, tell};

const ROW: &str = "secret \"token\" {\n  owners  = [\"site\"]\n  modules = [\"file\"]\n}\n";

/// Puts a secret into the folder of the scene, as the owner of a node would.
pub fn put_secret(scene: &Scene, name: &str, value: &str) {
    fs::create_dir_all(scene.path("secrets")).unwrap();
    fs::set_permissions(scene.path("secrets"), fs::Permissions::from_mode(0o700)).unwrap();
    scene.write(&format!("secrets/{name}"), value);
    fs::set_permissions(scene.path(&format!("secrets/{name}")), fs::Permissions::from_mode(0o600)).unwrap();
}

fn reads(attribute: &str) -> String {
    format!("resource \"file\" \"a\" {{\n  path = \"/srv/a\"\n  {attribute}\n}}\n")
}

#[test]
fn without_a_row_of_the_policy_no_secret_of_the_node_is_read_and_the_refusal_prints_the_row() {
    let mut scene = Scene::new();
    put_secret(&scene, "token", "Zq7#x");
    scene.compile("site", &reads("content = secret(\"token\")"));
    let error = scene.try_apply("site").unwrap_err();
    insta::assert_snapshot!(tell(&error), @r#"
    no policy row lets the manifest `site` use the secret `token` in resources of the type `file`
    hint: the owner of this node can allow it in the policy:
    secret "token" {
      owners  = ["site"]
      modules = ["file"]
    }
    "#);
    assert_eq!(error_code(&error), 4);
    assert!(!scene.node("/srv/a").exists());
    scene.allow_as_told("site");
    assert_eq!(of(&scene.apply("site"), "file.a").outcome, Outcome::Changed);
    assert_eq!(scene.read("/srv/a"), "Zq7#x");
}

#[test]
fn a_secret_that_is_missing_or_open_to_others_refuses_the_run_before_anything_changes() {
    let mut scene = Scene::new();
    scene.set_policy(ROW);
    let other = "resource \"file\" \"b\" {\n  path = \"/srv/b\"\n}\n";
    scene.compile("site", &(reads("content = secret(\"token\")") + other));
    let refused = |scene: &Scene, word: &str| {
        for error in [scene.try_noop("site").unwrap_err(), scene.try_apply("site").unwrap_err()] {
            assert!(error_code(&error) == 4 && tell(&error).contains(word), "{}", tell(&error));
            assert!(!scene.node("/srv/b").exists());
        }
    };
    refused(&scene, "this node has no secret `token`");
    put_secret(&scene, "token", "Zq7#x");
    fs::set_permissions(scene.path("secrets/token"), fs::Permissions::from_mode(0o644)).unwrap();
    refused(&scene, "hint: chmod go= ");
    put_secret(&scene, "token", "Zq7#x");
    assert_eq!(of(&scene.apply("site"), "file.b").outcome, Outcome::Changed);
}

#[test]
fn what_decides_about_a_resource_cannot_be_secret() {
    let scene = Scene::new();
    for (manifest, words) in [
        ("resource \"file\" \"a\" {\n  path = secret(\"token\")\n}\n", "`path` cannot wait for the node"),
        ("resource \"file\" \"a\" {\n  path = sensitive(\"/srv/a\")\n}\n", "`path` cannot be sensitive"),
        (&reads("source = sensitive(\"x\")"), "`source` cannot be sensitive"),
        (&reads("source = secret(\"token\")"), "`source` cannot wait for the node"),
        (
            &reads("meta {\n    control { if = secret(\"token\") == \"x\" }\n  }"),
            "a sensitive value cannot decide whether a resource is managed",
        ),
        (
            &reads("meta {\n    control { if = nonsensitive(secret(\"token\") == \"x\") }\n  }"),
            "a secret cannot decide whether a resource is managed",
        ),
        (&reads("content = secret(\"../token\")"), "is not a valid secret name"),
        (&reads("content = secret(facts.hostname)"), "the name of a secret must be known on the controller"),
    ] {
        let told = tell(&scene.try_compile("site", manifest).unwrap_err());
        assert!(told.contains(words), "{manifest}: {told}");
    }
    let told = tell(&scene.try_compile("site", "resource \"file\" \"a\" {\n  path = secret(\"t\")\n}\n").unwrap_err());
    assert!(told.contains("a secret can be content") && !told.contains("--target"), "{told}");
}

#[test]
fn a_file_resource_cannot_reach_the_secrets_of_the_node() {
    let mut scene = Scene::new();
    scene.set_policy(ROW);
    fs::create_dir_all(scene.node("/etc/runtime")).unwrap();
    put_secret(&scene, "token", "Zq7#x");
    fs::rename(scene.path("secrets"), scene.node("/etc/runtime/secrets")).unwrap();
    let manifest = "resource \"file\" \"a\" {\n  path    = \"/etc/runtime/secrets/token\"\n  content = \"mine\"\n}\n";
    scene.compile("site", manifest);
    let mut request = scene.request("site", runtime::model::report::RunMode::Apply);
    request.secrets_dir = scene.node("/etc/runtime/secrets");
    let report = testkit::scene::apply(&request, &testkit::scene::Recorder::default()).unwrap();
    assert_eq!(of(&report, "file.a").outcome, Outcome::Refused, "{report:?}");
    assert_eq!(scene.read("/etc/runtime/secrets/token"), "Zq7#x");
}

#[test]
fn nonsensitive_takes_the_mark_away_on_the_node_too() {
    let mut scene = Scene::new();
    scene.set_policy(ROW);
    put_secret(&scene, "token", "for all\n");
    scene.compile("site", &reads("content = nonsensitive(secret(\"token\"))"));
    let report = scene.apply("site");
    let change = of(&report, "file.a").changes.iter().find(|change| change.attribute == "content").unwrap();
    assert!(change.after.as_ref().unwrap().as_str().unwrap().starts_with("sha256:"), "{change:?}");
    assert_eq!(scene.read("/srv/a"), "for all");
}
