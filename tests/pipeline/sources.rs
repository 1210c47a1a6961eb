//! Bytes that a manifest names: several of one resource, from files, addresses and text; acquired only once all of it is sound.

use std::sync::Arc;

use runtime::model::digest::AssetDigest;
use runtime::model::report::Outcome;
use runtime::run::{self, CompileRequest, CompileSummary, RunError};
use testkit::https::{Asked, Reply, Server};
use testkit::scene::{assert_all, tell};
use testkit::{Scene, guests};

/// A scene with the keeper, and a server from which `/pub` may be fetched.
struct Stage {
    scene: Scene,
    server: Server,
    /// What the server answers, unless it is told otherwise: of this test alone, as the cache of compiled code, which tests share, also keeps
    /// what was fetched.
    body: String,
}

impl Stage {
    fn new() -> Self {
        Self::answering(|body, _| Reply::body(body))
    }

    fn answering(answer: impl Fn(&str, &Asked) -> Reply + Send + Sync + 'static) -> Self {
        let scene = Scene::new().with_module("keeper", guests::KEEPER);
        let body = format!("from an address, for {}\n", scene.folder().display());
        let own = body.clone();
        let server = Server::start(move |asked| answer(&own, asked));
        scene.write("ca.pem", server.certificate());
        scene.write("site/file", "from a file\n");
        Self { scene, server, body }
    }

    fn request(&self) -> CompileRequest {
        let mut request = self.scene.compile_request("site");
        request.sources.addresses = vec![self.server.address("/pub").parse().unwrap()];
        request.sources.ca_file = Some(self.scene.path("ca.pem"));
        request
    }

    /// Compiles a manifest in which `URL` and `SUM` stand for an address of the server and the checksum of what it answers.
    fn compile_with(&self, request: &CompileRequest, manifest: &str) -> Result<CompileSummary, RunError> {
        let sum = AssetDigest::of(self.body.as_bytes()).to_string();
        let manifest = manifest.replace("URL", &self.server.address("/pub/a")).replace("SUM", &sum);
        self.scene.write("site/site.hcl", manifest);
        run::compile(request)
    }

    fn compile(&self, manifest: &str) -> Result<CompileSummary, RunError> {
        self.compile_with(&self.request(), manifest)
    }

    #[track_caller]
    fn refusal(&self, manifest: &str) -> String {
        let text = tell(&self.compile(manifest).unwrap_err());
        assert!(!self.scene.bundle("site").exists(), "no bundle is written");
        text
    }

    /// Compiles and applies; what the keeper then keeps at `/srv/it`.
    #[track_caller]
    fn keep(&mut self, manifest: &str) -> Vec<String> {
        if let Err(error) = self.compile(manifest) {
            panic!("{}", tell(&error));
        }
        self.scene.allow_as_told("site");
        assert_all(&self.scene.noop("site"), Outcome::WouldChange);
        assert_all(&self.scene.apply("site"), Outcome::Changed);
        assert_all(&self.scene.apply("site"), Outcome::Unchanged);
        ["first", "second", "note"].map(|name| self.scene.read(&format!("/srv/it.{name}"))).into()
    }
}

const SOUND: &str = r#"
resource "keeper" "it" {
  path           = "/srv/it"
  first          = "URL"
  first_checksum = "SUM"
  second         = "file"
  note           = "from text\n"
}
"#;

#[test]
fn a_resource_has_several_assets_each_from_a_source_of_its_own() {
    let mut stage = Stage::new();
    assert_eq!(stage.keep(SOUND), [stage.body.as_str(), "from a file\n", "from text\n"]);
    assert_eq!(stage.server.asked().len(), 1);
}

#[test]
fn what_waits_for_the_node_has_its_sources_taken_along_from_the_controller() {
    let mut stage = Stage::new();
    let waits = SOUND.replace("from text", "on ${facts.os.id}");
    assert_eq!(stage.keep(&waits), [stage.body.as_str(), "from a file\n", "on testos\n"]);
    assert_eq!(stage.server.asked().len(), 1);
}

#[test]
fn the_same_bytes_go_along_once_and_the_same_manifest_gives_the_same_bundle() {
    let stage = Stage::answering(|_, _| Reply::body("from a file\n"));
    let sum = AssetDigest::of(b"from a file\n").to_string();
    let manifest = SOUND.replace("SUM", &sum).replace("from text\\n", "from a file\\n");
    let first = stage.compile(&manifest).unwrap();
    assert_eq!(first.assets, 1);
    assert_eq!(stage.compile(&manifest).unwrap().bundle, first.bundle);
}

