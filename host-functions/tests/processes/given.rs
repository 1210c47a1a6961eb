//! What a program gets and what is heard of it.

use std::time::Duration;

use host_functions::processes::native::{Ended, Identity, Order, RunError};
use zeroize::Zeroizing;

use crate::support::{bytes, order, output, run, runner, shell};

#[test]
fn a_program_ends_as_it_ends() {
    assert_eq!(run(&shell("exit 0")).ended, Ended::Exited(0));
    assert_eq!(run(&shell("exit 200")).ended, Ended::Exited(200));
    assert_eq!(run(&shell("kill -TERM $$")).ended, Ended::Killed(15));
}

#[test]
fn what_does_not_start_is_told_from_what_fails() {
    let error = |program: &str| match runner().run(&order(program, &[])) {
        Err(RunError::Start { doing, source }) => (doing, source.kind()),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it started"),
    };
    assert_eq!(error("/no/such/program"), ("starting `/no/such/program`".into(), std::io::ErrorKind::NotFound));
    assert_eq!(error("/etc/passwd").1, std::io::ErrorKind::PermissionDenied);
    let elsewhere = Order { directory: "/no/such".into(), ..shell("true") };
    assert!(
        matches!(runner().run(&elsewhere), Err(RunError::Start { doing, .. }) if doing == "entering the directory `/no/such`")
    );
}

#[test]
fn it_gets_what_is_ordered_and_nothing_else() {
    let environment = vec![("B".to_owned(), bytes("2 x")), ("A".to_owned(), Zeroizing::new(b"\xff".to_vec()))];
    let report = run(&Order { environment, ..order("/usr/bin/env", &["-0"]) });
    let mut variables: Vec<&[u8]> = report.stdout.split(|byte| *byte == 0).filter(|part| !part.is_empty()).collect();
    variables.sort_unstable();
    assert_eq!(variables, [&b"A=\xff"[..], b"B=2 x"]);
    assert_eq!(output(&Order { stdin: bytes("in\0put"), ..order("/bin/cat", &[]) }), "in\0put");
    assert_eq!(output(&Order { directory: "/usr".into(), ..shell("pwd; umask") }), "/usr\n0022\n");
    assert_eq!(output(&Order { umask: 0o077, ..shell("umask") }), "0077\n");
    // Its own listing is one descriptor more than the three.
    assert_eq!(output(&shell("ls /proc/self/fd | wc -l")).trim(), "4");
    assert_eq!(output(&shell("ps -o tty= -p $$; trap")).trim(), "?", "no terminal, and no signal is ignored");
    assert_eq!(output(&order("/usr/bin/printf", &["%s|", "a b", "$HOME", "", "*"])), "a b|$HOME||*|");
}

#[test]
fn it_becomes_another_user_for_good() {
    let identity = Some(Identity { user: 65_534, group: 65_533, groups: vec![65_533, 7] });
    let told = output(&Order { identity, ..shell("id -u; id -g; id -G; grep -E '^(Uid|Gid|CapEff)' /proc/self/status") });
    assert_eq!(
        told,
        "65534\n65533\n65533 7\nUid:\t65534\t65534\t65534\t65534\nGid:\t65533\t65533\t65533\t65533\nCapEff:\t0000000000000000\n"
    );
}

#[test]
fn it_runs_in_the_root_of_the_node() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("bin")).unwrap();
    std::fs::copy("/bin/busybox", root.join("bin/busybox"))
        .expect("this test needs a static busybox at /bin/busybox: Debian's package `busybox-static`");
    let listed = output(&Order { root: Some(root), ..order("/bin/busybox", &["ls", "/"]) });
    assert_eq!(listed, "bin\n");
}

#[test]
fn more_output_than_is_kept_is_read_and_dropped() {
    let report = run(&Order { output_limit: 10, ..shell("seq 1 200000; echo error >&2; exit 3") });
    assert_eq!(
        (report.ended, report.stdout.as_slice(), report.stderr.as_slice(), report.cut),
        (Ended::Exited(3), &b"1\n2\n3\n4\n5\n"[..], &b"error\n"[..], true)
    );
    let report = run(&Order { output_limit: 6, ..shell("echo error >&2") });
    assert!(!report.cut && report.stderr.as_slice() == b"error\n");
    let report = run(&Order { timeout: Duration::from_millis(500), ..order("/usr/bin/yes", &[]) });
    assert_eq!((report.ended, report.cut, report.stdout.len()), (Ended::TimedOut, true, 64 * 1024));
}

#[test]
fn a_secret_is_in_no_argument_of_the_helper() {
    let report = run(&Order {
        environment: vec![("S".into(), bytes("hunter2"))],
        ..shell("tr '\\0' ' ' < /proc/$PPID/cmdline; tr '\\0' ' ' < /proc/$PPID/environ")
    });
    assert!(!String::from_utf8_lossy(&report.stdout).contains("hunter2"));
}
