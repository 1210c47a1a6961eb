//! Orders for programs, and finding what is left of them.

use std::time::{Duration, Instant};

use host_functions::processes::native::{Ended, Leftovers, Manner, Order, Report, Runner};
use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};
use zeroize::Zeroizing;

pub(crate) const HELPER: &str = env!("CARGO_BIN_EXE_process-helper");

/// An order for `program` that ends after half a minute.
pub(crate) fn order(program: &str, arguments: &[&str]) -> Order {
    assert!(rustix::process::geteuid().is_root(), "these tests become other users and make namespaces: run them as root");
    Order {
        program: program.to_owned(),
        arguments: arguments.iter().map(|argument| bytes(argument)).collect(),
        environment: vec![("PATH".to_owned(), bytes("/usr/sbin:/usr/bin:/sbin:/bin"))],
        directory: "/".to_owned(),
        root: None,
        identity: None,
        umask: 0o022,
        stdin: Zeroizing::default(),
        output_limit: 64 * 1024,
        timeout: Duration::from_secs(30),
        manner: Manner::Free,
        leftovers: Leftovers::End,
        control_group: None,
    }
}

/// An order for a shell script.
pub(crate) fn shell(script: &str) -> Order {
    order("/bin/sh", &["-c", script])
}

/// An order for a shell script that can change nothing.
pub(crate) fn confined(script: &str) -> Order {
    Order { manner: Manner::Confined, ..shell(script) }
}

pub(crate) fn bytes(text: &str) -> Zeroizing<Vec<u8>> {
    Zeroizing::new(text.as_bytes().to_vec())
}

pub(crate) fn runner() -> Runner {
    Runner::with_helper(HELPER.into())
}

pub(crate) fn run(order: &Order) -> Report {
    runner().run(order).unwrap_or_else(|error| panic!("{error:?}"))
}

/// What a program wrote, which must have ended well.
pub(crate) fn output(order: &Order) -> String {
    let report = run(order);
    assert_eq!(report.ended, Ended::Exited(0), "{}", String::from_utf8_lossy(&report.stderr));
    String::from_utf8_lossy(&report.stdout).into_owned()
}

/// Whether a process lives that has `mark` as an argument.
pub(crate) fn lives(mark: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    processes.into_iter().any(|entry| {
        let lines = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        lines.split(|byte| *byte == 0).any(|argument| argument == mark.as_bytes())
    })
}

/// Waits until such a process lives, or does not.
pub(crate) fn wait_until(mark: &str, living: bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while lives(mark) != living {
        assert!(
            Instant::now() < until,
            "a process with the argument `{mark}` {}",
            if living { "never began" } else { "still lives" }
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A number of seconds to sleep that no other process sleeps.
pub(crate) fn mark(test: u32) -> String {
    format!("6{test:02}{}", std::process::id())
}

/// From now on, what this thread starts can make no namespaces.
pub(crate) fn give_up_namespaces() {
    remove_capability_from_bounding_set(CapabilitySet::SYS_ADMIN).unwrap();
    let most = CapabilitySet::all() & !CapabilitySet::SYS_ADMIN;
    let now = rustix::thread::capabilities(None).unwrap();
    let (effective, permitted) = (now.effective & most, now.permitted & most);
    set_capabilities(None, CapabilitySets { effective, permitted, inheritable: CapabilitySet::empty() }).unwrap();
}

/// Puts a shell with the usual small programs into a root.
pub(crate) fn put_busybox(root: &std::path::Path) {
    std::fs::copy("/bin/busybox", root.join("bin/busybox"))
        .expect("this test needs a static busybox at /bin/busybox: Debian's package `busybox-static`");
}
