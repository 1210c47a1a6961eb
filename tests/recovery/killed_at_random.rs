//! The program itself, killed at random moments of an apply of 2,000 files.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testkit::{Scene, Tree};

/// How many files.
const FILES: usize = 2_000;

/// How often it is killed.
const KILLS: usize = 10;

/// Far more than it takes to begin on any machine.
const PATIENCE: Duration = Duration::from_secs(300);

fn manifest(content: &str) -> String {
    let folder = "resource \"file\" \"folder\" {\n  path = \"/srv/many\"\n  ensure = \"directory\"\n}\n";
    let file = |index| {
        format!(
            "resource \"file\" \"f{index}\" {{\n  path = \"${{file.folder.path}}/f{index}\"\n  content = \"{content} {index}\\n\"\n}}\n"
        )
    };
    folder.to_owned() + &(0..FILES).map(file).collect::<String>()
}

/// Numbers that look random; the same for the same seed.
pub struct Random(u64);

impl Random {
    /// A seed of this moment, or the one in `RUNTIME_TEST_SEED` to see a failure again.
    pub fn new() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = std::env::var("RUNTIME_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(now);
        println!("RUNTIME_TEST_SEED={seed}");
        Self(seed)
    }

    /// From 0 to `end` - 1: splitmix64.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

/// A command of the program, or of the copy of it that a scene has.
pub fn program(scene: &Scene, arguments: &[&str]) -> Command {
    let copy = scene.path("runtime");
    let program = if copy.exists() { copy } else { env!("CARGO_BIN_EXE_runtime").into() };
    let mut command = Command::new(program);
    command.env_clear().env("HOME", scene.path("scratch")).env("TMPDIR", scene.path("scratch"));
    command.env("RUNTIME_CACHE_DIR", testkit::scene::cache()).current_dir(scene.path("site")).args(arguments);
    command
}

/// The program, applying to the scene.
pub fn apply(scene: &Scene, bundle: &str) -> Command {
    let mut command = program(scene, &["apply"]);
    command.arg(scene.bundle(bundle)).arg("--root").arg(scene.path("root")).arg("--state-dir").arg(scene.path("state"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// A scene with a copy of the program, which stays the same however long the test takes, and two versions of a manifest.
fn scene() -> Scene {
    let scene = Scene::new();
    std::fs::copy(env!("CARGO_BIN_EXE_runtime"), scene.path("runtime")).unwrap();
    for version in ["one", "two"] {
        scene.write(&format!("site/{version}.hcl"), "manifest {\n  name = \"many\"\n}\n".to_owned() + &manifest(version));
        let mut compile = program(&scene, &["compile", &format!("{version}.hcl"), "-o"]);
        let output = compile.arg(scene.bundle(version)).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    scene
}

/// How many files have the new content.
fn written(folder: &Path, content: &str) -> usize {
    let is_new = |path: &Path| std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(content.as_bytes()));
    (0..FILES).filter(|index| is_new(&folder.join(format!("f{index}")))).count()
}

/// Waits until at least `count` files are written; false if the program ended before.
fn wait_for(child: &mut Child, folder: &Path, content: &str, count: usize) -> bool {
    let since = Instant::now();
    while written(folder, content) < count {
        assert!(since.elapsed() < PATIENCE, "it does not get to {count} files");
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    true
}

#[test]
fn whenever_it_is_killed_the_next_apply_converges() {
    let mut random = Random::new();
    let scene = scene();
    for kill in 0..KILLS {
        let version = if kill % 2 == 0 { "one" } else { "two" };
        let (count, micros) = (random.below(FILES as u64 - 100) as usize, random.below(20_000));
        let moment = format!("kill {kill}: after {count} files and {micros} µs");
        let mut child = apply(&scene, version).spawn().unwrap();
        let reached = wait_for(&mut child, &scene.node("/srv/many"), version, count);
        std::thread::sleep(Duration::from_micros(micros));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(reached && status.signal() == Some(9), "{moment}: it ended before it was killed: {status}");
        check_nothing_is_half_written(&scene, version, &moment);
        let lost = scene.ledger();
        let next = apply(&scene, version).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(next.status.code(), Some(0), "{moment}: {next:?}");
        println!("{moment}: {} intents were open", lost.open().len());
        check_converged(&scene, version, &moment);
    }
}

/// Each file is absent, or has the whole content of one version or the other.
fn check_nothing_is_half_written(scene: &Scene, version: &str, moment: &str) {
    let other = if version == "one" { "two" } else { "one" };
    for index in 0..FILES {
        let found = std::fs::read_to_string(scene.node(&format!("/srv/many/f{index}")));
        let whole = |version: &str| format!("{version} {index}\n");
        if let Ok(found) = found {
            assert!(found == whole(version) || found == whole(other), "{moment}: {found:?}");
        }
    }
}

fn check_converged(scene: &Scene, version: &str, moment: &str) {
    let tree = Tree::state(&scene.node("/srv/many"));
    assert!(tree.staged().is_empty(), "{moment}: {:?}", tree.staged());
    assert_eq!(tree.paths().count(), FILES + 1, "{moment}");
    assert_eq!(written(&scene.node("/srv/many"), version), FILES, "{moment}");
    let ledger = scene.ledger();
    ledger.assert_settled();
    assert_eq!(ledger.claims_of("many").len(), FILES + 1, "{moment}");
}
