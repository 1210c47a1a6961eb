//! Programs that tests and checks use beyond the Rust toolchain: one table with what each is for and how it is installed.

use std::path::Path;

use component_build::{Environment, FORCE_VARIABLE, Target, Toolchain};

use crate::Failure;
use crate::command::{output, run};

/// Something that must be there.
pub(crate) struct Tool {
    pub(crate) name: &'static str,
    /// What cannot be done without it.
    needed_for: &'static str,
    is_present: fn() -> bool,
    /// The commands that install it.
    install: &'static [&'static [&'static str]],
}

/// What makes the Debian of tests and benches.
const MMDEBSTRAP: Tool = Tool {
    name: "mmdebstrap",
    needed_for: "tests and benches on a real Debian",
    is_present: || output(&["mmdebstrap", "--version"]).is_some(),
    install: &[&["apt-get", "install", "-y", "--no-install-recommends", "--no-remove", "mmdebstrap"]],
};

/// What the benches use.
pub(crate) const FOR_BENCHES: &[Tool] = &[MMDEBSTRAP];

/// What the tests use.
pub(crate) const FOR_TESTS: &[Tool] = &[
    Tool {
        name: "skopeo",
        needed_for: "tests that another program reads bundles",
        is_present: || output(&["skopeo", "--version"]).is_some(),
        install: &[&["apt-get", "install", "-y", "--no-install-recommends", "--no-remove", "skopeo"]],
    },
    Tool {
        name: "a static busybox",
        needed_for: "tests of programs in another root than `/`",
        is_present: || output(&["busybox", "true"]).is_some() && output(&["ldd", "/bin/busybox"]).is_none(),
        install: &[&["apt-get", "install", "-y", "--no-install-recommends", "--no-remove", "busybox-static"]],
    },
    MMDEBSTRAP,
    Tool {
        name: "qemu-img",
        needed_for: "tests on a real Alpine",
        is_present: || output(&["qemu-img", "--version"]).is_some(),
        install: &[&["apt-get", "install", "-y", "--no-install-recommends", "--no-remove", "qemu-utils"]],
    },
    Tool {
        name: "pip",
        needed_for: "tests on a real Alpine",
        is_present: || output(&["python3", "-m", "pip", "--version"]).is_some(),
        install: &[&["apt-get", "install", "-y", "--no-install-recommends", "--no-remove", "python3-pip"]],
    },
    Tool {
        name: "Debian's Rust toolchain",
        needed_for: "tests of the second way to compile for WebAssembly",
        is_present: || {
            let environment = Environment::new(std::env::vars_os()).with(FORCE_VARIABLE, "debian");
            Toolchain::find(&environment, Target::Bare).is_ok()
        },
        install: &[&[
            "apt-get",
            "install",
            "-y",
            "--no-install-recommends",
            "--no-remove",
            "rustc-web",
            "rust-web-src",
            "cargo-web",
        ]],
    },
    Tool {
        name: "the target wasm32-wasip2",
        needed_for: "tests of modules whose toolchain left WASI in",
        is_present: || Toolchain::find(&Environment::new(std::env::vars_os()), Target::Wasip2).is_ok(),
        install: &[&["rustup", "target", "add", "wasm32-wasip2"]],
    },
    Tool {
        name: "cargo-component 0.21",
        needed_for: "tests of a module from outside the workspace",
        is_present: || output(&["cargo", "component", "--version"]).is_some_and(|version| version.contains(" 0.21.")),
        install: &[&["cargo", "install", "cargo-component@0.21.1", "--locked"]],
    },
];

/// What the checks use.
pub(crate) const FOR_CHECKS: &[Tool] = &[Tool {
    name: "cargo-deny",
    needed_for: "the check of dependencies, their licences and their origin",
    is_present: || output(&["cargo", "deny", "--version"]).is_some(),
    install: &[&["cargo", "install", "cargo-deny@0.20.2", "--locked"]],
}];

/// Installs those that are missing.
pub(crate) fn install(tools: &[Tool]) -> Result<(), Failure> {
    for tool in tools.iter().filter(|tool| !(tool.is_present)()) {
        eprintln!("\nxtask: {} is missing; it is needed for {}", tool.name, tool.needed_for);
        let uses_apt = tool.install.iter().any(|command| command[0] == "apt-get");
        if uses_apt && Path::new("/usr/bin/apt-get").is_file() {
            run(&["apt-get", "update", "-qq"])?;
        }
        for command in tool.install {
            run(command)?;
        }
        if !(tool.is_present)() {
            return Err(missing(std::slice::from_ref(tool)));
        }
    }
    Ok(())
}

/// Refuses if one is missing, and says how each is installed.
pub(crate) fn require(tools: &[Tool]) -> Result<(), Failure> {
    let lacking: Vec<&Tool> = tools.iter().filter(|tool| !(tool.is_present)()).collect();
    if lacking.is_empty() { Ok(()) } else { Err(missing(lacking)) }
}

fn missing<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Failure {
    let mut text = "something that is needed is missing (`cargo xtask setup --all` installs it):".to_owned();
    for tool in tools {
        let commands: Vec<String> = tool.install.iter().map(|command| command.join(" ")).collect();
        text.push_str(&format!("\n  {}, for {}: {}", tool.name, tool.needed_for, commands.join(" && ")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const ABSENT: Tool = Tool { name: "absent", needed_for: "nothing", is_present: || false, install: &[&["false", "x"]] };

    #[test]
    fn what_is_missing_is_named_with_what_installs_it() {
        let failure = require(&[ABSENT]).unwrap_err();
        assert!(failure.ends_with("\n  absent, for nothing: false x"), "{failure}");
    }

    #[test]
    fn an_installation_that_fails_or_changes_nothing_is_a_failure() {
        assert_eq!(install(&[ABSENT]), Err("`false x` exited 1, not 0".to_owned()));
        let useless = Tool { install: &[&["true"]], ..ABSENT };
        assert!(install(&[useless]).is_err_and(|failure| failure.contains("absent, for nothing: true")));
    }
}
