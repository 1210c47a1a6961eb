//! As root, a module that is granted `/srv/x/**` alone cannot change or read anything outside of it, while another process swaps folders beneath it for
//! links to the secret. `host-functions` has the same without a guest, a hundred thousand times; here it is a whole run.

use std::path::Path;

use runtime::model::digest::ComponentDigest;
use runtime::model::report::{Outcome, Report};
use rustix::fs::{AtFlags, CWD, Gid, Uid};
use testkit::machine::swapper::{Swapper, swap_if_told};
use testkit::scene::of;
use testkit::{Scene, guests};

/// The test below, which is the process that swaps.
const CHILD: &str = "races::the_process_that_swaps";

const CANARY: &str = "canary: nobody may see this";

/// Whom everything secret belongs to, and nothing else: to be told of it is to have seen the secret.
const SECRET_OWNER: u32 = 4_242;

/// Ten calls each.
const ROUNDS: u32 = 200;

#[test]
fn the_process_that_swaps() {
    swap_if_told();
}

/// A node with a folder to be used and a secret, and the same names in both. The links belong to `owner`.
fn scene(owner: u32) -> Scene {
    let mut scene = Scene::new().with_module("hostile", guests::HOSTILE);
    let digest = ComponentDigest::of(guests::HOSTILE);
    let files = "files {\n    read  = [\"/srv/x/**\"]\n    write = [\"/srv/x/**\"]\n  }";
    scene.set_policy(&format!("module \"hostile\" {{\n  digest = \"{digest}\"\n  {files}\n}}\n"));
    std::fs::create_dir_all(scene.node("/srv/secret/deep")).unwrap();
    for name in ["kept", "deep/kept"] {
        scene.write(&format!("root/srv/secret/{name}"), CANARY);
    }
    for name in ["", "kept", "deep", "deep/kept"] {
        std::os::unix::fs::chown(scene.node(&format!("/srv/secret/{name}")), Some(SECRET_OWNER), None).unwrap();
    }
    make_used(&scene);
    for (name, target) in [("swap", "/srv/secret"), ("a/out", "/srv/secret/deep")] {
        let link = scene.node(&format!("/srv/x/{name}"));
        rustix::fs::symlinkat(target, CWD, &link).unwrap();
        let ids = (Uid::from_raw(owner), Gid::from_raw(owner));
        rustix::fs::chownat(CWD, &link, Some(ids.0), Some(ids.1), AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
    scene
}

/// The folder that may be used, without anything that is not what it seems.
fn make_used(scene: &Scene) {
    std::fs::create_dir_all(scene.node("/srv/x/a/deep")).unwrap();
    scene.write("root/srv/x/a/deep/kept", "theirs");
}

fn manifest(behaviour: &str) -> String {
    format!(
        r#"
resource "hostile" "it" {{
  path  = "/srv/x/a/deep/kept"
  other = "/srv/secret/kept"
  {behaviour}
  meta {{ timeout = "300s" }}
}}
"#
    )
}

/// How often the calls of one name ended so, as the guest logged it.
fn count(report: &Report, name: &str, answer: &str) -> u32 {
    let begin = format!("{name} {answer}: ");
    let line = of(report, "hostile.it").log.iter().find_map(|line| line.strip_prefix(&begin));
    line.map_or(0, |count| count.parse().unwrap())
}

/// Whether any file beneath a folder has the secret in it. Links are not followed: they lead to it.
fn holds_secret(folder: &Path) -> bool {
    let holds = |path: &Path| std::fs::read(path).unwrap().windows(CANARY.len()).any(|part| part == CANARY.as_bytes());
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        let kind = std::fs::symlink_metadata(&path).unwrap();
        if kind.is_dir() { holds_secret(&path) } else { kind.is_file() && holds(&path) }
    })
}

fn storm(owner: u32, place: &str) {
    let scene = scene(owner);
    scene.compile("site", &manifest(&format!("behaviour = \"storm@{place}\"\n  note = \"{ROUNDS}\"")));
    let before = scene.exact();
    let swapper = Swapper::start(&scene.node("/srv/x"), CHILD);
    let report = scene.apply("site");
    drop(swapper);

    let after = scene.exact();
    let changed: Vec<_> = before.differences(&after).into_iter().filter(|path| !path.starts_with("srv/x")).collect();
    assert!(changed.is_empty(), "outside of the grant: {changed:?}, {report:?}");
    let told = format!("{report:?}");
    let it = of(&report, "hostile.it");
    assert!(!told.contains("canary") && !told.contains(&format!("owner: {SECRET_OWNER}")), "the secret was told: {told}");
    assert!(!holds_secret(&scene.path("state")), "the secret is on record");
    assert!(!holds_secret(&scene.node("/srv/x")), "the secret has come to where it can be read");

    let answers = ["done", "denied", "unsafe", "refused"];
    let calls: u32 =
        ["observe", "read", "stage", "validate", "commit", "set-attributes", "make-directory", "make-symlink", "remove"]
            .iter()
            .flat_map(|name| answers.map(|answer| count(&report, name, answer)))
            .sum();
    assert_eq!(calls, 9 * ROUNDS, "{it:?}");
    assert!(count(&report, "observe", "done") > 0, "{it:?}");
    let stopped = if owner == 0 { "denied" } else { "unsafe" };
    assert!(count(&report, "observe", stopped) > 0, "the race did not happen: {it:?}");
    assert_eq!(count(&report, "validate", "done"), 0, "no program is granted: {it:?}");
    let changes = ["commit", "set-attributes", "remove"].map(|name| count(&report, name, "done"));
    assert_eq!(changes.iter().any(|count| *count > 0), place == "apply", "{changes:?}, {it:?}");

    // Whatever it left open, a run without it settles.
    std::fs::remove_dir_all(scene.node("/srv/x")).unwrap();
    make_used(&scene);
    scene.compile("site", &manifest(""));
    let report = scene.apply("site");
    assert_eq!(of(&report, "hostile.it").outcome, Outcome::Unchanged, "{report:?}");
    scene.ledger().assert_settled();
}

#[test]
fn links_of_root_swapped_for_folders_lead_an_application_nowhere() {
    storm(0, "apply");
}

#[test]
fn links_of_others_swapped_for_folders_lead_an_application_nowhere() {
    storm(1_000, "apply");
}

#[test]
fn links_of_root_swapped_for_folders_lead_a_check_nowhere() {
    storm(0, "check");
}

#[test]
fn links_of_others_swapped_for_folders_lead_a_check_nowhere() {
    storm(1_000, "check");
}
