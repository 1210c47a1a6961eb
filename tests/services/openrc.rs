//! Services of OpenRC: converged, repaired, refreshed.

use crate::on::{On, says};

const SCRIPT: &str = "#!/sbin/openrc-run\ncommand=/bin/sleep\ncommand_args=\"1000000\"\ncommand_background=true\n\
                      pidfile=/run/demo.pid\nstart_pre() {\n  echo started >> /var/starts\n}\n";

fn with_script() -> On {
    let on = On::openrc();
    on.machine.write("/etc/init.d/demo", SCRIPT);
    on.machine.shell("chmod 755 /etc/init.d/demo");
    on
}

fn site(content: &str, service: &str) -> String {
    format!(
        "resource \"file\" \"conf\" {{\n  path = \"/etc/demo.conf\"\n  content = \"{content}\\n\"\n}}\n\
         resource \"service\" \"demo\" {{\n  name = \"demo\"\n{service}\n  meta {{ subscribe = [file.conf] }}\n}}\n"
    )
}

/// Whether it runs, and the runlevels that it is in.
fn states(on: &On) -> String {
    on.machine.shell(
        "rc-service demo status > /dev/null 2>&1 && echo up || echo down; ls -d /etc/runlevels/*/demo 2> /dev/null || true",
    )
}

#[test]
fn a_service_is_started_and_enabled_repaired_refreshed_and_ended() {
    let on = with_script();
    let up = "  ensure = \"running\"\n  enabled = true";
    on.compile(&site("one", up));
    let plan = on.site("plan").exits_with(2);
    says(&plan, "openrc");
    says(&plan, "it does not run: stopped");
    assert_eq!(states(&on), "down\n");
    let _ = on.site("apply").exits_with(2);
    assert_eq!(states(&on), "up\n/etc/runlevels/default/demo\n");
    let _ = on.site("plan").success();

    on.machine.shell("kill $(cat /run/demo.pid); sleep 0.2; rc-update -q del demo default");
    says(&on.site("plan").exits_with(2), "it has failed: crashed");
    let _ = on.site("apply").exits_with(2);
    assert_eq!(states(&on), "up\n/etc/runlevels/default/demo\n");

    on.converges(&site("two", up));
    assert_eq!(on.machine.read("/var/starts").lines().count(), 3, "started, started again, restarted");

    on.machine.shell("rc-update -q add demo boot");
    on.converges(&site("two", "  ensure = \"stopped\"\n  enabled = false"));
    assert_eq!(states(&on), "down\n", "it is in no runlevel");
}

#[test]
fn what_its_script_says_when_it_fails_is_told() {
    let on = with_script();
    on.machine.write("/etc/init.d/demo", "#!/sbin/openrc-run\nstart() {\n  eerror \"no such luck\"\n  return 1\n}\n");
    on.compile(&site("one", "  ensure = \"running\""));
    says(&on.site("apply").exits_with(1), "no such luck");
}

#[test]
fn what_openrc_does_not_have_is_refused() {
    let on = with_script();
    on.compile("resource \"service\" \"demo\" {\n  name = \"demo\"\n  masked = true\n}\n");
    says(&on.site("apply").exits_with(1), "OpenRC has no masked services");
}
