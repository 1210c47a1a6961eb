//! Compiled code of the built-in components for machines, so that no test waits for the compiler again.

use std::path::Path;
use std::process::Command;

use test_machine::Machine;

/// A declaration of each built-in type that tests on machines use. The candidates of those with providers are compiled too.
const MANIFEST: &str = "resource \"file\" \"a\" {\n  path = \"/a\"\n}\nresource \"exec\" \"a\" {\n  command = [\"/a\"]\n  always = true\n}\n\
    resource \"user\" \"a\" {\n  name = \"a\"\n}\nresource \"group\" \"a\" {\n  name = \"b\"\n}\n\
    resource \"package\" \"a\" {\n  name = \"a\"\n}\nresource \"service\" \"a\" {\n  name = \"a\"\n}\n";

/// Puts the code into the machine's own cache, where `program` finds it.
///
/// # Panics
/// If `program` cannot compile a manifest.
#[track_caller]
pub fn warm(machine: &Machine, program: &Path) {
    // Its folder is named as it is on a node.
    let cache = crate::scene::cache().with_file_name("code-cache-of-machines").join("runtime");
    let scratch = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(scratch.path().join("site.hcl"), MANIFEST).expect("a file can be written");
    let mut compile = Command::new(program);
    compile.args(["compile", "site.hcl", "-o", "site.wasm.tar"]).current_dir(scratch.path());
    let output = compile.env_clear().env("RUNTIME_CACHE_DIR", &cache).output().expect("the program can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    machine.shell("mkdir -p /var/cache");
    machine.copy_in(&cache, "/var/cache");
}
