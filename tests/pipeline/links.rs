//! A symbolic link at the path of a file or a folder: refused, replaced, or followed to where the manifest lists.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown, symlink};
use std::sync::Arc;

use runtime::journal::{Entry, Event, IntentEvent, Moment, Observer};
use runtime::model::report::{Outcome, Report, RunMode};
use runtime::run;
use testkit::Scene;
use testkit::scene::{Recorder, assert_all, error_code, of};

/// A file with `more` attributes.
fn motd(more: &str) -> String {
    format!("resource \"file\" \"motd\" {{\n  path    = \"/srv/motd\"\n  content = \"new\\n\"\n  mode    = \"0640\"\n{more}}}\n")
}

/// One that follows a link at its path to these places.
fn following(places: &str) -> String {
    motd(&format!("  links    = \"follow\"\n  leads_to = [{places}]\n"))
}

/// A node whose `/srv/motd` is a link to `/srv/real`.
fn scene(manifest: &str) -> Scene {
    let scene = Scene::new();
    scene.write("root/srv/real", "old\n");
    scene.write("root/srv/other", "other\n");
    symlink("real", scene.node("/srv/motd")).unwrap();
    scene.compile("site", manifest);
    scene
}

fn failure(report: &Report) -> String {
    let failure = of(report, "file.motd").failure.clone().expect("it fails");
    format!("{}; {}", failure.message, failure.hint.unwrap_or_default())
}

fn assert_untouched(scene: &Scene) {
    assert_eq!((scene.read("/srv/real"), scene.read("/srv/other")), ("old\n".into(), "other\n".into()));
    assert_eq!(fs::read_dir(scene.node("/srv")).unwrap().count(), 3, "nothing is left beside them");
}

#[test]
fn a_link_where_something_else_is_wanted_is_an_error_that_names_both_ways_out() {
    let folder = "resource \"file\" \"motd\" {\n  path   = \"/srv/motd\"\n  ensure = \"directory\"\n}\n";
    for (manifest, wanted) in [(motd(""), "file"), (folder.to_owned(), "directory")] {
        let scene = scene(&manifest);
        let told = failure(&scene.apply("site"));
        let way = "set `links = \"replace\"` to put it in the link's place, or `links = \"follow\"` to manage what it leads to";
        assert_eq!(told, format!("a symlink is at the path, where a {wanted} is wanted; {way}"));
        assert_untouched(&scene);
    }
}

#[test]
fn a_link_is_replaced_by_what_is_wanted_and_what_it_led_to_stays() {
    let scene = scene(&motd("  links   = \"replace\"\n"));
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert!(fs::symlink_metadata(scene.node("/srv/motd")).unwrap().is_file());
    assert_eq!((scene.read("/srv/motd"), scene.read("/srv/real")), ("new\n".into(), "old\n".into()));
    assert_all(&scene.apply("site"), Outcome::Unchanged);

    let folder = "resource \"file\" \"motd\" {\n  path   = \"/srv/motd\"\n  ensure = \"directory\"\n  links  = \"replace\"\n}\n";
    let scene = self::scene(folder);
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert!(fs::symlink_metadata(scene.node("/srv/motd")).unwrap().is_dir());
    assert_eq!(scene.read("/srv/real"), "old\n");

    let other_kind = motd("  links   = \"replace\"\n");
    let scene = Scene::new();
    fs::create_dir(scene.node("/srv/motd")).unwrap();
    scene.compile("site", &other_kind);
    assert!(failure(&scene.apply("site")).contains("set `force = true`"), "only links were spoken of");
}

#[test]
fn what_a_link_leads_to_is_managed_and_the_link_stays() {
    let scene = scene(&following("\"/srv/elsewhere\", \"/srv/real\""));
    let plan = scene.noop("site");
    let content = of(&plan, "file.motd").changes.iter().find(|change| change.attribute == "content").unwrap();
    assert_eq!(content.reason, "the content differs; it is at `/srv/real`, where the link at the path leads");
    assert!(content.diff.as_deref().unwrap().contains("-old"), "{content:?}");
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(fs::read_link(scene.node("/srv/motd")).unwrap().to_str(), Some("real"));
    assert_eq!(scene.read("/srv/real"), "new\n");
    assert_eq!(fs::metadata(scene.node("/srv/real")).unwrap().permissions().mode() & 0o7777, 0o640);
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    scene.ledger().assert_settled();
}

