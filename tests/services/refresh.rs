//! What a change of something that a service subscribes to does to it, and definitions that systemd has not read.

use crate::on::{On, says, unit};

/// Each start is a line in `/var/starts`, each reload one in `/var/reloads`.
const COUNTED: &str = "ExecStartPre=/bin/sh -c 'echo started >> /var/starts'\nExecStart=/bin/sleep infinity\n\
                       ExecReload=/bin/sh -c 'echo reloaded >> /var/reloads'";

fn site(content: &str, service: &str) -> String {
    format!(
        "resource \"file\" \"conf\" {{\n  path = \"/etc/demo.conf\"\n  content = \"{content}\\n\"\n}}\n\
         resource \"service\" \"demo\" {{\n  name = \"demo\"\n{service}\n  meta {{ subscribe = [file.conf] }}\n}}\n"
    )
}

impl On {
    fn lines(&self, path: &str) -> usize {
        if self.machine.has(path) { self.machine.read(path).lines().count() } else { 0 }
    }

    fn starts(&self) -> usize {
        self.lines("/var/starts")
    }
}

#[test]
fn a_change_restarts_it_once_and_starting_it_is_enough() {
    let on = On::systemd();
    on.unit("demo.service", COUNTED);
    let running = "  ensure = \"running\"";
    on.converges(&site("one", running));
    assert_eq!(on.starts(), 1, "started once, and not restarted after that");
    on.compile(&site("two", running));
    says(&on.site("plan").exits_with(2), "refresh");
    assert_eq!(on.starts(), 1);
    on.converges(&site("two", running));
    assert_eq!(on.starts(), 2);
    let _ = on.site("apply").success();
    assert_eq!(on.starts(), 2, "once");
}

#[test]
fn one_that_is_not_ensured_running_is_left_alone() {
    let on = On::systemd();
    on.unit("demo.service", COUNTED);
    on.converges(&site("one", "  ensure = \"stopped\""));
    on.machine.shell("systemctl start demo");
    on.converges(&site("two", "  enabled = true"));
    assert_eq!(on.starts(), 1, "its activity is not managed");
    on.converges(&site("three", "  ensure = \"stopped\""));
    assert_eq!((on.starts(), on.states("demo")), (1, "inactive enabled".to_owned()));
}

#[test]
fn it_reloads_where_that_is_declared() {
    let on = On::systemd();
    on.unit("demo.service", COUNTED);
    let reload = "  ensure = \"running\"\n  on_refresh = \"reload\"";
    on.converges(&site("one", reload));
    on.converges(&site("two", reload));
    assert_eq!((on.starts(), on.lines("/var/reloads")), (1, 1));
    on.unit("demo.service", "ExecStart=/bin/sleep infinity");
    on.machine.shell("systemctl restart demo");
    on.compile(&site("three", reload));
    let failed = on.site("apply").exits_with(1);
    says(&failed, "service.demo");
    on.converges(&site("three", "  ensure = \"running\"\n  on_refresh = \"reload_or_restart\""));
}

/// The unit's file, and a service that is restarted when it changes.
fn defined(unit: &str) -> String {
    let content = unit.replace('\n', "\\n");
    format!(
        "resource \"service\" \"demo\" {{\n  name = \"demo\"\n  ensure = \"running\"\n  enabled = true\n}}\n\
         resource \"file\" \"unit\" {{\n  path = \"/etc/systemd/system/demo.service\"\n  content = \"{content}\"\n\
         \x20 meta {{ notify = [service.demo] }}\n}}\n"
    )
}

#[test]
fn a_new_definition_is_read_before_it_is_started_and_a_changed_one_before_it_is_restarted() {
    let on = On::systemd();
    on.converges(&defined(&unit("Environment=A=one\nExecStart=/bin/sleep infinity")));
    assert_eq!(on.states("demo"), "active enabled");
    let changed = on.converges(&defined(&unit("Environment=A=two\nExecStart=/bin/sleep infinity")));
    assert_eq!(
        on.machine.shell("systemctl show demo -P NeedDaemonReload; systemctl show demo -P Environment"),
        "no\nA=two\n",
        "{changed}"
    );
    let pid = on.machine.shell("systemctl show demo -P MainPID");
    let environment = on.machine.shell(&format!("tr '\\0' '\\n' < /proc/{}/environ", pid.trim()));
    assert!(environment.contains("A=two"), "{environment}");
}

#[test]
fn a_definition_changed_by_hand_is_read_and_changes_nothing_else() {
    let on = On::systemd();
    on.unit("demo.service", COUNTED);
    let up = "resource \"service\" \"demo\" {\n  name = \"demo\"\n  ensure = \"running\"\n}\n";
    on.converges(up);
    on.machine.write("/usr/lib/systemd/system/demo.service", unit(&format!("Environment=A=two\n{COUNTED}")));
    says(&on.site("plan"), "systemd.daemon_reload.v1");
    let _ = on.site("apply");
    assert_eq!(on.machine.shell("systemctl show demo -P NeedDaemonReload"), "no\n");
    assert_eq!(on.starts(), 1, "nobody asked for a restart");
    let _ = on.site("plan").success();
}
