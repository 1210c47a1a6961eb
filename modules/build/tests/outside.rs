//! Crates from outside the workspace, as `runtime module build` meets them.
#![allow(clippy::disallowed_methods, reason = "a test: it writes crates into temporary folders")]

use std::path::Path;

use component_build::{BuildError, Component, Environment, Target, Toolchain, build_crate, interfaces, nested_target_folder};

const MANIFEST: &str = r#"
[package]
name = "outside-guest"
version = "0.1.0"
edition = "2024"

[workspace]

[lib]
crate-type = ["cdylib"]

[dependencies]
wit-bindgen = { version = "=0.61.1", default-features = false, features = ["macros", "realloc"] }

[profile.release]
panic = "abort"
"#;

const SOURCE: &str = r#"
wit_bindgen::generate!({ inline: "package an:outsider@1.0.0; world guest { import note: func(text: string); export greet: func() -> string; }" });

struct Outsider;

export!(Outsider);

impl Guest for Outsider {
    fn greet() -> String {
        note("greeting");
        "hello".to_owned()
    }
}
"#;

/// A crate in a temporary folder, with the workspace's lock file so that no newer dependency comes in.
struct Crate(tempfile::TempDir);

impl Crate {
    fn new(manifest: &str, source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        std::fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
        std::fs::write(folder.path().join("src/lib.rs"), source).unwrap();
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
        std::fs::copy(lock, folder.path().join("Cargo.lock")).unwrap();
        Self(folder)
    }

    fn build(&self, target: Target) -> Result<Component, BuildError> {
        let toolchain = Toolchain::find(&Environment::new(std::env::vars_os()), target)
            .unwrap_or_else(|error| panic!("{error}; this test needs it: {}", error.hint().unwrap_or_default()));
        let target_folder = nested_target_folder(Path::new(env!("CARGO_TARGET_TMPDIR"))).join("outside");
        build_crate(&toolchain, self.0.path(), &target_folder)
    }
}

#[test]
fn a_crate_becomes_a_component_that_names_its_contract() {
    let component = Crate::new(MANIFEST, SOURCE).build(Target::Bare).unwrap();
    let interfaces = interfaces(&component.bytes).unwrap();
    assert_eq!(interfaces.imports, ["note"]);
    assert_eq!(interfaces.exports, ["greet"]);
}

#[test]
fn a_toolchain_that_leaves_wasi_in_gives_a_component_too() {
    let component = Crate::new(MANIFEST, SOURCE).build(Target::Wasip2).unwrap();
    let interfaces = interfaces(&component.bytes).unwrap();
    assert!(interfaces.imports.contains(&"note".to_owned()), "{:?}", interfaces.imports);
    assert!(interfaces.imports.iter().any(|name| name.starts_with("wasi:")), "{:?}", interfaces.imports);
    assert_eq!(interfaces.exports, ["greet"]);
}

#[test]
fn a_crate_that_does_not_compile_is_a_failure_of_cargo() {
    let error = Crate::new(MANIFEST, "fn broken( {").build(Target::Bare).unwrap_err();
    assert!(matches!(&error, BuildError::Failed { status, .. } if status.code() == Some(101)), "{error}");
}

#[test]
fn a_crate_without_a_cdylib_is_told_what_it_lacks() {
    let manifest = MANIFEST.replace(r#"crate-type = ["cdylib"]"#, "");
    let error = Crate::new(&manifest, "").build(Target::Bare).unwrap_err();
    assert!(matches!(error, BuildError::NoModule { .. }), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("cdylib")));
}
