//! A node on which one apply does whatever can be done to files, and that can be had again as it was.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::steps::{Verdict, watch};
use testkit::{Ledger, Scene, Tree};

use crate::killed_at_random::program;

/// Each kind of change there is: new objects, new content, another kind, attributes alone, removal of one and of many; and a sensitive value.
const EVERY_ACT: &str = r#"
manifest {
  name = "site"
}

resource "file" "made" {
  path    = "/srv/made"
  content = "made\n"
  owner   = 33
  mode    = "0640"
}

resource "file" "changed" {
  path    = "/srv/changed"
  content = "new\n"
}

resource "file" "kept" {
  path    = "/srv/kept"
  content = "new\n"
  backup  = 2
}

resource "file" "deep" {
  path    = "/srv/new/inner/deep"
  content = "deep\n"
  parents = true
}

resource "file" "secret" {
  path    = "/srv/secret"
  content = sensitive("new secret\n")
}

resource "file" "attributes" {
  path  = "/srv/attributes"
  owner = 33
  mode  = "0600"
}

resource "file" "folder" {
  path   = "/srv/folder"
  ensure = "directory"
  group  = 33
  mode   = "0750"
}

resource "file" "link" {
  path   = "${file.folder.path}/link"
  ensure = "symlink"
  target = "anywhere"
  owner  = 33
}

resource "file" "linked" {
  path   = "/srv/linked"
  ensure = "symlink"
  target = "new"
}

resource "file" "to_link" {
  path   = "/srv/to_link"
  ensure = "symlink"
  target = "changed"
  force  = true
}

resource "file" "to_file" {
  path    = "/srv/to_file"
  content = "no longer a link\n"
  force   = true
}

resource "file" "to_folder" {
  path   = "/srv/to_folder"
  ensure = "directory"
  force  = true
}

resource "file" "gone" {
  path   = "/srv/gone"
  ensure = "absent"
}

resource "file" "tree" {
  path   = "/srv/tree"
  ensure = "absent"
  force  = true
}
"#;

/// What the node was declared to be before.
const BEFORE: &str = r#"
manifest {
  name = "site"
}

resource "file" "changed" {
  path    = "/srv/changed"
  content = "old\n"
}

resource "file" "secret" {
  path    = "/srv/secret"
  content = sensitive("old secret\n")
}

resource "file" "gone" {
  path    = "/srv/gone"
  content = "gone\n"
}
"#;

/// One file, and a node on which nothing ever was applied.
const ONE_FILE: &str =
    "manifest {\n  name = \"site\"\n}\nresource \"file\" \"one\" {\n  path = \"/srv/one\"\n  content = \"one\\n\"\n}\n";

/// An extended attribute that has to survive.
const KEPT: (&str, &[u8]) = ("user.kept", b"kept");

/// A scene with the bundle `site`, its beginning, and its end.
pub struct Site {
    pub scene: Scene,
    pub wanted: Tree,
    claims: usize,
}

impl Site {
    /// Where one apply does everything.
    pub fn of_every_act() -> Self {
        let scene = Scene::new();
        scene.compile("before", BEFORE);
        let _ = scene.apply("before");
        let node = |path: &str| scene.node(&format!("/srv/{path}"));
        rustix::fs::setxattr(node("changed"), KEPT.0, KEPT.1, rustix::fs::XattrFlags::empty()).unwrap();
        scene.write("root/srv/attributes", "stays\n");
        scene.write("root/srv/kept", "old\n");
        scene.write("root/srv/kept.~1~", "older\n");
        for folder in ["to_link", "tree", "tree/inner"] {
            fs::create_dir(node(folder)).unwrap();
            fs::write(node(folder).join("file"), folder).unwrap();
        }
        chown(node("tree/file"), Some(33), None).unwrap();
        symlink("/etc", node("tree/link")).unwrap();
        symlink("old", node("linked")).unwrap();
        symlink("old", node("to_file")).unwrap();
        scene.write("root/srv/to_folder", "a file\n");
        Self::new(scene, EVERY_ACT)
    }

    /// Where one apply makes the state and one file.
    pub fn of_a_first_run() -> Self {
        Self::new(Scene::new(), ONE_FILE)
    }

