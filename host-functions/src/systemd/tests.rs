//! Against systemd on a machine that was booted for the test.

use std::time::{Duration, Instant};

use test_machine::{Machine, System};

use super::{FileChange, Job, Systemd, SystemdError, Unit, UnitName, Wait};

struct Node {
    machine: Machine,
    systemd: Systemd,
}

/// A service with the given lines in `[Service]`; it can be enabled.
fn service(lines: &str) -> String {
    format!("[Service]\n{lines}\n[Install]\nWantedBy=multi-user.target\n")
}

impl Node {
    fn with(units: &[(&str, &str)]) -> Self {
        let machine = Machine::boot();
        for (name, content) in units {
            machine.write(&format!("/usr/lib/systemd/system/{name}"), content);
        }
        machine.shell("systemctl daemon-reload");
        let systemd = Systemd::new(Some(&machine.root()));
        Self { machine, systemd }
    }

    #[track_caller]
    fn unit(&self, name: &str) -> Unit {
        self.systemd.unit(&named(name), soon()).unwrap()
    }

    /// The states of a unit: load, active, sub, file.
    #[track_caller]
    fn states(&self, name: &str) -> String {
        let unit = self.unit(name);
        let file = unit.file_state.as_deref().unwrap_or("none");
        format!("{} {} {} {file}", unit.load_state, unit.active_state, unit.sub_state)
    }

    #[track_caller]
    fn run(&self, job: Job, name: &str) -> String {
        self.systemd.run_job(job, &named(name), soon()).unwrap()
    }

    #[track_caller]
    fn settled(&self, name: &str, patience_ms: u64, steady_ms: u64) -> Unit {
        let wait = Wait { patience: Duration::from_millis(patience_ms), steady: Duration::from_millis(steady_ms) };
        self.systemd.settled(&named(name), wait, soon()).unwrap()
    }

    fn change(&self, change: FileChange, name: &str) -> Result<bool, SystemdError> {
        self.systemd.change_file(change, &named(name), soon())
    }
}

