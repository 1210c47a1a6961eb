//! That machines are what they say, and that nothing of them reaches this computer.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::{Machine, Setup, System};

/// What a machine shares the kernel's settings of, the devices, mounts and names of this computer.
fn computer() -> String {
    let script = "stat -c '%n %a %u:%g' /dev/*; hostname; cat /etc/passwd /etc/group; grep runtime-tests /proc/self/mountinfo; \
                  cd /proc/sys && grep -rs . fs/protected_* fs/suid_dumpable kernel/core_pattern kernel/printk vm/swappiness net/ipv4/ip_forward \
                  net/ipv4/conf/all/rp_filter";
    let output = std::process::Command::new("sh").args(["-c", script]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_debian_has_a_process_1_devices_and_a_network_of_its_own() {
    let before = computer();
    let machine = Machine::enter(System::Debian);
    assert!(machine.is_running());
    assert_eq!(machine.shell("cat /proc/1/comm"), "sh\n");
    assert_eq!(machine.shell("ls /sys/class/net"), "lo\n");
    assert_eq!(machine.shell("stat -c %A:%t:%T /dev/null"), "crw-rw-rw-:1:3\n");
    assert_eq!(machine.shell("hostname"), format!("{}\n", machine.control_group().name()));
    assert_eq!(
        machine.shell("echo $PATH $HOME; env | wc -l"),
        "/run/machine/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin /root\n5\n"
    );
    let refused = machine.run(&["sh", "-c", "echo 1 > /proc/sys/vm/swappiness"]);
    assert!(refused.stderr.contains("Read-only file system"), "{refused}");
    let _ = machine.run(&["sh", "-c", "chmod 600 /dev/null; useradd somebody"]).success();
    drop(machine);
    assert_eq!(computer(), before, "nothing of it reaches this computer");
}

#[test]
fn a_debian_has_the_package_managers_of_four_families() {
    let machine = Machine::enter(System::Debian);
    for program in
        ["apt-get", "dpkg-deb", "apt-ftparchive", "dnf", "rpmbuild", "createrepo_c", "zypper", "pacman", "repo-add", "useradd"]
    {
        assert_ne!(machine.shell(&format!("command -v {program}")), "", "{program}");
    }
}

#[test]
fn what_is_written_is_told_and_gone_with_the_machine() {
    let root = System::Debian.root();
    let machine = Machine::enter(System::Debian);
    machine.write("/srv/a folder/file", "content\n");
    assert_eq!(machine.read("/srv/a folder/file"), "content\n");
    assert!(machine.has("/srv/a folder") && !machine.has("/srv/other"));
    machine.shell("rm /etc/debian_version");
    let written = machine.written();
    assert_eq!(fs::read_to_string(written.join("srv/a folder/file")).unwrap(), "content\n");
    assert_eq!(fs::symlink_metadata(written.join("etc/debian_version")).unwrap().rdev(), 0);
    assert_eq!(fs::read_dir(&written).unwrap().count(), 2, "the start itself writes nothing");
    let group = machine.control_group().path().to_owned();
    drop(machine);
    assert!(!group.exists(), "its control group is removed");
    assert!(!root.join("srv/a folder").exists() && root.join("etc/debian_version").exists());
}

#[test]
fn a_program_of_this_computer_runs_in_it_and_an_orphan_is_buried() {
    let machine = Setup::new(System::Debian).with_program("/usr/bin/nproc").enter();
    let _ = machine.run(&["nproc"]).success();
    assert_eq!(machine.shell("command -v nproc"), "/run/machine/bin/nproc\n");
    machine.shell("(sleep 0.05 & exec true) & exec true");
    let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
    while machine.shell("ps -eo comm").contains("sleep <defunct>") {
        assert!(std::time::Instant::now() < end);
    }
    assert_eq!(machine.run(&["sh", "-c", "cat; exit 3"]).exits_with(3).stdout, "");
    let told = machine.run_with_input(&["cat"], b"told\n").success();
    assert_eq!(told.bytes, b"told\n");
}

#[test]
fn systemd_is_process_1_of_a_booted_machine() {
    let before = computer();
    let machine = Machine::boot();
    assert_eq!(machine.shell("cat /proc/1/comm; systemctl is-system-running"), "systemd\nrunning\n");
    let unit = "[Service]\nExecStart=/bin/sleep infinity\n";
    machine.write("/etc/systemd/system/demo.service", unit);
    machine.shell("systemctl daemon-reload; systemctl start demo");
    assert_eq!(machine.shell("systemctl show -p ActiveState demo"), "ActiveState=active\n");
    assert!(machine.path("/run/dbus/system_bus_socket").exists(), "the bus is reached from here");
    drop(machine);
    assert_eq!(computer(), before, "nothing of it reaches this computer");
}

#[test]
fn machines_stand_beside_each_other_and_end_with_a_restart() {
    let machines: Vec<Machine> = (0..3).map(|_| Machine::boot()).collect();
    machines[0].write("/etc/only-here", "");
    assert!(!machines[1].has("/etc/only-here"));
    let _ = machines[0].run(&["systemctl", "reboot"]);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while machines[0].is_running() {
        assert!(std::time::Instant::now() < end, "it ends");
    }
    assert!(machines[1].is_running() && machines[2].is_running());
}

#[test]
fn an_alpine_has_apk_and_openrc_and_runs_programs_of_this_computer() {
    let machine = Setup::new(System::Alpine).with_program("/usr/bin/env").enter();
    assert!(machine.shell("apk --version").starts_with("apk-tools 3."));
    machine.shell("mkdir -p /run/openrc && touch /run/openrc/softlevel && rc-status --all > /dev/null");
    assert!(machine.shell("/run/machine/bin/env").contains("HOME=/root\n"));
    assert!(!Path::new("/").join("run/openrc/softlevel").exists());
}