#[test]
fn nothing_is_acquired_before_the_whole_manifest_is_found_sound() {
    let stage = Stage::new();
    let with = |more: &str| stage.refusal(&format!("{SOUND}\n{more}"));
    let clash = r#"resource "file" "clash" {
  path    = "/srv/it.note"
  content = "x"
}"#;
    assert!(with(clash).contains("both manage the path `/srv/it.note`"));
    let circle = r#"resource "file" "a" {
  path = "/srv/a"
  meta { require = [file.b] }
}
resource "file" "b" {
  path = "/srv/b"
  meta { require = [file.a] }
}"#;
    assert!(with(circle).contains("wait for each other"));
    let bad_value = r#"resource "file" "a" {
  path = "relative"
}"#;
    assert!(with(bad_value).contains("error: "));
    let another = r#"resource "keeper" "other" {
  path   = "/srv/other"
  second = "https://example.org/not-allowed"
}"#;
    assert!(with(another).contains("fetching from there is not allowed"));
    let forgets = r#"resource "keeper" "other" {
  path   = "/srv/other"
  second = "file"
  slip   = "forgets"
}"#;
    assert!(with(forgets).contains("asks for the asset `second`, and does not name it in `validate`"));
    assert_eq!(stage.server.asked(), [], "no source was acquired");
}

#[test]
fn the_final_state_may_differ_from_the_draft_in_the_names_of_assets_alone() {
    let stage = Stage::new();
    let slips = |slip: &str| {
        let more = r#"resource "file" "other" {
  path = "/srv/other"
}"#;
        stage.refusal(&format!("{}\n{more}", SOUND.replace("note ", &format!("slip = \"{slip}\"\n  note "))))
    };
    let times = slips("times");
    assert!(
        times.contains("says something else of the final state than of the draft, beyond the names of its assets"),
        "{times}"
    );
    assert!(times.contains("a defect of the module"), "{times}");
    let orders = slips("orders");
    assert!(orders.contains("orders `file.other` and `keeper.it` by the bytes of an asset"), "{orders}");
}

#[test]
fn a_wrong_checksum_is_told_in_the_modules_words_with_the_digest_found() {
    let stage = Stage::answering(|_, _| Reply::body("other bytes\n"));
    let text = stage.refusal(SOUND);
    assert!(text.contains("error: the keeper was given other bytes than it was promised\n --> site.hcl:4:"), "{text}");
    assert!(text.contains(&format!("it has {}", AssetDigest::of(b"other bytes\n"))), "{text}");
    let local = SOUND.replace("URL", "file");
    let text = stage.refusal(&local);
    assert!(text.contains("other bytes than it was promised"), "{text}");
    // Where the resource is compiled on the node, the host knows the checksum from the descriptors.
    let text = stage.refusal(&local.replace("from text", "${facts.os.id}"));
    assert!(text.contains("error: the content does not have the checksum that is given\n --> site.hcl:4:"), "{text}");
}

#[test]
fn an_address_without_a_checksum_or_with_a_bad_one_is_refused_before_it_is_asked() {
    let stage = Stage::new();
    let without = SOUND.replace("first_checksum = \"SUM\"", "");
    for manifest in [without.clone(), without.replace("from text", "${facts.os.id}")] {
        let text = stage.refusal(&manifest);
        assert!(text.contains("what is fetched from an address needs a checksum"), "{text}");
    }
    let bad = SOUND.replace("\"SUM\"", "\"sha256:abc\"").replace("from text", "${facts.os.id}");
    assert!(stage.refusal(&bad).contains("this is no checksum\n --> site.hcl:5:"));
    let waits = SOUND.replace("\"SUM\"", "facts.os.id");
    assert!(
        stage.refusal(&waits).contains("`first_checksum` cannot wait for the node: it is the checksum of a file to take along")
    );
    let waits = SOUND.replace("\"URL\"", "facts.os.id");
    assert!(stage.refusal(&waits).contains("`first` cannot wait for the node: it names a file to take along"));
    assert_eq!(stage.server.asked(), []);
}

#[test]
fn a_refusal_names_the_option_that_would_allow_it() {
    let stage = Stage::new();
    let mut request = stage.request();
    request.sources.addresses.clear();
    let text = tell(&stage.compile_with(&request, SOUND).unwrap_err());
    assert!(text.contains(&format!("pass `--allow-url {}`", stage.server.address("/pub/"))), "{text}");

    stage.scene.write("shared", "from elsewhere\n");
    let outside = SOUND.replace("\"file\"", "\"../shared\"");
    let text = stage.refusal(&outside);
    let folder = stage.scene.folder().display().to_string();
    assert!(text.contains(&format!("`--allow-source {folder}`")), "{text}");
    let mut request = stage.request();
    request.sources.folders = vec![stage.scene.folder().to_owned()];
    stage.compile_with(&request, &outside).unwrap();
}

#[test]
fn all_that_is_wrong_with_sources_comes_out_at_once() {
    let stage = Stage::answering(|_, _| Reply::status(404));
    let text = stage.refusal(&SOUND.replace("\"file\"", "\"missing\""));
    assert!(text.contains("the server answers with status 404"), "{text}");
    assert!(text.contains("the file `missing` cannot be taken along"), "{text}");
}

#[test]
fn a_second_compilation_fetches_nothing() {
    let stage = Stage::new();
    let request = stage.request();
    let first = stage.compile_with(&request, SOUND).unwrap();
    let second = run::compile_watched(&request, Arc::new(runtime::acquire::Silent)).unwrap();
    assert_eq!((first.bundle, stage.server.asked().len()), (second.bundle, 1));
}
