//! The workspace's own guests: the same bytes from any folder, and by the second way where it is forced.
#![allow(clippy::disallowed_methods, reason = "a test: it copies the source tree into a temporary folder")]

use std::path::{Path, PathBuf};

use component_build::{
    Component, Environment, FORCE_VARIABLE, Guests, Names, Target, Toolchain, Way, build, interfaces, nested_target_folder,
};

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn process() -> Environment {
    Environment::new(std::env::vars_os())
}

/// Builds the built-in components of a clone.
fn build_builtins(clone: &Path, toolchain: &Toolchain, target_folder: &str) -> Vec<Component> {
    let names = Names::read(&clone.join("modules/builtin.list")).unwrap();
    let target_folder = nested_target_folder(Path::new(env!("CARGO_TARGET_TMPDIR"))).join(target_folder);
    let guests = Guests { workspace: clone, packages: &names.to_vec(), target_folder: &target_folder };
    build(toolchain, &guests).unwrap()
}

fn copy_sources(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (name, kind) = (entry.file_name(), entry.file_type().unwrap());
        let made_by_tools = name == "target" || name == ".git" || entry.path().join("CACHEDIR.TAG").is_file();
        if kind.is_dir() && !made_by_tools {
            copy_sources(&entry.path(), &to.join(name));
        } else if kind.is_file() {
            std::fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

#[test]
fn two_clones_in_different_folders_give_equal_components() {
    let toolchain = Toolchain::find(&process(), Target::Bare).unwrap();
    let here = build_builtins(&workspace(), &toolchain, toolchain.way().name());

    // Always the same place: what the clone does not change is then compiled once.
    let clone = Path::new(env!("CARGO_TARGET_TMPDIR")).join("another folder/with a longer name");
    if clone.exists() {
        std::fs::remove_dir_all(&clone).unwrap();
    }
    copy_sources(&workspace(), &clone);
    let there = build_builtins(&clone, &toolchain, "clone");

    assert!(!here.is_empty());
    assert_eq!(here.len(), there.len());
    for (here, there) in here.iter().zip(&there) {
        assert!(there.compiled, "`{}` was not compiled in the clone, so nothing was compared", there.name);
        assert_eq!(hex::encode(here.digest), hex::encode(there.digest), "`{}` differs", here.name);
        assert!(here.bytes == there.bytes, "`{}` differs", here.name);
        let text = String::from_utf8_lossy(&there.bytes);
        assert!(!text.contains("another folder"), "`{}` names the folder that it was built in", there.name);
    }
}

/// Needs Debian's packages `rustc-web`, `rust-web-src` and `cargo-web`: where they are missing this fails and says so.
#[test]
fn debians_toolchain_builds_what_the_one_in_use_builds() {
    let forced = process().with(FORCE_VARIABLE, "debian");
    let toolchain = Toolchain::find(&forced, Target::Bare).unwrap_or_else(|error| {
        panic!("{error}; this test needs it: {}", error.hint().unwrap_or_default());
    });
    assert_eq!(toolchain.way(), Way::Debian);
    assert_eq!(toolchain.rustc(), Path::new("/usr/bin/rustc"));

    let second = build_builtins(&workspace(), &toolchain, Way::Debian.name());
    let in_use = Toolchain::find(&process(), Target::Bare).unwrap();
    let first = build_builtins(&workspace(), &in_use, in_use.way().name());
    assert!(!second.is_empty());
    for (first, second) in first.iter().zip(&second) {
        assert_eq!(interfaces(&first.bytes).unwrap(), interfaces(&second.bytes).unwrap(), "`{}`", first.name);
    }
}

#[test]
fn a_toolchain_without_the_target_gives_way_to_debians() {
    let folder = tempfile::tempdir().unwrap();
    let rustc = folder.path().join("rustc");
    std::fs::write(&rustc, "#!/bin/sh\necho /nowhere\n").unwrap();
    std::process::Command::new("chmod").arg("+x").arg(&rustc).status().unwrap();
    let environment = process().with("RUSTC", &rustc).with(FORCE_VARIABLE, "");
    let toolchain = Toolchain::find(&environment, Target::Bare).unwrap_or_else(|error| {
        panic!("{error}; this test needs Debian's: {}", error.hint().unwrap_or_default());
    });
    assert_eq!(toolchain.way(), Way::Debian);
}
