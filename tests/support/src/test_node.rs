//! A node of its own for one test: scratch root, state folder, cleared environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::CommandOutput;

/// Commands that take `--root`, and with it `--state-dir`.
const NODE_COMMANDS: &[&str] = &["plan", "apply", "recover", "history", "show", "release"];

/// A folder in which commands run, with a scratch root (`root`), a state folder (`state`) and a home (`home`) in it.
///
/// Nothing of the machine is seen: the environment is cleared, and each command is told of root and state.
#[derive(Debug)]
pub struct TestNode {
    program: PathBuf,
    folder: tempfile::TempDir,
}

impl TestNode {
    /// A node for the program at `program`: `TestNode::new(env!("CARGO_BIN_EXE_runtime"))`.
    ///
    /// # Panics
    /// If there is no room for it.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let folder = tempfile::Builder::new().prefix("runtime-test-").tempdir().expect("a temporary folder can be made");
        let node = Self { program: program.into(), folder };
        for name in ["root/etc", "home"] {
            fs::create_dir_all(node.path(name)).expect("a folder can be made");
        }
        let release = "ID=testos\nID_LIKE=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Test OS 12\"\n";
        node.write("root/etc/os-release", release);
        node.write("root/etc/hostname", "db1\n");
        node.write("root/etc/passwd", "root:x:0:0::/root:/bin/sh\nweb:x:33:33::/srv:/bin/false\n");
        node.write("root/etc/group", "root:x:0:\nweb:x:33:\n");
        node
    }

    /// A path in the test's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The node's `/`.
    pub fn root(&self) -> PathBuf {
        self.path("root")
    }

    /// The state folder, which the first run makes.
    pub fn state_dir(&self) -> PathBuf {
        self.path("state")
    }

    /// Writes a file in the test's folder, with the folders above it.
    ///
    /// # Panics
    /// If it cannot be written.
    #[track_caller]
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
    }

    /// The text of a file in the test's folder.
    ///
    /// # Panics
    /// If it cannot be read.
    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("cannot read `{name}`: {error}"))
    }

    /// Runs the program as typed, in the test's folder; commands about a node are told of root and state, `facts` of the root.
    ///
    /// # Panics
    /// If it cannot be started.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> CommandOutput {
        let output = self.command(arguments).output().expect("the program can be started");
        CommandOutput::new(&output, &self.folder.path().display().to_string())
    }

    /// The command that [`run`](Self::run) runs, for tests that do more with it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(self.folder.path()).env_clear();
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("home"));
        // Compiled code is named by its digest, so tests can share it; it is used where no other user can write.
        command.env("RUNTIME_CACHE_DIR", self.program.with_file_name("test-code-cache"));
        let is_node_command = arguments.first().is_some_and(|name| NODE_COMMANDS.contains(name));
        if is_node_command && !arguments.contains(&"--root") {
            command.arg("--root").arg(self.root());
        }
        if is_node_command && !arguments.contains(&"--state-dir") {
            command.arg("--state-dir").arg(self.state_dir());
        }
        if arguments.first() == Some(&"facts") && !arguments.contains(&"--root") {
            command.arg("--root").arg(self.root());
        }
        command
    }
}
