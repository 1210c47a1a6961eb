//! For authors: module new, build, inspect, and a stranger's module on a node.

use std::path::Path;

use insta::assert_snapshot;
use testkit::TestNode;

use crate::node;

/// A new crate for `greeting`, built to `greeting.wasm`; its digest.
///
/// The crate is always in the same folder, whose name the compiler is told: so its dependencies are compiled once.
fn build_greeting(node: &TestNode) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-module");
    let krate = folder.join("greeting");
    let _ = std::fs::remove_dir_all(&krate);
    node.run(&["module", "new", "greeting", krate.to_str().unwrap()]).success();
    // The versions that we test with: a new release of a dependency is not what this test is about.
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock"), krate.join("Cargo.lock")).unwrap();
    let mut command = node.command(&["module", "build", krate.to_str().unwrap(), "-o", "greeting.wasm"]);
    command.env("CARGO_TARGET_DIR", folder.join("target"));
    // Compilers need more of the machine than a node does.
    for name in ["PATH", "HOME", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "RUNTIME_WASM_TOOLCHAIN", "CARGO_NET_OFFLINE"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn inspect_a_built_in_module() {
    assert_snapshot!(node().run(&["module", "inspect", "file"]), @r#"
    exit 0
    --- stdout
    type     file
    summary  A file, a directory or a symbolic link, or nothing, at a path.
    schema   1
    digest   sha256:[digest]

    attributes
      path      string                                                   required, identity, exported
          The absolute path on the node, without `.`, `..`, double or trailing slashes. A link at the path itself is not followed.
      ensure    "file" | "directory" | "symlink" | "absent" | "present"  identity, nullable, exported, default "file"
          What is to be at the path.
      force     boolean                                                  identity, nullable, default false
          Whether an object of another kind may be replaced, and a directory removed with all that it holds.
      content   string                                                   nullable
          The file's content as text. Not with `source`.
      source    string                                                   source, nullable
          A file beneath the manifest's folder, or an `https` address, that has the content. Not with `content`.
      checksum  string                                                   nullable
          The digest that the bytes of `source` must have: `sha256:` and 64 lower-case hex digits. An address needs it.
      owner     string or integer                                        nullable, exported
          The owner: a user name or a numeric id. Names are looked up on the node.
      group     string or integer                                        nullable, exported
          The group: a name or a numeric id. Names are looked up on the node.
      mode      string                                                   nullable, exported
          The permissions: octal as `0644` or `644`, or symbolic for all three classes as `u=rw,go=r`. Others read it as four octal digits.
      target    string                                                   nullable, exported
          Where a symbolic link points, kept as it is written.

    ensure
      file       default, also present  A regular file; an empty one is made if neither content nor source is given and none is there.
      directory                         A directory. What it holds is left alone.
      symlink                           A symbolic link to `target`.
      absent                            Nothing. A directory that is not empty needs `force`.

    rights that it asks for
      files.read     /**  to compare what is at a declared path
      files.write    /**  to bring about what is declared for a path
      accounts.read  *    to look up the numeric ids of owners and groups

    policy: built in, so it has these rights unless the policy says otherwise
    "#);
}

#[test]
fn what_is_no_module() {
    let node = node();
    node.write("text.wasm", "not wasm");
    // What wasmtime says of it is its own.
    let output = node.run(&["module", "inspect", "text.wasm"]).exits_with(65);
    assert!(output.stderr.starts_with("error: the component sha256:[digest] is not a valid WebAssembly component\n"), "{output}");
    assert_snapshot!(node.run(&["module", "inspect", "./file"]), @r"
    exit 74
    --- stderr
    error: `./file` cannot be read
      caused by: No such file or directory (os error 2)
    ");
}

#[test]
fn new_writes_a_crate_once() {
    let node = node();
    assert_snapshot!(node.run(&["module", "new", "greeting"]), @r"
    exit 0
    --- stderr
    wrote a crate for `greeting` to `greeting`, 56 files
    next: change `src/lib.rs`, then
      cargo test --lib --manifest-path greeting/Cargo.toml
      runtime module build greeting -o greeting.wasm
    ");
    assert_snapshot!(node.run(&["module", "new", "greeting"]), @r"
    exit 64
    --- stderr
    usage error: `greeting` is not an empty folder
    hint: name another folder after the module's name
    ");
    assert_snapshot!(node.run(&["module", "new", "Greeting"]), @r"
    exit 64
    --- stderr
    error: invalid value 'Greeting' for '<NAME>': `Greeting` is not a valid resource type name: lower-case letters, digits and `_`, starting with a letter, at most 63 bytes

    For more information, try '--help'.
    ");
}

#[test]
fn a_new_module_is_built_inspected_granted_and_held_to_its_grant() {
    let node = node();
    let digest = build_greeting(&node);
    assert_snapshot!(node.run(&["module", "inspect", "greeting.wasm"]), @r#"
    exit 0
    --- stdout
    type     greeting
    summary  A file that holds one line of text.
    schema   1
    digest   sha256:[digest]

    attributes
      path  string  required, identity, exported
          The absolute path of the file.
      text  string  required
          The line, without its end.

    rights that it asks for
      files.read   /srv/**  to see what the file holds
      files.write  /srv/**  to write the file

    policy row that grants them
      module "greeting" {
        digest = "sha256:[digest]"
        files { read = ["/srv/**"] }
        files { write = ["/srv/**"] }
      }
    "#);

    node.write("site.hcl", "resource \"greeting\" \"hello\" {\n  path = \"/srv/hello\"\n  text = \"Hello\"\n}\n");
    node.write("root/srv/.keep", "");
    node.run(&["compile", "site.hcl", "-o", "site.wasm.tar", "--module", "greeting=greeting.wasm"]).success();
    node.write("empty.hcl", "");
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--policy", "empty.hcl"]), @r#"
    exit 4
    --- stderr
    refused: no policy row allows the module `greeting` (sha256:[digest])
    hint: the owner of this node can allow it in the policy:
      module "greeting" {
        digest = "sha256:[digest]"
        files {
          read  = ["/srv/hello"]
          write = ["/srv/hello"]
        }
      }
    "#);

    let row = |scope: &str| {
        let files = format!("files {{\n    read  = [\"{scope}\"]\n    write = [\"{scope}\"]\n  }}");
        format!("module \"greeting\" {{\n  digest = \"{digest}\"\n  {files}\n}}\n")
    };
    node.write("narrow.hcl", row("/srv/greetings/**"));
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--policy", "narrow.hcl"]), @r#"
    exit 4
    --- stderr
    refused: `greeting` declares to read `/srv/hello` and 1 more, which the policy does not grant it
    hint: the owner of this node can allow it in the policy:
      module "greeting" {
        digest = "sha256:[digest]"
        files {
          read  = ["/srv/hello"]
          write = ["/srv/hello"]
        }
      }
    "#);
    assert!(!node.path("root/srv/hello").exists());

    node.write("policy.hcl", row("/srv/**"));
    assert_snapshot!(node.run(&["apply", "site.wasm.tar", "--policy", "policy.hcl"]), @r#"
    exit 0
    --- stdout
    run [run] of `site`, serial 0, bundle [short]

      + greeting.hello: created [greeting [short]]
        text: (none) -> "Hello" (the text differs)

    apply: 1 changed, 0 unchanged, 0 skipped
    "#);
    assert_eq!(node.read("root/srv/hello"), "Hello\n");
}
