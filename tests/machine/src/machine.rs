//! A machine: started, spoken to, looked at, ended.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::system::mount_point;
use crate::{ControlGroup, Finished, System};

const START: &str = include_str!("start.sh");

/// Waits for ever and buries who is orphaned, as an init system must.
const WAITING: &str = "sh -c 'trap : TERM; while :; do sleep 3600 & wait; done'";

const SYSTEMD: &str = "/lib/systemd/systemd --system";

/// What a program that a test runs finds in its environment, and no more.
const ENVIRONMENT: &[&str] = &[
    "PATH=/run/machine/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME=/root",
    "LC_ALL=C.UTF-8",
    "DEBIAN_FRONTEND=noninteractive",
];

/// How a machine begins.
#[derive(Debug, Clone)]
pub struct Setup {
    system: System,
    programs: Vec<PathBuf>,
}

impl Setup {
    /// A machine of this system.
    pub fn new(system: System) -> Self {
        Self { system, programs: Vec::new() }
    }

    /// With a program of this computer, which stands in `/run/machine/bin` under its own name and is found by it:
    /// `env!("CARGO_BIN_EXE_runtime")`.
    #[must_use]
    pub fn with_program(mut self, path: impl Into<PathBuf>) -> Self {
        self.programs.push(path.into());
        self
    }

    /// The machine, with nothing running in it.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn enter(self) -> Machine {
        Machine::start(&self, WAITING)
    }

    /// The machine, with systemd as process 1, which has started what it starts.
    ///
    /// # Panics
    /// If it cannot be made, or systemd does not come up.
    pub fn boot(self) -> Machine {
        assert_eq!(self.system, System::Debian, "only the Debian root has systemd");
        let machine = Machine::start(&self, SYSTEMD);
        machine.wait_for_systemd();
        machine
    }
}

/// A machine that runs until the value is dropped.
#[derive(Debug)]
pub struct Machine {
    group: ControlGroup,
    /// What waits for the machine's process 1, in all its namespaces but that of processes.
    outer: Child,
    /// Closing it ends the machine; so does the end of this process.
    life: Option<ChildStdin>,
    first: u32,
}

impl Machine {
    /// A machine of this system, with nothing running in it.
    ///
    /// # Panics
    /// As [`Setup::enter`].
    pub fn enter(system: System) -> Self {
        Setup::new(system).enter()
    }

    /// A Debian with systemd as process 1.
    ///
    /// # Panics
    /// As [`Setup::boot`].
    pub fn boot() -> Self {
        Setup::new(System::Debian).boot()
    }

    fn start(setup: &Setup, init: &str) -> Self {
        let (root, group) = (setup.system.root(), ControlGroup::new());
        let mut outer = Command::new("sh")
            .args(["-c", START])
            .env_clear()
            .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
            .envs([("STAGE", START), ("STEP", ""), ("INIT", init), ("NAME", group.name())])
            .envs([("LOWER", &root), ("MOUNT", &mount_point()), ("CGROUP", &group.path().to_owned())])
            .env("BINDS", binds(&setup.programs))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("`sh` can be run");
        let life = outer.stdin.take();
        let mut line = String::new();
        let stdout = outer.stdout.take().expect("standard output is a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a pipe can be read");
        let first = line.trim().parse().ok();
        let machine = Self { group, outer, life, first: first.unwrap_or(0) };
        if first.is_none() {
            machine.tell_why();
        }
        machine
    }

    /// Panics with what its start said.
    #[track_caller]
    fn tell_why(mut self) -> ! {
        drop(self.life.take());
        let said =
            self.outer.stderr.take().map(BufReader::new).into_iter().flat_map(|reader| reader.lines().map_while(Result::ok));
        let said: Vec<String> = said.collect();
        panic!("a machine cannot be started; these tests need root, `unshare` and overlay file systems:\n{}", said.join("\n"))
    }

    fn wait_for_systemd(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        while !self.path("/run/systemd/private").exists() {
            assert!(Instant::now() < end && self.is_running(), "systemd does not come up");
            sleep(Duration::from_millis(5));
        }
        let state = self.run(&["systemctl", "is-system-running", "--wait"]);
        if state.stdout.trim() != "running" {
            panic!("{state}{}", self.run(&["systemctl", "--failed", "--no-pager"]));
        }
    }

