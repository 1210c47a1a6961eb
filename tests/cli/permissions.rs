//! What others could change is not used, and named: as root and as an ordinary user. And what an ordinary user may do.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use insta::assert_snapshot;
use testkit::{CommandOutput, TestNode};

/// An ordinary user of nobody's.
const ANN: u32 = 54_321;

/// Somebody else.
const EVE: u32 = 54_322;

const SITE: &str = r#"
resource "file" "note" {
  path    = "/srv/note"
  content = "one\n"
}
"#;

/// A node on which everything is the user's, with a copy of the program that everybody can reach.
struct Desk {
    node: TestNode,
    user: u32,
    program: tempfile::TempDir,
}

impl Desk {
    fn of(user: u32) -> Self {
        let program = tempfile::tempdir().unwrap();
        set_mode(program.path(), 0o755);
        fs::copy(env!("CARGO_BIN_EXE_runtime"), program.path().join("runtime")).unwrap();
        let node = TestNode::new(program.path().join("runtime"));
        node.write("site.hcl", SITE);
        node.write("root/srv/.keep", "");
        let desk = Self { node, user, program };
        desk.give("");
        set_mode(&desk.path(""), 0o755);
        // As root, with the compiled code of all tests.
        let mut compile = desk.node.command(&["compile", "site.hcl", "-o", "site.wasm.tar"]);
        desk.output(compile.env("RUNTIME_CACHE_DIR", shared())).success();
        if user != 0 {
            desk.copy_compiled_code();
        }
        desk
    }

    /// Compiled code that is root's and that everybody can read, as a node may have it.
    fn copy_compiled_code(&self) {
        let copy = self.program.path().join("code");
        assert!(Command::new("cp").arg("-rT").arg(shared()).arg(&copy).status().unwrap().success());
        assert!(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&copy).status().unwrap().success());
    }

    fn path(&self, name: &str) -> PathBuf {
        self.node.path(name)
    }

    /// Makes what is there, and all beneath it, the user's.
    fn give(&self, name: &str) {
        let own = format!("{0}:{0}", self.user);
        assert!(Command::new("chown").args(["-R", &own]).arg(self.path(name)).status().unwrap().success());
    }

    fn make_folder(&self, name: &str, mode: u32) {
        fs::create_dir_all(self.path(name)).unwrap();
        self.give(name);
        set_mode(&self.path(name), mode);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.node.command(arguments);
        let code = if self.user == 0 { shared() } else { self.program.path().join("code") };
        command.env("RUNTIME_CACHE_DIR", code).uid(self.user).gid(self.user);
        command
    }

    fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.output(&mut self.command(arguments))
    }

    fn output(&self, command: &mut Command) -> CommandOutput {
        CommandOutput::new(&command.output().unwrap(), self.path("").display().to_string().trim_end_matches('/'))
    }
}

/// Where tests keep compiled code.
fn shared() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_runtime")).with_file_name("test-code-cache")
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// As root and as an ordinary user.
fn as_each_user(test: impl Fn(&Desk)) {
    insta::allow_duplicates! {
        for user in [0, ANN] {
            test(&Desk::of(user));
        }
    }
}

