//! The spine: compile, plan and apply of many small files, or of a large one, in a scratch root on the disk of this computer.

use std::path::{Path, PathBuf};

use super::Bench;
use super::declare::{manifest, resource, text};
use crate::Failure;
use crate::figure::Figure;
use crate::measure::{Job, Timed};
use crate::output::Found;
use crate::setting::Setting;
use crate::task::Task;

const OS_RELEASE: &str = "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"A scratch root\"\n";

/// What is declared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Declared {
    /// So many small files.
    Small(usize),
    /// One file of so many bytes.
    Large(u64),
}

/// Where everything is.
struct Place {
    declared: Declared,
    runtime: String,
    site: PathBuf,
    root: PathBuf,
    state: PathBuf,
    /// Where what is compared with writes.
    native: PathBuf,
    /// All of these.
    folder: PathBuf,
}

pub(super) fn run(bench: Bench, declared: Declared, setting: &Setting) -> Result<Found, Failure> {
    let place = Place::new(bench, declared, setting);
    place.make()?;
    let mut found = Found::default();
    for (timed, runs) in [(place.compile(), 1), (place.apply_anew(), 1), (place.converged(), 2)] {
        let job = Job { rounds: declared.rounds(setting.rounds), timed };
        found.figures.extend(Figure::all(bench.name(), &job.timed, runs, &job.measure()?));
    }
    // The larger ones fill a disk.
    Task::Empty { folder: place.folder }.perform()?;
    Ok(found)
}

impl Declared {
    /// What takes minutes is not measured as often as is asked for.
    fn rounds(self, asked: usize) -> usize {
        match self {
            Declared::Small(0..=1_000) => asked,
            Declared::Small(1_001..=10_000) | Declared::Large(_) => asked.min(3),
            Declared::Small(_) => 1,
        }
    }

    fn names(self) -> Vec<String> {
        match self {
            Declared::Small(count) => (0..count).map(|number| format!("file-{number:06}")).collect(),
            Declared::Large(_) => vec!["large".to_owned()],
        }
    }

    /// Has its files written into `folder`: small ones of some two hundred bytes, each another one.
    fn written(self, folder: &Path) -> Task {
        match self {
            Declared::Small(_) => {
                let content =
                    |(number, name): (usize, String)| (folder.join(name), format!("setting_{number} = {number}\n").repeat(10));
                Task::Write { files: self.names().into_iter().enumerate().map(content).collect() }
            }
            Declared::Large(bytes) => Task::Zeros { path: folder.join("large"), bytes },
        }
    }
}

impl Place {
    fn new(bench: Bench, declared: Declared, setting: &Setting) -> Self {
        let folder = setting.scratch.join(bench.name());
        Self {
            declared,
            runtime: setting.runtime.display().to_string(),
            site: folder.join("site"),
            root: folder.join("root"),
            state: folder.join("state"),
            native: folder.join("native"),
            folder,
        }
    }

    fn make(&self) -> Result<(), Failure> {
        let sources = self.site.join("files");
        let folders = [&sources, &self.root.join("etc"), &self.target(), &self.state, &self.native];
        folders.into_iter().try_for_each(|folder| Task::Empty { folder: folder.clone() }.perform().map(drop))?;
        let mut site = manifest("files");
        for (number, name) in self.declared.names().iter().enumerate() {
            let (path, source) = (text(format_args!("/srv/{name}")), text(format_args!("files/{name}")));
            resource(&mut site, "file", number, &[("path", &path), ("source", &source), ("mode", &text("0644"))]);
        }
        let release = (self.root.join("etc/os-release"), OS_RELEASE.to_owned());
        Task::Write { files: vec![(self.site.join("site.hcl"), site), release] }.perform()?;
        self.declared.written(&sources).perform().map(drop)
    }

    fn paths(&self, folder: &Path) -> Vec<PathBuf> {
        self.declared.names().iter().map(|name| folder.join(name)).collect()
    }

    /// The folder that the declared files are in.
    fn target(&self) -> PathBuf {
        self.root.join("srv")
    }

    fn bundle(&self) -> PathBuf {
        self.site.join("site.wasm.tar")
    }

    fn compile(&self) -> Vec<Timed> {
        let bundle = self.bundle();
        let command = [&self.runtime, "compile", &shown(&self.site.join("site.hcl")), "-o", &shown(&bundle)].map(str::to_owned);
        let native = Task::Pack { paths: self.paths(&self.site.join("files")), into: self.native.join("packed") };
        vec![Timed::new("compile", Task::run(command)), Timed::new("read, hash, write one file", native)]
    }

    /// With nothing there, neither files nor state.
    fn apply_anew(&self) -> Vec<Timed> {
        let empty = |folder: &Path| Task::Empty { folder: folder.to_owned() };
        let native = self.native.join("files");
        let apply = Timed::new("apply, all new", self.on_node("apply", 2)).after(empty(&self.target())).after(empty(&self.state));
        vec![apply, Timed::new("write, fsync, rename each", self.declared.written(&native)).after(empty(&native))]
    }

    /// As the last apply has left it.
    fn converged(&self) -> Vec<Timed> {
        let native = Task::Read { paths: self.paths(&self.target()) };
        vec![
            Timed::new("plan", self.on_node("plan", 0)),
            Timed::new("apply", self.on_node("apply", 0)),
            Timed::new("stat, read, hash each", native),
        ]
    }

    fn on_node(&self, command: &str, exits: i32) -> Task {
        let [bundle, root, state] = [&self.bundle(), &self.root, &self.state].map(|path| shown(path));
        let words = [&self.runtime, command, &bundle, "--root", &root, "--state-dir", &state, "--detailed-exitcode"];
        Task::Run { command: words.map(str::to_owned).to_vec(), exits }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
