//! That a program ends, and all that it started.

use std::process::Command;
use std::time::{Duration, Instant};

use host_functions::processes::native::{ControlGroup, Ended, Leftovers, Order};

use crate::support::{HELPER, lives, mark, run, shell, wait_until};

const SHORT: Duration = Duration::from_millis(700);

/// Starts a daemon: a process that left its group and its session, and whose parent has ended.
fn daemon(mark: &str) -> String {
    format!("setsid sh -c 'setsid sleep {mark} </dev/null >/dev/null 2>&1 &'")
}

#[test]
fn a_daemon_that_left_its_group_and_session_is_dead_at_the_deadline() {
    let mark = mark(1);
    let started = Instant::now();
    let report = run(&Order { timeout: SHORT, ..shell(&format!("{}; sleep 600", daemon(&mark))) });
    assert_eq!(report.ended, Ended::TimedOut);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(!lives(&mark), "when the call is over, nothing lives");
}

#[test]
fn what_a_program_leaves_behind_is_ended_with_it() {
    let mark = mark(2);
    let report = run(&shell(&daemon(&mark)));
    assert_eq!((report.ended, report.left_processes), (Ended::Exited(0), true));
    assert!(!lives(&mark));
}

#[test]
fn what_ends_by_itself_soon_after_is_waited_for() {
    let report = run(&shell("(sleep 0.1; echo late) & echo early"));
    assert_eq!((report.stdout.as_slice(), report.left_processes), (&b"early\nlate\n"[..], false));
}

#[test]
fn a_daemon_may_be_kept() {
    let mark = mark(3);
    let report = run(&Order { leftovers: Leftovers::Keep, ..shell(&daemon(&mark)) });
    assert_eq!((report.ended, report.left_processes), (Ended::Exited(0), false));
    wait_until(&mark, true);
    assert!(Command::new("pkill").args(["-KILL", "-f", &format!("^sleep {mark}$")]).status().unwrap().success());
    wait_until(&mark, false);
}

#[test]
fn a_program_that_ignores_signals_and_forks_is_ended_whole() {
    let mark = mark(4);
    let script = format!("trap '' TERM INT HUP; while :; do (trap '' TERM; sleep {mark}) & sleep 0.02; done");
    let report = run(&Order { timeout: SHORT, ..shell(&script) });
    assert_eq!(report.ended, Ended::TimedOut);
    assert!(!lives(&mark));
}

#[test]
fn a_stopped_program_is_ended_too() {
    let mark = mark(5);
    let report = run(&Order { timeout: SHORT, ..shell(&format!("sleep {mark} & kill -STOP $!; kill -STOP $$")) });
    assert_eq!(report.ended, Ended::TimedOut);
    assert!(!lives(&mark));
}

#[test]
fn nothing_outlives_the_host() {
    let mark = mark(6);
    let script = format!("{}; sleep {mark}", daemon(&mark));
    let mut host = Command::new(HELPER).args(["host", "600000", "/bin/sh", "-c", &script]).spawn().unwrap();
    wait_until(&mark, true);
    host.kill().unwrap();
    host.wait().unwrap();
    wait_until(&mark, false);
}

#[test]
fn the_control_group_has_the_program_and_ends_what_outlives_the_helper() {
    let mark = mark(7);
    let group = ControlGroup::beside_us(&mark).expect("this test needs control groups of version 2");
    group.make().unwrap();
    let report = run(&Order { control_group: Some(group.folder()), ..shell("grep '^0::' /proc/self/cgroup") });
    assert_eq!(String::from_utf8_lossy(&report.stdout), format!("0::{}\n", group.path()));
    // A daemon that is kept stands for one whose helper was killed with its host.
    run(&Order { control_group: Some(group.folder()), leftovers: Leftovers::Keep, ..shell(&daemon(&mark)) });
    wait_until(&mark, true);
    ControlGroup::named(group.path()).unwrap().unwrap().end().unwrap();
    assert!(!group.folder().exists());
    wait_until(&mark, false);
}
