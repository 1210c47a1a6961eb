//! Services of systemd: converged, repaired, refused.

use crate::on::{On, says};

const LONG: &str = "ExecStart=/bin/sleep infinity";

fn demo(lines: &str) -> String {
    format!("resource \"service\" \"demo\" {{\n  name = \"demo\"\n{lines}\n}}\n")
}

#[test]
fn a_service_is_started_and_enabled_repaired_and_ended() {
    let on = On::systemd();
    on.unit("demo.service", LONG);
    let up = demo("  ensure = \"running\"\n  enabled = true");
    on.compile(&up);
    let before = on.everything();
    let plan = on.site("plan").exits_with(2);
    assert_eq!(on.everything(), before, "a plan writes nothing:\n{plan}");
    says(&plan, "service.demo");
    says(&plan, "systemd");
    says(&plan, "it does not run: inactive (dead)");
    assert_eq!(on.states("demo"), "inactive disabled", "a plan changes nothing");
    let _ = on.site("apply").exits_with(2);
    assert_eq!(on.states("demo"), "active enabled");
    let _ = on.site("plan").success();
    let _ = on.site("apply").success();

    on.machine.shell("systemctl stop demo; systemctl disable demo 2> /dev/null");
    let drifted = on.site("plan").exits_with(2);
    says(&drifted, "drift");
    let _ = on.site("apply").exits_with(2);
    assert_eq!(on.states("demo"), "active enabled");

    on.converges(&demo("  state = \"stopped\""));
    assert_eq!(on.states("demo"), "inactive enabled", "what is omitted is left alone");
    on.converges(&demo("  enabled = false"));
    assert_eq!(on.states("demo"), "inactive disabled");
}

#[test]
fn one_that_ends_at_once_fails_and_is_started_when_it_can_be() {
    let on = On::systemd();
    on.unit("demo.service", "ExecStart=/bin/sh -c 'test -e /var/ready && exec sleep infinity'");
    on.compile(&demo("  ensure = \"running\""));
    let failed = on.site("apply").exits_with(1);
    says(&failed, "the service does not stay up: failed (failed), exit-code");
    on.machine.shell("touch /var/ready");
    let _ = on.site("apply").exits_with(2);
    assert_eq!(on.states("demo"), "active disabled");
    let _ = on.site("plan").success();
}

#[test]
fn one_that_was_started_too_often_is_started_all_the_same() {
    let on = On::systemd();
    on.unit("demo.service", "ExecStart=/bin/sh -c 'test -e /var/ready && exec sleep infinity'");
    on.machine.shell("for i in 1 2 3 4 5 6 7; do systemctl start demo 2> /dev/null || true; sleep 0.1; done; touch /var/ready");
    assert_ne!(on.machine.run(&["systemctl", "start", "demo"]).code, Some(0), "systemd would not");
    on.converges(&demo("  ensure = \"running\""));
    assert_eq!(on.states("demo"), "active disabled");
}

#[test]
fn one_that_is_started_over_and_over_does_not_run_and_can_be_stopped() {
    let on = On::systemd();
    on.unit("demo.service", "Restart=always\nRestartSec=1h\nExecStart=/bin/false");
    on.machine.shell("systemctl start demo");
    on.compile(&demo("  ensure = \"running\""));
    says(&on.site("plan").exits_with(2), "activating (auto-restart)");
    on.converges(&demo("  ensure = \"stopped\""));
    assert_ne!(on.machine.shell("systemctl is-active demo || true"), "activating\n");
}

#[test]
fn a_mask_is_set_and_lifted_where_that_is_declared_and_never_else() {
    let on = On::systemd();
    on.unit("demo.service", LONG);
    on.machine.shell("systemctl start demo");
    on.converges(&demo("  ensure = \"stopped\"\n  masked = true"));
    assert_eq!(on.states("demo"), "inactive masked");
    on.compile(&demo("  ensure = \"running\""));
    says(&on.site("apply").exits_with(1), "it is masked, so it cannot be started");
    on.converges(&demo("  ensure = \"running\"\n  masked = false"));
    assert_eq!(on.states("demo"), "active disabled");
}

#[test]
fn what_cannot_be_enabled_says_so_and_what_is_not_there_is_named() {
    let on = On::systemd();
    on.machine.write("/usr/lib/systemd/system/demo.service", format!("[Service]\n{LONG}\n"));
    on.machine.shell("systemctl daemon-reload");
    on.compile(&demo("  enabled = true"));
    says(&on.site("apply").exits_with(1), "it cannot be enabled: its definition does not say what would start it");
    on.compile(&demo("  enabled = false"));
    let _ = on.site("apply").success();
    on.compile("resource \"service\" \"none\" {\n  name = \"none\"\n  ensure = \"running\"\n}\n");
    says(&on.site("plan").exits_with(2), "there is no such service");
    says(&on.site("apply").exits_with(1), "there is no such service on this node");
    on.compile("resource \"service\" \"none\" {\n  name = \"none\"\n  ensure = \"stopped\"\n  enabled = false\n}\n");
    let _ = on.site("apply").success();
}

#[test]
fn a_timer_and_an_instance_are_services_too() {
    let on = On::systemd();
    on.machine.write("/usr/lib/systemd/system/tick.service", "[Service]\nType=oneshot\nExecStart=/bin/true\n");
    on.machine.write("/usr/lib/systemd/system/tick.timer", "[Timer]\nOnActiveSec=1h\n[Install]\nWantedBy=timers.target\n");
    on.unit("many@.service", "ExecStart=/bin/sleep infinity");
    on.converges(
        "resource \"service\" \"tick\" {\n  name = \"tick.timer\"\n  ensure = \"running\"\n  enabled = true\n}\n\
         resource \"service\" \"one\" {\n  name = \"many@one\"\n  ensure = \"running\"\n  enabled = true\n}\n",
    );
    assert_eq!(on.states("tick.timer"), "active enabled");
    assert_eq!(on.states("many@one"), "active enabled");
}

#[test]
fn two_names_of_one_service_are_refused_before_anything_is_done() {
    let on = On::systemd();
    on.machine.write(
        "/usr/lib/systemd/system/demo.service",
        format!("[Service]\n{LONG}\n[Install]\nWantedBy=multi-user.target\nAlias=other.service\n"),
    );
    on.machine.shell("systemctl daemon-reload; systemctl enable demo 2> /dev/null");
    on.compile(
        "resource \"service\" \"one\" {\n  name = \"demo\"\n  ensure = \"running\"\n}\n\
         resource \"service\" \"two\" {\n  name = \"other\"\n  ensure = \"stopped\"\n}\n",
    );
    let refused = on.site("apply").exits_with(4);
    says(&refused, "service.one");
    says(&refused, "service.two");
    assert_eq!(on.states("demo"), "inactive enabled");
    on.converges("resource \"service\" \"two\" {\n  name = \"other\"\n  ensure = \"running\"\n}\n");
    assert_eq!(on.states("demo"), "active enabled", "one of the names will do");
}
