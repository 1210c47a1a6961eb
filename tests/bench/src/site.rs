//! A real Debian under systemd with the program, packages and services: what the benches of packages, services and of everything together run on.

use std::path::Path;

use test_machine::repositories::{self, Manager};
use test_machine::{Machine, Setup, System};

use crate::Failure;
use crate::measure::{Job, Rounds};

/// How many packages are installed and services run.
pub(crate) const COUNT: usize = 200;

/// What the benches keep in the machine.
pub(crate) const FOLDER: &str = "/root/bench";

const UNIT: &str = "[Unit]\nDescription=One of many\n[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n\
                    [Install]\nWantedBy=multi-user.target\n";

pub(crate) struct Site {
    machine: Machine,
    /// The name of the measured program, by which the machine finds it.
    program: String,
}

impl Site {
    /// Makes it, with all of the packages installed and all of the services running and enabled, by the node's own tools.
    pub(crate) fn make(runtime: &Path) -> Result<Self, Failure> {
        eprintln!("bench: making a machine with {COUNT} packages and {COUNT} services");
        let own = std::env::current_exe().map_err(|error| format!("our own program cannot be found: {error}"))?;
        let machine = Setup::new(System::Debian).with_program(runtime).with_program(own).boot();
        let program = runtime.file_name().map(|name| name.to_string_lossy().into_owned()).ok_or("the program has no name")?;
        let packages: Vec<(String, &str)> = packages(COUNT).into_iter().map(|name| (name, "1.0")).collect();
        repositories::stock(&machine, Manager::Apt, &packages);
        machine.shell("dpkg --force-unsafe-io -i /srv/repository/apt/*.deb > /dev/null");
        for service in services(COUNT) {
            std::fs::write(machine.path(&format!("/etc/systemd/system/{service}")), UNIT)
                .map_err(|error| format!("{service}: {error}"))?;
        }
        machine
            .shell(&format!("systemctl daemon-reload; systemctl enable -q --now {}; mkdir {FOLDER}", services(COUNT).join(" ")));
        Ok(Self { machine, program })
    }

    /// Compiles a manifest, has the program converge the machine to it once, and gives what plans and applies it from then on.
    pub(crate) fn converge(&self, name: &str, manifest: &str) -> Converged {
        let (source, bundle, state) =
            (format!("{FOLDER}/{name}.hcl"), format!("{FOLDER}/{name}.wasm.tar"), format!("{FOLDER}/{name}.state"));
        self.machine.write(&source, manifest);
        let _ = self.machine.run(&[&self.program, "compile", &source, "-o", &bundle]).success();
        let _ = self.machine.run(&[&self.program, "apply", &bundle, "--state-dir", &state]).success();
        let command =
            |name: &str| [&self.program, name, &bundle, "--state-dir", &state, "--detailed-exitcode"].map(str::to_owned).to_vec();
        Converged { plan: command("plan"), apply: command("apply") }
    }

    /// Runs a script, which must succeed.
    pub(crate) fn shell(&self, script: &str) -> String {
        self.machine.shell(script)
    }

    /// The programs of the node that a command ran itself, and how often, as its `-vv` tells.
    pub(crate) fn programs(&self, command: &[String]) -> String {
        let told: Vec<&str> = command.iter().map(String::as_str).chain(["-vv"]).collect();
        let finished = self.machine.run(&told).success();
        let mut counts = std::collections::BTreeMap::<&str, usize>::new();
        for line in finished.stderr.lines().filter(|line| line.contains("a package manager's program ended")) {
            let program = line.split("program=\"").nth(1).and_then(|rest| rest.split('"').next());
            *counts.entry(program.unwrap_or("unknown")).or_default() += 1;
        }
        let counts: Vec<String> = counts.into_iter().map(|(program, count)| format!("{program} × {count}")).collect();
        if counts.is_empty() { "none".to_owned() } else { counts.join(", ") }
    }

    /// Measures in the machine.
    pub(crate) fn measure(&self, job: &Job) -> Result<Rounds, Failure> {
        let job = serde_json::to_vec(job).map_err(|error| error.to_string())?;
        let own = std::env::current_exe().map_err(|error| format!("our own program cannot be found: {error}"))?;
        let name = own.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let finished = self.machine.run_with_input(&[&name, "measure"], &job);
        if finished.code != Some(0) {
            return Err(finished.stderr.trim().to_owned());
        }
        serde_json::from_str(&finished.stdout).map_err(|error| format!("the machine gave no times: {error}"))
    }
}

/// The commands on a manifest that the machine is converged to. Each ends with 0 as long as nothing differs.
pub(crate) struct Converged {
    pub(crate) plan: Vec<String>,
    pub(crate) apply: Vec<String>,
}

/// The names of the first of the packages.
pub(crate) fn packages(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("bench-{number:03}")).collect()
}

/// The names of the first of the services' units.
pub(crate) fn services(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("bench-{number:03}.service")).collect()
}
