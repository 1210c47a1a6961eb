//! The system says no: each step in turn fails, and the disk of the state runs full. A run is told, or goes well, but never goes on as if nothing were;
//! and whatever was left, the next one converges.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use testkit::steps::{Change, Disk, Errno, Step, Verdict, watch};
use testkit::{Ledger, Scene};

use crate::every_act::Site;

/// How long the journal's waits for the disk are drawn out.
const HELD: Duration = Duration::from_millis(30);

/// How a step fails.
fn error_of(step: &Step) -> Errno {
    match step.call {
        "open" | "write" | "truncate" | "fallocate" | "mkdir" | "symlink" | "link" | "setxattr" => Errno::NOSPC,
        _ => Errno::IO,
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// That a run of which a step failed says so: the error, and of the state the file, else the resource.
#[track_caller]
fn is_told(site: &Site, step: &Step, output: &Output, moment: &str) {
    let told = text(output);
    let in_state = step.is_in(&site.folders()[1]);
    match output.status.code() {
        Some(74) if in_state => assert!(told.contains(&site.scene.path("state").display().to_string()), "{moment}: {told}"),
        Some(1) if !in_state => assert!(told.contains("failed") && told.contains("file."), "{moment}: {told}"),
        code => panic!("{moment}: it ended with {code:?}: {told}"),
    }
    let reasons = [
        "Input/output error",
        "No space left on device",
        "no space",
        "quota is full",
        "disk I/O error",
        "unable to open database file",
    ];
    let reasons = reasons.map(str::to_lowercase);
    assert!(reasons.iter().any(|reason| told.to_lowercase().contains(reason)), "{moment}: {told}");
}

/// Has each step of a run fail in turn, and gives those that the run could do without.
fn each_step_fails(site: &Site) -> Vec<String> {
    let mut harmless = Vec::new();
    for failing in site.steps() {
        let verdict = |step: &Step| if step.number == failing { Verdict::Fail(error_of(step)) } else { Verdict::Go };
        let watched = watch(&mut site.apply(), &site.folders(), verdict);
        let Some(step) = watched.steps.get(failing - 1) else { return harmless };
        let told = step.told(&site.scene.folder().canonicalize().unwrap());
        let moment = format!("step {failing}, {told}, failed");
        if watched.output.status.code() == Some(2) {
            let left_open = site.scene.path("state/state.db-wal");
            if left_open.exists() {
                site.converges(&moment);
            }
            site.is_as_wanted(&moment);
            harmless.push(told);
        } else {
            is_told(site, step, &watched.output, &moment);
            let next = site.apply().output().unwrap();
            assert!(matches!(next.status.code(), Some(0 | 2)), "{moment}: {next:?}\nbefore: {}", text(&watched.output));
            site.is_as_wanted(&moment);
        }
        site.again();
    }
    unreachable!("there are fewer steps than numbers")
}

#[test]
fn whatever_step_fails_it_is_told_and_the_next_run_converges() {
    let site = Site::of_every_act();
    let harmless = each_step_fails(&site);
    println!("{harmless:#?}");
}

#[test]
fn whatever_step_of_the_first_run_fails_it_is_told_and_the_next_run_converges() {
    let site = Site::of_a_first_run();
    let harmless = each_step_fails(&site);
    println!("{harmless:#?}");
}

/// Follows runs on one node, and what of the state the disk has.
struct Follower<'s> {
    site: &'s Site,
    state: PathBuf,
    root: PathBuf,
    disk: Disk,
    /// Paths on the node of what the intents on disk, as last read, are about.
    intended: Option<Vec<PathBuf>>,
}

impl<'s> Follower<'s> {
    fn new(site: &'s Site) -> Self {
        let [root, state]: [PathBuf; 2] = site.folders().try_into().unwrap();
        Self { site, disk: Disk::new(&state), state, root, intended: None }
    }

    /// Lets a run go of which one wait for the disk of the state fails, from 1; gives its output and how many waits there were. It may be killed then, before
    /// it does anything about it.
    fn run(&mut self, fails: Option<usize>, is_killed: bool, moment: &str) -> (Output, usize) {
        let (mut command, folders) = (self.site.apply(), self.site.folders());
        let mut waits = 0;
        let mut has_failed = false;
        let watched = watch(&mut command, &folders, |step| {
            if has_failed && is_killed {
                return Verdict::Kill;
            }
            if !step.is_in(&self.state) {
                self.has_an_intent_of(step, moment);
                return Verdict::Go;
            }
            self.intended = None;
            waits += usize::from(step.change == Change::Sync);
            if step.change == Change::Sync && fails == Some(waits) {
                self.disk.failed(step);
                has_failed = true;
                return Verdict::Fail(Errno::IO);
            }
            self.disk.done(step);
            Verdict::Go
        });
        (watched.output, waits)
    }

    /// That the power may fail just before this step: the disk has an open intent that covers it.
    #[track_caller]
    fn has_an_intent_of(&mut self, step: &Step, moment: &str) {
        let (disk, root) = (&self.disk, &self.root);
        let intended = self.intended.get_or_insert_with(|| intended(&Ledger::read(disk.after_a_power_failure().path()), root));
        // What is staged is beside the path, or beside a folder above it that is made.
        let covers = |path: &PathBuf| {
            step.path.starts_with(path)
                || step.path.parent().is_some_and(|folder| folder.starts_with(root) && path.starts_with(folder))
                || path.starts_with(&step.path)
        };
        assert!(intended.iter().any(covers), "{moment}: {} without an intent on disk: {intended:?}", step.told(root));
    }

    /// That nothing that is on record would be lost with the power.
    #[track_caller]
    fn has_all_on_disk(&self, moment: &str) {
        let on_disk = Ledger::read(self.disk.after_a_power_failure().path());
        assert_eq!(on_disk, Ledger::read(&self.state), "{moment}");
    }
}

/// Where open intents lead.
fn intended(ledger: &Ledger, root: &Path) -> Vec<PathBuf> {
    let open: Vec<&str> = ledger.open().iter().map(|intent| intent.resource.as_str()).collect();
    let held = ledger.claims.iter().filter(|held| open.contains(&held.resource.as_str()));
    held.map(|held| root.join(held.key.trim_start_matches('/'))).collect()
}

/// Has each wait for the disk of the state fail in turn, and the next run go on from there. Gives how many there are.
fn each_wait_fails(site: &Site, is_killed: bool) -> usize {
    for failing in 1.. {
        let moment = format!("wait {failing} failed");
        let mut follower = Follower::new(site);
        let (first, waits) = follower.run(Some(failing), is_killed, &moment);
        if waits < failing {
            assert_eq!(first.status.code(), Some(2), "{first:?}");
            follower.has_all_on_disk("nothing failed");
            return waits;
        }
        let (next, _) = follower.run(None, false, &format!("{moment}, and the next run"));
        assert!(matches!(next.status.code(), Some(0 | 2)), "{moment}: {}\nthen {}", text(&first), text(&next));
        follower.has_all_on_disk(&moment);
        site.is_as_wanted(&moment);
        site.again();
    }
    unreachable!("there are fewer waits than numbers")
}

#[test]
fn whatever_wait_for_the_disk_fails_no_change_is_without_an_intent_that_outlives_the_power() {
    let waits = each_wait_fails(&Site::of_every_act(), false);
    assert!(waits > 10, "each change has an intent of its own: {waits}");
    let waits = each_wait_fails(&Site::of_a_first_run(), false);
    assert!(waits > 5, "a new state is waited for: {waits}");
}

/// What it wrote can be read, and is not on disk.
#[test]
fn whatever_wait_fails_and_the_run_is_lost_the_next_one_has_intents_that_outlive_the_power() {
    assert!(each_wait_fails(&Site::of_every_act(), true) > 10);
    assert!(each_wait_fails(&Site::of_a_first_run(), true) > 5);
}

#[test]
fn nothing_changes_on_the_node_while_the_journal_waits_for_the_disk() {
    let site = Site::of_every_act();
    let state = site.folders().remove(1);
    let (until, waits) = (Cell::new(Instant::now()), Cell::new(0));
    let watched = watch(&mut site.apply(), &site.folders(), |step| {
        if step.is_in(&state) && step.change == Change::Sync {
            until.set(Instant::now() + HELD);
            waits.set(waits.get() + 1);
            return Verdict::Hold(HELD);
        }
        assert!(
            step.is_in(&state) || Instant::now() >= until.get(),
            "{} while the journal waits",
            step.told(site.scene.folder())
        );
        Verdict::Go
    });
    assert_eq!(watched.output.status.code(), Some(2), "{watched:?}");
    assert!(waits.get() > 10, "each change has an intent of its own: {}", waits.get());
}

/// A file system of its own, with a little room.
struct Small(PathBuf);

impl Small {
    fn at(folder: &Path, size: &str) -> Self {
        fs::create_dir_all(folder).unwrap();
        let options = format!("size={size},mode=0700");
        let status = std::process::Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder).status();
        assert!(status.unwrap().success(), "this test needs root and the right to mount");
        Self(folder.to_owned())
    }

    /// Leaves no room, until what it gives is removed.
    fn fill(&self) -> PathBuf {
        let path = self.0.join("ballast");
        let mut file = fs::File::create(&path).unwrap();
        while std::io::Write::write_all(&mut file, &[7; 4096]).is_ok() {}
        path
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

const TWO_FILES: &str = r#"
resource "file" "first" {
  path    = "/srv/first"
  content = "first\n"
}

resource "file" "second" {
  path    = "/srv/second"
  content = "second\n"
  meta { require = [file.first] }
}
"#;

fn apply_two_files(scene: &Scene) -> std::process::Command {
    let mut command = crate::killed_at_random::apply(scene, "site");
    command.args(["--parallelism", "1"]);
    command
}

#[test]
fn where_the_disk_of_the_state_is_full_from_the_beginning_nothing_is_touched() {
    let scene = Scene::new();
    scene.compile("site", TWO_FILES);
    let small = Small::at(&scene.path("state"), "1m");
    let ballast = small.fill();
    let before = scene.exact();
    let watched = watch(&mut apply_two_files(&scene), &[], |_| Verdict::Go);
    assert_eq!(watched.output.status.code(), Some(74), "{}", text(&watched.output));
    assert!(text(&watched.output).contains("no space is left"), "{}", text(&watched.output));
    assert_eq!(scene.exact(), before);
    fs::remove_file(ballast).unwrap();
    assert!(apply_two_files(&scene).status().unwrap().success());
    assert_eq!((scene.read("/srv/first").as_str(), scene.read("/srv/second").as_str()), ("first\n", "second\n"));
    scene.ledger().assert_settled();
}

#[test]
fn where_it_runs_full_on_the_way_nothing_more_is_touched_and_nothing_is_lost() {
    let scene = Scene::new();
    scene.compile("site", TWO_FILES);
    let small = Small::at(&scene.path("state"), "1m");
    let root = scene.path("root").canonicalize().unwrap();
    let ballast = Cell::new(None);
    let watched = watch(&mut apply_two_files(&scene), &[root], |_| {
        // The first change has its intent, and nothing after it will have one.
        ballast.set(ballast.take().or_else(|| Some(small.fill())));
        Verdict::Go
    });
    let told = text(&watched.output);
    assert_eq!(watched.output.status.code(), Some(74), "{told}");
    assert!(told.contains("no space is left") && told.contains("make room, then run again"), "{told}");
    assert_eq!(scene.read("/srv/first"), "first\n");
    assert!(!scene.node("/srv/second").exists());
    let open: Vec<String> = scene.ledger().open().iter().map(|intent| intent.resource.clone()).collect();
    assert_eq!(open, ["file.first"], "what was done is on record as begun, so that the next run looks at it");
    fs::remove_file(ballast.take().unwrap()).unwrap();
    assert!(apply_two_files(&scene).status().unwrap().success());
    assert_eq!(scene.read("/srv/second"), "second\n");
    scene.ledger().assert_settled();
    assert_eq!(scene.ledger().claims.len(), 2);
}
