//! `backup`: what a file replaces is kept beside it, and its names belong to the resource.

use std::fs;

use runtime::model::report::Outcome;
use testkit::Scene;
use testkit::scene::{assert_all, of};

fn site(content: &str, more: &str) -> String {
    format!("resource \"file\" \"motd\" {{\n  path    = \"/srv/motd\"\n  content = \"{content}\"\n{more}}}\n")
}

fn names(scene: &Scene) -> Vec<String> {
    let entries = fs::read_dir(scene.node("/srv")).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn versions_are_kept_told_and_counted() {
    let scene = Scene::new();
    for version in 1..=4 {
        scene.compile("site", &site(&format!("{version}"), "  backup = 2\n"));
        let report = scene.apply("site");
        assert_all(&report, Outcome::Changed);
        if version > 1 {
            let changes = &of(&report, "file.motd").changes;
            assert_eq!(changes[0].reason, "the content differs, and what is replaced is kept");
        }
        assert_all(&scene.apply("site"), Outcome::Unchanged);
    }
    assert_eq!(names(&scene), ["motd", "motd.~1~", "motd.~2~"]);
    let read = |name: &str| scene.read(&format!("/srv/{name}"));
    assert_eq!((read("motd"), read("motd.~1~"), read("motd.~2~")), ("4".into(), "3".into(), "2".into()));
    scene.ledger().assert_settled();
}

#[test]
fn what_a_lost_run_had_replaced_is_kept_by_the_next() {
    let scene = Scene::new();
    scene.compile("site", &site("new", "  backup = 1\n"));
    scene.write("root/srv/motd", "old");
    scene.write("root/srv/motd.~0~", "older");
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(names(&scene), ["motd", "motd.~1~"]);
    assert_eq!(scene.read("/srv/motd.~1~"), "old");
}

#[test]
fn the_names_are_claimed() {
    let scene = Scene::new();
    let other = "resource \"file\" \"other\" {\n  path = \"/srv/motd.~1~\"\n}\n";
    let error = scene.try_compile("both", &(site("x", "  backup = 1\n") + other)).unwrap_err();
    let told = testkit::scene::tell(&error);
    assert!(told.contains("both manage the path"), "{told}");
    scene.compile("site", &site("x", "  backup = 1\n"));
    let _ = scene.apply("site");
    scene.compile("other", other);
    assert_eq!(testkit::scene::error_code(&scene.try_apply("other").unwrap_err()), 4);
}

#[test]
fn sensitive_content_is_not_kept_and_the_plan_says_so() {
    let scene = Scene::new();
    let variable = "variable \"token\" {\n  type      = string\n  sensitive = true\n  default   = \"hunter2\"\n}\n";
    scene.compile("site", &(variable.to_owned() + &site("${var.token}", "  backup = 1\n")));
    scene.write("root/srv/motd", "an older secret");
    let report = scene.apply("site");
    assert_all(&report, Outcome::Changed);
    let changes = &of(&report, "file.motd").changes;
    assert_eq!(changes[0].reason, "the content differs, and what is replaced may be sensitive and is not kept");
    assert_eq!((names(&scene), scene.read("/srv/motd")), (vec!["motd".to_owned()], "hunter2".into()));
}
