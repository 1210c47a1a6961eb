//! A machine with the program.

use std::path::{Path, PathBuf};

use testkit::machine::{Finished, Machine, Setup, System};
use testkit::warm::warm;

/// A machine with the program in it.
pub struct On {
    pub machine: Machine,
}

/// A service with these lines in `[Service]`, which can be enabled.
pub fn unit(lines: &str) -> String {
    format!("[Service]\n{lines}\n[Install]\nWantedBy=multi-user.target\n")
}

impl On {
    /// A Debian that systemd has booted.
    pub fn systemd() -> Self {
        Self::with(Setup::new(System::Debian).with_program(env!("CARGO_BIN_EXE_runtime")).boot())
    }

    /// The same, with another program beside.
    pub fn with_program(program: PathBuf) -> Self {
        Self::with(Setup::new(System::Debian).with_program(env!("CARGO_BIN_EXE_runtime")).with_program(program).boot())
    }

    /// An Alpine that OpenRC believes to have booted.
    pub fn openrc() -> Self {
        let on = Self::with(Setup::new(System::Alpine).with_program(env!("CARGO_BIN_EXE_runtime")).enter());
        on.machine.shell("mkdir -p /run/openrc && touch /run/openrc/softlevel && rc-status --all > /dev/null");
        on
    }

    /// A Debian in which nothing was booted.
    pub fn without_init() -> Self {
        Self::with(Setup::new(System::Debian).with_program(env!("CARGO_BIN_EXE_runtime")).enter())
    }

    fn with(machine: Machine) -> Self {
        machine.shell("mkdir -p /root/site");
        warm(&machine, Path::new(env!("CARGO_BIN_EXE_runtime")));
        Self { machine }
    }

    /// Writes the file of a unit, and has systemd read it.
    #[track_caller]
    pub fn unit(&self, name: &str, lines: &str) {
        self.machine.write(&format!("/usr/lib/systemd/system/{name}"), unit(lines));
        self.machine.shell("systemctl daemon-reload");
    }

    /// Compiles a manifest to `/root/site/site.wasm.tar`.
    #[track_caller]
    pub fn compile(&self, manifest: &str) {
        self.machine.write("/root/site/site.hcl", manifest);
        let _ = self.run(&["compile", "/root/site/site.hcl", "-o", "/root/site/site.wasm.tar"]).success();
    }

    /// Runs the program.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Finished {
        self.machine.run(&[&["runtime"], arguments].concat())
    }

    /// Runs `plan` or `apply` on the compiled manifest, with `--detailed-exitcode`.
    #[track_caller]
    pub fn site(&self, command: &str) -> Finished {
        self.run(&[command, "/root/site/site.wasm.tar", "--color", "never", "--detailed-exitcode"])
    }

    /// Compiles and applies a manifest in which something changes; then nothing does.
    #[track_caller]
    pub fn converges(&self, manifest: &str) -> Finished {
        self.compile(manifest);
        let applied = self.site("apply").exits_with(2);
        let _ = self.site("plan").success();
        applied
    }

    /// A digest over names, modes, sizes and times of everything in the folders of programs, settings and state.
    pub fn everything(&self) -> String {
        self.machine.shell("find /etc /usr /var/lib /srv /root -xdev -printf '%p %m %u %s %T@\\n' | sort | sha256sum")
    }

    /// What `systemctl is-active` and `is-enabled` say.
    pub fn states(&self, unit: &str) -> String {
        self.machine.shell(&format!("echo $(systemctl is-active {unit}) $(systemctl is-enabled {unit})")).trim().to_owned()
    }
}

/// That the output has this text.
#[track_caller]
pub fn says(output: &Finished, text: &str) {
    let all = output.to_string();
    assert!(all.contains(text), "`{text}` is not in\n{all}");
}
