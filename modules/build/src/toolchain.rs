//! Which way this machine can compile for WebAssembly.
//!
//! There are two: the toolchain in use has the target installed (`rustup target add`), or Debian's own packages compile
//! the standard library from its source. The second needs no download from Rust's servers. Looking never installs anything.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Environment;

/// Forces one way when it is set: `rustup` or `debian`.
pub const FORCE_VARIABLE: &str = "RUNTIME_WASM_TOOLCHAIN";

/// Debian's compiler and cargo: packages `rustc-web` and `cargo-web`.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";
const DEBIAN_CARGO: &str = "/usr/bin/cargo";

/// Linkers to use where no `rust-lld` is at hand, best first: packages `lld-19` and `lld`.
const DEBIAN_LINKERS: &[&str] = &["/usr/bin/wasm-ld-19", "/usr/bin/wasm-ld"];

/// What a guest is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// `wasm32-unknown-unknown`: no system interface at all, only what the contract gives.
    Bare,
    /// `wasm32-wasip2`: the standard library calls WASI, which the host links but leaves empty.
    Wasip2,
}

impl Target {
    /// Its name to the compiler.
    pub fn triple(self) -> &'static str {
        match self {
            Self::Bare => "wasm32-unknown-unknown",
            Self::Wasip2 => "wasm32-wasip2",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.triple())
    }
}

/// How the target's standard library is had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The toolchain in use has it installed.
    Rustup,
    /// Debian's toolchain compiles it from source.
    Debian,
}

impl Way {
    /// Its name in [`FORCE_VARIABLE`], and of its folder among compiled things.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rustup => "rustup",
            Self::Debian => "debian",
        }
    }

    /// The way that the environment forces, if it does.
    pub(crate) fn forced(environment: &Environment) -> Result<Option<Self>, ToolchainError> {
        let Some(word) = environment.get(FORCE_VARIABLE) else {
            return Ok(None);
        };
        match word.to_str() {
            Some("rustup") => Ok(Some(Self::Rustup)),
            Some("debian") => Ok(Some(Self::Debian)),
            _ => Err(ToolchainError::UnknownWay { found: word.to_string_lossy().into_owned() }),
        }
    }
}

/// Why no toolchain can be used.
#[derive(Debug, thiserror::Error)]
pub enum ToolchainError {
    /// The forcing variable holds another word.
    #[error("`{FORCE_VARIABLE}` is `{}`: it must be `rustup` or `debian`", found.escape_debug())]
    UnknownWay {
        /// What it holds.
        found: String,
    },
    /// The compiler could not be started.
    #[error("the Rust compiler `{}` cannot be run", program.display())]
    NoCompiler {
        /// The compiler.
        program: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The compiler did not answer a question about itself.
    #[error("the Rust compiler `{}` does not say its {question}: {answer}", program.display())]
    Compiler {
        /// The compiler.
        program: PathBuf,
        /// What it was asked.
        question: &'static str,
        /// What it said instead.
        answer: String,
    },
    /// No way is complete.
    #[error("nothing on this machine compiles for `{target}`: {}", missing.join("; "))]
    NotInstalled {
        /// What was to be compiled for.
        target: Target,
        /// What is missing, one entry for each way that was tried.
        missing: Vec<String>,
    },
}

impl ToolchainError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::UnknownWay { .. } => Some(format!("unset `{FORCE_VARIABLE}` to let the machine decide")),
            Self::NoCompiler { .. } => Some("install Rust: https://rustup.rs".to_owned()),
            Self::Compiler { .. } => None,
            Self::NotInstalled { target: Target::Wasip2, .. } => Some("run `rustup target add wasm32-wasip2`".to_owned()),
            Self::NotInstalled { target: Target::Bare, .. } => Some(
                "run `rustup target add wasm32-unknown-unknown`, or on Debian \
                 `apt-get install --no-install-recommends rustc-web rust-web-src cargo-web`"
                    .to_owned(),
            ),
        }
    }
}

/// A compiler and a cargo that can build for one WebAssembly target.
#[derive(Debug, Clone)]
pub struct Toolchain {
    environment: Environment,
    target: Target,
    way: Way,
    cargo: PathBuf,
    rustc: PathBuf,
    identity: Identity,
    linker: Option<Linker>,
}

/// What a compiler says of itself.
#[derive(Debug, Clone)]
struct Identity {
    sysroot: PathBuf,
    commit: String,
    host: String,
    release: String,
}

/// A linker that Debian's compiler would not find by itself.
#[derive(Debug, Clone)]
enum Linker {
    /// A folder with `rust-lld`, to put on `PATH`.
    Folder(PathBuf),
    /// A program to name.
    Program(PathBuf),
}