#[test]
fn a_state_folder_that_others_can_write_is_refused_and_named() {
    as_each_user(|desk| {
        desk.make_folder("state", 0o770);
        for verb in ["plan", "apply"] {
            assert_snapshot!(desk.run(&[verb, "site.wasm.tar"]), @r#"
            exit 74
            --- stderr
            error: the folder `$TEST/state` is not safe to use: `$TEST/state` can be written by other users
            hint: every folder from `/` down must belong to root or to you and be writable by no other
            "#);
        }
        assert_eq!(fs::read_dir(desk.path("state")).unwrap().count(), 0, "nothing is made in it");
        assert!(!desk.path("root/srv/note").exists());
    });
}

#[test]
fn a_folder_above_the_state_that_others_can_write_is_refused_and_named() {
    as_each_user(|desk| {
        desk.make_folder("open", 0o777);
        desk.make_folder("open/closed", 0o700);
        assert_snapshot!(desk.run(&["apply", "site.wasm.tar", "--state-dir", "open/closed/state"]), @r#"
        exit 74
        --- stderr
        error: the folder `open/closed/state` is not safe to use: `$TEST/open` can be written by other users
        hint: every folder from `/` down must belong to root or to you and be writable by no other
        "#);
        assert!(!desk.path("open/closed/state").exists());
        set_mode(&desk.path("open"), 0o1777);
        desk.run(&["apply", "site.wasm.tar", "--state-dir", "open/closed/state"]).success();
    });
}

#[test]
fn a_state_folder_of_somebody_else_is_refused_and_named() {
    as_each_user(|desk| {
        desk.make_folder("state", 0o755);
        chown(desk.path("state"), Some(EVE), Some(EVE)).unwrap();
        assert_snapshot!(desk.run(&["apply", "site.wasm.tar"]), @r#"
        exit 74
        --- stderr
        error: the folder `$TEST/state` is not safe to use: `$TEST/state` belongs to user id 54322
        hint: every folder from `/` down must belong to root or to you and be writable by no other
        "#);
    });
}

#[test]
fn a_policy_that_others_can_write_is_refused_and_named() {
    as_each_user(|desk| {
        desk.node.write("policy.hcl", "");
        desk.give("policy.hcl");
        set_mode(&desk.path("policy.hcl"), 0o664);
        for verb in ["plan", "apply"] {
            assert_snapshot!(desk.run(&[verb, "site.wasm.tar", "--policy", "policy.hcl"]), @r#"
            exit 65
            --- stderr
            error: the policy `policy.hcl` can be written by others: its mode is 0664
            hint: chmod go-w policy.hcl
            "#);
        }
        chown(desk.path("policy.hcl"), Some(EVE), None).unwrap();
        set_mode(&desk.path("policy.hcl"), 0o644);
        assert_snapshot!(desk.run(&["apply", "site.wasm.tar", "--policy", "policy.hcl"]), @r#"
        exit 65
        --- stderr
        error: the policy `policy.hcl` belongs to the user id 54322, who is neither root nor the one who runs this
        hint: chown root policy.hcl
        "#);
        assert!(!desk.path("root/srv/note").exists());
    });
}

#[test]
fn a_policy_that_others_can_replace_is_refused_and_the_folder_named() {
    as_each_user(|desk| {
        desk.make_folder("open", 0o777);
        desk.make_folder("open/closed", 0o700);
        desk.node.write("open/closed/policy.hcl", "");
        desk.give("open/closed/policy.hcl");
        assert_snapshot!(desk.run(&["apply", "site.wasm.tar", "--policy", "open/closed/policy.hcl"]), @r#"
        exit 65
        --- stderr
        error: the policy `open/closed/policy.hcl` can be replaced by others
          caused by: the folder `$TEST/open/closed` is not safe to use: `$TEST/open` can be written by other users
        hint: every folder from `/` down must belong to root or to you and be writable by no other
        "#);
        assert!(!desk.path("root/srv/note").exists());
        set_mode(&desk.path("open"), 0o755);
        desk.run(&["apply", "site.wasm.tar", "--policy", "open/closed/policy.hcl"]).success();
    });
}

#[test]
fn a_code_cache_that_others_can_write_is_not_used_and_that_is_told() {
    as_each_user(|desk| {
        desk.make_folder("open", 0o777);
        desk.make_folder("open/closed", 0o700);
        desk.make_folder("group", 0o770);
        for (cache, named) in [("open/closed/new", "open"), ("group", "group")] {
            let output = desk.run(&["-v", "plan", "site.wasm.tar", "--cache-dir", cache]).success();
            let told = format!("`$TEST/{named}` can be written by other users");
            let line = output.stderr.lines().find(|line| line.contains("the code cache is not used"));
            assert!(line.is_some_and(|line| line.contains(&told)), "{cache}: {output}");
        }
        assert_eq!(
            fs::read_dir(desk.path("open/closed")).unwrap().count(),
            0,
            "nothing is made where others could have changed the way"
        );
        assert_eq!(fs::read_dir(desk.path("group")).unwrap().count(), 0, "nothing is kept in it");
        desk.make_folder("own", 0o700);
        let output = desk.run(&["-v", "plan", "site.wasm.tar", "--cache-dir", "own"]).success();
        assert!(!output.stderr.contains("code cache"), "{output}");
        assert!(fs::read_dir(desk.path("own")).unwrap().count() > 0, "it is kept where nobody else can write");
    });
}

const OF_OTHERS: &str = r#"
resource "file" "mine" {
  path    = "/srv/mine"
  content = "mine\n"
  mode    = "0600"
}

resource "file" "closed" {
  path    = "/srv/closed/file"
  content = "not mine\n"
}

resource "file" "hidden" {
  path   = "/srv/hidden/file"
  ensure = "absent"
}

resource "file" "given" {
  path    = "/srv/given"
  content = "for root\n"
  owner   = "root"
}

resource "file" "theirs" {
  path = "/srv/theirs"
  mode = "0666"
}

resource "file" "after" {
  path    = "/srv/after"
  content = "after\n"
  meta { require = [file.closed] }
}
"#;

#[test]
fn an_ordinary_user_changes_what_is_theirs_and_is_told_of_each_thing_that_is_not() {
    let desk = Desk::of(ANN);
    for (folder, mode) in [("root/srv/closed", 0o755), ("root/srv/hidden", 0o700)] {
        fs::create_dir(desk.path(folder)).unwrap();
        set_mode(&desk.path(folder), mode);
    }
    desk.node.write("root/srv/hidden/file", "stays");
    desk.node.write("root/srv/theirs", "stays");
    desk.node.write("others.hcl", OF_OTHERS);
    desk.run(&["compile", "others.hcl", "-o", "others.wasm.tar"]).success();
    let before = desk.run(&["plan", "others.wasm.tar"]);
    assert_snapshot!(before, @r#"
    exit 1
    --- stdout
    plan of `others`, serial 0, bundle [short]

      + file.mine: would create [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
          @@ -0,0 +1 @@
          +mine
        ensure: "absent" -> "file" (nothing is there yet)
        mode: (none) -> "0600" (set as it is made)

      + file.closed: would create [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
          @@ -0,0 +1 @@
          +not mine
        ensure: "absent" -> "file" (nothing is there yet)

      ! file.hidden: failed in check [file [short]]
        error: cannot look at the path: the operating system refused: looking at `/srv/hidden/file`: Permission denied
        where: module `file`, phase `check`
        left: nothing had changed yet

      + file.given: would create [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
          @@ -0,0 +1 @@
          +for root
        ensure: "absent" -> "file" (nothing is there yet)
        owner: (none) -> "root" (set as it is made)

      ~ file.theirs: would update [file [short]]
        mode: "0644" -> "0666" (it allows less than it should)

      + file.after: would create [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
          @@ -0,0 +1 @@
          +after
        ensure: "absent" -> "file" (nothing is there yet)

    plan: 5 would change, 1 failed, 0 unchanged, 0 skipped
    "#);
    assert_snapshot!(desk.run(&["apply", "others.wasm.tar"]), @r#"
    exit 1
    --- stdout
    run [run] of `others`, serial 0, bundle [short]

      + file.mine: created [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)
        mode: (none) -> "0600" (set as it is made)

      ! file.closed: failed in apply [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)
        error: cannot write the new file beside its place: the operating system refused: making a new file beside `/srv/closed/file`: Permission denied
        where: module `file`, phase `apply`
        left: nothing had changed yet

      ! file.hidden: failed in check [file [short]]
        error: cannot look at the path: the operating system refused: looking at `/srv/hidden/file`: Permission denied
        where: module `file`, phase `check`
        left: nothing had changed yet

      ! file.given: failed in apply [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)
        owner: (none) -> "root" (set as it is made)
        error: cannot write the new file beside its place: the operating system refused: changing the owner of `/srv/given`: Operation not permitted
        where: module `file`, phase `apply`
        left: nothing had changed yet

      ! file.theirs: failed in apply [file [short]]
        mode: "0644" -> "0666" (it allows less than it should)
        error: cannot set owner, group and mode: the operating system refused: changing the mode of `/srv/theirs`: Operation not permitted
        where: module `file`, phase `apply`
        left: nothing had changed yet

      ? file.after: unmet [file [short]]
        reason: it requires `file.closed`, which is failed

    apply: 1 changed, 4 failed, 1 unmet, 0 unchanged, 0 skipped
    "#);
    let mine = fs::metadata(desk.path("root/srv/mine")).unwrap();
    assert_eq!((mine.uid(), mine.gid(), mine.mode() & 0o7777), (ANN, ANN, 0o600));
    let mut left: Vec<_> =
        fs::read_dir(desk.path("root/srv")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, [".keep", "closed", "hidden", "mine", "theirs"], "nothing is left of what could not be done");
    testkit::Ledger::read(&desk.path("state")).assert_settled();
}

#[test]
fn an_ordinary_user_has_the_state_among_their_own_files() {
    let desk = Desk::of(ANN);
    let path = desk.path("home/note");
    desk.node.write("own.hcl", SITE.replace("/srv/note", &path.display().to_string()));
    desk.run(&["compile", "own.hcl", "-o", "own.wasm.tar"]).success();
    let on_this_machine = |state_home: Option<&str>| {
        let mut command = Command::new(desk.path("").join(desk.command(&[]).get_program()));
        command.args(["apply", "own.wasm.tar", "--detailed-exitcode"]).current_dir(desk.path("")).uid(ANN).gid(ANN);
        command.env_clear().env("HOME", desk.path("home")).env("TMPDIR", desk.path("home"));
        command.env("RUNTIME_CACHE_DIR", desk.program.path().join("code"));
        if let Some(folder) = state_home {
            command.env("XDG_STATE_HOME", desk.path(folder));
        }
        desk.output(&mut command)
    };
    assert_snapshot!(on_this_machine(Some("home/given")), @r#"
    exit 2
    --- stdout
    run [run] of `own`, serial 0, bundle [short]

      + file.note: created [file [short]]
        content: (none) -> "sha256:[digest]" (set as it is made)
        ensure: "absent" -> "file" (nothing is there yet)

    apply: 1 changed, 0 unchanged, 0 skipped
    "#);
    assert_eq!(fs::read_to_string(&path).unwrap(), "one\n");
    let state = fs::metadata(desk.path("home/given/runtime/state.db")).unwrap();
    assert_eq!((state.uid(), state.mode() & 0o7777), (ANN, 0o600));
    assert_eq!(on_this_machine(Some("home/given")).code, Some(0));
    assert_eq!(on_this_machine(None).code, Some(0), "the object is right, whatever is on record");
    assert!(desk.path("home/.local/state/runtime/state.db").exists());
}
