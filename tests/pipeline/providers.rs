//! A resource type with a provider, neither of which the program knows: added from outside, compiled, planned and applied by the pipeline as it is.

use std::fs;

use runtime::model::report::{EffectClass, Outcome, Phase, Report};
use serde_json::json;
use testkit::scene::{exit_code, of, tell};
use testkit::{Scene, guests};

/// Rows for the type and its provider, by the digests that `module inspect` prints.
fn row(name: &str, component: &[u8], setting: &str) -> String {
    let digest = runtime::model::digest::ComponentDigest::of(component);
    format!("module \"{name}\" {{\n  digest = \"{digest}\"\n{setting}}}\n")
}

const FILES: &str = "  files {\n    read  = [\"/srv/*\"]\n    write = [\"/srv/*\"]\n  }\n";

fn policy() -> String {
    row("gadget", guests::GADGET, FILES) + &row("gadget_shelf", guests::GADGET_SHELF, FILES)
}

/// A node with both components at hand, and rows for them.
fn scene() -> Scene {
    let mut scene = bare();
    scene.set_policy(&policy());
    scene
}

fn bare() -> Scene {
    Scene::new().with_module("gadget", guests::GADGET).with_module("gadget_shelf", guests::GADGET_SHELF)
}

fn manifest(inner: &str) -> String {
    format!("resource \"gadget\" \"it\" {{\n  path = \"/srv/it\"\n  text = \"words\"\n{inner}}}\n")
}

fn options(options: &str) -> String {
    manifest(&format!("  shelf {{\n    {options}\n  }}\n"))
}

#[track_caller]
fn applied(text: &str) -> (Scene, Report) {
    let scene = scene();
    scene.compile("site", text);
    let report = scene.apply("site");
    (scene, report)
}

fn os_release(scene: &Scene, text: &str) {
    scene.write("root/etc/os-release", text);
}

#[test]
fn it_is_planned_applied_and_left_alone_by_whichever_provider_the_node_selects() {
    let scene = scene();
    fs::write(scene.path("site/stamp"), "stamped\n").unwrap();
    scene.compile("site", &options("label = \"a label\"\n    stamp = \"stamp\"\n    note = \"a note\""));
    let plan = scene.noop("site");
    let it = of(&plan, "gadget.it");
    assert_eq!((it.outcome, it.provider.as_ref().map(|name| name.as_str())), (Outcome::WouldChange, Some("shelf")));
    assert_eq!(it.changes.iter().map(|change| change.attribute.as_str()).collect::<Vec<_>>(), ["more", "text"]);
    let report = scene.apply("site");
    assert_eq!(of(&report, "gadget.it").outcome, Outcome::Changed, "{report:?}");
    let kept = ["/srv/it", "/srv/it.label", "/srv/it.stamp", "/srv/it.note"].map(|path| scene.read(path));
    assert_eq!(kept, ["words", "a label", "stamped\n", "a note"]);
    let again = scene.apply("site");
    assert_eq!((of(&again, "gadget.it").outcome, exit_code(&again, true)), (Outcome::Unchanged, 0));
    scene.ledger().assert_settled();
    // Changed behind our back it is drift; with other options it is not.
    fs::write(scene.node("/srv/it.label"), "another").unwrap();
    assert!(of(&scene.noop("site"), "gadget.it").drift);
    scene.compile("site", &options("label = \"a new label\""));
    assert!(!of(&scene.noop("site"), "gadget.it").drift, "another desired state is no drift");
}

#[test]
fn neither_is_let_run_without_a_row_and_a_provider_without_one_is_no_candidate() {
    let mut scene = bare();
    scene.compile("site", &manifest(""));
    let error = scene.try_noop("site").unwrap_err();
    assert!(error.to_string().contains("no policy row allows the module `gadget`"), "{error}");
    scene.allow_as_told("site");
    let report = scene.noop("site");
    let it = of(&report, "gadget.it");
    assert_eq!((it.outcome, exit_code(&report, false)), (Outcome::NoProvider, 3));
    assert_eq!(it.reason.as_deref(), Some("no Gadget provider supports ID=testos, ID_LIKE=debian"));
    let note =
        report.notes.iter().find(|note| note.message.starts_with("the provider `shelf` of `gadget` is not used here")).unwrap();
    let (_, row) = note.hint.as_deref().unwrap().split_once('\n').unwrap();
    scene.set_policy(&format!("{}{row}\n", scene.policy().unwrap_or_default()));
    assert_eq!(of(&scene.apply("site"), "gadget.it").outcome, Outcome::Changed, "the row that it names is enough");
}