impl Toolchain {
    /// The toolchain to compile for `target` with: the one in use if it has the target installed, else Debian's.
    ///
    /// # Errors
    /// If neither is complete, or the one that [`FORCE_VARIABLE`] forces is not.
    pub fn find(environment: &Environment, target: Target) -> Result<Self, ToolchainError> {
        let mut missing = Vec::new();
        let ways = match Way::forced(environment)? {
            Some(way) => vec![way],
            None => vec![Way::Rustup, Way::Debian],
        };
        for way in ways {
            let found = match way {
                Way::Rustup => Self::in_use(environment, target)?,
                Way::Debian => Self::debian(environment, target)?,
            };
            match found {
                Ok(toolchain) => return Ok(toolchain),
                Err(lack) => missing.push(lack),
            }
        }
        Err(ToolchainError::NotInstalled { target, missing })
    }

    /// Which way it is.
    pub fn way(&self) -> Way {
        self.way
    }

    /// What it compiles for.
    pub fn target(&self) -> Target {
        self.target
    }

    /// Its compiler.
    pub fn rustc(&self) -> &Path {
        &self.rustc
    }

    /// The toolchain in use; or, in words, what it lacks.
    fn in_use(environment: &Environment, target: Target) -> Result<Result<Self, String>, ToolchainError> {
        let rustc = environment.path("RUSTC").unwrap_or_else(|| PathBuf::from("rustc"));
        let folder = ask(environment, &rustc, "library folder", &["--print", "target-libdir", "--target", target.triple()])?;
        if !holds_standard_library(Path::new(&folder)) {
            return Ok(Err(format!("`{}` has no standard library for it", rustc.display())));
        }
        let identity = Identity::of(environment, &rustc)?;
        let cargo = environment.path("CARGO").unwrap_or_else(|| PathBuf::from("cargo"));
        let environment = environment.clone();
        Ok(Ok(Self { environment, target, way: Way::Rustup, cargo, rustc, identity, linker: None }))
    }

    /// Debian's toolchain; or, in words, what it lacks.
    fn debian(environment: &Environment, target: Target) -> Result<Result<Self, String>, ToolchainError> {
        if target != Target::Bare {
            return Ok(Err("Debian's toolchain has no WASI library for it".to_owned()));
        }
        for (program, package) in [(DEBIAN_RUSTC, "rustc-web"), (DEBIAN_CARGO, "cargo-web")] {
            if !Path::new(program).is_file() {
                return Ok(Err(format!("there is no `{program}` (Debian package `{package}`)")));
            }
        }
        let rustc = PathBuf::from(DEBIAN_RUSTC);
        let identity = Identity::of(environment, &rustc)?;
        if !is_new_enough(&identity.release, env!("CARGO_PKG_RUST_VERSION")) {
            return Ok(Err(format!("`{DEBIAN_RUSTC}` is {}, too old (Debian package `rustc-web`)", identity.release)));
        }
        let source = identity.library_source();
        if !source.join("library/std/Cargo.toml").is_file() {
            return Ok(Err(format!("there is no Rust source in `{}` (Debian package `rust-web-src`)", source.display())));
        }
        let Some(linker) = find_linker(environment, &identity) else {
            return Ok(Err("there is no WebAssembly linker (Debian package `lld`)".to_owned()));
        };
        let (environment, cargo) = (environment.clone(), PathBuf::from(DEBIAN_CARGO));
        Ok(Ok(Self { environment, target, way: Way::Debian, cargo, rustc, identity, linker: Some(linker) }))
    }

    /// A command that compiles with this toolchain and sees nothing of the caller's own build: cargo, or a program that calls it.
    pub fn command(&self, program: &Path) -> Command {
        let mut command = self.environment.command(program);
        command.env("RUSTC", &self.rustc).env("CARGO", &self.cargo);
        if self.way == Way::Debian {
            // `-Z` on a stable compiler; the environment's libraries would be those of another compiler.
            command.env("RUSTC_BOOTSTRAP", "1").env_remove("LD_LIBRARY_PATH");
        }
        match &self.linker {
            None => {}
            Some(Linker::Program(program)) => {
                command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", program);
            }
            Some(Linker::Folder(folder)) => {
                let path = self.environment.get("PATH").unwrap_or_default();
                let folders = std::env::split_paths(path).chain([folder.clone()]);
                // A folder name that cannot be joined (it holds `:`) leaves `PATH` as it is; the link then fails and says so.
                if let Ok(joined) = std::env::join_paths(folders) {
                    command.env("PATH", joined);
                }
            }
        }
        command
    }

