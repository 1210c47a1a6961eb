//! Nodes without an init system that a provider serves.

use crate::on::{On, says};

const SITE: &str = "resource \"package\" \"web\" {\n  name = \"nginx\"\n}\n\
                    resource \"service\" \"web\" {\n  name = \"nginx\"\n  ensure = \"running\"\n}\n";

/// Writes the os-release of a root.
fn root(on: &On, release: &str) {
    on.machine.write("/srv/node/etc/os-release", release);
}

#[test]
fn on_a_system_that_no_provider_serves_it_is_skipped_with_the_reason() {
    let on = On::without_init();
    on.compile(SITE);
    root(&on, "ID=nixos\nVERSION_ID=\"25.05\"\n");
    let plan = on.run(&["plan", "/root/site/site.wasm.tar", "--root", "/srv/node", "--color", "never"]).exits_with(3);
    says(&plan, "package.web: no provider");
    says(&plan, "no Package provider supports ID=nixos, ID_LIKE unset");
    says(&plan, "systemd needs systemd as the init system");
}

#[test]
fn where_systemd_does_not_run_the_reason_names_the_condition() {
    let on = On::without_init();
    on.compile("resource \"service\" \"web\" {\n  name = \"nginx\"\n  ensure = \"running\"\n}\n");
    for command in ["plan", "apply"] {
        let skipped = on.run(&[command, "/root/site/site.wasm.tar", "--color", "never"]).exits_with(3);
        says(&skipped, "systemd needs systemd as the init system");
        says(&skipped, "openrc needs openrc as the init system");
    }
}
