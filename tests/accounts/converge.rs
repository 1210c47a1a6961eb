//! What is declared is what the account tools make; what changes by itself is found, and what goes away takes nothing else along.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use runtime::model::report::{Action, Outcome, Report};
use testkit::Scene;
use testkit::scene::{assert_all, exit_code, of, outcomes, tell};

use crate::node::{HASH, OTHER_HASH, account_files, by_hand, hash, line, members, passwd, scene, sorted_account_files};

const SITE: &str = r#"
variable "hash" {
  type      = string
  sensitive = true
  default   = "HASH"
}

resource "user" "web" {
  name          = "web"
  uid           = 812
  group         = "www"
  groups        = ["ssl", "staff"]
  membership    = "exact"
  comment       = "Web server"
  home          = "/srv/web"
  manage_home   = true
  shell         = "/bin/false"
  expires       = "2030-06-30"
  locked        = false
  password_hash = var.hash
}

resource "group" "www" {
  name = "www"
  gid  = 813
}

resource "group" "staff" {
  name   = "staff"
  system = true
}

resource "group" "admins" {
  name    = "adm"
  members = ["bob"]
}
"#;

fn site() -> String {
    SITE.replace("HASH", HASH)
}

/// What each resource changes or would change, as `user.web: shell, uid`, sorted by address.
fn changes(report: &Report) -> Vec<String> {
    let attributes = |resource: &runtime::model::report::ResourceReport| {
        resource.changes.iter().map(|change| change.attribute.clone()).collect::<Vec<_>>().join(", ")
    };
    let mut changes: Vec<String> =
        report.resources.iter().map(|resource| format!("{}: {}", resource.id, attributes(resource))).collect();
    changes.sort_unstable();
    changes
}

fn converged() -> Scene {
    let scene = scene();
    scene.compile("site", &site());
    assert_all(&scene.apply("site"), Outcome::Changed);
    scene
}

#[test]
fn a_plan_says_what_apply_then_does_and_nothing_is_left_to_do() {
    let scene = scene();
    scene.compile("site", &site());
    let plan = scene.noop("site");
    let expected = [
        "group.admins: members",
        "group.staff: ensure",
        "group.www: ensure, gid",
        "user.web: comment, ensure, expires, group, groups, home, locked, manage_home, password_hash, shell, uid",
    ];
    assert_eq!(changes(&plan), expected);
    assert_eq!((of(&plan, "user.web").action, of(&plan, "group.admins").action), (Action::Create, Action::Update));
    let report = scene.apply("site");
    assert_eq!(changes(&report), expected, "what was predicted is what was done");
    assert_all(&report, Outcome::Changed);
    assert_eq!(passwd(&scene, "web"), ["812", "813", "Web server", "/srv/web", "/bin/false"]);
    assert_eq!(hash(&scene, "web"), HASH);
    assert_eq!(line(&scene, "shadow", "web").unwrap().split(':').nth(7), Some("22095"));
    assert_eq!(members(&scene, "ssl"), ["bob", "web"]);
    assert_eq!((members(&scene, "staff"), members(&scene, "adm")), (vec!["web".to_owned()], vec!["bob".to_owned()]));
    assert_eq!(line(&scene, "group", "web"), None, "no group of its own is made");
    let home = fs::metadata(scene.node("/srv/web")).unwrap();
    assert_eq!((home.uid(), home.gid(), home.mode() & 0o7777), (812, 813, 0o700));
    assert!(scene.read("/srv/web/.profile").contains("skeleton"));
    let before = scene.exact();
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    assert_eq!(scene.exact(), before, "the second run touches nothing");
    assert_eq!(exit_code(&scene.noop("site"), true), 0);
}

