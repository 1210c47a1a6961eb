//! The program itself, killed at random moments of applies in which everything changes that can: kinds of objects, refreshes, removals.
//! `cargo xtask soak` has it killed thousands of times; in the tests it is a few.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use runtime::model::report::Outcome;
use testkit::guests;
use testkit::{Scene, Tree};

use crate::killed_at_random::{Random, apply};

/// How often it is killed, where [`KILLS_VARIABLE`] does not say.
const KILLS: usize = 12;
const KILLS_VARIABLE: &str = "RUNTIME_TEST_KILLS";

/// How often it is killed on one node before the next node begins: what is on record grows.
const KILLS_OF_A_NODE: usize = 50;

/// How many files change.
const FILES: usize = 40;

/// How often the program is killed.
pub fn kills() -> usize {
    std::env::var(KILLS_VARIABLE).map_or(KILLS, |text| text.parse().expect("a number of kills"))
}

/// Two versions of a manifest: of each object there is another kind, content or mode, or nothing.
fn manifest(version: &str) -> String {
    let (first, mode, folder_or_link) = match version {
        "one" => (true, "0640", "ensure = \"directory\""),
        _ => (false, "0600", "ensure = \"symlink\"\n  target = \"/srv/f0\"\n  force  = true"),
    };
    let file = |index: usize| {
        format!(
            "resource \"file\" \"f{index}\" {{\n  path = \"/srv/f{index}\"\n  content = \"{version} {index}\\n\"\n  mode = \"{mode}\"\n}}\n"
        )
    };
    let one_of_two = if first { "content = \"there\\n\"" } else { "ensure = \"absent\"" };
    let force = if first { "\n  force  = true" } else { "" };
    format!(
        "manifest {{\n  name = \"soak\"\n}}\n{}\
         resource \"file\" \"kind\" {{\n  path = \"/srv/kind\"\n  {folder_or_link}{force}\n}}\n\
         resource \"file\" \"gone\" {{\n  path = \"/srv/gone\"\n  {one_of_two}\n}}\n\
         resource \"bell\" \"it\" {{\n  path = \"/srv/bell\"\n  meta {{ subscribe = [file.f0, file.f{}] }}\n}}\n",
        (0..FILES).map(file).collect::<String>(),
        FILES - 1,
    )
}

/// A node on which the second version was applied, and then the first, with a copy of the program that stays the same however long it takes; and how
/// many claims each version has.
fn scene() -> (Scene, BTreeMap<&'static str, usize>) {
    let scene = Scene::new().with_module("bell", guests::BELL).allowing("bell");
    std::fs::copy(env!("CARGO_BIN_EXE_runtime"), scene.path("runtime")).unwrap();
    let mut claims = BTreeMap::new();
    for version in ["two", "one"] {
        scene.compile(version, &manifest(version));
        let _ = scene.apply(version);
        claims.insert(version, scene.ledger().claims.len());
    }
    (scene, claims)
}

fn rings(scene: &Scene) -> usize {
    std::fs::read_to_string(scene.node("/srv/bell.rings")).map_or(0, |text| text.lines().count())
}

/// How long an apply takes that nobody kills, in microseconds.
fn duration() -> u64 {
    let (scene, _) = scene();
    let since = Instant::now();
    let status = command(&scene, "two").status().unwrap();
    assert!(status.success(), "{status}");
    u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn command(scene: &Scene, version: &str) -> std::process::Command {
    let mut command = apply(scene, version);
    command.arg("--policy").arg(scene.path("policy.hcl"));
    command
}

/// What the kills of one node came to.
#[derive(Debug, Default)]
struct Tally {
    /// Runs that died of it.
    kills: usize,
    /// Runs that had ended before; they do not count.
    too_late: usize,
    /// Rang a second time, since they died between the ring and its record.
    rang_again: usize,
}

#[test]
fn however_often_it_is_killed_nothing_is_lost_doubled_or_left_over() {
    let kills = kills();
    let (mut random, whole) = (Random::new(), duration());
    let mut tally = Tally::default();
    while tally.kills < kills {
        let (scene, claims) = scene();
        let with_this_node = kills.min(tally.kills + KILLS_OF_A_NODE);
        let mut versions = ["two", "one"].into_iter().cycle();
        while tally.kills < with_this_node {
            let version = versions.next().unwrap();
            kill_and_recover(&scene, version, random.below(whole), &mut tally);
            assert_eq!(scene.ledger().claims.len(), claims[version], "kill {}", tally.kills);
            // How fast runs are changes with what else the computer does.
            assert!(tally.too_late < 100 + 4 * kills, "hardly any dies on the way: {tally:?}");
        }
        println!("{tally:?}");
    }
}

fn kill_and_recover(scene: &Scene, version: &str, micros: u64, tally: &mut Tally) {
    let moment = format!("kill {} after {micros} µs", tally.kills);
    let before = rings(scene);
    let mut child = command(scene, version).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_micros(micros));
    child.kill().unwrap();
    let status = child.wait().unwrap();
    match status.signal() {
        Some(9) => tally.kills += 1,
        _ => tally.too_late += 1,
    }
    let was_ringing = scene.ledger().open().iter().any(|intent| intent.resource == "bell.it");

    let report = scene.apply(version);
    let is_well = |outcome| matches!(outcome, Outcome::Changed | Outcome::Unchanged);
    assert!(report.resources.iter().all(|resource| is_well(resource.outcome)), "{moment}: {report:?}");
    let ledger = scene.ledger();
    ledger.assert_settled();
    assert!(!ledger.obligations.iter().any(|line| line.ends_with("owed") || line.ends_with("pending")), "{moment}: {ledger:?}");
    let rung = rings(scene) - before;
    assert!(rung == 1 || rung == 2 && was_ringing, "{moment}: it rang {rung} times");
    tally.rang_again += usize::from(rung == 2);
    check_tree(scene, version, &moment);
}

fn check_tree(scene: &Scene, version: &str, moment: &str) {
    let tree = Tree::state(&scene.node("/srv"));
    assert!(tree.staged().is_empty(), "{moment}: {:?}", tree.staged());
    for index in 0..FILES {
        assert_eq!(scene.read(&format!("/srv/f{index}")), format!("{version} {index}\n"), "{moment}");
    }
    let kind = std::fs::symlink_metadata(scene.node("/srv/kind")).unwrap();
    assert_eq!(kind.is_dir(), version == "one", "{moment}");
    assert_eq!(scene.node("/srv/gone").exists(), version == "one", "{moment}");
}
