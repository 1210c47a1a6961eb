//! A node on which the hostile guest may use one folder, beside a resource that does no harm.

use runtime::model::digest::ComponentDigest;
use runtime::model::report::{Failure, Outcome, Report, ResourceReport};
use testkit::scene::of;
use testkit::{Scene, Tree, guests};

/// A scene whose policy lets the hostile guest use `/srv/scratch` and 32 MiB.
pub fn scene() -> Scene {
    let mut scene = Scene::new().with_module("hostile", guests::HOSTILE);
    for name in ["scratch", "secret"] {
        std::fs::create_dir(scene.node(&format!("/srv/{name}"))).unwrap();
    }
    scene.write("root/srv/secret/kept", "secret\n");
    scene.write("root/srv/scratch/neighbour", "neighbour\n");
    scene.set_policy(&policy());
    scene
}

pub fn policy() -> String {
    let digest = ComponentDigest::of(guests::HOSTILE);
    format!(
        r#"module "hostile" {{
  digest = "{digest}"
  files {{
    read  = ["/srv/scratch/**"]
    write = ["/srv/scratch/**"]
  }}
  limits {{ memory = "32MiB" }}
}}
"#
    )
}

/// `other` is a path that the effects do not name, and that is not granted either.
pub fn manifest(behaviour: &str) -> String {
    manifest_with("/srv/scratch/it", "/srv/secret/kept", behaviour, "")
}

/// A hostile resource with one of good will behind it and one apart from it.
pub fn manifest_with(path: &str, other: &str, behaviour: &str, meta: &str) -> String {
    format!(
        r#"
resource "hostile" "it" {{
  path      = "{path}"
  other     = "{other}"
  behaviour = "{behaviour}"
  meta {{
    timeout = "60s"
    {meta}
  }}
}}

resource "file" "apart" {{
  path    = "/srv/apart"
  content = "apart\n"
}}
"#
    )
}

/// What came of a behaviour.
pub struct Ended {
    pub scene: Scene,
    pub report: Report,
    /// What the hostile resource touched, or may touch: everything but `apart`.
    pub before: Tree,
    pub after: Tree,
}

impl Ended {
    pub fn it(&self) -> &ResourceReport {
        of(&self.report, "hostile.it")
    }

    /// Why it failed.
    #[track_caller]
    pub fn failure(&self) -> &Failure {
        self.it().failure.as_ref().unwrap_or_else(|| panic!("it did not fail: {:?}", self.it()))
    }

    /// Asserts that the other resource of the bundle is as declared.
    #[track_caller]
    pub fn assert_others_converge(&self) {
        assert_eq!(of(&self.report, "file.apart").outcome, Outcome::Changed, "{:?}", self.report);
        assert_eq!(self.scene.read("/srv/apart"), "apart\n");
    }

    /// Asserts that the hostile resource has left the node as it was.
    #[track_caller]
    pub fn assert_nothing_changed(&self) {
        assert_eq!(self.before, self.after);
    }
}

/// Applies a manifest with the hostile resource.
#[track_caller]
pub fn apply(manifest: &str) -> Ended {
    let scene = scene();
    scene.compile("site", manifest);
    let folders = |scene: &Scene| Tree::exact(&scene.node("/srv/scratch"));
    let before = folders(&scene);
    let report = scene.apply("site");
    assert_eq!(std::fs::read_to_string(scene.node("/srv/secret/kept")).unwrap(), "secret\n", "what is outside stays as it is");
    assert_eq!(std::fs::read_dir(scene.node("/srv/secret")).unwrap().count(), 1);
    let after = folders(&scene);
    Ended { report, before, after, scene }
}
