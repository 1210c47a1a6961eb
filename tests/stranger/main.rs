//! A module from outside the workspace: what `runtime module new` writes, built by others' tools and by ours.
//!
//! Needs cargo-component 0.21 and, for modules with WASI left in, the target `wasm32-wasip2`; where one is missing the test that
//! needs it fails and says so.
#![allow(clippy::disallowed_methods, reason = "a test: it runs programs in temporary folders")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use component_build::{Environment, Target, Toolchain, build_crate, interfaces};

/// What a resource type exports.
const CONTRACT: [&str; 2] = ["runtime:module/definition@0.1.0", "runtime:module/lifecycle@0.1.0"];

fn toolchain(target: Target) -> Toolchain {
    Toolchain::find(&Environment::new(std::env::vars_os()), target)
        .unwrap_or_else(|error| panic!("{error}; this test needs it: {}", error.hint().unwrap_or_default()))
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{command:?} failed\n{}{}", text(&output.stdout), text(&output.stderr));
    output
}

fn runtime(arguments: &[&str]) -> Output {
    run(Command::new(env!("CARGO_BIN_EXE_runtime")).args(arguments))
}

/// A crate of `runtime module new`, and a target folder that is kept, so that dependencies are compiled once.
struct Stranger {
    folder: tempfile::TempDir,
    target: PathBuf,
}

impl Stranger {
    fn new(target: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        runtime(&["module", "new", "greeting", folder.path().join("greeting").to_str().unwrap()]);
        // The versions that we test with: a new release of a dependency is not what these tests are about.
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
        std::fs::copy(lock, folder.path().join("greeting/Cargo.lock")).unwrap();
        Self { folder, target: Path::new(env!("CARGO_TARGET_TMPDIR")).join(target) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("greeting")
    }

    /// What cargo component makes of it.
    fn build_with_cargo_component(&self) -> PathBuf {
        let toolchain = toolchain(Target::Bare);
        let mut command = toolchain.command(Path::new("cargo-component"));
        command.arg("component").args(toolchain.build_arguments()).arg("--release");
        run(command.current_dir(self.path()).env("CARGO_TARGET_DIR", &self.target));
        self.target.join(Target::Bare.triple()).join("release/greeting.wasm")
    }

    /// Applies a manifest that has one resource of the module, under a policy, to a root of its own.
    fn apply(&self, component: &Path, policy: &str) -> Output {
        let at = |name: &str| self.folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(at("site.hcl"), "resource \"greeting\" \"hello\" {\n  path = \"/srv/hello\"\n  text = \"Hello\"\n}\n")
            .unwrap();
        std::fs::write(at("policy.hcl"), policy).unwrap();
        std::fs::create_dir_all(at("root/srv")).unwrap();
        let module = format!("greeting={}", component.display());
        runtime(&["compile", &at("site.hcl"), "-o", &at("site.wasm.tar"), "--module", &module]);
        let mut apply = Command::new(env!("CARGO_BIN_EXE_runtime"));
        apply.args(["apply", &at("site.wasm.tar"), "--root", &at("root"), "--policy", &at("policy.hcl")]).output().unwrap()
    }
}

/// The policy row that a refusal prints.
fn row_in(refusal: &Output) -> String {
    let told = String::from_utf8_lossy(&refusal.stderr).into_owned();
    let (_, row) = told.split_once("in the policy:\n").unwrap_or_else(|| panic!("no row in {told}"));
    row.to_owned()
}

#[test]
fn cargo_component_and_module_build_make_the_same_of_it() {
    let stranger = Stranger::new("stranger");
    let component = stranger.build_with_cargo_component();
    let by_cargo_component = interfaces(&std::fs::read(&component).unwrap()).unwrap();
    assert_eq!(by_cargo_component.exports, CONTRACT);

    let output = stranger.folder.path().join("greeting.wasm");
    runtime(&["module", "build", stranger.path().to_str().unwrap(), "-o", output.to_str().unwrap()]);
    let by_module_build = interfaces(&std::fs::read(output).unwrap()).unwrap();
    assert_eq!(by_module_build, by_cargo_component);
    let foreign = by_module_build.imports.iter().find(|name| !name.starts_with("runtime:"));
    assert_eq!(foreign, None);
    is_refused_then_allowed_by_the_row_that_is_printed(&stranger, &component);
}

fn is_refused_then_allowed_by_the_row_that_is_printed(stranger: &Stranger, component: &Path) {
    let hello = stranger.folder.path().join("root/srv/hello");
    let refusal = stranger.apply(component, "");
    assert_eq!(refusal.status.code(), Some(4));
    let row = row_in(&refusal);
    let elsewhere = stranger.apply(component, &row.replace("/srv/hello", "/srv/other"));
    assert_eq!(elsewhere.status.code(), Some(4), "{}", String::from_utf8_lossy(&elsewhere.stderr));
    assert!(!hello.exists(), "a refused run touches nothing");
    let allowed = stranger.apply(component, &row);
    assert_eq!(allowed.status.code(), Some(0), "{}", String::from_utf8_lossy(&allowed.stderr));
    assert_eq!(std::fs::read_to_string(hello).unwrap(), "Hello\n");
}

#[test]
fn a_module_with_wasi_left_in_is_described_like_any_other() {
    let stranger = Stranger::new("stranger");
    let component = build_crate(&toolchain(Target::Wasip2), &stranger.path(), &stranger.target).unwrap();
    let interfaces = interfaces(&component.bytes).unwrap();
    assert!(CONTRACT.iter().all(|name| interfaces.exports.iter().any(|export| export == name)), "{:?}", interfaces.exports);
    assert!(interfaces.imports.iter().any(|name| name.starts_with("wasi:")), "{:?}", interfaces.imports);

    let path = stranger.folder.path().join("greeting.wasm");
    std::fs::write(&path, &component.bytes).unwrap();
    let shown = runtime(&["module", "inspect", path.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("greeting"));
}

#[test]
fn its_own_tests_pass() {
    let stranger = Stranger::new("stranger-native");
    let toolchain = toolchain(Target::Bare);
    let mut command = toolchain.command(Path::new("cargo"));
    command.args(["test", "--lib"]).current_dir(stranger.path()).env("CARGO_TARGET_DIR", &stranger.target);
    let output = run(&mut command);
    assert!(String::from_utf8_lossy(&output.stdout).contains("test result: ok. 4 passed"));
}
