//! The manual: what `--help` says is what docs/reference says.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use runtime::cli::reference;
use runtime::run::Described;

use crate::node;

/// Set it to write the rendered pages in place of comparing them.
const BLESS: &str = "BLESS";

#[track_caller]
fn assert_page(name: &str, rendered: &str) {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference").join(name);
    if std::env::var_os(BLESS).is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
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
fn the_reference_of_each_built_in_type_is_its_descriptors() {
    for builtin in runtime::builtins::all() {
        let page = match runtime::run::describe_component(builtin.bytes).unwrap().1 {
            Described::Type(description) => runtime::descriptors::page(&description),
            Described::Provider(provider) => runtime::descriptors::provider_page(&provider),
        };
        assert_page(&format!("types/{}.md", builtin.name), &page);
    }
}

#[test]
fn short_help_names_every_command() {
    assert_snapshot!(node().run(&["-h"]), @r#"
    exit 0
    --- stdout
    Manage a machine by declared state, with resource types that cannot do more than you allow

    Usage: runtime [OPTIONS] <COMMAND>

    Commands:
      compile   Compile a manifest to a bundle, one file with all that a node needs
      validate  Check a manifest or a bundle and write nothing
      inspect   Show what is in a bundle
      graph     Draw what goes before what in a bundle, and why
      plan      Show what apply would change, and change nothing
      apply     Bring the node to what a bundle declares
      recover   Settle changes that an earlier run began and did not end
      history   List the runs that this node has on record
      show      Show what a run found and did
      release   Give up what a manifest holds on this node
      facts     Show the facts of this node
      module    Make, build and look into modules, the WebAssembly components behind resource types

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Everywhere:
          --json          Print versioned JSON records on stdout, one a line, in place of text
          --color <WHEN>  When to use colour [default: auto] [possible values: auto, always, never]
      -v, --verbose...    Say more on stderr; twice for debugging

    See `runtime COMMAND --help` for examples of each command.
    "#);
}

#[test]
fn nothing_typed_is_a_usage_error() {
    assert_snapshot!(node().run(&[]), @r#"
    exit 64
    --- stderr
    Manage a machine by declared state, with resource types that cannot do more than you allow

    Usage: runtime [OPTIONS] <COMMAND>

    Commands:
      compile   Compile a manifest to a bundle, one file with all that a node needs
      validate  Check a manifest or a bundle and write nothing
      inspect   Show what is in a bundle
      graph     Draw what goes before what in a bundle, and why
      plan      Show what apply would change, and change nothing
      apply     Bring the node to what a bundle declares
      recover   Settle changes that an earlier run began and did not end
      history   List the runs that this node has on record
      show      Show what a run found and did
      release   Give up what a manifest holds on this node
      facts     Show the facts of this node
      module    Make, build and look into modules, the WebAssembly components behind resource types

    Options:
      -h, --help     Print help (see more with '--help')
      -V, --version  Print version

    Everywhere:
          --json          Print versioned JSON records on stdout, one a line, in place of text
          --color <WHEN>  When to use colour [default: auto] [possible values: auto, always, never]
      -v, --verbose...    Say more on stderr; twice for debugging

    See `runtime COMMAND --help` for examples of each command.
    "#);
}

#[test]
fn usage_errors_say_what_was_expected() {
    assert_snapshot!(node().run(&["aply", "x"]), @r"
    exit 64
    --- stderr
    error: unrecognized subcommand 'aply'

      tip: a similar subcommand exists: 'apply'

    Usage: runtime [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(node().run(&["compile", "site.hcl"]), @r"
    exit 64
    --- stderr
    error: the following required arguments were not provided:
      --output <BUNDLE>

    Usage: runtime compile --output <BUNDLE> <SITE.hcl>

    For more information, try '--help'.
    ");
    assert_snapshot!(node().run(&["plan", "b", "--parallelism", "0"]), @r"
    exit 64
    --- stderr
    error: invalid value '0' for '--parallelism <N>': 0 is not in 1..=256

    For more information, try '--help'.
    ");
    assert_snapshot!(node().run(&["compile", "site.hcl", "-o", "b", "--module", "Bad=x.wasm"]), @r"
    exit 64
    --- stderr
    error: invalid value 'Bad=x.wasm' for '--module <NAME=PATH>': `Bad` is not a valid resource type name: lower-case letters, digits and `_`, starting with a letter, at most 63 bytes

    For more information, try '--help'.
    ");
}

#[test]
fn a_usage_error_is_a_record_too() {
    assert_snapshot!(node().run(&["plan", "--json"]), @r#"
    exit 64
    --- stdout
    {"record":"error","version":1,"seq":0,"command":"","exit":64,"outcome":"usage","error":{"causes":[],"hint":null,"message":"the following required arguments were not provided: <BUNDLE>"}}
    --- stderr
    error: the following required arguments were not provided:
      <BUNDLE>

    Usage: runtime plan --json --root <DIR> --state-dir <DIR> <BUNDLE>

    For more information, try '--help'.
    "#);
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
    assert_snapshot!(record, @r#"
    exit 0
    --- stdout
    {"record":"result","version":1,"seq":0,"command":"help","exit":0,"outcome":"done","data":{"text":"runtime 0.1.0\n"}}
    "#);
}