fn named(name: &str) -> UnitName {
    UnitName::parse(name).unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

#[test]
fn jobs_are_awaited_to_their_result() {
    let slow = service("Type=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sleep 0.3\nExecReload=/bin/touch /run/reloaded");
    let node = Node::with(&[
        ("demo.service", &service("ExecStart=/bin/sleep infinity")),
        ("slow.service", &slow),
        ("broken.service", &service("Type=oneshot\nExecStart=/bin/false")),
        ("needs.service", "[Unit]\nRequires=broken.service\nAfter=broken.service\n[Service]\nExecStart=/bin/sleep infinity\n"),
    ]);
    assert_eq!(node.states("demo.service"), "loaded inactive dead disabled");
    assert_eq!(node.run(Job::Start, "demo.service"), "done");
    let running = node.unit("demo.service");
    assert_eq!((running.active_state.as_str(), running.sub_state.as_str()), ("active", "running"));
    let pid = running.main_pid.expect("it has a main process");
    assert_eq!(node.run(Job::Start, "demo.service"), "done", "what runs is started already");
    assert_eq!(node.unit("demo.service").main_pid, Some(pid));
    assert_eq!(node.run(Job::Restart, "demo.service"), "done");
    assert_ne!(node.unit("demo.service").main_pid, Some(pid));
    assert_eq!(node.run(Job::Stop, "demo.service"), "done");
    assert_eq!(node.unit("demo.service").main_pid, None);

    let before = Instant::now();
    assert_eq!(node.run(Job::Start, "slow.service"), "done");
    assert!(before.elapsed() >= Duration::from_millis(300), "the job ends when the service is up");
    assert_eq!(node.states("slow.service"), "loaded active exited disabled");
    assert_eq!(node.run(Job::Reload, "slow.service"), "done");
    assert!(node.machine.has("/run/reloaded") && node.unit("slow.service").can_reload);
    assert_eq!(node.run(Job::ReloadOrRestart, "demo.service"), "done", "it has no reload, and is started");

    assert_eq!(node.run(Job::Start, "broken.service"), "failed");
    let broken = node.unit("broken.service");
    assert_eq!((broken.active_state.as_str(), broken.result.as_deref()), ("failed", Some("exit-code")));
    assert_eq!(node.run(Job::Start, "needs.service"), "dependency");
    node.systemd.reset_failed(&named("broken.service"), soon()).unwrap();
    assert_eq!(node.states("broken.service"), "loaded inactive dead disabled");
}

#[test]
fn units_on_their_way_are_awaited_and_those_that_restart_for_ever_are_not() {
    let node = Node::with(&[
        ("starting.service", &service("Type=oneshot\nRemainAfterExit=yes\nExecStart=/bin/sleep 1")),
        ("stopping.service", &service("ExecStart=/bin/sleep infinity\nExecStop=/bin/sleep 1")),
        ("reloading.service", &service("ExecStart=/bin/sleep infinity\nExecReload=/bin/sleep 1")),
        ("restarting.service", &service("ExecStart=/bin/false\nRestart=always\nRestartSec=1h")),
    ]);
    node.machine.shell("systemctl start --no-block starting; systemctl start stopping reloading restarting; systemctl stop --no-block stopping; systemctl reload --no-block reloading");
    let moving = |name: &str| node.unit(name).active_state;
    let settled = |name: &str, patience: u64| node.settled(name, patience, 0);
    assert_eq!(moving("starting.service"), "activating");
    assert_eq!(settled("starting.service", 10).active_state, "activating", "patience ends first");
    assert_eq!(moving("stopping.service"), "deactivating");
    assert_eq!(moving("reloading.service"), "reloading");
    assert_eq!(settled("starting.service", 10_000).active_state, "active");
    assert_eq!(settled("stopping.service", 10_000).active_state, "inactive");
    assert_eq!(settled("reloading.service", 10_000).active_state, "active");
    let before = Instant::now();
    let restarting = settled("restarting.service", 10_000);
    assert_eq!((restarting.active_state.as_str(), restarting.sub_state.as_str()), ("activating", "auto-restart"));
    assert!(before.elapsed() < Duration::from_secs(5), "it may restart for ever");
}

#[test]
fn a_service_that_ends_soon_after_it_was_started_is_seen_to() {
    let node = Node::with(&[
        ("short.service", &service("ExecStart=/bin/sh -c 'sleep 0.1; exit 3'")),
        ("long.service", &service("ExecStart=/bin/sleep infinity")),
    ]);
    assert_eq!(node.run(Job::Start, "short.service"), "done");
    assert_eq!(node.unit("short.service").active_state, "active", "for now");
    assert_eq!(node.settled("short.service", 5_000, 400).active_state, "failed");
    assert_eq!(node.run(Job::Start, "long.service"), "done");
    let before = Instant::now();
    assert_eq!(node.settled("long.service", 5_000, 300).active_state, "active");
    assert!(before.elapsed() >= Duration::from_millis(300) && before.elapsed() < Duration::from_secs(4));
}

#[test]
fn every_state_of_a_unit_file_is_told() {
    let node = Node::with(&[
        ("plain.service", &service("ExecStart=/bin/true")),
        ("static.service", "[Service]\nExecStart=/bin/true\n"),
        ("aliased.service", "[Service]\nExecStart=/bin/true\n[Install]\nAlias=other.service\nWantedBy=multi-user.target\n"),
        ("indirect.service", "[Service]\nExecStart=/bin/true\n[Install]\nAlso=plain.service\n"),
    ]);
    assert_eq!(node.states("static.service"), "loaded inactive dead static");
    assert_eq!(node.states("nothing.service"), "not-found inactive dead none");
    assert_eq!(node.change(FileChange::Enable, "plain.service"), Ok(true));
    assert_eq!(node.change(FileChange::Enable, "plain.service"), Ok(false), "it is enabled already");
    assert_eq!(node.states("plain.service"), "loaded inactive dead enabled");
    assert!(node.machine.has("/etc/systemd/system/multi-user.target.wants/plain.service"));
    assert_eq!(node.change(FileChange::Disable, "plain.service"), Ok(true));
    assert_eq!(node.states("plain.service"), "loaded inactive dead disabled");
    assert_eq!(node.states("indirect.service"), "loaded inactive dead indirect");

    assert_eq!(node.change(FileChange::Mask, "plain.service"), Ok(true));
    assert_eq!(node.states("plain.service"), "masked inactive dead masked");
    assert_eq!(node.systemd.run_job(Job::Start, &named("plain.service"), soon()), Err(SystemdError::Masked));
    assert_eq!(node.change(FileChange::Unmask, "plain.service"), Ok(true));
    assert_eq!(node.states("plain.service"), "loaded inactive dead disabled");

    assert_eq!(node.change(FileChange::Enable, "aliased.service"), Ok(true));
    let names = vec!["aliased.service".to_owned(), "other.service".to_owned()];
    let identity = |name: &str| node.systemd.identity(&named(name), soon()).unwrap();
    assert_eq!(identity("other.service"), Some(("aliased.service".to_owned(), names.clone())));
    assert_eq!(identity("aliased.service"), Some(("aliased.service".to_owned(), names)));
    assert_eq!(identity("nothing.service"), None);
    assert_eq!(node.states("other.service"), "loaded inactive dead enabled", "an alias is the unit that it names");

    node.machine.shell("systemd-run --unit made --remain-after-exit /bin/true");
    assert_eq!(node.unit("made.service").file_state.as_deref(), Some("transient"));
    node.machine.write("/etc/systemd/system/local.service", "[Service]\nExecStart=/bin/true\n");
    assert!(matches!(node.change(FileChange::Mask, "local.service"), Err(SystemdError::InTheWay(_))));
    assert_eq!(node.change(FileChange::Enable, "nothing.service"), Err(SystemdError::NoSuchUnit));
}

#[test]
fn a_changed_unit_file_is_seen_and_read_when_it_is_asked_for() {
    let node = Node::with(&[("demo.service", &service("ExecStart=/bin/sleep infinity"))]);
    assert!(!node.unit("demo.service").need_daemon_reload);
    assert_eq!(node.run(Job::Start, "demo.service"), "done");
    // That there is a first file in a folder which was not there, systemd does not see.
    let drop_in = "/etc/systemd/system/demo.service.d/more.conf";
    node.machine.write(drop_in, "[Unit]\nDescription=first\n");
    let shown = node.machine.shell("systemctl show -P NeedDaemonReload demo.service");
    assert_eq!((shown.as_str(), node.unit("demo.service").need_daemon_reload), ("no\n", true));
    node.machine.shell("ln -s /dev/null /etc/systemd/system/demo.service.d/none.conf; systemctl daemon-reload");
    assert!(!node.unit("demo.service").need_daemon_reload);
    node.machine.write(drop_in, "[Unit]\nDescription=changed\n");
    assert!(node.unit("demo.service").need_daemon_reload);
    assert_eq!(node.unit("demo.service").description, "first");
    node.systemd.daemon_reload(soon()).unwrap();
    let unit = node.unit("demo.service");
    assert!(!unit.need_daemon_reload);
    assert_eq!(unit.description, "changed");
    assert!(unit.drop_ins.contains(&drop_in.to_owned()));
    assert_eq!(unit.fragment_path.as_deref(), Some("/lib/systemd/system/demo.service"));
}

#[test]
fn a_job_that_is_too_late_is_given_up() {
    let node = Node::with(&[("slow.service", &service("Type=oneshot\nExecStart=/bin/sleep 600"))]);
    let before = Instant::now();
    let late = node.systemd.run_job(Job::Start, &named("slow.service"), Instant::now() + Duration::from_millis(300));
    assert_eq!(late, Err(SystemdError::Deadline));
    assert!(before.elapsed() < Duration::from_secs(5));
    assert_eq!(node.machine.shell("systemctl list-jobs --no-legend | wc -l"), "0\n");
    let over = Instant::now() - Duration::from_millis(1);
    assert_eq!(node.systemd.unit(&named("slow.service"), over), Err(SystemdError::Deadline));
}

#[test]
fn a_bus_that_was_restarted_is_found_again() {
    let node = Node::with(&[("demo.service", &service("ExecStart=/bin/sleep infinity"))]);
    assert_eq!(node.run(Job::Start, "demo.service"), "done");
    node.machine.shell("systemctl restart dbus.service dbus.socket; systemctl is-active --wait dbus.service");
    let end = soon();
    while node.systemd.unit(&named("demo.service"), soon()).is_err() {
        assert!(Instant::now() < end, "it answers again");
    }
    assert_eq!(node.run(Job::Stop, "demo.service"), "done");
}

#[test]
fn where_systemd_is_not_the_init_system_it_says_so() {
    let machine = Machine::enter(System::Debian);
    let systemd = Systemd::new(Some(&machine.root()));
    assert!(!systemd.is_init());
    let refused = systemd.unit(&named("dbus.service"), soon()).unwrap_err();
    assert_eq!(refused.to_string(), "systemd is not the init system of this node");
    let refused = Systemd::new(None).unit(&named("dbus.service"), soon()).unwrap_err();
    assert_eq!(refused.to_string(), "units run on the running system alone, and this run has another root");
}
