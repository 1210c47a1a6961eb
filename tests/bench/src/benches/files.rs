//! The spine: compile, plan and apply of many small files, in a scratch root on the disk of this computer.

use std::path::{Path, PathBuf};

use super::declare::{manifest, resource, text};
use super::{Bench, RESOURCES};
use crate::Failure;
use crate::figure::Figure;
use crate::measure::{Job, Timed};
use crate::output::Found;
use crate::setting::Setting;
use crate::task::Task;

const OS_RELEASE: &str = "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"A scratch root\"\n";

/// Where everything is.
struct Place {
    runtime: String,
    site: PathBuf,
    root: PathBuf,
    state: PathBuf,
    /// Where what is compared with writes.
    native: PathBuf,
}

pub(super) fn run(setting: &Setting) -> Result<Found, Failure> {
    let place = Place::new(setting);
    place.make()?;
    let mut found = Found::default();
    for (timed, runs) in [(place.compile(), 1), (place.apply_anew(), 1), (place.converged(), 2)] {
        let job = Job { rounds: setting.rounds, timed };
        found.figures.extend(Figure::all(Bench::Files.name(), &job.timed, runs, &job.measure()?));
    }
    Ok(found)
}

impl Place {
    fn new(setting: &Setting) -> Self {
        let folder = setting.scratch.join("files");
        Self {
            runtime: setting.runtime.display().to_string(),
            site: folder.join("site"),
            root: folder.join("root"),
            state: folder.join("state"),
            native: folder.join("native"),
        }
    }

    fn make(&self) -> Result<(), Failure> {
        let sources = self.site.join("files");
        let folders = [&sources, &self.root.join("etc"), &self.target(), &self.state, &self.native];
        folders.into_iter().try_for_each(|folder| Task::Empty { folder: folder.clone() }.perform())?;
        let mut site = manifest("files");
        for number in 0..RESOURCES {
            let (path, source) = (text(format_args!("/srv/{}", name(number))), text(format_args!("files/{}", name(number))));
            resource(&mut site, "file", number, &[("path", &path), ("source", &source), ("mode", &text("0644"))]);
        }
        let release = (self.root.join("etc/os-release"), OS_RELEASE.to_owned());
        let mut files = vec![(self.site.join("site.hcl"), site), release];
        files.extend(contents(&sources));
        Task::Write { files }.perform()
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
        let native = Task::Pack { paths: paths(&self.site.join("files")), into: self.native.join("packed") };
        vec![Timed::new("compile", Task::run(command)), Timed::new("read, hash, write one file", native)]
    }

    /// With nothing there, neither files nor state.
    fn apply_anew(&self) -> Vec<Timed> {
        let empty = |folder: &Path| Task::Empty { folder: folder.to_owned() };
        let native = self.native.join("files");
        let apply = Timed::new("apply, all new", self.on_node("apply", 2)).after(empty(&self.target())).after(empty(&self.state));
        let write = Task::Write { files: contents(&native) };
        vec![apply, Timed::new("write, fsync, rename each", write).after(empty(&native))]
    }

    /// As the last apply has left it.
    fn converged(&self) -> Vec<Timed> {
        let native = Task::Read { paths: paths(&self.target()) };
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

fn name(number: usize) -> String {
    format!("file-{number:04}")
}

fn paths(folder: &Path) -> Vec<PathBuf> {
    (0..RESOURCES).map(|number| folder.join(name(number))).collect()
}

/// Files of some two hundred bytes, each another one.
fn contents(folder: &Path) -> Vec<(PathBuf, String)> {
    let content = |number: usize| format!("setting_{number} = {number}\n").repeat(10);
    (0..RESOURCES).map(|number| (folder.join(name(number)), content(number))).collect()
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
