//! That a confined program changes nothing, whatever it tries.

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use host_functions::processes::native::{Ended, Identity, Manner, Order};

use crate::support::{HELPER, bytes, confined, lives, mark, order, output, put_busybox, run};

/// A folder of the test that a confined program sees too: its `/tmp` is another one.
fn visible_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/var/lib").expect("a folder outside /tmp")
}

/// Everything beneath a folder: kind, mode, owner, size, times and content.
fn everything(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let stat = std::fs::symlink_metadata(&folder).unwrap();
        if stat.is_dir() {
            folders.extend(std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()));
        }
        let content = if stat.is_file() { std::fs::read(&folder).unwrap() } else { Vec::new() };
        let state =
            (stat.mode(), stat.uid(), stat.gid(), stat.size(), stat.nlink(), stat.mtime_nsec(), stat.ctime_nsec(), content.len());
        found.insert(folder, format!("{state:?}"));
    }
    found
}

#[test]
fn whatever_a_confined_program_tries_nothing_changes() {
    let folder = visible_folder();
    let attack = folder.path().join("attack");
    std::fs::copy(HELPER, &attack).unwrap();
    let prey = folder.path().join("prey");
    std::fs::create_dir(&prey).unwrap();
    std::fs::write(prey.join("file"), "as it was").unwrap();
    std::fs::create_dir(prey.join("empty")).unwrap();
    let fifo = prey.join("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let _reader = std::fs::OpenOptions::new().read(true).write(true).open(&fifo).unwrap();
    let _listener = UnixListener::bind(prey.join("socket")).unwrap();
    let device = folder.path().join("device");
    assert!(Command::new("mknod").arg(&device).args(["c", "1", "3"]).status().unwrap().success());
    let before = everything(folder.path());
    let (prey_text, device_text) = (prey.to_str().unwrap(), device.to_str().unwrap());
    let attack = order(attack.to_str().unwrap(), &["attack", prey_text, device_text]);
    let told = output(&Order { manner: Manner::Confined, ..attack });
    let done: Vec<&str> = told.lines().filter(|line| line.ends_with(" done")).collect();
    assert_eq!(done, ["own-files done", "null-device done"], "{told}");
    assert_eq!(told.lines().count(), 35, "every attempt is told of:\n{told}");
    assert_eq!(everything(folder.path()), before);
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_ne!(hostname.trim(), "changed");
}

#[test]
fn a_confined_program_sees_the_node_but_not_its_processes_network_and_run() {
    let told = output(&confined(
        "cat /etc/passwd | head -1; ls /run /tmp | grep -v :; ls /dev; ls -d /proc/[0-9]* | wc -l; cat /proc/net/dev | tail -n +3 | cut -d: -f1",
    ));
    let first = std::fs::read_to_string("/etc/passwd").unwrap().lines().next().unwrap().to_owned();
    let (passwd, rest) = told.split_once('\n').unwrap();
    assert_eq!(passwd, first);
    let words: Vec<&str> = rest.split_whitespace().collect();
    assert_eq!(words[..7], ["fd", "null", "stderr", "stdin", "stdout", "urandom", "zero"]);
    assert!(words[7].parse::<u32>().unwrap() <= 6, "the first process, the shell and its own: {told}");
    assert_eq!(words[8..], ["lo"]);
}

#[test]
fn a_confined_program_has_no_rights_whoever_it_is() {
    let rights = "grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status | cut -f2";
    let none = "0000000000000000\n";
    let expected = format!("{}1\n2\n", none.repeat(5));
    assert_eq!(output(&confined(rights)), expected);
    let identity = Some(Identity { user: 65_534, group: 65_534, groups: vec![65_534] });
    assert_eq!(output(&Order { identity, ..confined(&format!("id -u; {rights}")) }), format!("65534\n{expected}"));
}

#[test]
fn a_set_user_id_program_gives_nothing() {
    let folder = visible_folder();
    let program = folder.path().join("id");
    std::fs::copy("/usr/bin/id", &program).unwrap();
    assert!(Command::new("chmod").arg("4755").arg(&program).status().unwrap().success());
    assert!(Command::new("chmod").arg("755").arg(folder.path()).status().unwrap().success());
    let identity = Some(Identity { user: 65_534, group: 65_534, groups: vec![65_534] });
    let told = output(&Order { manner: Manner::Confined, identity, ..order(program.to_str().unwrap(), &["-u"]) });
    assert_eq!(told, "65534\n");
}

#[test]
fn a_confined_program_gets_input_and_ends_in_every_way() {
    assert_eq!(output(&Order { stdin: bytes("in"), ..confined("cat") }), "in");
    assert_eq!(run(&confined("exit 9")).ended, Ended::Exited(9));
    assert_eq!(run(&confined("kill -TERM $$")).ended, Ended::Killed(15));
    let mark = mark(20);
    let late = confined(&format!("setsid sh -c 'setsid sleep {mark} &'; sleep 600"));
    assert_eq!(run(&Order { timeout: Duration::from_millis(700), ..late }).ended, Ended::TimedOut);
    assert!(!lives(&mark));
    let report = run(&confined(&format!("setsid sh -c 'setsid sleep {mark} &'")));
    assert_eq!(report.ended, Ended::Exited(0));
    assert!(!lives(&mark), "its namespace ends with it");
}

#[test]
fn a_confined_program_of_another_root_sees_that_root() {
    let folder = visible_folder();
    let root = folder.path().canonicalize().unwrap();
    for name in ["bin", "proc", "dev", "tmp", "etc"] {
        std::fs::create_dir(root.join(name)).unwrap();
    }
    put_busybox(&root);
    let script = "busybox=/bin/busybox; $busybox ls /; $busybox touch /etc/x || echo denied; $busybox touch /tmp/x && echo own";
    let order = order("/bin/busybox", &["sh", "-c", script]);
    let report = run(&Order { manner: Manner::Confined, root: Some(root.clone()), ..order });
    assert_eq!(String::from_utf8_lossy(&report.stdout), "bin\ndev\netc\nproc\ntmp\ndenied\nown\n");
    assert!(!root.join("etc/x").exists() && !root.join("tmp/x").exists());
}