#[test]
fn without_a_provider_it_is_skipped_with_the_reason_on_every_pass() {
    let scene = scene();
    scene.compile("site", &manifest(""));
    os_release(&scene, "ID=nixos\n");
    for _ in 0..2 {
        for report in [scene.noop("site"), scene.apply("site")] {
            let it = of(&report, "gadget.it");
            assert_eq!((it.outcome, &it.provider), (Outcome::NoProvider, &None));
            assert_eq!(it.reason.as_deref(), Some("no Gadget provider supports ID=nixos, ID_LIKE unset"));
            assert_eq!(exit_code(&report, false), 3);
        }
    }
    os_release(&scene, "ID=debian\nVERSION_ID=99\n");
    let reason = of(&scene.noop("site"), "gadget.it").reason.clone();
    assert_eq!(reason.as_deref(), Some("no Gadget provider on this host: shelf supports VERSION_ID 12, 13, not 99"));
    os_release(&scene, "ID=debian\n");
    assert_eq!(of(&scene.noop("site"), "gadget.it").outcome, Outcome::WouldChange, "a system without a version is served");
}

#[test]
fn a_gate_that_is_closed_selects_none() {
    let scene = scene();
    scene.compile("site", &manifest("  meta {\n    control { if = facts.os.id == \"debian\" }\n  }\n"));
    os_release(&scene, "ID=nixos\n");
    let report = scene.noop("site");
    assert_eq!((of(&report, "gadget.it").outcome, exit_code(&report, false)), (Outcome::Skipped, 0));
}

#[test]
fn the_manifest_may_name_a_provider_and_the_nodes_owner_may_forbid_it() {
    let mut scene = scene();
    scene.compile("site", &manifest("  meta { provider = \"shelf\" }\n"));
    os_release(&scene, "ID=nixos\n");
    assert_eq!(of(&scene.noop("site"), "gadget.it").outcome, Outcome::WouldChange, "who names it knows better");
    scene.set_policy(&format!("{}provider \"gadget\" {{\n  forbid = [\"shelf\"]\n}}\n", policy()));
    let report = scene.noop("site");
    let it = of(&report, "gadget.it");
    assert_eq!((it.outcome, exit_code(&report, false)), (Outcome::Refused, 1));
    let message = &it.failure.as_ref().unwrap().message;
    assert_eq!(message, "the manifest wants the provider `shelf`, which the policy of this node forbids");
    scene.compile("site", &manifest(""));
    scene.set_policy(&format!("{}provider \"gadget\" {{\n  use = \"shelf\"\n}}\n", policy()));
    assert_eq!(of(&scene.noop("site"), "gadget.it").outcome, Outcome::WouldChange, "the owner may name one, too");
}

#[track_caller]
fn refused(text: &str) -> String {
    let scene = scene();
    tell(&scene.try_compile("site", text).unwrap_err())
}

#[test]
fn options_are_held_to_the_providers_descriptors_at_their_place() {
    let told = refused(&options("label = \"a\\nb\""));
    assert!(told.contains("a label is one line") && told.contains("site.hcl:5:13"), "{told}");
    let told = refused(&options("labell = \"a\""));
    assert!(told.contains("the block `shelf` has no attribute `labell`") && told.contains("did you mean `label`?"), "{told}");
    let told = refused(&options("label = 5"));
    assert!(told.contains("`label` must be string"), "{told}");
    let told = refused(&options("label = \"a\"\n    tag = \"b\""));
    assert!(told.contains("two spellings of one attribute"), "{told}");
    let told = refused(&options("stamp = facts.hostname"));
    assert!(told.contains("`stamp` cannot wait for the node"), "{told}");
    let told = refused(&options("stamp = \"missing\""));
    assert!(told.contains("the file `missing` cannot be taken along"), "{told}");
    let told = refused(&manifest("  shelv {}\n"));
    assert!(told.contains("the resource type `gadget` has no block `shelv`") && told.contains("did you mean `shelf`?"), "{told}");
    let told = refused(&manifest("  shelf {}\n  shelf {}\n"));
    assert!(told.contains("a second block `shelf`"), "{told}");
    let told = refused(&manifest("  meta { provider = \"drawer\" }\n"));
    assert!(told.contains("the resource type `gadget` has no provider `drawer`"), "{told}");
    let told = refused("resource \"file\" \"f\" {\n  path = \"/srv/f\"\n  meta { provider = \"shelf\" }\n}\n");
    assert!(told.contains("the resource type `file` has no providers"), "{told}");
}

