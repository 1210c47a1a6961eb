//! From nothing to the latest version and back, with every provider.

use testkit::machine::repositories::Manager;

use crate::on::On;

/// One life of a package: installed with what it needs, converged, upgraded when the index is fetched, repaired, removed.
fn life(manager: Manager) {
    let on = On::new(manager);
    on.compile("resource \"package\" \"needs\" {\n  name = \"needs\"\n}\n", &[]);
    let before = on.everything();
    let plan = on.site("plan", &["--detailed-exitcode"]).exits_with(2);
    assert!(plan.stdout.contains("package.needs"), "{plan}");
    assert_eq!(on.everything(), before, "a plan changes nothing:\n{plan}");
    let _ = on.site("apply", &[]).success();
    assert_eq!(on.machine.read("/usr/share/demo/version"), "1.0\n");
    let converged = on.site("plan", &["--detailed-exitcode"]).success();
    assert!(!converged.stdout.contains("would"), "{converged}");

    let provider = format!("{manager:?}").to_lowercase();
    let latest = format!(
        "resource \"package\" \"demo\" {{\n  name   = \"demo\"\n  ensure = \"latest\"\n  {provider} {{\n    index_max_age = 60\n  }}\n}}\n"
    );
    on.offer();
    // An index that is older than it may be.
    on.machine.shell("find /var/lib/apt/lists /var/cache/dnf /var/cache/zypp /var/lib/pacman/sync /var/cache/apk -exec touch -d '2 days ago' {} + 2> /dev/null || true");
    on.compile(&latest, &[]);
    let _ = on.site("apply", &[]).success();
    assert_eq!(on.machine.read("/usr/share/demo/version"), "2.0\n");

    on.compile("resource \"package\" \"needs\" {\n  name   = \"needs\"\n  ensure = \"absent\"\n}\n", &[]);
    let _ = on.site("apply", &[]).success();
    assert!(!on.machine.has("/usr/share/needs/version"));
    assert!(on.machine.has("/usr/share/demo/version"), "nothing else goes");
    let _ = on.site("plan", &["--detailed-exitcode"]).success();
}

#[test]
fn a_package_lives_with_apt() {
    life(Manager::Apt);
}

#[test]
fn a_package_lives_with_dnf() {
    life(Manager::Dnf);
}

#[test]
fn a_package_lives_with_zypper() {
    life(Manager::Zypper);
}

#[test]
fn a_package_lives_with_pacman() {
    life(Manager::Pacman);
}

#[test]
fn a_package_lives_with_apk() {
    life(Manager::Apk);
}

#[test]
fn what_was_changed_by_hand_is_named_and_repaired() {
    let on = On::new(Manager::Apt);
    on.compile("resource \"package\" \"demo\" {\n  name    = \"demo\"\n  version = \"1.0\"\n  hold    = true\n}\n", &[]);
    let _ = on.site("apply", &[]).success();
    assert_eq!(on.machine.shell("apt-mark showhold"), "demo\n");
    on.machine.shell("apt-mark unhold demo; apt-get remove -qq -y demo");
    let plan = on.site("plan", &[]).success();
    assert!(plan.stdout.contains("its configuration files stayed"), "{plan}");
    let _ = on.site("apply", &[]).success();
    assert_eq!(on.machine.shell("apt-mark showhold; dpkg-query -W -f '${Version}' demo"), "demo\n1.0");
}

#[test]
fn a_package_file_from_the_manifest_is_installed() {
    let on = On::new(Manager::Apt);
    on.machine.shell("cp /srv/repository/apt/other_1.0.deb /root/site/");
    let manifest = "resource \"package\" \"other\" {\n  name    = \"other\"\n  version = \"1.0\"\n  apt {\n    source = \"other_1.0.deb\"\n  }\n}\n";
    on.machine.shell("rm /etc/apt/sources.list; apt-get update -qq");
    on.compile(manifest, &[]);
    let _ = on.site("apply", &[]).success();
    assert_eq!(on.machine.read("/usr/share/other/version"), "1.0\n");
    let _ = on.site("plan", &["--detailed-exitcode"]).success();
}

#[test]
fn what_is_installed_selects_nothing() {
    let on = On::new(Manager::Apk);
    on.machine.shell("rm -f /etc/os-release");
    on.machine.write("/etc/os-release", "ID=debian\n");
    on.compile("resource \"package\" \"demo\" {\n  name = \"demo\"\n}\n", &[]);
    for command in ["plan", "apply"] {
        let finished = on.site(command, &[]).exits_with(1);
        assert!(finished.stdout.contains("package.demo: failed") && finished.stdout.contains("provider apt]"), "{finished}");
    }
}
