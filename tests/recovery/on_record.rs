//! What people are told of a run that was lost, and that its owner gives up nothing meanwhile.

use std::process::{Command, Output};

use runtime::run::{self, ReleaseRequest, StateRequest};
use testkit::Scene;
use testkit::scene::error_code;

use crate::lost_run::killed_at;

const SITE: &str = "resource \"file\" \"it\" {\n  path    = \"/srv/it\"\n  content = \"it\\n\"\n}\n";

/// A scene in which a run was lost after its one intent.
fn lost() -> Scene {
    let scene = Scene::new();
    scene.compile("site", SITE);
    for moment in 1..20 {
        killed_at(&scene, "site", moment);
        if !scene.ledger().open().is_empty() {
            return scene;
        }
    }
    panic!("there is no open intent: {:?}", scene.ledger());
}

fn command(scene: &Scene, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_runtime"));
    command.env_clear().env("HOME", scene.path("scratch")).env("TMPDIR", scene.path("scratch")).args(arguments);
    command.arg("--root").arg(scene.path("root")).arg("--state-dir").arg(scene.path("state")).output().unwrap()
}

fn release(scene: &Scene, noop: bool) -> ReleaseRequest {
    let state = StateRequest { root: scene.path("root"), state_dir: scene.path("state"), scratch: scene.path("scratch") };
    ReleaseRequest { state, owner: "site".parse().unwrap(), object: None, noop }
}

#[test]
fn a_lost_run_is_shown_with_what_is_open_in_its_first_lines() {
    let scene = lost();
    let output = command(&scene, &["show"]);
    let shown = String::from_utf8(output.stdout).unwrap();
    let first: Vec<&str> = shown.lines().take(3).collect();
    assert!(first[0].ends_with(": apply of `site`, lost"), "{shown}");
    assert!(
        first[1].contains("what it was doing to `file.it` is not settled") && first[2].contains("runtime recover"),
        "{shown}"
    );
    assert!(shown.contains("\n  file.it: intended\n"), "{shown}");
    let listed = String::from_utf8(command(&scene, &["history"]).stdout).unwrap();
    assert!(listed.lines().last().unwrap().contains("site   lost"), "{listed}");
}

#[test]
fn nothing_is_given_up_while_a_change_is_neither_done_nor_undone() {
    let scene = lost();
    for noop in [true, false] {
        let error = run::release(&release(&scene, noop)).unwrap_err();
        assert_eq!((error_code(&error), error.hint().as_deref()), (5, Some("run `runtime recover`")), "{error}");
        assert!(error.to_string().starts_with("`file.it` has an unresolved change"), "{error}");
    }
    assert!(scene.ledger().claims_of("site").contains_key("/srv/it"));
    assert_eq!(command(&scene, &["recover"]).status.code(), Some(0));
    let released = run::release(&release(&scene, false)).unwrap();
    assert_eq!(released.released.claims.len(), 1);
    assert_eq!(scene.ledger().claims, []);
    assert_eq!(scene.ledger().endings.last(), Some(&Some("released".to_owned())));
}

#[test]
fn a_recovery_is_shown_with_what_it_settled() {
    let scene = lost();
    let recovered = String::from_utf8(command(&scene, &["recover"]).stdout).unwrap();
    assert!(recovered.contains("file.it: recovered"), "{recovered}");
    let shown = String::from_utf8(command(&scene, &["show"]).stdout).unwrap();
    assert!(shown.contains(": recover, converged") && shown.contains("\n  file.it: recovered"), "{shown}");
}
