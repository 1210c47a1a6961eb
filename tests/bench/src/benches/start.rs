//! What goes before any work: how long it is until the program has said its version, and until it has looked at one file.

use super::Bench;
use super::declare::{manifest, resource, text};
use crate::Failure;
use crate::figure::Figure;
use crate::measure::{Job, Timed};
use crate::output::Found;
use crate::setting::Setting;
use crate::task::Task;

pub(super) fn run(setting: &Setting) -> Result<Found, Failure> {
    let folder = setting.scratch.join(Bench::Start.name());
    let [site, bundle, root, state] = ["site.hcl", "site.wasm.tar", "root", "state"].map(|name| folder.join(name));
    [&folder, &root.join("etc"), &state]
        .into_iter()
        .try_for_each(|folder| Task::Empty { folder: folder.clone() }.perform().map(drop))?;
    let mut declared = manifest("start");
    resource(&mut declared, "file", 0, &[("path", &text("/etc/motd")), ("content", &text("Welcome"))]);
    let release = "ID=debian\nVERSION_ID=\"12\"\n".to_owned();
    let files =
        vec![(site.clone(), declared), (root.join("etc/os-release"), release), (root.join("etc/motd"), "Welcome".to_owned())];
    Task::Write { files }.perform()?;
    let shown = |path: &std::path::Path| path.display().to_string();
    let runtime = shown(&setting.runtime);
    Task::run([&runtime, "compile", &shown(&site), "-o", &shown(&bundle)].map(str::to_owned)).perform()?;
    let plan = ["plan", &shown(&bundle), "--root", &shown(&root), "--state-dir", &shown(&state)].map(str::to_owned);
    let timed = vec![
        Timed::new("--version", Task::run([runtime.clone(), "--version".to_owned()])),
        Timed::new("plan of one file", Task::run([runtime].into_iter().chain(plan))),
        Timed::new("a program that does nothing", Task::run(["true"])),
    ];
    let job = Job { rounds: setting.rounds, timed };
    Ok(Found { figures: Figure::all(Bench::Start.name(), &job.timed, 2, &job.measure()?), notes: Vec::new() })
}
