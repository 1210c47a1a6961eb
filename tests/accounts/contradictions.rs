//! Declarations of users and groups that cannot all hold: found before anything is changed, with both named.

use runtime::model::report::EffectClass;
use testkit::Scene;
use testkit::scene::{error_code, of, tell};

use crate::node::{account_files, scene};

/// Why `manifest` does not compile.
#[track_caller]
fn refused(manifest: &str) -> String {
    tell(&Scene::new().try_compile("site", manifest).expect_err("it is refused"))
}

fn resource(kind: &str, label: &str, attributes: &str) -> String {
    format!("resource \"{kind}\" \"{label}\" {{\n{attributes}\n}}\n")
}

#[test]
fn a_user_in_a_group_that_is_to_be_gone() {
    let group = resource("group", "www", "  name = \"www\"\n  ensure = \"absent\"");
    for how in ["group = \"www\"", "groups = [\"www\"]"] {
        let text = refused(&(group.clone() + &resource("user", "web", &format!("  name = \"web\"\n  {how}"))));
        assert!(text.contains("the user is to be in the group of `group.www`, which is declared absent"), "{text}");
    }
}

#[test]
fn a_membership_that_is_said_at_both_ends() {
    let group = resource("group", "www", "  name = \"www\"\n  members = [\"web\"]");
    let user = |how: &str| resource("user", "web", &format!("  name = \"web\"\n  {how}"));
    let primary = refused(&(group.clone() + &user("group = \"www\"")));
    assert!(primary.contains("`user.web` is listed as a member, and names this group itself"), "{primary}");
    let other = refused(&(group + &user("groups = [\"www\"]")));
    assert!(other.contains("group.www") && other.contains("user.web"), "{other}");
}

#[test]
fn a_member_that_is_to_be_gone_and_a_group_of_the_users_own_name() {
    let member = resource("group", "www", "  name = \"www\"\n  members = [\"web\"]")
        + &resource("user", "web", "  name = \"web\"\n  ensure = \"absent\"");
    let text = refused(&member);
    assert!(text.contains("`user.web` is listed as a member, and declared absent"), "{text}");
    let own = resource("group", "web", "  name = \"web\"") + &resource("user", "web", "  name = \"web\"");
    let text = refused(&own);
    assert!(text.contains("`group.web` declares that group"), "{text}");
}

#[test]
fn one_id_for_two() {
    let scene = scene();
    let before = account_files(&scene);
    for (kind, id, message) in [
        ("user", "uid", "more than one user is to have the id 812"),
        ("group", "gid", "more than one group is to have the id 812"),
    ] {
        let manifest = resource(kind, "a", &format!("  name = \"a\"\n  {id} = 812"))
            + &resource(kind, "b", &format!("  name = \"b\"\n  {id} = 812"));
        scene.compile("site", &manifest);
        let error = scene.try_apply("site").expect_err("the run is refused");
        assert_eq!(error_code(&error), 4);
        assert!(tell(&error).contains(message), "{}", tell(&error));
    }
    assert_eq!(account_files(&scene), before);
}

#[test]
fn the_id_of_a_user_that_is_there_counts_too() {
    let scene = scene();
    let manifest = resource("user", "a", "  name = \"a\"\n  uid = 1500") + &resource("user", "bob", "  name = \"bob\"");
    scene.compile("site", &manifest);
    let error = scene.try_apply("site").expect_err("the run is refused");
    assert!(tell(&error).contains("more than one user is to have the id 1500"), "{}", tell(&error));
}

#[test]
fn an_id_that_somebody_else_has_is_refused_by_the_tool_and_nothing_is_changed() {
    let scene = scene();
    let before = account_files(&scene);
    scene.compile("site", &resource("user", "a", "  name = \"a\"\n  uid = 1500"));
    let report = scene.apply("site");
    let failure = of(&report, "user.a").failure.as_ref().unwrap();
    assert!(failure.message.contains("UID 1500 is not unique"), "{}", failure.message);
    assert_eq!(failure.effect, EffectClass::BeforeChange);
    assert_eq!(account_files(&scene), before);
}

#[test]
fn groups_and_members_that_do_not_exist() {
    let scene = scene();
    let before = account_files(&scene);
    scene.compile(
        "site",
        &(resource("user", "a", "  name = \"a\"\n  groups = [\"nobody\"]")
            + &resource("group", "g", "  name = \"g\"\n  members = [\"nobody\"]")),
    );
    let report = scene.apply("site");
    let message = |id: &str| of(&report, id).failure.as_ref().unwrap().message.clone();
    assert!(message("user.a").ends_with("this node has no group `nobody`"), "{}", message("user.a"));
    assert!(message("group.g").ends_with("this node has no user `nobody`"), "{}", message("group.g"));
    assert_eq!(account_files(&scene), before);
}