    fn new(scene: Scene, manifest: &str) -> Self {
        scene.compile("site", manifest);
        copy(&scene.path("root"), &scene.path("root.before"));
        copy(&scene.path("state"), &scene.path("state.before"));
        let mut site = Self { scene, wanted: Tree::default(), claims: 0 };
        let output = site.apply().output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        (site.wanted, site.claims) = (site.scene.state(), site.scene.ledger().claims.len());
        site.again();
        site
    }

    /// Root and state as they were before; the root stays the one that the state is bound to.
    pub fn again(&self) {
        for (now, before) in [("root", "root.before"), ("state", "state.before")] {
            empty(&self.scene.path(now));
            copy(&self.scene.path(before), &self.scene.path(now));
        }
        // Nobody has a state folder before the first run.
        let state = self.scene.path("state");
        if !self.scene.path("state.before").exists() && state.exists() {
            fs::remove_dir(state).unwrap();
        }
    }

    /// What changes in the course of a run: root and state.
    pub fn folders(&self) -> Vec<PathBuf> {
        let folder = self.scene.folder().canonicalize().unwrap();
        vec![folder.join("root"), folder.join("state")]
    }

    /// The steps to try, by their numbers and for ever: each, but of a row of writes to one file the first and every fourth. Runs differ by what is written
    /// together, so there is no last one but where a run ends by itself.
    pub fn steps(&self) -> impl Iterator<Item = usize> + use<> {
        let steps = watch(&mut self.apply(), &self.folders(), |_| Verdict::Go).steps;
        self.again();
        let is_in_a_row = move |number: usize| match steps.get(number.saturating_sub(2)..number) {
            Some([before, step]) => step.call == "write" && before.call == "write" && step.path == before.path,
            _ => false,
        };
        (1..).filter(move |number| number % 4 == 0 || !is_in_a_row(*number))
    }

    /// The program, which takes one resource after the other.
    pub fn apply(&self) -> Command {
        let mut command = program(&self.scene, &["apply", "--detailed-exitcode", "--parallelism", "1"]);
        command.arg(self.scene.bundle("site")).arg("--root").arg(self.scene.path("root"));
        command.arg("--state-dir").arg(self.scene.path("state"));
        command
    }

    /// That a run goes well, whatever was before, and that the next one finds nothing to do.
    #[track_caller]
    pub fn converges(&self, moment: &str) {
        let first = self.apply().output().unwrap();
        assert!(matches!(first.status.code(), Some(0 | 2)), "{moment}: {first:?}");
        self.is_as_wanted(moment);
        let second = self.apply().output().unwrap();
        assert_eq!(second.status.code(), Some(0), "{moment}: {second:?}");
    }

    /// The end state, nothing beside it, each intent settled once, and the claims of this version.
    #[track_caller]
    pub fn is_as_wanted(&self, moment: &str) {
        let state = self.scene.state();
        assert!(state.staged().is_empty(), "{moment}: {:?}", state.staged());
        let differences = state.differences(&self.wanted);
        assert!(differences.is_empty(), "{moment}: {differences:?}\nwanted{:?}\nfound{state:?}", self.wanted);
        self.has_what_was_kept(moment);
        let ledger = self.ledger();
        ledger.assert_settled();
        assert_eq!(ledger.claims.len(), self.claims, "{moment}: {:?}", ledger.claims);
        assert_eq!(ledger.endings.last(), Some(&Some("converged".to_owned())), "{moment}");
        let left: Vec<_> = fs::read_dir(self.scene.path("state")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| KNOWN.iter().any(|known| name == known)), "{moment}: {left:?}");
    }

    pub fn ledger(&self) -> Ledger {
        self.scene.ledger()
    }

    #[track_caller]
    fn has_what_was_kept(&self, moment: &str) {
        let changed = self.scene.node("/srv/changed");
        if changed.exists() {
            let mut value = [0; 16];
            let length = rustix::fs::getxattr(&changed, KEPT.0, &mut value[..]);
            assert_eq!(length.map(|length| value[..length].to_vec()), Ok(KEPT.1.to_vec()), "{moment}");
        }
    }
}

/// What is in a state folder when nobody is at work in it.
const KNOWN: [&str; 3] = ["lock", "state.db", "stamp-key"];

fn empty(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        let removed = if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        removed.unwrap();
    }
}

/// Copies what is in a folder, with all that it has, into another that is made if need be.
fn copy(from: &Path, to: &Path) {
    if from.exists() {
        let status = Command::new("cp").arg("-aT").args([from, to]).status().unwrap();
        assert!(status.success(), "{status}");
    }
}