#[test]
fn without_a_link_the_path_itself_is_managed_and_a_dangling_one_is_filled() {
    let scene = Scene::new();
    scene.compile("site", &following("\"/srv/real\""));
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert!(fs::symlink_metadata(scene.node("/srv/motd")).unwrap().is_file() && !scene.node("/srv/real").exists());

    let scene = self::scene(&following("\"/srv/real\""));
    fs::remove_file(scene.node("/srv/real")).unwrap();
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!((scene.node("/srv/motd").is_symlink(), scene.read("/srv/real")), (true, "new\n".into()));
}

#[test]
fn what_is_replaced_where_a_link_leads_is_kept_there() {
    let scene = scene(&motd("  links    = \"follow\"\n  leads_to = [\"/srv/real\"]\n  backup   = 1\n"));
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(scene.read("/srv/real.~1~"), "old\n");
    assert!(!scene.node("/srv/motd.~1~").exists());
}

#[test]
fn a_link_that_leads_elsewhere_ends_it_before_anything_changes() {
    let scene = scene(&following("\"/srv/expected\""));
    let told = failure(&scene.apply("site"));
    assert!(told.starts_with("the link at the path leads to `/srv/real`, which `leads_to` does not list"), "{told}");
    assert_untouched(&scene);
    fs::remove_file(scene.node("/srv/motd")).unwrap();
    symlink("/etc/passwd", scene.node("/srv/motd")).unwrap();
    let before = scene.read("/etc/passwd");
    let told = failure(&scene.apply("site"));
    assert!(told.contains("leads to `/etc/passwd`"), "{told}");
    assert_eq!(scene.read("/etc/passwd"), before);
}

#[test]
fn a_link_that_others_could_have_put_there_is_not_followed() {
    let scene = scene(&following("\"/srv/real\""));
    lchown(scene.node("/srv/motd"), Some(1000), None).unwrap();
    let told = failure(&scene.apply("site"));
    assert!(told.contains("belongs to neither root nor this process's user"), "{told}");
    assert_untouched(&scene);
    lchown(scene.node("/srv/motd"), Some(0), None).unwrap();
    fs::set_permissions(scene.node("/srv"), fs::Permissions::from_mode(0o1777)).unwrap();
    let told = failure(&scene.apply("site"));
    assert!(told.contains("is in a directory that others can write"), "{told}");
    assert_untouched(&scene);
}

#[test]
fn where_a_link_leads_must_be_granted_too() {
    let mut scene = scene(&following("\"/srv/real\""));
    scene.set_policy("module \"file\" {\n  files {\n    deny = [\"/srv/real\"]\n  }\n}\n");
    assert_eq!(error_code(&scene.try_apply("site").unwrap_err()), 4);
    assert_untouched(&scene);
}

#[test]
fn where_a_link_may_lead_is_claimed() {
    let scene = scene(&following("\"/srv/real\""));
    let real = "resource \"file\" \"real\" {\n  path = \"/srv/real\"\n}\n";
    let told = testkit::scene::tell(&scene.try_compile("both", &(following("\"/srv/real\"") + real)).unwrap_err());
    assert!(told.contains("both manage the path"), "{told}");
    let _ = scene.apply("site");
    scene.compile("other", real);
    assert_eq!(error_code(&scene.try_apply("other").unwrap_err()), 4);
}

/// Applies, and turns the link to `target` once the intent is on disk.
fn apply_turned(scene: &Scene, target: &'static str) -> Report {
    let link = scene.node("/srv/motd");
    let watch: Observer = Arc::new(move |moment: Moment, entry: &Entry| {
        if moment == Moment::AfterDurable && entry.event == Event::Intent(IntentEvent::Intended) {
            fs::remove_file(&link).unwrap();
            symlink(target, &link).unwrap();
        }
    });
    run::apply_watched(&scene.request("site", RunMode::Apply), &Recorder::default(), Some(watch)).unwrap()
}

#[test]
fn a_link_that_is_turned_after_the_check_leads_no_change_astray() {
    let scene = scene(&following("\"/srv/real\""));
    let told = failure(&apply_turned(&scene, "/srv/other"));
    assert!(told.contains("leads to `/srv/other`, which `leads_to` does not list"), "{told}");
    assert_untouched(&scene);

    let scene = self::scene(&following("\"/srv/real\", \"/srv/other\""));
    let told = failure(&apply_turned(&scene, "/srv/other"));
    assert!(told.starts_with("the object was changed by something else after it was checked"), "{told}");
    assert_untouched(&scene);
}
