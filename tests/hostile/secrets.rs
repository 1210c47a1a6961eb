//! Guests that want to see a sensitive value: what they get is its name.

use runtime::model::report::Outcome;
use testkit::Scene;
use testkit::scene::{of, tell};

use crate::stage::{manifest, scene};

const VALUE: &str = "Zq7#the value";

fn secretly(behaviour: &str) -> String {
    manifest(behaviour).replacen("behaviour =", &format!("secret    = sensitive(\"{VALUE}\")\n  behaviour ="), 1)
}

fn applied(behaviour: &str) -> (Scene, runtime::model::report::Report) {
    let scene = scene();
    scene.write("root/srv/scratch/it", VALUE);
    scene.compile("site", &secretly(behaviour));
    let report = scene.apply("site");
    (scene, report)
}

#[test]
fn neither_the_value_nor_its_size_nor_the_file_that_may_hold_it_can_be_read() {
    for (act, rule) in [
        ("read-secret", "the asset is sensitive"),
        ("size-secret", "the asset is sensitive"),
        ("read-own", "the resource has sensitive assets"),
    ] {
        for place in ["check", "apply", "verify"] {
            let scene = scene();
            if act == "read-own" && place == "check" {
                scene.write("root/srv/scratch/it", VALUE);
            }
            scene.compile("site", &secretly(&format!("{act}@{place}")));
            let report = scene.apply("site");
            let it = of(&report, "hostile.it");
            let failure = it.failure.clone().unwrap_or_else(|| panic!("{act}@{place}: {it:?}"));
            assert!(failure.message.contains(rule), "{act}@{place}: {failure:?}");
            assert!(!format!("{report:?}").contains("Zq7#"), "{act}@{place}");
        }
    }
}

#[test]
fn it_can_have_the_host_write_its_own_secret_and_no_others() {
    let (scene, report) = applied("stage-secret@check");
    assert_eq!(of(&report, "hostile.it").outcome, Outcome::Refused, "not in a check");
    drop(scene);
    let scene = scene_without_file();
    scene.compile("site", &secretly("stage-secret@apply"));
    let report = scene.apply("site");
    assert_eq!(of(&report, "hostile.it").outcome, Outcome::Changed, "{report:?}");
    assert_eq!(scene.read("/srv/scratch/it"), VALUE);
    let scene = scene_without_file();
    scene.compile("site", &manifest("stage-secret@apply"));
    let report = scene.apply("site");
    let failure = of(&report, "hostile.it").failure.clone().unwrap();
    assert!(failure.message.contains("did not list"), "{failure:?}");
}

fn scene_without_file() -> Scene {
    scene()
}

#[test]
fn an_export_gives_the_value_back_to_the_host_alone_and_only_its_own() {
    let reads = "resource \"file\" \"reader\" {\n  path    = \"/srv/reader\"\n  content = hostile.it.secret\n}\n";
    let scene = scene();
    scene.compile("site", &(secretly("observe@check") + reads));
    let report = scene.apply("site");
    assert_eq!(of(&report, "file.reader").outcome, Outcome::Changed, "{report:?}");
    assert_eq!(scene.read("/srv/reader"), VALUE);
    assert!(!format!("{report:?}").contains("Zq7#"));
    let error = scene.try_compile("site", &(secretly("name-secret@resolve-export") + reads)).unwrap_err();
    let told = tell(&error);
    assert!(told.contains("names the slot `file.apart/content`, which it was not given"), "{told}");
}
