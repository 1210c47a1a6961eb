//! The control group of a machine: where it is on this computer, and that nothing of it is left.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PREFIX: &str = "runtime-machine-";

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A control group (version 2) with everything that runs in a machine. Removed when it is dropped, if nothing runs in it.
#[derive(Debug)]
pub struct ControlGroup {
    path: PathBuf,
    name: String,
}

impl ControlGroup {
    /// A new one, named after this process. Those that lost processes left behind are removed first.
    ///
    /// # Panics
    /// If there is no version 2 hierarchy that may be written to.
    pub(crate) fn new() -> Self {
        let top = top();
        sweep(&top);
        let name = format!("{PREFIX}{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = top.join(&name);
        // `commands.scope` is where programs run that a test starts: process 1 does not look after it.
        fs::create_dir_all(path.join("commands.scope"))
            .unwrap_or_else(|error| panic!("cannot make the control group {}: {error}: these tests need root", path.display()));
        Self { path, name }
    }

    /// Its folder on this computer.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name, which is the machine's host name too.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Where a process of the machine's tests is put.
    pub(crate) fn commands(&self) -> PathBuf {
        self.path.join("commands.scope/cgroup.procs")
    }

    /// Waits until nothing runs in it and beneath it.
    pub(crate) fn wait_until_empty(&self) -> bool {
        let end = Instant::now() + Duration::from_secs(10);
        while is_populated(&self.path) {
            if Instant::now() > end {
                return false;
            }
            sleep(Duration::from_millis(2));
        }
        true
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// The top of the version 2 hierarchy, which may stand beside version 1.
fn top() -> PathBuf {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("/proc is mounted");
    let found = mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then(|| mount.split(' ').nth(4)).flatten()
    });
    PathBuf::from(found.expect("these tests need a mounted cgroup2 hierarchy: `mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified`"))
}

fn is_populated(group: &Path) -> bool {
    fs::read_to_string(group.join("cgroup.events")).is_ok_and(|events| events.lines().any(|line| line == "populated 1"))
}

/// Removes groups whose test process is gone and in which nothing runs.
fn sweep(top: &Path) {
    for entry in fs::read_dir(top).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) && !is_populated(&entry.path()) {
            remove(&entry.path());
        }
    }
}

/// Removes a group and those in it. The kernel refuses where something runs.
fn remove(group: &Path) {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path());
        }
    }
    let end = Instant::now() + Duration::from_secs(2);
    // What has just ended may be counted for a moment longer.
    while let Err(error) = fs::remove_dir(group) {
        if error.kind() != io::ErrorKind::ResourceBusy || Instant::now() > end {
            return;
        }
        sleep(Duration::from_millis(2));
    }
}
