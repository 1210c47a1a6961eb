//! What OpenRC has on record of a service: `/run/openrc` has a folder for each state, `/etc/runlevels` one for each runlevel.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, Mode, OFlags};
use rustix::io::Errno;

use super::{OpenrcError, ServiceName};

/// The most daemons, or runlevels, that are looked at.
const MAX_ENTRIES: usize = 256;

/// The most that is read of a record, in bytes.
const MAX_RECORD: usize = 16 * 1024;

/// A service at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Service {
    /// What it is at.
    pub state: State,
    /// The runlevels that it is in, sorted.
    pub runlevels: Vec<String>,
}

/// What a service is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It does not run.
    Stopped,
    /// It runs.
    Started,
    /// It is on its way up.
    Starting,
    /// It is on its way down.
    Stopping,
    /// It is started, and waits for something.
    Inactive,
    /// It is on record as started, and its process is gone.
    Crashed,
}

pub(super) fn read(base: &Path, name: &ServiceName) -> Result<Option<Service>, OpenrcError> {
    let name = name.as_str();
    if !is_script(&base.join("etc/init.d").join(name))? {
        return Ok(None);
    }
    let records = base.join("run/openrc");
    let is_in = |state: &str| exists(&records.join(state).join(name));
    // In this order: a service on its way is in two of them.
    let state = if is_in("stopping")? {
        State::Stopping
    } else if is_in("starting")? {
        State::Starting
    } else if is_in("inactive")? {
        State::Inactive
    } else if !is_in("started")? {
        State::Stopped
    } else if has_crashed(base, &records.join("daemons").join(name))? {
        State::Crashed
    } else {
        State::Started
    };
    Ok(Some(Service { state, runlevels: runlevels(&base.join("etc/runlevels"), name)? }))
}

fn is_script(path: &Path) -> Result<bool, OpenrcError> {
    match rustix::fs::stat(path) {
        Ok(stat) => Ok(std::fs::Permissions::from_mode(stat.st_mode).mode() & 0o111 != 0),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(failed("looking at the script of a service", errno)),
    }
}

fn exists(path: &Path) -> Result<bool, OpenrcError> {
    match rustix::fs::lstat(path) {
        Ok(_) => Ok(true),
        Err(Errno::NOENT) => Ok(false),
        Err(errno) => Err(failed("looking at the records of OpenRC", errno)),
    }
}

/// Whether one of the daemons that OpenRC started for the service and knows by a file with its process is gone.
fn has_crashed(base: &Path, daemons: &Path) -> Result<bool, OpenrcError> {
    for daemon in names(daemons)? {
        let record = text(&daemons.join(daemon))?;
        let pid_file = record.lines().find_map(|line| line.strip_prefix("pidfile=")).filter(|path| path.starts_with('/'));
        let Some(pid_file) = pid_file else { continue };
        let pid = text(&base.join(pid_file.trim_start_matches('/')))?;
        let is_there =
            pid.split_whitespace().next().and_then(|pid| pid.parse::<u32>().ok()).is_some_and(|pid| is_alive(base, pid));
        if !is_there {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a process is there, and more than its parent's memory of it.
fn is_alive(base: &Path, pid: u32) -> bool {
    let status = text(&base.join(format!("proc/{pid}/status"))).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:")) && !status.lines().any(|line| line.starts_with("State:\tZ"))
}

fn runlevels(folder: &Path, name: &str) -> Result<Vec<String>, OpenrcError> {
    let mut found = Vec::new();
    for runlevel in names(folder)? {
        if exists(&folder.join(&runlevel).join(name))? {
            found.push(runlevel);
        }
    }
    found.sort();
    Ok(found)
}

/// The names in a folder; none of one that is not there.
fn names(folder: &Path) -> Result<Vec<String>, OpenrcError> {
    let doing = "listing the records of OpenRC";
    let fd = match rustix::fs::open(folder, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(Vec::new()),
        opened => opened.map_err(|errno| failed(doing, errno))?,
    };
    let mut names = Vec::new();
    for entry in Dir::read_from(&fd).map_err(|errno| failed(doing, errno))?.take(MAX_ENTRIES) {
        let entry = entry.map_err(|errno| failed(doing, errno))?;
        names.extend(entry.file_name().to_str().ok().filter(|name| !matches!(*name, "." | "..")).map(str::to_owned));
    }
    Ok(names)
}

/// The beginning of a file, as text; empty if there is none.
fn text(path: &PathBuf) -> Result<String, OpenrcError> {
    let doing = "reading the records of OpenRC";
    let fd = match rustix::fs::open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(String::new()),
        opened => opened.map_err(|errno| failed(doing, errno))?,
    };
    let mut bytes = vec![0; MAX_RECORD];
    let mut length = 0;
    while length < bytes.len() {
        match rustix::io::read(&fd, &mut bytes[length..]) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(errno) => return Err(failed(doing, errno)),
        }
    }
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

fn failed(doing: &'static str, errno: Errno) -> OpenrcError {
    OpenrcError::System { doing, source: io::Error::from(errno) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    struct Root(tempfile::TempDir);

    impl Root {
        fn new() -> Self {
            let root = Self(tempfile::tempdir().unwrap());
            root.write("etc/init.d/demo", "#!/sbin/openrc-run\n");
            fs::set_permissions(root.0.path().join("etc/init.d/demo"), fs::Permissions::from_mode(0o755)).unwrap();
            root
        }

        fn write(&self, path: &str, content: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }

        fn link(&self, path: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink("/etc/init.d/demo", path).unwrap();
        }

        fn state(&self) -> State {
            read(self.0.path(), &ServiceName::parse("demo").unwrap()).unwrap().unwrap().state
        }
    }

    #[test]
    fn each_state_has_its_folder() {
        let root = Root::new();
        assert_eq!(root.state(), State::Stopped);
        for (folder, state) in [
            ("started", State::Started),
            ("inactive", State::Inactive),
            ("starting", State::Starting),
            ("stopping", State::Stopping),
        ] {
            root.link(&format!("run/openrc/{folder}/demo"));
            assert_eq!(root.state(), state);
        }
    }

    #[test]
    fn a_service_whose_process_is_gone_has_crashed() {
        let root = Root::new();
        root.link("run/openrc/started/demo");
        root.write("run/openrc/daemons/demo/001", "exec=/bin/sleep\npidfile=/run/demo.pid\n");
        assert_eq!(root.state(), State::Crashed, "there is no file with its process");
        root.write("run/demo.pid", "17\n");
        assert_eq!(root.state(), State::Crashed);
        root.write("proc/17/status", "Name:\tsleep\nState:\tZ (zombie)\n");
        assert_eq!(root.state(), State::Crashed);
        root.write("proc/17/status", "Name:\tsleep\nState:\tS (sleeping)\n");
        assert_eq!(root.state(), State::Started);
    }

    #[test]
    fn runlevels_are_told_and_what_is_no_script_is_no_service() {
        let root = Root::new();
        root.link("etc/runlevels/default/demo");
        root.link("etc/runlevels/boot/demo");
        root.write("etc/init.d/readme", "text");
        let read = |name: &str| read(root.0.path(), &ServiceName::parse(name).unwrap()).unwrap();
        assert_eq!(read("demo").unwrap().runlevels, ["boot", "default"]);
        assert_eq!((read("readme"), read("none")), (None, None));
    }
}
