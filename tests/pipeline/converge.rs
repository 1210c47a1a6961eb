//! An apply brings about what is declared; a second one finds nothing to do.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use runtime::model::report::{Action, Outcome, RunMode};
use testkit::Scene;
use testkit::scene::{Recorder, assert_all, exit_code, of, outcomes};

/// One of each: a file made, one changed, one replaced in kind, a directory, a link, one removed, one left.
const EVERYTHING: &str = r#"
resource "file" "folder" {
  path   = "/srv/site"
  ensure = "directory"
  mode   = "0750"
  owner  = 12
  group  = "web"
}

resource "file" "made" {
  path    = "${file.folder.path}/made"
  content = "made\n"
  owner   = "web"
  group   = 34
  mode    = "u=rw,g=r,o="
}

resource "file" "changed" {
  path    = "/srv/changed"
  content = "new\n"
}

resource "file" "mode_alone" {
  path = "/srv/mode_alone"
  mode = "0600"
}

resource "file" "link" {
  path   = "${file.folder.path}/link"
  ensure = "symlink"
  target = "made"
}

resource "file" "gone" {
  path   = "/srv/gone"
  ensure = "absent"
}

resource "file" "forced" {
  path    = "/srv/forced"
  content = "a file now\n"
  force   = true
}

resource "file" "right" {
  path    = "/srv/right"
  content = "right\n"
}
"#;

/// The node that the manifest above meets.
fn scene() -> Scene {
    let scene = Scene::new();
    scene.write("root/srv/changed", "old\n");
    scene.write("root/srv/mode_alone", "left as it is\n");
    scene.write("root/srv/gone", "");
    scene.write("root/srv/right", "right\n");
    fs::create_dir_all(scene.node("/srv/forced/with/things")).unwrap();
    scene.compile("site", EVERYTHING);
    scene
}

fn facts_of(scene: &Scene, path: &str) -> (u32, u32, u32) {
    let metadata = fs::symlink_metadata(scene.node(path)).unwrap();
    (metadata.mode() & 0o7777, metadata.uid(), metadata.gid())
}

#[test]
fn what_is_declared_is_what_is_there() {
    let scene = scene();
    fs::set_permissions(scene.node("/srv/changed"), fs::Permissions::from_mode(0o640)).unwrap();
    let report = scene.apply("site");
    let actions: Vec<Action> = ["folder", "made", "changed", "mode_alone", "link", "gone", "forced", "right"]
        .iter()
        .map(|name| of(&report, &format!("file.{name}")).action)
        .collect();
    use Action::{Create, Delete, Replace, Unchanged, Update};
    assert_eq!(actions, [Create, Create, Update, Update, Create, Delete, Replace, Unchanged], "{report:?}");
    assert_eq!(facts_of(&scene, "/srv/site"), (0o750, 12, 33));
    assert_eq!((scene.read("/srv/site/made"), facts_of(&scene, "/srv/site/made")), ("made\n".into(), (0o640, 33, 34)));
    assert_eq!((scene.read("/srv/changed"), facts_of(&scene, "/srv/changed")), ("new\n".into(), (0o640, 0, 0)));
    assert_eq!((scene.read("/srv/mode_alone"), facts_of(&scene, "/srv/mode_alone").0), ("left as it is\n".into(), 0o600));
    assert_eq!(fs::read_link(scene.node("/srv/site/link")).unwrap().to_str(), Some("made"));
    assert!(fs::symlink_metadata(scene.node("/srv/gone")).is_err());
    assert_eq!(scene.read("/srv/forced"), "a file now\n");
    assert_eq!((exit_code(&report, false), exit_code(&report, true)), (0, 2));
    let ledger = scene.ledger();
    ledger.assert_settled();
    assert_eq!(ledger.intents.len(), 7, "one intent for each change, none for what was right: {ledger:?}");
    assert_eq!(ledger.endings, [Some("converged".to_owned())]);
    assert_eq!(scene.state().staged(), [] as [&std::path::Path; 0]);
}

#[test]
fn a_second_apply_writes_nothing_on_the_node() {
    let scene = scene();
    let _ = scene.apply("site");
    let before = scene.exact();
    let report = scene.apply("site");
    assert_all(&report, Outcome::Unchanged);
    assert!(report.resources.iter().all(|resource| resource.changes.is_empty() && !resource.drift), "{report:?}");
    assert_eq!(exit_code(&report, true), 0);
    assert_eq!(scene.exact(), before, "not a time, not an inode");
    assert_eq!(scene.ledger().intents.len(), 7, "no intent without a change");
}

