//! A node on which the sampler may use `/srv`.

use runtime::model::digest::ComponentDigest;
use testkit::{Scene, guests};

pub fn scene() -> Scene {
    let mut scene = Scene::new().with_module("sampler", guests::SAMPLER);
    let digest = ComponentDigest::of(guests::SAMPLER);
    let files = "files {\n    read  = [\"/srv/**\"]\n    write = [\"/srv/**\"]\n  }";
    scene.set_policy(&format!("module \"sampler\" {{\n  digest = \"{digest}\"\n  {files}\n}}\n"));
    scene
}
