//! Files of a node that facts are read from: `os-release`, the host's name, and what its owner adds in JSON and YAML.
//!
//! An input is these four, with a NUL between them.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use host_functions::facts::{CUSTOM_FOLDER, Facts};
use host_functions::node::Root;
use host_functions::processes::native::Runner;

use super::{Target, plainly};

const SEEDS: &[&str] = &[
    "ID=debian\nVERSION_ID=\"12\"\nID_LIKE='a b'\nPRETTY_NAME=\"A \\\"b\\\" \\$c\"\n\0web1.example\n\0{\"a\":[1,2.5,null,{\"b\":\"c\"}]}\0a: [1, 2]\nb:\n  - c: |\n      d\n",
    "NAME=x\n#ID=y\n\0\0[]\0&a [*a, \"\\u0041\", !!str 1, 0x1f, ~]\n",
    "ID=\"\n\0-\0\"\\ud800\"\0? a\n: b\n--- c\n",
];

const WORDS: &[&str] = &[
    "ID=",
    "ID_LIKE=",
    "VERSION_ID=",
    "\"",
    "'",
    "\\",
    "$",
    "`",
    "\n",
    "\0",
    "{\"",
    "\":",
    "[",
    "]",
    "}",
    ",",
    "9007199254740993",
    "-0",
    "1e400",
    "\\ud800",
    "&a ",
    "*a",
    "- ",
    "  ",
    ": ",
    "? ",
    "|\n",
    ">-\n",
    "!!binary ",
    "!!int ",
    "<<: ",
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    ".inf",
    ".nan",
    "0o17",
    "~",
    "#",
];

pub(super) fn target() -> Target {
    Target {
        name: "node-files",
        seeds: || SEEDS.iter().map(|seed| seed.as_bytes().to_vec()).collect(),
        words: WORDS,
        change: plainly,
        run,
        time: Duration::from_secs(10),
        memory: 64 << 20,
    }
}

fn run(input: &[u8]) {
    let mut parts = input.splitn(4, |byte| *byte == 0);
    let folder = root();
    let facts = folder.join(&CUSTOM_FOLDER[1..]);
    let files = [folder.join("etc/os-release"), folder.join("etc/hostname"), facts.join("a.json"), facts.join("b.yaml")];
    for file in &files {
        fs::write(file, parts.next().unwrap_or(b"1")).expect("a file can be written");
    }
    // What is wrong with one of them hides the next: those that are refused are tried without.
    if gather(folder).is_err() && files[2..].iter().all(|file| fs::write(file, b"1").is_ok()) {
        let _ = gather(folder);
    }
}

fn gather(folder: &Path) -> Result<(), String> {
    let root = Arc::new(Root::open(folder).expect("the root is there"));
    let facts = Facts::of(&root, &Runner::this_program()).map_err(|error| error.to_string())?;
    let all = facts.all();
    let again: serde_json::Value = serde_json::from_str(&all.to_string()).expect("facts are JSON");
    assert_eq!(again, all, "facts survive being written as JSON");
    Ok(())
}

/// One root for all inputs.
fn root() -> &'static Path {
    static ROOT: OnceLock<tempfile::TempDir> = OnceLock::new();
    let root = ROOT.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let root = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let root = root.expect("a folder can be made");
        fs::create_dir_all(root.path().join(&CUSTOM_FOLDER[1..])).expect("a folder can be made");
        root
    });
    root.path()
}