#[test]
fn what_was_changed_by_hand_is_found_named_and_repaired() {
    let scene = converged();
    let right = sorted_account_files(&scene);
    by_hand(&scene, "/usr/sbin/usermod", &["--shell", "/bin/sh", "--comment", "", "--expiredate", "", "--groups", "adm", "web"]);
    by_hand(&scene, "/usr/sbin/usermod", &["--lock", "web"]);
    by_hand(&scene, "/usr/sbin/groupmod", &["--gid", "900", "www"]);
    fs::remove_dir_all(scene.node("/srv/web")).unwrap();
    let plan = scene.noop("site");
    let expected = [
        "group.admins: members",
        "group.staff: ",
        "group.www: gid",
        "user.web: comment, expires, groups, locked, manage_home, shell",
    ];
    assert_eq!(changes(&plan), expected);
    assert!(of(&plan, "user.web").drift && of(&plan, "group.www").drift && !of(&plan, "group.staff").drift);
    let report = scene.apply("site");
    assert_eq!(changes(&report), expected);
    assert_eq!(of(&report, "user.web").outcome, Outcome::Changed, "{report:?}");
    assert_eq!(sorted_account_files(&scene), right);
    let home = fs::metadata(scene.node("/srv/web")).unwrap();
    assert_eq!((home.uid(), home.gid(), home.mode() & 0o7777), (812, 813, 0o700));
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn a_password_is_compared_and_set_by_the_host_and_told_to_nobody() {
    let scene = converged();
    by_hand(&scene, "/usr/sbin/usermod", &["--password", OTHER_HASH, "web"]);
    let plan = scene.noop("site");
    let change = &of(&plan, "user.web").changes[0];
    assert_eq!((change.attribute.as_str(), &change.before, &change.after), ("password_hash", &None, &None));
    assert_eq!(change.reason, "the hash of the password differs");
    assert_eq!(changes(&scene.apply("site"))[3], "user.web: password_hash");
    assert_eq!(hash(&scene, "web"), HASH);
    scene.compile("site", &site().replace("locked        = false", "locked        = true"));
    assert_eq!(changes(&scene.apply("site"))[3], "user.web: locked");
    assert_eq!(hash(&scene, "web"), format!("!{HASH}"));
    assert_all(&scene.apply("site"), Outcome::Unchanged);
    scene.compile("site", &site());
    let _ = scene.apply("site");
    assert_eq!(hash(&scene, "web"), HASH);
}

#[test]
fn a_plan_says_of_what_is_never_done_that_it_is_not() {
    let scene = scene();
    let absent = |kind: &str, name: &str, more: &str| {
        format!("resource \"{kind}\" \"gone\" {{\n  name = \"{name}\"\n  ensure = \"absent\"\n{more}}}\n")
    };
    scene.write("root/etc/passwd", "root:x:0:0:root:/root:/bin/sh\nbob:x:1500:1500:Bob:/var:/bin/sh\n");
    fs::create_dir_all(scene.node("/var")).unwrap();
    let home = "  home = \"/var\"\n  manage_home = true\n";
    for (manifest, why) in [
        (absent("user", "root", ""), "never removed"),
        (absent("group", "root", ""), "never removed"),
        (absent("user", "bob", home), "not known to be this user's"),
    ] {
        scene.compile("site", &manifest);
        for report in [scene.noop("site"), scene.apply("site")] {
            let resource = &report.resources[0];
            assert_eq!((resource.outcome, exit_code(&report, false)), (Outcome::Failed, 1));
            assert!(resource.failure.as_ref().unwrap().message.contains(why), "{resource:?}");
        }
    }
    assert!(line(&scene, "passwd", "root").is_some() && line(&scene, "passwd", "bob").is_some());
}

#[test]
fn what_is_no_hash_is_refused_where_it_is_first_known_and_not_quoted() {
    let mut scene = scene();
    let user = |hash: &str| format!("resource \"user\" \"web\" {{\n  name = \"web\"\n  password_hash = {hash}\n}}\n");
    let wanted = "`password_hash` must be a hash of a password as crypt(5) has them (`$6$…`, `$y$…`), not another text";
    for known in ["\"hunter2\"", "sensitive(\"hunter2\")", "\"!$6$hunter2$abcdefghij\"", "\"$6$hunter2$abcdefghij\\n\""] {
        let error = tell(&scene.try_compile("site", &user(known)).unwrap_err());
        assert!(error.contains(wanted), "{error}");
    }
    scene.set_policy("secret \"hash\" {\n  owners  = [\"site\"]\n  modules = [\"user\"]\n}\n");
    put_secret(&scene, "hash", "hunter2");
    scene.compile("site", &user("secret(\"hash\")"));
    for report in [scene.noop("site"), scene.apply("site")] {
        let said = format!("{report:?}");
        assert!(said.contains(wanted), "{said}");
        assert!(!said.contains("hunter2"));
    }
    assert_eq!(line(&scene, "passwd", "web"), None, "nothing was made");
    put_secret(&scene, "hash", HASH);
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(hash(&scene, "web"), HASH);
}

/// Puts a secret into the folder of the scene, as the owner of a node would.
fn put_secret(scene: &Scene, name: &str, value: &str) {
    fs::create_dir_all(scene.path("secrets")).unwrap();
    fs::set_permissions(scene.path("secrets"), fs::Permissions::from_mode(0o700)).unwrap();
    scene.write(&format!("secrets/{name}"), value);
    fs::set_permissions(scene.path(&format!("secrets/{name}")), fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn absent_removes_what_present_made_and_nothing_else() {
    let scene = scene();
    let before = account_files(&scene);
    scene.compile("site", &site());
    let _ = scene.apply("site");
    scene.write("root/srv/web/file", "the user's own\n");
    let gone = r#"
resource "user" "web" {
  name        = "web"
  ensure      = "absent"
  home        = "/srv/web"
  manage_home = true
}
resource "group" "www" {
  name   = "www"
  ensure = "absent"
}
resource "group" "staff" {
  name   = "staff"
  ensure = "absent"
}
resource "group" "admins" {
  name    = "adm"
  members = []
}
"#;
    scene.compile("site", gone);
    let expected = ["group.admins: members", "group.staff: ensure", "group.www: ensure", "user.web: ensure, home"];
    assert_eq!(changes(&scene.noop("site")), expected);
    let report = scene.apply("site");
    assert_eq!(changes(&report), expected);
    assert_all(&report, Outcome::Changed);
    assert_eq!(account_files(&scene), before);
    assert!(!scene.node("/srv/web").exists() && scene.node("/srv").exists());
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}

#[test]
fn a_user_alone_gets_a_group_of_its_name_which_goes_with_it() {
    let scene = scene();
    let before = account_files(&scene);
    scene.compile("site", "resource \"user\" \"eve\" {\n  name = \"eve\"\n}\n");
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(line(&scene, "group", "eve").as_deref(), Some("eve:x:1501:"));
    assert!(!scene.node("/home/eve").exists(), "no home directory is made that nobody manages");
    scene.compile("site", "resource \"user\" \"eve\" {\n  name = \"eve\"\n  ensure = \"absent\"\n}\n");
    assert_all(&scene.apply("site"), Outcome::Changed);
    assert_eq!(account_files(&scene), before);
}

#[test]
fn minimum_leaves_other_groups_alone_and_exact_does_not() {
    let scene = scene();
    let bob = |extra: &str| format!("resource \"user\" \"bob\" {{\n  name = \"bob\"\n  groups = [\"adm\"]\n{extra}}}\n");
    scene.compile("site", &bob(""));
    assert_eq!(outcomes(&scene.apply("site")), ["user.bob changed"]);
    assert_eq!((members(&scene, "adm"), members(&scene, "ssl")), (vec!["bob".to_owned()], vec!["bob".to_owned()]));
    scene.compile("site", &bob("  membership = \"exact\"\n"));
    assert_eq!(outcomes(&scene.apply("site")), ["user.bob changed"]);
    assert_eq!((members(&scene, "adm"), members(&scene, "ssl")), (vec!["bob".to_owned()], Vec::new()));
}

#[test]
fn ids_of_existing_accounts_change_with_the_files_of_the_home() {
    let scene = scene();
    fs::create_dir_all(scene.node("/home/bob")).unwrap();
    std::os::unix::fs::chown(scene.node("/home/bob"), Some(1500), Some(1500)).unwrap();
    scene.compile("site", "resource \"user\" \"bob\" {\n  name = \"bob\"\n  uid = 1600\n  group = \"adm\"\n}\n");
    assert_eq!(changes(&scene.apply("site")), ["user.bob: group, uid"]);
    let home = fs::metadata(scene.node("/home/bob")).unwrap();
    assert_eq!((home.uid(), home.gid()), (1600, 4));
    assert_all(&scene.apply("site"), Outcome::Unchanged);
}
