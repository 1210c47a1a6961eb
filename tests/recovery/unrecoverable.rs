//! An interrupted operation that its module cannot make safe: it stays open, blocks its resource and no other, and says what to do.

use std::process::Command;

use runtime::model::report::Outcome;
use runtime::run;
use testkit::scene::{exit_code, of, tell};
use testkit::{Scene, guests};

use crate::lost_run::killed_at;

/// The hostile guest makes a file; `behaviour` is what it does when it is to recover.
fn manifest(behaviour: &str) -> String {
    format!(
        r#"
        resource "hostile" "it" {{
          path      = "/srv/it"
          other     = "/srv/other"
          behaviour = "{behaviour}"
        }}

        resource "file" "after" {{
          path    = "/srv/after"
          content = "after\n"
          meta {{ require = [hostile.it] }}
        }}

        resource "file" "apart" {{
          path    = "/srv/apart"
          content = "apart\n"
        }}
        "#
    )
}

/// A scene in which a run was lost after the intent of `hostile.it`, and before anything else.
fn lost(behaviour: &str) -> Scene {
    let mut scene = Scene::new().with_module("hostile", guests::HOSTILE);
    scene.compile("site", &manifest(behaviour));
    scene.allow_as_told("site");
    let mut moment = 5;
    // The intents of the two resources that may start are written in catalog order.
    loop {
        killed_at(&scene, "site", moment);
        if scene.ledger().open().iter().any(|intent| intent.resource == "hostile.it") {
            return scene;
        }
        moment += 1;
        assert!(moment < 40, "there is no intent of it: {:?}", scene.ledger());
    }
}

#[test]
fn it_stays_open_and_blocks_only_its_resource() {
    for behaviour in ["trap@recover", "write-other@recover", "control-characters@recover", "spin@recover"] {
        let scene = lost(behaviour);
        let intent = scene.ledger().open()[0].intent;
        for _ in 0..2 {
            let plan = scene.noop("site");
            assert_eq!((of(&plan, "hostile.it").outcome, exit_code(&plan, true)), (Outcome::Unresolved, 5), "{behaviour}");
            let report = scene.apply("site");
            assert_eq!((of(&report, "hostile.it").outcome, exit_code(&report, true)), (Outcome::Unresolved, 5), "{behaviour}");
            assert_eq!(of(&report, "file.after").outcome, Outcome::Unmet, "{behaviour}");
            assert!(matches!(of(&report, "file.apart").outcome, Outcome::Changed | Outcome::Unchanged), "{behaviour}");
            let reason = of(&report, "hostile.it").reason.clone().unwrap();
            assert!(reason.contains("not settled") && !reason.contains(['\u{1b}', '\n', '\u{202e}']), "{reason:?}");
        }
        assert!(scene.node("/srv/apart").exists() && !scene.node("/srv/it").exists() && !scene.node("/srv/other").exists());
        let open: Vec<i64> = scene.ledger().open().iter().map(|intent| intent.intent).collect();
        assert_eq!(open, [intent], "{behaviour}: the same intent, and no other");
        assert_eq!(scene.ledger().endings.last(), Some(&Some("unresolved".to_owned())));
    }
}

#[test]
fn recover_says_what_is_in_the_way_and_what_to_do() {
    let scene = lost("trap@recover");
    let mut command = Command::new(env!("CARGO_BIN_EXE_runtime"));
    command.env_clear().env("HOME", scene.path("scratch")).args(["recover", "--root"]).arg(scene.path("root"));
    let output = command.arg("--state-dir").arg(scene.path("state")).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{told}");
    assert!(told.contains("hostile.it: unresolved") && told.contains("hint: give `runtime recover` a bundle"), "{told}");
    let recovery =
        run::recover(&scene.request("site", runtime::model::report::RunMode::Apply)).unwrap_or_else(|e| panic!("{}", tell(&e)));
    let unresolved = &recovery.unresolved[&"hostile.it".parse().unwrap()];
    assert!(unresolved.reason.contains("`hostile`") && unresolved.reason.contains("recover-interrupted"), "{unresolved:?}");
    assert!(unresolved.hint.is_some(), "{unresolved:?}");
}

#[test]
fn what_is_open_is_told_although_nothing_declares_it_any_more() {
    let scene = lost("trap@recover");
    scene.compile("site", "resource \"file\" \"apart\" {\n  path = \"/srv/apart\"\n  content = \"apart\\n\"\n}\n");
    let report = scene.apply("site");
    assert_eq!(exit_code(&report, false), 5, "what is open is told, although nothing declares it any more: {report:?}");
    assert_eq!(of(&report, "hostile.it").outcome, Outcome::Unresolved);
    assert_eq!(scene.read("/srv/apart"), "apart\n");
    assert!(scene.ledger().claims_of("site").contains_key("/srv/it"), "what is open keeps its claim");
}
