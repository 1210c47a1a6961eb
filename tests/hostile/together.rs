//! A whole run in which every function of the contract is attacked at once, each by a resource of its own, with one of good will among them.

use std::fmt::Write as _;

use runtime::model::digest::ComponentDigest;
use runtime::model::report::Outcome;
use testkit::scene::of;
use testkit::{Scene, guests};

use crate::calls;

/// A resource for the calls that are answered, and one for each that ends its guest.
fn notes() -> Vec<String> {
    let mut notes = Vec::new();
    for (function, tried) in calls::table() {
        let attacks = &tried[&("apply".to_owned(), false)];
        // What waits for its deadline is tried elsewhere.
        let attacks = attacks.iter().filter(|attack| attack.kind != "for-ever");
        let (ending, answered): (Vec<_>, Vec<_>) = attacks.partition(|attack| attack.case == "ends");
        let line = |attack: &&calls::Attack| format!("{function} {}", attack.kind);
        notes.push(answered.iter().map(line).collect::<Vec<_>>().join("\\n"));
        notes.extend(ending.iter().map(line));
    }
    notes
}

fn manifest(notes: &[String], behaviour: &str) -> String {
    let mut text = String::new();
    for (number, note) in notes.iter().enumerate() {
        write!(
            text,
            r#"
resource "hostile" "it{number}" {{
  path  = "/srv/x/{number}/it"
  other = "/srv/secret/kept"
  note  = "{note}"
  {behaviour}
  meta {{ timeout = "120s" }}
}}
"#
        )
        .unwrap();
    }
    text + "\nresource \"file\" \"apart\" {\n  path    = \"/srv/apart\"\n  content = \"apart\\n\"\n}\n"
}

#[test]
fn whatever_all_try_the_journal_is_sound_and_the_rest_converges() {
    let mut scene = Scene::new().with_module("hostile", guests::HOSTILE);
    let digest = ComponentDigest::of(guests::HOSTILE);
    let files = "files {\n    read  = [\"/srv/x/**\"]\n    write = [\"/srv/x/**\"]\n  }\n  limits { memory = \"192MiB\" }";
    scene.set_policy(&format!("module \"hostile\" {{\n  digest = \"{digest}\"\n  {files}\n}}\n"));
    let notes = notes();
    assert!(notes.len() > 100, "{} resources", notes.len());
    for number in 0..notes.len() {
        std::fs::create_dir_all(scene.node(&format!("/srv/x/{number}"))).unwrap();
    }
    std::fs::create_dir(scene.node("/srv/secret")).unwrap();
    scene.write("root/srv/secret/kept", "secret\n");
    scene.compile("site", &manifest(&notes, "behaviour = \"call@apply\""));
    let before = scene.exact();
    let report = scene.apply("site");
    let after = scene.exact();
    let outside: Vec<_> = before.differences(&after).into_iter().filter(|path| !path.starts_with("srv/x")).collect();
    let expected: Vec<&std::path::Path> = ["srv", "srv/apart"].map(std::path::Path::new).into();
    assert_eq!(outside, expected, "nothing outside of the grant but what the other resource is for");
    assert_eq!(of(&report, "file.apart").outcome, Outcome::Changed, "{report:?}");
    assert_eq!(scene.read("/srv/apart"), "apart\n");
    assert!(after.staged().is_empty(), "{:?}", after.staged());
    for (number, note) in notes.iter().enumerate() {
        let it = of(&report, &format!("hostile.it{number}"));
        let is_ended = !note.contains("\\n")
            && ["huge", "huge-inline", "closed", "forged"].iter().any(|kind| note.ends_with(&format!(" {kind}")));
        if is_ended {
            assert_eq!(it.outcome, Outcome::Failed, "{note}: {it:?}");
        } else {
            assert!(it.failure.is_some() || it.log.iter().any(|line| line.contains(": ")), "{note}: {it:?}");
        }
    }
    // Whatever is left open, a run in which they behave settles.
    scene.compile("site", &manifest(&notes, ""));
    let report = scene.apply("site");
    let bad = |outcome| !matches!(outcome, Outcome::Changed | Outcome::Unchanged);
    let failed: Vec<_> = report.resources.iter().filter(|it| bad(it.outcome)).collect();
    assert!(failed.is_empty(), "{failed:?}");
    scene.ledger().assert_settled();
}