#[test]
fn how_many_at_once_makes_no_difference() {
    let ends: Vec<_> = [1, 16]
        .into_iter()
        .map(|parallelism| {
            let scene = scene();
            let mut request = scene.request("site", RunMode::Apply);
            request.parallelism = parallelism;
            let report = testkit::scene::apply(&request, &Recorder::default()).unwrap();
            (scene.state(), outcomes(&report), scene.ledger().claims)
        })
        .collect();
    assert!(ends[0].0.differences(&ends[1].0).is_empty(), "{:?}", ends[0].0.differences(&ends[1].0));
    assert_eq!((&ends[0].1, &ends[0].2), (&ends[1].1, &ends[1].2));
}

#[test]
fn a_hard_link_keeps_the_old_content() {
    let scene = scene();
    fs::hard_link(scene.node("/srv/changed"), scene.node("/srv/other_name")).unwrap();
    let _ = scene.apply("site");
    assert_eq!((scene.read("/srv/changed"), scene.read("/srv/other_name")), ("new\n".into(), "old\n".into()));
}

#[test]
fn a_directory_is_not_removed_without_a_word() {
    let scene = Scene::new();
    fs::create_dir(scene.node("/srv/full")).unwrap();
    scene.write("root/srv/full/kept", "");
    scene.compile("site", "resource \"file\" \"full\" {\n  path = \"/srv/full\"\n  ensure = \"absent\"\n}\n");
    let before = scene.state();
    let report = scene.apply("site");
    let failure = of(&report, "file.full").failure.clone().unwrap();
    assert_eq!((failure.message.as_str(), failure.attribute.as_deref()), ("the directory is not empty", Some("force")));
    assert_eq!((exit_code(&report, false), scene.state()), (1, before));
    scene.ledger().assert_settled();
}

#[test]
fn an_unknown_account_is_told_and_nothing_is_made() {
    let scene = Scene::new();
    scene.compile("site", "resource \"file\" \"a\" {\n  path = \"/srv/a\"\n  owner = \"nobody_here\"\n}\n");
    let report = scene.apply("site");
    let failure = of(&report, "file.a").failure.clone().unwrap();
    assert_eq!(failure.message, "this node has no user of the name in `owner`");
    assert!(!scene.node("/srv/a").exists());
}

/// A path that not even root can follow: a link in it leads in a circle.
#[test]
fn what_cannot_be_looked_at_is_not_absent() {
    let scene = Scene::new();
    symlink("loop", scene.node("/srv/loop")).unwrap();
    let absent = "resource \"file\" \"a\" {\n  path = \"/srv/loop/a\"\n  ensure = \"absent\"\n}\n";
    scene.compile("site", absent);
    let report = scene.apply("site");
    assert_eq!(of(&report, "file.a").outcome, Outcome::Failed, "{report:?}");
}

/// Root may look everywhere, so this run is another user's, who need not be able to reach the folder of the build.
#[test]
fn permission_denied_is_not_absence() {
    let scene = Scene::new();
    let program = scene.path("runtime");
    fs::copy(env!("CARGO_BIN_EXE_runtime"), &program).expect("there is room for a copy of the program");
    let user = 65_534;
    fs::create_dir(scene.node("/srv/closed")).unwrap();
    scene.write("root/srv/closed/kept", "kept\n");
    let absent = "resource \"file\" \"a\" {\n  path = \"/srv/closed/kept\"\n  ensure = \"absent\"\n}\n";
    scene.compile("site", absent);
    fs::set_permissions(scene.node("/srv/closed"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(scene.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(scene.path("state")).unwrap();
    chown(scene.path("state"), Some(user), Some(user)).unwrap();
    for verb in ["plan", "apply"] {
        let mut command = Command::new(&program);
        command.env_clear().env("TMPDIR", "/tmp").uid(user).gid(user).arg(verb).arg(scene.bundle("site"));
        command.arg("--root").arg(scene.path("root")).arg("--state-dir").arg(scene.path("state"));
        let output = command.output().expect("a folder for temporary files can be reached by every user");
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{verb}: {told}");
        assert!(told.to_lowercase().contains("permission denied"), "{verb}: {told}");
    }
    assert_eq!(scene.read("/srv/closed/kept"), "kept\n");
}