#[test]
fn what_a_provider_cannot_serve_matters_where_it_is_named_or_selected() {
    let text = |inner: &str| manifest(inner).replace("\"words\"", "\"unserved\"");
    let told = refused(&text("  shelf {}\n"));
    assert!(told.contains("the provider `shelf` does not keep such a text") && told.contains("site.hcl:3:10"), "{told}");
    assert!(refused(&text("  meta { provider = \"shelf\" }\n")).contains("does not keep such a text"));
    let (scene, report) = applied(&text(""));
    let it = of(&report, "gadget.it");
    assert_eq!((it.outcome, it.provider.as_ref().unwrap().as_str()), (Outcome::Failed, "shelf"));
    assert_eq!(it.failure.as_ref().unwrap().message, "the provider `shelf` does not keep such a text");
    os_release(&scene, "ID=nixos\n");
    assert_eq!(of(&scene.noop("site"), "gadget.it").outcome, Outcome::NoProvider, "elsewhere it does not matter");
}

#[test]
fn options_that_wait_for_the_node_are_settled_there() {
    let scene = scene();
    fs::write(scene.path("site/stamp"), "stamped\n").unwrap();
    scene.compile("site", &options("label = \"on ${facts.hostname}\"\n    stamp = \"stamp\""));
    let report = scene.apply("site");
    assert_eq!(of(&report, "gadget.it").outcome, Outcome::Changed, "{report:?}");
    assert_eq!((scene.read("/srv/it.label"), scene.read("/srv/it.stamp")), ("on db1".to_owned(), "stamped\n".to_owned()));
    // And so is a desired state that waits, with options that are known.
    scene.compile("site", &options("label = \"known\"").replace("\"words\"", "facts.hostname"));
    assert_eq!(of(&scene.apply("site"), "gadget.it").outcome, Outcome::Changed);
    assert_eq!((scene.read("/srv/it"), scene.read("/srv/it.label")), ("db1".to_owned(), "known".to_owned()));
    scene.compile("site", &options("label = \"a\\n${facts.hostname}\""));
    let report = scene.noop("site");
    assert_eq!(of(&report, "gadget.it").failure.as_ref().unwrap().message, "a label is one line");
}

#[test]
fn a_sensitive_option_reaches_its_file_and_nobody_else() {
    let text = format!("variable \"note\" {{\n  sensitive = true\n  default = \"needle-7\"\n}}\n{}", options("note = var.note"));
    let (scene, report) = applied(&text);
    assert_eq!(of(&report, "gadget.it").outcome, Outcome::Changed, "{report:?}");
    assert_eq!(scene.read("/srv/it.note"), "needle-7");
    assert!(!serde_json::to_string(&report).unwrap().contains("needle-7"));
    assert_eq!(of(&scene.apply("site"), "gadget.it").outcome, Outcome::Unchanged);
}

/// How an act of the provider ends.
#[track_caller]
fn ended(act: &str) -> (Scene, runtime::model::report::ResourceReport) {
    let text = manifest(&format!("  shelf {{ act = \"{act}\" }}\n  meta {{ timeout = \"2s\" }}\n"));
    let (scene, report) = applied(&text);
    (scene, of(&report, "gadget.it").clone())
}

