//! A control group for the processes of one operation, where the node has version 2 of them.
//!
//! Its name is in the operation's intent, so that a run after a crash finds what is left there and ends it. A group is a folder, made before
//! the first program and removed after the last.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long the end of a group's processes is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How every name of ours starts.
const PREFIX: &str = "runtime-";

/// Where version 2 is mounted when version 1 is used beside it, and when it is not.
const MOUNTS: [&str; 2] = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// A control group of ours: its path below the mount of control groups, `/system.slice/x.service/runtime-0123`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlGroup {
    mount: PathBuf,
    path: String,
}

/// Why a control group cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ControlGroupError {
    /// A text that names no group of ours.
    #[error("`{}` does not name a control group of this program", path.escape_debug())]
    Name {
        /// The text, cut.
        path: String,
    },
    /// The system refused.
    #[error("{doing} control group `{path}`")]
    System {
        /// What was tried.
        doing: &'static str,
        /// Its path below the mount.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Processes in it go on living.
    #[error("processes in control group `{path}` do not end")]
    Living {
        /// Its path below the mount.
        path: String,
    },
}

impl ControlGroup {
    /// A group called `runtime-NAME` below the one that this process is in; none where the node has no control groups of version 2 that this
    /// process can make groups in.
    pub fn beside_us(name: &str) -> Option<Self> {
        let mount = mount()?;
        let ours = own_group()?;
        let path = format!("{}/{PREFIX}{name}", ours.trim_end_matches('/'));
        let group = Self { mount, path };
        let parent = group.folder().parent()?.to_owned();
        rustix::fs::access(&parent, rustix::fs::Access::WRITE_OK).is_ok().then_some(group)
    }

    /// The group at `path`, as [`ControlGroup::path`] told it in another run; none where there are no control groups of version 2, so that it
    /// cannot be there.
    ///
    /// # Errors
    /// If `path` cannot be the path of a group of ours.
    pub fn named(path: &str) -> Result<Option<Self>, ControlGroupError> {
        let last = path.rsplit('/').next().unwrap_or_default();
        let usual = path.starts_with('/') && !path.split('/').any(|part| part == "..") && !path.contains('\0');
        if !usual || last.strip_prefix(PREFIX).is_none_or(str::is_empty) {
            return Err(ControlGroupError::Name { path: path.chars().take(80).collect() });
        }
        Ok(mount().map(|mount| Self { mount, path: path.to_owned() }))
    }

    /// Its path below the mount of control groups.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its folder.
    pub fn folder(&self) -> PathBuf {
        self.mount.join(self.path.trim_start_matches('/'))
    }

    /// Makes it, unless it is there.
    ///
    /// # Errors
    /// If the system refuses.
    #[allow(clippy::disallowed_methods, reason = "this is the interface that runs programs; a control group is a folder")]
    pub fn make(&self) -> Result<(), ControlGroupError> {
        match std::fs::create_dir(self.folder()) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(self.failed("making", error)),
            _ => Ok(()),
        }
    }

    /// Ends all processes in it and removes it. Success if it is not there.
    ///
    /// # Errors
    /// If the system refuses, or if processes in it do not end within a few seconds.
    #[allow(clippy::disallowed_methods, reason = "this is the interface that runs programs; a control group is a folder")]
    pub fn end(&self) -> Result<(), ControlGroupError> {
        let until = Instant::now() + PATIENCE;
        loop {
            kill_all(&self.folder());
            match std::fs::remove_dir(self.folder()) {
                Ok(()) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
                Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                    return Err(ControlGroupError::Living { path: self.path.clone() });
                }
                Err(error) => return Err(self.failed("removing", error)),
            }
        }
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> ControlGroupError {
        ControlGroupError::System { doing, path: self.path.clone(), source }
    }
}

/// Kills what is in the group of `folder` and below it: at once where the kernel can (Linux 5.14), else one by one.
#[allow(clippy::disallowed_methods, reason = "this is the interface that runs programs")]
pub(super) fn kill_all(folder: &Path) {
    if std::fs::write(folder.join("cgroup.kill"), "1").is_ok() {
        return;
    }
    let Ok(list) = std::fs::read_to_string(folder.join("cgroup.procs")) else { return };
    for pid in list.lines().filter_map(|line| rustix::process::Pid::from_raw(line.parse().ok()?)) {
        // One that is gone is what is wanted.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    }
}

fn mount() -> Option<PathBuf> {
    let is_version_2 = |path: &&str| {
        rustix::fs::statfs(*path).is_ok_and(|stat| u64::try_from(stat.f_type).is_ok_and(|kind| kind == 0x6367_7270))
    };
    MOUNTS.into_iter().find(is_version_2).map(PathBuf::from)
}

/// The group of version 2 that this process is in.
#[allow(clippy::disallowed_methods, reason = "the kernel's own word on the control group of this process")]
fn own_group() -> Option<String> {
    let list = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    list.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_from_a_journal_is_believed_only_if_it_is_one_of_ours() {
        for bad in ["", "/", "runtime-a", "/runtime-", "/a/../runtime-b", "/system.slice", "/runtime-a/x", "/a\0/runtime-b"] {
            assert!(ControlGroup::named(bad).is_err(), "{bad:?}");
        }
        assert!(ControlGroup::named("/user.slice/runtime-0a").is_ok());
    }

    #[test]
    fn a_group_is_made_once_and_ended_with_what_is_in_it() {
        let name = format!("test-{}", std::process::id());
        let group = ControlGroup::beside_us(&name).expect("this test needs control groups of version 2, and the rights of root");
        group.make().unwrap();
        group.make().unwrap();
        let mut sleeper = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        std::fs::write(group.folder().join("cgroup.procs"), sleeper.id().to_string()).unwrap();
        let again = ControlGroup::named(group.path()).unwrap().unwrap();
        // The parent must take notice for the process to be gone.
        let waiting = std::thread::spawn(move || sleeper.wait().unwrap());
        again.end().unwrap();
        assert!(!waiting.join().unwrap().success());
        assert!(!group.folder().exists());
        again.end().unwrap();
    }
}
