//! `parents`: the folders on the way that are missing, made by the resource that needs them and held by none.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use runtime::model::report::{Outcome, ResourceReport};
use testkit::Scene;
use testkit::scene::{assert_all, exit_code, of};

fn file(name: &str, path: &str) -> String {
    format!("resource \"file\" \"{name}\" {{\n  path    = \"{path}\"\n  content = \"{name}\\n\"\n  parents = true\n}}\n")
}

fn folder(name: &str, path: &str, mode: &str) -> String {
    format!("resource \"file\" \"{name}\" {{\n  path   = \"{path}\"\n  ensure = \"directory\"\n  mode   = \"{mode}\"\n}}\n")
}

fn made(resource: &ResourceReport) -> Vec<String> {
    let changes = resource.changes.iter().filter(|change| change.attribute == "parents");
    changes.map(|change| change.after.as_ref().unwrap().to_string()).collect()
}

fn mode(scene: &Scene, path: &str) -> (u32, u32, u32) {
    let metadata = fs::metadata(scene.node(path)).unwrap();
    (metadata.permissions().mode() & 0o7777, metadata.uid(), metadata.gid())
}

#[test]
fn each_missing_folder_is_told_made_and_then_left_alone() {
    let scene = Scene::new();
    scene.compile("site", &file("page", "/srv/site/pages/index"));
    let before = scene.exact();
    let plan = scene.noop("site");
    assert_eq!(made(of(&plan, "file.page")), [r#""/srv/site""#, r#""/srv/site/pages""#]);
    assert_eq!(scene.exact(), before);
    let report = scene.apply("site");
    assert_all(&report, Outcome::Changed);
    assert_eq!(made(of(&report, "file.page")), made(of(&plan, "file.page")));
    assert_eq!(scene.read("/srv/site/pages/index"), "page\n");
    assert_eq!((mode(&scene, "/srv/site"), mode(&scene, "/srv/site/pages")), ((0o755, 0, 0), (0o755, 0, 0)));
    fs::set_permissions(scene.node("/srv/site"), fs::Permissions::from_mode(0o711)).unwrap();
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    assert_eq!(mode(&scene, "/srv/site").0, 0o711);
    scene.ledger().assert_settled();
}

#[test]
fn a_chain_that_a_lost_run_left_half_made_is_gone_on_with() {
    let scene = Scene::new();
    fs::create_dir(scene.node("/srv/site")).unwrap();
    scene.compile("site", &file("page", "/srv/site/pages/index"));
    let report = scene.apply("site");
    assert_eq!(made(of(&report, "file.page")), [r#""/srv/site/pages""#]);
    assert_eq!(scene.read("/srv/site/pages/index"), "page\n");
}

#[test]
fn many_may_need_one_folder_and_another_manifest_may_have_it() {
    let scene = Scene::new();
    let names: Vec<String> = (0..12).map(|number| format!("page{number}")).collect();
    let site: String = names.iter().map(|name| file(name, &format!("/srv/site/pages/{name}/index"))).collect();
    scene.compile("site", &site);
    let report = scene.apply("site");
    assert_all(&report, Outcome::Changed);
    for name in &names {
        assert_eq!(scene.read(&format!("/srv/site/pages/{name}/index")), format!("{name}\n"));
    }
    scene.compile("other", &folder("site", "/srv/site", "0750"));
    assert_all(&scene.apply("other"), Outcome::Changed);
    assert_eq!(mode(&scene, "/srv/site").0, 0o750);
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn a_declared_folder_on_the_way_goes_first_and_keeps_its_mode() {
    let scene = Scene::new();
    let site = file("a_page", "/srv/site/pages/index") + &folder("z_site", "/srv/site", "0700");
    scene.compile("site", &site);
    let report = scene.apply("site");
    assert_all(&report, Outcome::Changed);
    assert_eq!(made(of(&report, "file.a_page")), [r#""/srv/site/pages""#], "the folder was there by then");
    assert_eq!(mode(&scene, "/srv/site").0, 0o700);
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn a_folder_and_a_link_can_have_their_parents_made_too() {
    let scene = Scene::new();
    let directory = "resource \"file\" \"d\" {\n  path = \"/srv/a/b\"\n  ensure = \"directory\"\n  parents = true\n}\n";
    let link =
        "resource \"file\" \"l\" {\n  path = \"/srv/c/l\"\n  ensure = \"symlink\"\n  target = \"x\"\n  parents = true\n}\n";
    scene.compile("site", &(directory.to_owned() + link));
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert!(scene.node("/srv/a/b").is_dir() && scene.node("/srv/c/l").is_symlink());
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn what_is_no_folder_on_the_way_ends_it_before_anything_is_made() {
    let scene = Scene::new();
    scene.write("root/srv/site", "a file\n");
    scene.compile("site", &file("page", "/srv/site/pages/index"));
    let report = scene.apply("site");
    let failure = of(&report, "file.page").failure.clone().unwrap();
    assert_eq!(failure.message, "a file is on the way, where a folder is needed");
    assert_eq!((exit_code(&report, false), scene.read("/srv/site")), (1, "a file\n".into()));
}

#[test]
fn what_the_policy_denies_on_the_way_refuses_the_bundle() {
    let mut scene = Scene::new();
    scene.compile("site", &file("page", "/srv/site/pages/index"));
    scene.set_policy("module \"file\" {\n  files {\n    deny = [\"/srv/site\"]\n  }\n}\n");
    let error = scene.try_noop("site").expect_err("the folder is not to be made");
    assert_eq!(testkit::scene::error_code(&error), 4, "{error}");
    assert!(!scene.node("/srv/site").exists());
}

#[test]
fn a_folder_that_another_resource_removes_is_not_to_be_made() {
    let scene = Scene::new();
    let gone = "resource \"file\" \"gone\" {\n  path   = \"/srv/site\"\n  ensure = \"absent\"\n}\n";
    let error =
        scene.try_compile("site", &(file("page", "/srv/site/pages/index") + gone)).expect_err("they contradict each other");
    let told = testkit::scene::tell(&error);
    assert!(told.contains("`file.gone` removes a folder that this resource would make"), "{told}");
}
