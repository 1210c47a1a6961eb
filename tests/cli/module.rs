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
          The absolute path on the node, without `.`, `..`, double or trailing slashes. What becomes of a link at the path itself `links` says.
      ensure    "file" | "directory" | "symlink" | "absent" | "present"  identity, nullable, exported, default "file"
          What is to be at the path.
      force     boolean                                                  identity, nullable, default false
          Whether an object of another kind may be replaced, and a directory removed with all that it holds.
      links     "refuse" | "replace" | "follow"                          identity, nullable, default "refuse"
          What becomes of a symbolic link at the path where a file or directory is wanted: `refuse` is an error, `replace` puts what is wanted in its place, `follow` manages what it leads to, which `leads_to` must list.
      leads_to  list of string                                           identity, nullable
          Where a link at the path may lead with `links = "follow"`: absolute paths without links in them. What is there is held like the path itself.
      parents   boolean                                                  identity, nullable, default false
          Whether folders that are missing on the way to the path are made, owned by the run (root) and with mode 0755. They are not managed further: declare a folder whose owner or mode matters.
      content   string                                                   nullable
          The file's content as text. Not with `source`.
      source    string                                                   source, nullable
          A file beneath the manifest's folder, or an `https` address, that has the content. Not with `content`.
      checksum  string                                                   nullable, checksum of source
          The digest that the bytes of `source` must have: `sha256:` and 64 lower-case hex digits. An address needs it.
      owner     string or integer                                        nullable, exported
          The owner: a user name or a numeric id. Names are looked up on the node.
      group     string or integer                                        nullable, exported
          The group: a name or a numeric id. Names are looked up on the node.
      mode      string                                                   nullable, exported
          The permissions: octal as `0644` or `644`, or symbolic for all three classes as `u=rw,go=r`. Others read it as four octal digits.
      backup    integer                                                  identity, nullable, default 0
          How many replaced versions of the file are kept beside it, from 0 to 100: `NAME.~1~` is the newest. They belong to the resource. Of sensitive content nothing is kept.
      validate  list of string                                           identity, nullable
          A program that looks at the new file before it is put in place, by its absolute path, and its arguments, of which one has `{}` in the place of the file's path. It can change nothing. If it does not end with code 0, the old file stays.
      target    string                                                   nullable, exported
          Where a symbolic link points, kept as it is written.

    ensure
      file       default, also present  A regular file; an empty one is made if neither content nor source is given and none is there.
      directory                         A directory. What it holds is left alone.
      symlink                           A symbolic link to `target`.
      absent                            Nothing. A directory that is not empty needs `force`.

    rights that it asks for
      files.read       /**  to compare what is at a declared path
      files.write      /**  to bring about what is declared for a path
      processes.query  *    to run the declared `validate`, which cannot change anything
      accounts.read    *    to look up the numeric ids of owners and groups

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
    assert_snapshot!(node.run(&["module", "new", "greeting"]), @"
    exit 0
    --- stderr
    wrote a crate for `greeting` to `greeting`, 77 files
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

    let samples = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-module/greeting/samples.hcl");
    let check = node.run(&["module", "check", "greeting.wasm", "--declaration", samples.to_str().unwrap()]).success();
    assert!(check.stdout.contains(" 0 failed, 0 not tried"), "{check}");

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

#[test]
fn check_a_built_in_module() {
    assert_snapshot!(node().run(&["module", "check", "file"]), @r"
    exit 0
    --- stdout
    `file`, sha256:[digest]: 8 declarations given, 32 made

      passed  describe-total         `describe` always answers
      passed  describe-valid         what `describe` says is within the limits, and its names, types, defaults and selectors agree
      passed  describe-documented    the type, and each attribute, block, output and word of `ensure`, has a text
      passed  describe-stable        `describe` gives the same each time, in any instance and process
      passed  capability-asks        each right that is asked for is one that a host can give, once, with a reason
      passed  imports-none           a definition calls nothing but the declaration and the catalog
      passed  limits-kept            a definition stays well within its time, memory and stack
      passed  never-traps            a definition answers or refuses, whatever it is given
      passed  answers-form           answers are canonical JSON of the size and shape that the contract has
      passed  reads-described        a definition reads attributes and blocks by the names in `describe` only
      passed  identity-reads         `identity` reads identity attributes only
      passed  samples-accepted       each declaration that the author gives compiles
      passed  compile-pure           the same declaration gives the same bytes, in any instance, order and process
      passed  answers-repeat         all other functions answer the same each time, too
      passed  default-omitted        giving the default means the same as leaving the attribute out
      passed  deferred-passed-on     what reads a value that waits for the node leaves the rest to the node
      passed  ensure-words           each word of `ensure`, and each alias, is accepted
      passed  ensure-canonical       a word of `ensure` stays as it is, an alias becomes its word
      passed  assets-named           an asset comes from attributes that `describe` has, and an address has a checksum
      passed  assign-slots           each slot asked for takes its asset, plain or sensitive, and no other slot does
      passed  validate-accepts       `validate` accepts what `compile` gives
      passed  validate-semantics     what `validate` says can be: a timeout from 1 ms to 24 h, known domains, actions and assets
      passed  identity-footprint     `identity` and `validate` give the same claims, effects and paths
      passed  validate-unknown       `validate` refuses unknown fields, at each level
      passed  validate-types         `validate` refuses values of another type than `compile` gives
      passed  validate-strict        `validate` refuses whatever else `compile` cannot give
      passed  view-declared          `test-view` shows each attribute by its canonical name, null where it is not managed
      passed  export-equals          an export has the value that `compile` uses
      passed  export-reads           an export reads only what it needs
      passed  relationships-own      derived orders have this resource at one end, and one of the catalog at the other
      -       relationships-actions  no order was derived for an action
      passed  selectors-total        migration, equality and replacement answer where they are declared, and only there
      passed  messages-silent        no message quotes a value

    33 rules: 32 passed, 0 failed, 0 not tried, 1 without a subject
    ");
}

#[test]
fn check_a_module_without_declarations() {
    let node = node();
    node.write("broken.wasm", testkit::guests::BROKEN);
    let output = node.run(&["module", "check", "broken.wasm", "--rule", "samples-accepted", "--rule", "imports-none"]);
    assert_snapshot!(output, @r"
    exit 3
    --- stdout
    `broken`, sha256:[digest]: 0 declarations given, 12 made

      passed     imports-none      a definition calls nothing but the declaration and the catalog
      not tried  samples-accepted  no declaration was given: do so with `--declaration`

    2 rules: 1 passed, 0 failed, 1 not tried, 0 without a subject
    ");
}

#[test]
fn check_tells_what_failed_with_what_and_how_to_see_it_again() {
    let node = node();
    node.write("broken.wasm", testkit::guests::broken("validate-unknown"));
    node.write("samples.hcl", "resource \"broken\" \"bare\" {\n  path = \"/srv/bare\"\n}\n");
    let check = ["module", "check", "broken.wasm", "--declaration", "samples.hcl", "--rule", "validate-unknown"];
    assert_snapshot!(node.run(&check), @r#"
    exit 1
    --- stdout
    `broken`, sha256:[digest]: 1 declaration given, 23 made

      FAILED  validate-unknown  `validate` refuses unknown fields, at each level
          failure: `validate` accepts a state in which `.` with an unknown field [bare]
            with {"ensure":"present","mode":"0644","no_such_name":1,"path":"/srv/bare"}
          and 11 more
          see it again: runtime module check broken.wasm --declaration samples.hcl --rule validate-unknown

    1 rule: 0 passed, 1 failed, 0 not tried, 0 without a subject
    "#);
    assert_snapshot!(node.run(&[&check[..], &["--json"]].concat()), @r#"
    exit 1
    --- stdout
    {"record":"rule","version":1,"seq":0,"rule":"validate-unknown","holds":"`validate` refuses unknown fields, at each level","verdict":"failed","reason":null,"tried":12,"findings":[{"declaration":"bare","input":{"ensure":"present","mode":"0644","no_such_name":1,"path":"/srv/bare"},"severity":"failure","what":"`validate` accepts a state in which `.` with an unknown field"}],"more":11,"again":"runtime module check broken.wasm --declaration samples.hcl --rule validate-unknown"}
    {"record":"result","version":1,"seq":1,"command":"module check","exit":1,"outcome":"failed","data":{"component":"sha256:[digest]","declarations":{"given":1,"made":23},"failed":1,"not_applicable":0,"not_tried":0,"passed":0,"type":"broken"}}
    "#);
}

#[test]
fn check_refuses_what_it_cannot_use() {
    let node = node();
    node.write("samples.hcl", "resource \"file\" \"a\" {\n  path = facts.hostname\n}\n");
    assert_snapshot!(node.run(&["module", "check", "file", "--declaration", "samples.hcl"]), @r"
    exit 65
    --- stderr
    error: `path` is known on a node only
     --> samples.hcl:2:10
      |
    2 |   path = facts.hostname
      |          ^^^^^^^^^^^^^^
      |
      = help: a declaration to check a module with gives values themselves
    ");
    assert_snapshot!(node.run(&["module", "check", "file", "--rule", "compile-purr"]), @r"
    exit 64
    --- stderr
    error: invalid value 'compile-purr' for '--rule <RULE>': there is no such rule; did you mean `compile-pure`?

    For more information, try '--help'.
    ");
    assert_eq!(node.run(&["module", "check", "gone.wasm"]).code, Some(74));
}

#[test]
fn the_schema_of_a_built_in_module() {
    assert_snapshot!(node().run(&["module", "schema", "file"]), @r#"
    exit 0
    --- stdout
    {
      "$schema": "https://json-schema.org/draft/2020-12/schema",
      "additionalProperties": false,
      "description": "A file, a directory or a symbolic link, or nothing, at a path.",
      "properties": {
        "backup": {
          "anyOf": [
            {
              "maximum": 9007199254740992,
              "minimum": -9007199254740992,
              "type": "integer"
            },
            {
              "type": "null"
            }
          ],
          "default": 0,
          "description": "How many replaced versions of the file are kept beside it, from 0 to 100: `NAME.~1~` is the newest. They belong to the resource. Of sensitive content nothing is kept."
        },
        "checksum": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "The digest that the bytes of `source` must have: `sha256:` and 64 lower-case hex digits. An address needs it."
        },
        "content": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "The file's content as text. Not with `source`."
        },
        "ensure": {
          "anyOf": [
            {
              "enum": [
                "file",
                "directory",
                "symlink",
                "absent",
                "present"
              ]
            },
            {
              "type": "null"
            }
          ],
          "default": "file",
          "description": "What is to be at the path."
        },
        "force": {
          "anyOf": [
            {
              "type": "boolean"
            },
            {
              "type": "null"
            }
          ],
          "default": false,
          "description": "Whether an object of another kind may be replaced, and a directory removed with all that it holds."
        },
        "group": {
          "anyOf": [
            {
              "anyOf": [
                {
                  "type": "string"
                },
                {
                  "maximum": 9007199254740992,
                  "minimum": -9007199254740992,
                  "type": "integer"
                }
              ]
            },
            {
              "type": "null"
            }
          ],
          "description": "The group: a name or a numeric id. Names are looked up on the node."
        },
        "leads_to": {
          "anyOf": [
            {
              "items": {
                "type": "string"
              },
              "type": "array"
            },
            {
              "type": "null"
            }
          ],
          "description": "Where a link at the path may lead with `links = \"follow\"`: absolute paths without links in them. What is there is held like the path itself."
        },
        "links": {
          "anyOf": [
            {
              "enum": [
                "refuse",
                "replace",
                "follow"
              ]
            },
            {
              "type": "null"
            }
          ],
          "default": "refuse",
          "description": "What becomes of a symbolic link at the path where a file or directory is wanted: `refuse` is an error, `replace` puts what is wanted in its place, `follow` manages what it leads to, which `leads_to` must list."
        },
        "meta": {
          "description": "What every resource has: order, gate, timeout.",
          "type": "object"
        },
        "mode": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "The permissions: octal as `0644` or `644`, or symbolic for all three classes as `u=rw,go=r`. Others read it as four octal digits."
        },
        "owner": {
          "anyOf": [
            {
              "anyOf": [
                {
                  "type": "string"
                },
                {
                  "maximum": 9007199254740992,
                  "minimum": -9007199254740992,
                  "type": "integer"
                }
              ]
            },
            {
              "type": "null"
            }
          ],
          "description": "The owner: a user name or a numeric id. Names are looked up on the node."
        },
        "parents": {
          "anyOf": [
            {
              "type": "boolean"
            },
            {
              "type": "null"
            }
          ],
          "default": false,
          "description": "Whether folders that are missing on the way to the path are made, owned by the run (root) and with mode 0755. They are not managed further: declare a folder whose owner or mode matters."
        },
        "path": {
          "description": "The absolute path on the node, without `.`, `..`, double or trailing slashes. What becomes of a link at the path itself `links` says.",
          "type": "string"
        },
        "source": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "A file beneath the manifest's folder, or an `https` address, that has the content. Not with `content`."
        },
        "target": {
          "anyOf": [
            {
              "type": "string"
            },
            {
              "type": "null"
            }
          ],
          "description": "Where a symbolic link points, kept as it is written."
        },
        "validate": {
          "anyOf": [
            {
              "items": {
                "type": "string"
              },
              "type": "array"
            },
            {
              "type": "null"
            }
          ],
          "description": "A program that looks at the new file before it is put in place, by its absolute path, and its arguments, of which one has `{}` in the place of the file's path. It can change nothing. If it does not end with code 0, the old file stays."
        }
      },
      "required": [
        "path"
      ],
      "title": "file",
      "type": "object"
    }
    "#);
}

#[test]
fn list_the_built_in_modules() {
    assert_snapshot!(node().run(&["module", "list"]), @r#"
    exit 0
    --- stdout
    exec             A command that is run when it is needed.
    file             A file, a directory or a symbolic link, or nothing, at a path.
    group            A group of users, or its absence.
    package          A package of the system's package manager: installed, at a version, the latest, or gone.
    package_apk      Packages by apk-tools, on Alpine and what is like it.
    package_apt      Packages by dpkg with apt-get, on Debian and what is like it.
    package_dnf      Packages by rpm with dnf, on Fedora, Red Hat and what is like them.
    package_pacman   Packages by pacman, on Arch and what is like it.
    package_zypper   Packages by rpm with zypper, on SUSE and what is like it.
    service          A service of the init system: running or stopped, started at boot or not.
    service_openrc   Services of OpenRC, where it is the init system.
    service_systemd  Services as units of systemd, where it is the init system.
    user             A user account, or its absence.
    "#);
    let record = node().run(&["module", "list", "--json"]).success();
    assert_snapshot!(record, @r#"
    exit 0
    --- stdout
    {"record":"result","version":1,"seq":0,"command":"module list","exit":0,"outcome":"done","data":{"modules":[{"digest":"sha256:[digest]","name":"exec","schema_version":1,"summary":"A command that is run when it is needed."},{"digest":"sha256:[digest]","name":"file","schema_version":1,"summary":"A file, a directory or a symbolic link, or nothing, at a path."},{"digest":"sha256:[digest]","name":"group","schema_version":1,"summary":"A group of users, or its absence."},{"digest":"sha256:[digest]","name":"package","schema_version":1,"summary":"A package of the system's package manager: installed, at a version, the latest, or gone."},{"digest":"sha256:[digest]","name":"package_apk","schema_version":1,"summary":"Packages by apk-tools, on Alpine and what is like it."},{"digest":"sha256:[digest]","name":"package_apt","schema_version":1,"summary":"Packages by dpkg with apt-get, on Debian and what is like it."},{"digest":"sha256:[digest]","name":"package_dnf","schema_version":1,"summary":"Packages by rpm with dnf, on Fedora, Red Hat and what is like them."},{"digest":"sha256:[digest]","name":"package_pacman","schema_version":1,"summary":"Packages by pacman, on Arch and what is like it."},{"digest":"sha256:[digest]","name":"package_zypper","schema_version":1,"summary":"Packages by rpm with zypper, on SUSE and what is like it."},{"digest":"sha256:[digest]","name":"service","schema_version":1,"summary":"A service of the init system: running or stopped, started at boot or not."},{"digest":"sha256:[digest]","name":"service_openrc","schema_version":1,"summary":"Services of OpenRC, where it is the init system."},{"digest":"sha256:[digest]","name":"service_systemd","schema_version":1,"summary":"Services as units of systemd, where it is the init system."},{"digest":"sha256:[digest]","name":"user","schema_version":1,"summary":"A user account, or its absence."}]}}
    "#);
}