    /// Whether its process 1 is there: a machine that restarts or powers off ends.
    pub fn is_running(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.first)).unwrap_or_default();
        status.lines().any(|line| line.starts_with("NSpid:")) && !status.lines().any(|line| line.starts_with("State:\tZ"))
    }

    /// The number of its process 1 on this computer.
    pub fn pid(&self) -> u32 {
        self.first
    }

    /// Its control group.
    pub fn control_group(&self) -> &ControlGroup {
        &self.group
    }

    /// Its `/`, as a path on this computer. An absolute symbolic link on the way would lead out of the machine.
    pub fn root(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/root", self.first))
    }

    /// A path of the machine, as one on this computer; as with [`Machine::root`].
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path.trim_start_matches('/'))
    }

    /// The folder with everything that was written since the start, as overlay file systems keep it: what is deleted is a device 0:0.
    pub fn written(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/9", self.outer.id()))
    }

    /// A command that will run in the machine, as root, in `/`, with a clean environment.
    pub fn command(&self, command: &[&str]) -> Command {
        let mut entered = Command::new("sh");
        let join = "echo $$ > \"$0\" && exec nsenter --all --target \"$@\"";
        entered.args(["-c", join]).arg(self.group.commands()).arg(self.first.to_string());
        entered.args(["env", "-i"]).args(ENVIRONMENT).args(command);
        entered
    }

    /// Runs a command to its end.
    ///
    /// # Panics
    /// If it cannot be started.
    #[track_caller]
    pub fn run(&self, command: &[&str]) -> Finished {
        self.run_with_input(command, b"")
    }

    /// Runs a command to its end, with this on standard input.
    ///
    /// # Panics
    /// If it cannot be started.
    #[track_caller]
    pub fn run_with_input(&self, command: &[&str], input: &[u8]) -> Finished {
        let mut entered = self.command(command);
        entered.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = entered.spawn().expect("`sh` can be run");
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        let output = std::thread::scope(|scope| {
            // Who ends without reading it all has read enough.
            scope.spawn(move || drop(stdin.write_all(input)));
            child.wait_with_output().expect("a child can be waited for")
        });
        Finished::new(command, output)
    }

    /// Runs a script of the shell, which must end with 0, and gives what it wrote.
    ///
    /// # Panics
    /// If it does not.
    #[track_caller]
    pub fn shell(&self, script: &str) -> String {
        self.run(&["sh", "-ec", script]).success().stdout
    }

    /// Writes a file, with the folders above it.
    ///
    /// # Panics
    /// If it cannot be written.
    #[track_caller]
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let script = "mkdir -p \"$(dirname \"$0\")\" && cat > \"$0\"";
        let _ = self.run_with_input(&["sh", "-ec", script, path], content.as_ref()).success();
    }

    /// Puts a file or folder of this computer into an existing folder of the machine.
    ///
    /// # Panics
    /// If it cannot be copied.
    #[track_caller]
    pub fn copy_in(&self, from: &Path, folder: &str) {
        let (parent, name) = (from.parent().expect("it has a name"), from.file_name().expect("it has a name"));
        let packed = Command::new("tar").arg("-C").arg(parent).arg("-cf").arg("-").arg(name).output().expect("`tar` can be run");
        assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
        let _ = self.run_with_input(&["tar", "-C", folder, "-xf", "-"], &packed.stdout).success();
    }

    /// The text of a file.
    ///
    /// # Panics
    /// If it cannot be read.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        self.run(&["cat", path]).success().stdout
    }

    /// Whether something is at the path; a symbolic link that leads nowhere is something.
    pub fn has(&self, path: &str) -> bool {
        self.run(&["sh", "-c", "test -e \"$0\" || test -L \"$0\"", path]).code == Some(0)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        drop(self.life.take());
        // The watcher of its start ends the outer process, and with it process 1; the kernel ends whatever else there is. Only when nothing is
        // left is the outer process buried, so that its number is its own until then.
        if !self.group.wait_until_empty() {
            let _ = self.outer.kill();
        }
        let _ = self.outer.wait();
    }
}

/// A line each for what `start.sh` puts into `/run/machine/bin`.
fn binds(programs: &[PathBuf]) -> String {
    let lines = programs.iter().map(|program| {
        let program = program.canonicalize().unwrap_or_else(|error| panic!("no program {}: {error}", program.display()));
        let name = program.file_name().expect("a program has a name").to_string_lossy().into_owned();
        assert!(!program.to_string_lossy().contains(char::is_whitespace), "{} has a blank in its name", program.display());
        format!("{} {name}\n", program.display())
    });
    lines.collect()
}