#[test]
fn a_provider_is_held_to_phase_and_effects_and_what_it_is_denied_ends_the_resource() {
    let (scene, it) = ended("write-in-read");
    let failure = it.failure.unwrap();
    assert_eq!((it.outcome, failure.phase, failure.effect), (Outcome::Refused, Phase::Check, EffectClass::BeforeChange));
    assert!(failure.message.contains("tried to change the node in a check"), "{}", failure.message);
    assert!(!scene.node("/srv/it").exists());
    let (_, it) = ended("stray");
    let failure = it.failure.unwrap();
    assert_eq!((it.outcome, failure.phase), (Outcome::Refused, Phase::Apply));
    assert!(failure.message.contains("`files.object.remove` on `/srv/it` is denied"), "{}", failure.message);
}

#[test]
fn a_trap_and_a_limit_of_a_provider_end_the_attempt_and_name_it() {
    let (scene, it) = ended("trap");
    let failure = it.failure.unwrap();
    assert_eq!((it.outcome, failure.effect), (Outcome::Failed, EffectClass::UnknownOutcome));
    assert!(failure.message.contains("module `gadget_shelf` failed in `apply`"), "{}", failure.message);
    assert_eq!(scene.ledger().open().len(), 1, "nobody knows how it ended");
    let (_, it) = ended("grow");
    let failure = it.failure.unwrap();
    assert_eq!(failure.limit.as_deref(), Some("memory 67108864B"), "{}", failure.message);
    assert!(failure.message.contains("`gadget_shelf` failed in `read`"), "{}", failure.message);
    let (_, it) = ended("spin");
    let failure = it.failure.unwrap();
    assert_eq!(failure.limit.as_deref(), Some("deadline 2000ms"), "{}", failure.message);
    assert!(failure.message.contains("`gadget_shelf` failed in `read`"), "{}", failure.message);
}

#[test]
fn a_provider_that_says_it_did_and_did_not_is_found_out() {
    let (_, it) = ended("forget");
    let failure = it.failure.unwrap();
    assert_eq!((it.outcome, failure.phase), (Outcome::Failed, Phase::Verify));
    assert!(failure.message.contains("still differs in text"), "{}", failure.message);
}

#[test]
fn what_a_provider_adds_is_claimed_as_well() {
    let told =
        refused(&format!("{}resource \"file\" \"f\" {{\n  path    = \"/srv/it.label\"\n  content = \"x\"\n}}\n", manifest("")));
    assert!(told.contains("both manage the path `/srv/it.label`"), "{told}");
}

#[test]
fn whatever_the_catalog_says_otherwise_of_a_provider_is_refused() {
    let scene = scene();
    scene.compile("site", &options("label = \"a label\""));
    let changes = [
        ("/providers/gadget/shelf/schema_version", json!(7), "schema version 7"),
        ("/resources/0/backends/candidates/shelf/compiled/options", json!({"nonsense": true}), "`gadget.it`"),
        (
            "/resources/0/backends/candidates/shelf/compiled/semantics/capabilities",
            json!(["files.fold"]),
            "other meaning of a provider's options for `gadget.it`",
        ),
        (
            "/resources/0/backends/candidates/shelf/compiled/beyond/affected_paths",
            json!(["/srv/other"]),
            "other claims, effects or affected paths of a provider for `gadget.it`",
        ),
    ];
    for (pointer, value, words) in changes {
        testkit::tamper(&scene.bundle("site"), &scene.bundle("changed"), |catalog| {
            *catalog.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer} is not there")) = value;
        });
        let told = tell(&scene.try_noop("changed").unwrap_err());
        assert!(told.contains(words), "{pointer}: {told}");
    }
}

#[test]
fn what_cannot_be_a_provider_here_is_refused_before_anything_is_compiled() {
    let without_type = Scene::new().with_module("gadget_shelf", guests::GADGET_SHELF);
    let told = tell(&without_type.try_compile("site", &manifest("")).unwrap_err());
    assert!(told.contains("no module serves the resource type `gadget`"), "{told}");
    let alone = Scene::new().with_module("gadget", guests::GADGET);
    let told = tell(&alone.try_compile("site", &manifest("")).unwrap_err());
    assert!(told.contains("no provider of the resource type `gadget` is known"), "{told}");
    let misnamed = Scene::new().with_module("gadget", guests::GADGET).with_module("shelf", guests::GADGET_SHELF);
    let told = tell(&misnamed.try_compile("site", &manifest("")).unwrap_err());
    assert!(told.contains("write `--module gadget_shelf=…`"), "{told}");
}