    /// The arguments with which cargo compiles for the target.
    pub fn build_arguments(&self) -> Vec<&'static str> {
        let mut arguments = vec!["build", "--target", self.target.triple()];
        if self.way == Way::Debian {
            arguments.extend(["-Z", "build-std=std,panic_abort"]);
        }
        arguments
    }

    /// `cargo build` for the target.
    pub(crate) fn cargo_build(&self, rustflags: &[String]) -> Command {
        let mut command = self.command(&self.cargo);
        command.args(self.build_arguments()).env("CARGO_ENCODED_RUSTFLAGS", rustflags.join("\u{1f}"));
        command
    }

    /// Folders whose names must not get into a component, each with what stands there instead. A later one wins.
    pub(crate) fn remapped_folders(&self) -> Vec<(PathBuf, String)> {
        let cargo_home = self.environment.cargo_home().map(|folder| (folder, "/cargo".to_owned()));
        let library = (self.identity.library_source(), format!("/rustc/{}", self.identity.commit));
        cargo_home.into_iter().chain([library]).collect()
    }
}

impl Identity {
    fn of(environment: &Environment, rustc: &Path) -> Result<Self, ToolchainError> {
        let version = ask(environment, rustc, "version", &["-vV"])?;
        let field = |name: &'static str| {
            let value = version.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            value.map(str::to_owned).ok_or_else(|| ToolchainError::Compiler {
                program: rustc.to_owned(),
                question: name,
                answer: version.clone(),
            })
        };
        let sysroot = PathBuf::from(ask(environment, rustc, "sysroot", &["--print", "sysroot"])?);
        Ok(Self { sysroot, commit: field("commit-hash")?, host: field("host")?, release: field("release")? })
    }

    /// Where the standard library's source is, if it is installed.
    fn library_source(&self) -> PathBuf {
        self.sysroot.join("lib/rustlib/src/rust")
    }
}

/// Whether a release (`1.96.0`) is at least a version (`1.95`), by major and minor number.
fn is_new_enough(release: &str, version: &str) -> bool {
    let numbers = |text: &str| {
        let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
        Some((parts.next()??, parts.next()??))
    };
    numbers(release).is_some_and(|release| Some(release) >= numbers(version))
}

fn holds_standard_library(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-"))
}

/// A linker for Debian's compiler, whose package brings none: that of the toolchain in use, else Debian's.
fn find_linker(environment: &Environment, debian: &Identity) -> Option<Linker> {
    // No compiler in use, or one that does not answer, is no reason to refuse Debian's.
    let in_use = environment.find_program("rustc").and_then(|rustc| Identity::of(environment, &rustc).ok());
    for identity in in_use.iter().chain([debian]) {
        let folder = identity.sysroot.join("lib/rustlib").join(&identity.host).join("bin");
        if folder.join("rust-lld").is_file() {
            return Some(Linker::Folder(folder));
        }
    }
    let program = DEBIAN_LINKERS.iter().map(PathBuf::from).find(|program| program.is_file());
    program.map(Linker::Program)
}

/// What the compiler answers, without the line's end.
fn ask(environment: &Environment, rustc: &Path, question: &'static str, arguments: &[&str]) -> Result<String, ToolchainError> {
    let output = environment
        .command(rustc)
        .args(arguments)
        .output()
        .map_err(|source| ToolchainError::NoCompiler { program: rustc.to_owned(), source })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() {
        return Ok(text(&output.stdout));
    }
    Err(ToolchainError::Compiler { program: rustc.to_owned(), question, answer: text(&output.stderr) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process() -> Environment {
        Environment::new(std::env::vars_os())
    }

    #[test]
    fn another_word_in_the_forcing_variable_is_refused() {
        let error = Toolchain::find(&process().with(FORCE_VARIABLE, "nix\u{1b}"), Target::Bare).unwrap_err();
        assert_eq!(error.to_string(), "`RUNTIME_WASM_TOOLCHAIN` is `nix\\u{1b}`: it must be `rustup` or `debian`");
        assert!(error.hint().is_some());
    }

    #[test]
    fn a_compiler_that_is_not_there_is_named() {
        let error = Toolchain::find(&process().with("RUSTC", "/nowhere/rustc"), Target::Bare).unwrap_err();
        assert_eq!(error.to_string(), "the Rust compiler `/nowhere/rustc` cannot be run");
    }

    #[test]
    fn a_forced_way_that_lacks_something_says_what() {
        let environment = process().with(FORCE_VARIABLE, "debian");
        let error = Toolchain::find(&environment, Target::Wasip2).unwrap_err();
        assert_eq!(
            error.to_string(),
            "nothing on this machine compiles for `wasm32-wasip2`: Debian's toolchain has no WASI library for it"
        );
        assert_eq!(error.hint().as_deref(), Some("run `rustup target add wasm32-wasip2`"));
    }

    #[test]
    fn releases_compare_by_number() {
        assert!(is_new_enough("1.95.0", "1.95"));
        assert!(is_new_enough("1.100.0-nightly", "1.95"));
        assert!(!is_new_enough("1.63.0", "1.95"));
        assert!(!is_new_enough("", "1.95"));
    }
}
