//! A machine with the program and a repository.

use std::path::{Path, PathBuf};

use testkit::machine::repositories::{self, Manager};
use testkit::machine::{Finished, Machine, Setup, System};
use testkit::warm::warm;

/// A machine whose package manager knows one repository, and the program in it.
pub struct On {
    pub machine: Machine,
    manager: Manager,
}

impl On {
    pub fn new(manager: Manager) -> Self {
        Self::with_program(manager, None)
    }

    /// The same, with another program beside.
    pub fn with_program(manager: Manager, program: Option<PathBuf>) -> Self {
        let system = if manager == Manager::Apk { System::Alpine } else { System::Debian };
        let setup = Setup::new(system).with_program(env!("CARGO_BIN_EXE_runtime"));
        let machine = program.into_iter().fold(setup, Setup::with_program).enter();
        repositories::make(&machine, manager);
        // The Debian root has the package managers of others, and says that it is theirs.
        let release = match manager {
            Manager::Apt | Manager::Apk => None,
            Manager::Dnf => Some("ID=fedora\nVERSION_ID=42\n"),
            Manager::Zypper => Some("ID=opensuse-leap\nID_LIKE=\"suse opensuse\"\n"),
            Manager::Pacman => Some("ID=arch\n"),
        };
        if let Some(release) = release {
            machine.shell("rm -f /etc/os-release");
            machine.write("/etc/os-release", release);
        }
        machine.shell("mkdir -p /root/site");
        warm(&machine, Path::new(env!("CARGO_BIN_EXE_runtime")));
        Self { machine, manager }
    }

    /// Puts `demo` 2.0 into the repository.
    pub fn offer(&self) {
        repositories::offer(&self.machine, self.manager);
    }

    /// Compiles a manifest to `/root/site/site.wasm.tar`.
    #[track_caller]
    pub fn compile(&self, manifest: &str, more: &[&str]) {
        self.machine.write("/root/site/site.hcl", manifest);
        let arguments = [&["compile", "/root/site/site.hcl", "-o", "/root/site/site.wasm.tar"], more].concat();
        let _ = self.run(&arguments).success();
    }

    /// Runs the program.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.machine.run(&[&["runtime"], arguments].concat())
    }

    /// Runs `plan` or `apply` on the compiled manifest.
    #[track_caller]
    pub fn site(&self, command: &str, more: &[&str]) -> Finished {
        self.run(&[&[command, "/root/site/site.wasm.tar", "--color", "never"], more].concat())
    }

    /// A digest over names and contents of everything in the folders of packages, settings and state.
    pub fn everything(&self) -> String {
        self.machine.shell("find /etc /usr /var /srv /root -xdev -printf '%p %m %u %s %T@\\n' | sort | sha256sum")
    }
}
