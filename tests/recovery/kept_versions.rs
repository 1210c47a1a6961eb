//! The program itself, killed at random moments while it makes folders on the way and keeps what it replaces.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use testkit::{Scene, Tree};

use crate::killed_at_random::{Random, apply};

const FILES: usize = 300;

/// How many files share a folder that nobody declares.
const IN_FOLDER: usize = 10;

/// How often it is killed.
const KILLS: usize = 12;

/// How long it may take to get to the moment at which it is killed.
const PATIENCE: Duration = Duration::from_secs(300);

fn path(index: usize) -> String {
    format!("/srv/many/{}/f{index}", index / IN_FOLDER)
}

fn manifest(version: &str) -> String {
    let file = |index: usize| {
        let path = path(index);
        format!(
            "resource \"file\" \"f{index}\" {{\n  path = \"{path}\"\n  content = \"{version}\"\n  backup = 2\n  parents = true\n}}\n"
        )
    };
    "manifest {\n  name = \"kept\"\n}\n".to_owned() + &(0..FILES).map(file).collect::<String>()
}

/// A node on which nothing is yet, with a copy of the program that stays the same however long it takes.
fn scene() -> Scene {
    let scene = Scene::new();
    fs::copy(env!("CARGO_BIN_EXE_runtime"), scene.path("runtime")).unwrap();
    for version in ["one", "two"] {
        scene.compile(version, &manifest(version));
    }
    scene
}

fn content(scene: &Scene, path: &str) -> Option<String> {
    fs::read_to_string(scene.node(path)).ok()
}

/// Kills an apply of `version` once it has written that many files, or lets it end.
fn kill(scene: &Scene, version: &str, count: usize, micros: u64) {
    let mut child = apply(scene, version).spawn().unwrap();
    let since = Instant::now();
    let written = || (0..FILES).filter(|index| content(scene, &path(*index)).as_deref() == Some(version)).count();
    while written() < count && child.try_wait().unwrap().is_none() {
        assert!(since.elapsed() < PATIENCE, "it does not get to {count} files");
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_micros(micros));
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.signal() == Some(9) || status.code() == Some(0), "{status}");
}

#[test]
fn whenever_it_is_killed_each_version_is_kept_once() {
    let mut random = Random::new();
    let scene = scene();
    let mut lost = 0;
    for round in 0..KILLS {
        let (version, other) = if round % 2 == 0 { ("one", "two") } else { ("two", "one") };
        let (count, micros) = (random.below(FILES as u64 - 20) as usize, random.below(5_000));
        let moment = format!("round {round}: after {count} files and {micros} µs");
        kill(&scene, version, count, micros);
        lost += scene.ledger().open().len();
        let next = apply(&scene, version).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(next.status.code(), Some(0), "{moment}: {next:?}");
        for index in 0..FILES {
            let path = path(index);
            let kept = |number: usize| content(&scene, &format!("{path}.~{number}~"));
            // What there was before this version, and before that; nothing in the first rounds.
            let before = |rounds: usize, version: &str| (round >= rounds).then(|| version.to_owned());
            let expected = [None, before(1, other), before(2, version)];
            assert_eq!([kept(0), kept(1), kept(2)], expected, "{moment}: {path}");
            assert_eq!(content(&scene, &path).as_deref(), Some(version), "{moment}: {path}");
        }
        let tree = Tree::state(&scene.node("/srv/many"));
        assert!(tree.staged().is_empty(), "{moment}: {:?}", tree.staged());
        assert_eq!(tree.paths().count(), 1 + FILES / IN_FOLDER + FILES * (1 + round.min(2)), "{moment}");
        scene.ledger().assert_settled();
    }
    println!("{lost} intents were open");
}
