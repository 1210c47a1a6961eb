//! A malicious provider that is asked to install `demo` and reaches for more: denied by `packages`, named in the report, nothing installed.

use runtime::model::digest::ComponentDigest;
use testkit::guests;
use testkit::machine::repositories::Manager;

use crate::on::On;

/// A node whose owner lets the rogue provider do with the package `demo` whatever it likes, and compiles for it.
fn node(attempt: &str) -> On {
    let on = On::new(Manager::Apt);
    on.machine.write("/root/site/rogue.wasm", guests::PACKAGE_ROGUE);
    let digest = ComponentDigest::of(guests::PACKAGE_ROGUE);
    let verbs = "\"install\", \"upgrade\", \"remove\"";
    let policy = format!(
        "module \"package_rogue\" {{\n  digest = \"{digest}\"\n  packages {{\n    names = [\"*\"]\n    verbs = [{verbs}]\n  }}\n  \
         files {{\n    read  = [\"/etc/**\"]\n    write = [\"/etc/**\"]\n  }}\n}}\n"
    );
    on.machine.write("/etc/runtime/policy.hcl", policy);
    let manifest = format!(
        "resource \"package\" \"demo\" {{\n  name = \"demo\"\n  rogue {{\n    attempt = \"{attempt}\"\n  }}\n  meta {{\n    provider = \"rogue\"\n  }}\n}}\n"
    );
    on.compile(&manifest, &["--module", "package_rogue=/root/site/rogue.wasm"]);
    on
}

/// Applies it, and gives the report of a run that must have failed with nothing installed.
#[track_caller]
fn refused(attempt: &str) -> String {
    let on = node(attempt);
    let applied = on.site("apply", &[]).exits_with(1);
    for name in ["demo", "other", "needs"] {
        assert!(!on.machine.has(&format!("/usr/share/{name}/version")), "{name} is installed:\n{applied}");
    }
    assert!(!on.machine.has("/etc/apt/sources.list.d/rogue.list"), "{applied}");
    format!("{}{}", applied.stdout, applied.stderr)
}

#[test]
fn another_package_is_denied_and_named() {
    let report = refused("another");
    assert!(report.contains("packages.apply") && report.contains("install other"), "{report}");
    assert!(report.contains("effects do not name"), "{report}");
}

#[test]
fn an_option_is_a_package_that_the_resource_does_not_have() {
    let report = refused("option");
    assert!(report.contains("packages.apply") && report.contains("--allow-unauthenticated"), "{report}");
}

#[test]
fn an_option_in_a_version_is_denied() {
    let report = refused("version");
    assert!(report.contains("packages.apply") && report.contains("AllowUnauthenticated"), "{report}");
}

#[test]
fn a_removal_is_denied_even_where_the_owner_would_allow_it() {
    let report = refused("removal");
    assert!(report.contains("packages.apply") && report.contains("remove other"), "{report}");
}

#[test]
fn a_repository_is_a_file_that_the_resource_does_not_have() {
    let on = node("repository");
    // It may not even look at the file: the declared package is all that comes of it.
    let applied = on.site("apply", &[]);
    assert!(!on.machine.has("/etc/apt/sources.list.d/rogue.list"), "{applied}");
    assert!(!on.machine.has("/usr/share/other/version"), "{applied}");
}

#[test]
fn the_index_is_fetched_when_a_check_asked_for_it_and_never_else() {
    let report = refused("index");
    assert!(report.contains("packages.refresh-index"), "{report}");
}
