//! The manual: what `--help` says is what docs/reference says.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use runtime::cli::reference;

use crate::node;

/// Set it to write the rendered pages in place of comparing them.
const BLESS: &str = "BLESS";

#[track_caller]
fn assert_page(name: &str, rendered: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference").join(name);
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(&path, rendered).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(page == rendered, "docs/reference/{name} is not what the program says: run the test again with {BLESS}=1");
}

#[test]
fn the_reference_of_commands_is_their_help() {
    assert_page("cli.md", &reference::commands());
}

#[test]
fn the_reference_of_exit_codes_is_their_table() {
    assert_page("exit-codes.md", &reference::exit_codes());
}

#[test]
fn short_help_names_every_command() {
    assert_snapshot!(node().run(&["-h"]), @"");
}

#[test]
fn nothing_typed_is_a_usage_error() {
    assert_snapshot!(node().run(&[]), @"");
}

#[test]
fn usage_errors_say_what_was_expected() {
    assert_snapshot!(node().run(&["aply", "x"]), @"");
    assert_snapshot!(node().run(&["compile", "site.hcl"]), @"");
    assert_snapshot!(node().run(&["plan", "b", "--parallelism", "0"]), @"");
    assert_snapshot!(node().run(&["compile", "site.hcl", "-o", "b", "--module", "Bad=x.wasm"]), @"");
}

#[test]
fn a_usage_error_is_a_record_too() {
    assert_snapshot!(node().run(&["plan", "--json"]), @"");
}

#[test]
fn what_was_typed_is_escaped() {
    let output = node().run(&["\u{1b}[31mplan"]).exits_with(64);
    assert!(!output.stderr.contains('\u{1b}'), "{output}");
}

#[test]
fn version_and_help_are_data() {
    let version = node().run(&["--version"]).success();
    assert_eq!((version.stdout.as_str(), version.stderr.as_str()), ("runtime 0.1.0\n", ""));
    let record = node().run(&["--version", "--json"]).success();
    assert_snapshot!(record, @"");
}
