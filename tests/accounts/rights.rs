//! What no policy grants, and what a policy takes from the built-in types.

use testkit::scene::{of, tell};

use crate::node::{account_files, scene};

#[test]
fn the_superuser_is_neither_removed_nor_given_another_id() {
    let scene = scene();
    let before = account_files(&scene);
    for (kind, manifest) in [
        ("user", "resource \"user\" \"root\" {\n  name = \"root\"\n  ensure = \"absent\"\n}\n"),
        ("user", "resource \"user\" \"root\" {\n  name = \"root\"\n  uid = 7\n}\n"),
        ("group", "resource \"group\" \"root\" {\n  name = \"root\"\n  ensure = \"absent\"\n}\n"),
    ] {
        scene.compile("site", manifest);
        let report = scene.apply("site");
        let failure = of(&report, &format!("{kind}.root")).failure.as_ref().unwrap();
        assert!(failure.message.contains("has the id 0"), "{}", failure.message);
    }
    assert_eq!(account_files(&scene), before);
}

#[test]
fn a_home_directory_is_made_only_beneath_folders_that_nobody_else_can_write() {
    let scene = scene();
    std::fs::create_dir(scene.node("/srv/open")).unwrap();
    std::os::unix::fs::chown(scene.node("/srv/open"), Some(1500), None).unwrap();
    scene.compile("site", "resource \"user\" \"web\" {\n  name = \"web\"\n  home = \"/srv/open/web\"\n  manage_home = true\n}\n");
    let report = scene.apply("site");
    let failure = of(&report, "user.web").failure.as_ref().unwrap();
    assert!(failure.message.contains("`/srv/open` can be changed by others than root"), "{}", failure.message);
    assert!(!account_files(&scene)[0].contains("web"));
}

#[test]
fn a_directory_goes_with_its_user_only_if_it_is_the_users() {
    let scene = scene();
    std::fs::create_dir_all(scene.node("/home/bob")).unwrap();
    scene.write("root/home/bob/file", "bob's\n");
    std::os::unix::fs::chown(scene.node("/home/bob"), Some(1500), None).unwrap();
    let before = account_files(&scene);
    for (name, home) in [("nobodyelse", "/etc"), ("nobodyelse", "/home/bob"), ("bob", "/etc"), ("bob", "/home")] {
        scene.compile(
            "site",
            &format!(
                "resource \"user\" \"a\" {{\n  name = \"{name}\"\n  ensure = \"absent\"\n  home = \"{home}\"\n  manage_home = true\n}}\n"
            ),
        );
        for report in [scene.noop("site"), scene.apply("site")] {
            let failure = of(&report, "user.a").failure.as_ref().unwrap_or_else(|| panic!("{name} {home}: {report:?}"));
            assert!(failure.message.contains("not known to be this user's"), "{}", failure.message);
        }
    }
    assert_eq!(account_files(&scene), before);
    assert_eq!(scene.read("/home/bob/file"), "bob's\n");
    scene.compile(
        "site",
        "resource \"user\" \"a\" {\n  name = \"bob\"\n  ensure = \"absent\"\n  home = \"/home/bob\"\n  manage_home = true\n}\n",
    );
    assert!(of(&scene.apply("site"), "user.a").failure.is_none());
    assert!(!scene.node("/home/bob").exists() && scene.node("/home").exists());
}

#[test]
fn policy_may_take_a_user_from_the_built_in_type() {
    let mut scene = scene();
    scene.set_policy("module \"user\" {\n  accounts {\n    users = [\"web*\"]\n    groups = [\"www\"]\n    verbs = [\"create\", \"modify\", \"join\"]\n  }\n}\n");
    scene.compile("site", "resource \"user\" \"bob\" {\n  name = \"bob\"\n  comment = \"B\"\n}\n");
    let error = tell(&scene.try_apply("site").expect_err("it is refused"));
    assert!(error.contains("bob"), "{error}");
    scene.compile("site", "resource \"user\" \"web\" {\n  name = \"web\"\n  groups = [\"adm\"]\n}\n");
    let error = tell(&scene.try_apply("site").expect_err("it is refused"));
    assert!(error.contains("adm"), "{error}");
    scene.compile("site", "resource \"user\" \"web\" {\n  name = \"web\"\n}\n");
    assert!(of(&scene.apply("site"), "user.web").failure.is_none());
}
