//! Whatever a guest says, in whatever place: no terminal, log or record is misled by it.

use std::process::{Command, Stdio};

use testkit::Scene;

use crate::stage::{manifest, scene};

/// The program's whole output for a command with the bundle.
fn output(scene: &Scene, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runtime"));
    command.env_clear().env("HOME", scene.path("scratch")).env("TMPDIR", scene.path("scratch"));
    command.env("RUNTIME_CACHE_DIR", testkit::scene::cache()).stdin(Stdio::null());
    command.arg(arguments[0]).arg(scene.bundle("site")).args(&arguments[1..]);
    command.arg("--root").arg(scene.path("root")).arg("--state-dir").arg(scene.path("state"));
    let output = command.arg("--policy").arg(scene.path("policy.hcl")).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 1 | 4)), "{output:?}");
    String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
}

#[test]
fn nothing_that_it_says_reaches_a_terminal_as_it_is() {
    let places = ["inspect-safety", "composition-conflicts", "check", "apply", "verify"];
    let behaviours = places.map(|place| format!("control-characters@{place}")).into_iter();
    for behaviour in behaviours.chain(["flood-log@check".to_owned(), "flood-log@apply".to_owned()]) {
        for arguments in [&["plan", "-vv"][..], &["plan", "--json"], &["apply", "-vv"], &["apply", "--json"]] {
            let scene = scene();
            scene.compile("site", &manifest(&behaviour));
            let said = output(&scene, arguments);
            let misleads =
                |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            let found: String = said.chars().filter(|c| misleads(*c)).take(20).collect();
            assert!(
                found.is_empty(),
                "{behaviour}, {arguments:?}: {found:?} in {}",
                said.escape_debug().take(4_000).collect::<String>()
            );
            assert!(!said.lines().any(|line| line.starts_with("error: none")), "{behaviour}, {arguments:?}: {said}");
        }
    }
}
