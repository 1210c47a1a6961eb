use std::cell::Cell;
use std::io;
use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::acquire::{Acquirer, Places, Settings, Silent};
use crate::builtins;
use crate::compile::{self, Sources};
use crate::engine::{Engine, EngineOptions, Loaded};
use crate::manifest::{self, Inputs, NoFiles};
use crate::model::asset::AssetRef;
use crate::model::digest::AssetDigest;

/// A manifest through the built-in modules, with a count of how often content was read.
struct Site {
    catalog: Catalog,
    modules: BTreeMap<TypeName, Module>,
    contents: Counting,
}

struct Counting {
    bytes: BTreeMap<AssetDigest, Vec<u8>>,
    reads: Cell<usize>,
}

impl Contents for Counting {
    fn read(&self, asset: &AssetRef, _cap: u64) -> io::Result<Vec<u8>> {
        self.reads.set(self.reads.get() + 1);
        let found = asset.digest().and_then(|digest| self.bytes.get(&digest).cloned());
        found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }
}

const MANIFEST: &str = r#"
resource "file" "motd" {
  path    = "/etc/motd"
  content = "Welcome\nto db1\n"
  mode    = "u=rw,go=r"
}

resource "file" "folder" {
  path   = "/srv/x"
  ensure = "directory"
}

resource "file" "later" {
  path    = "/etc/later"
  content = facts.hostname
}
"#;

fn site() -> Site {
    let engine = Engine::new(EngineOptions::default()).unwrap();
    let modules: BTreeMap<TypeName, Module> = builtins::all()
        .iter()
        .filter_map(|builtin| match engine.load_any(builtin.bytes).unwrap() {
            Loaded::Type(module) => Some(module),
            Loaded::Provider(_) => None,
        })
        .map(|module| (module.type_name().clone(), module))
        .collect();
    let manifest = Arc::new(manifest::read("site.hcl", MANIFEST.to_owned()).unwrap());
    let inputs = Inputs::default();
    let folder = tempfile::tempdir().unwrap();
    let places = Places { cache: None, scratch: folder.path().to_owned() };
    let acquirer = Acquirer::new(folder.path(), Settings::default(), places, Arc::new(Silent)).unwrap();
    let sources = Sources {
        inputs: &inputs,
        facts: None,
        files: Arc::new(NoFiles),
        acquire: Arc::new(acquirer),
        modules: &modules,
        providers: &compile::Providers::new(),
    };
    let compiled = compile::compile(manifest, &sources).unwrap_or_else(|errors| panic!("{errors}"));
    let bytes = |asset: &compile::Asset| match &asset.content {
        compile::Content::Bytes(bytes) => bytes.to_vec(),
        compile::Content::Stored(stored) => panic!("{stored:?}"),
    };
    let bytes = compiled.assets.iter().map(|(digest, asset)| (*digest, bytes(asset))).collect();
    Site { catalog: compiled.catalog, modules, contents: Counting { bytes, reads: Cell::new(0) } }
}

impl Site {
    fn evaluate(&self, id: &str, expectation: &Expectation) -> Result<Vec<String>, ExpectationError> {
        let compiled = Compiled { catalog: &self.catalog, modules: &self.modules, contents: &self.contents };
        let mismatches = evaluate(&compiled, &id.parse().unwrap(), expectation)?;
        Ok(mismatches.iter().map(ToString::to_string).collect())
    }

    fn refusal(&self, id: &str, expectation: &Expectation) -> String {
        self.evaluate(id, expectation).expect_err("the expectation makes no sense").to_string()
    }
}

fn attributes(json: Json) -> Expectation {
    let Json::Object(attributes) = json else { panic!("an object") };
    Expectation { attributes: attributes.into_iter().collect(), content: Vec::new() }
}

fn content(matchers: &[ContentMatcher]) -> Expectation {
    Expectation { attributes: BTreeMap::new(), content: matchers.to_vec() }
}

#[test]
fn attributes_have_canonical_names_and_values_and_null_where_nothing_is_managed() {
    let site = site();
    let right = json!({"path": "/etc/motd", "ensure": "file", "mode": "0644", "owner": null, "force": false});
    assert_eq!(site.evaluate("file.motd", &attributes(right)).unwrap(), [""; 0]);
    let wrong = json!({"mode": "0600", "owner": "root"});
    assert_eq!(
        site.evaluate("file.motd", &attributes(wrong)).unwrap(),
        ["`mode` is \"0644\", expected \"0600\"", "`owner` is null, expected \"root\""]
    );
}

#[test]
fn content_is_resolved_once_for_all_matchers() {
    use ContentMatcher::{Contains, Equals, Lacks, Matches, Unmanaged};
    let site = site();
    let right = [Equals("Welcome\nto db1\n".into()), Contains("db1".into()), Lacks("db2".into()), Matches(r"^to \w+$".into())];
    assert_eq!(site.evaluate("file.motd", &content(&right)).unwrap(), [""; 0]);
    assert_eq!(site.contents.reads.get(), 1);
    let wrong = [Contains("db2".into()), Unmanaged];
    assert_eq!(
        site.evaluate("file.motd", &content(&wrong)).unwrap(),
        ["the content is \"Welcome\\nto db1\\n\", expected text with \"db2\"", "the content is managed, expected none"]
    );
    assert_eq!(site.evaluate("file.folder", &content(&[Unmanaged])).unwrap(), [""; 0]);
    let none = site.evaluate("file.folder", &content(&[Contains("x".into())])).unwrap();
    assert_eq!(none, ["the content is not managed, expected text with \"x\""]);
    assert!(site.refusal("file.motd", &content(&[Matches("(".into())])).contains("not a pattern"));
}

#[test]
fn what_makes_no_sense_is_an_error_and_never_passes() {
    let site = site();
    assert_eq!(
        site.refusal("file.motd", &attributes(json!({"colour": null}))),
        "`file.motd` has no attribute `colour`; it has `path`, `ensure`, `force`, `links`, `leads_to`, `parents`, `content`, `source`, `checksum`, `owner`, `group`, `mode`, `backup`, `validate`, `target`"
    );
    assert!(site.refusal("file.motd", &attributes(json!({"content": "x"}))).contains("expect something of the content"));
    assert!(site.refusal("file.mot", &Expectation::default()).contains("did you mean `file.motd`?"));
    assert!(site.refusal("file.later", &Expectation::default()).contains("waits for the node"));
}

#[test]
fn sensitive_values_are_hidden() {
    let mut site = site();
    let resource = site.catalog.resources.iter_mut().find(|resource| resource.id.to_string() == "file.motd").unwrap();
    let State::Compiled { semantics, .. } = &mut resource.state else { panic!("it is compiled") };
    semantics.sensitive = true;
    let expectation = Expectation { content: vec![ContentMatcher::Equals("hunter2".into())], ..attributes(json!({"mode": "7"})) };
    let told = site.evaluate("file.motd", &expectation).unwrap();
    assert_eq!(told, ["`mode` is (sensitive), expected (sensitive)", "the content is (sensitive), expected (sensitive)"]);
}

#[test]
fn an_attribute_that_names_the_content_stands_for_its_text() {
    let name = AssetRef::Plain(AssetDigest::of(b"text"));
    let contents = Counting { bytes: BTreeMap::from([(AssetDigest::of(b"text"), b"text".to_vec())]), reads: Cell::new(0) };
    let content = Content::new(&contents, Some(&name), false);
    let attribute = crate::conformance::testing::attribute("body");
    let view =
        TestedState { attributes: BTreeMap::from([("body".into(), json!(name.to_string()))]), content: Some(name.clone()) };
    let semantics = Semantics {
        capabilities: vec![],
        assets: vec![name.clone()],
        sensitive: false,
        accepts_refresh: false,
        timeout_ms: 1,
        prerequisites: vec![],
    };
    let id: ResourceId = "thing.it".parse().unwrap();
    let held = |expected: &str| attribute_mismatch(&attribute, &semantics, &view, &content, &id, &json!(expected)).unwrap();
    assert_eq!(held("text"), None);
    assert_eq!(held("other").unwrap().to_string(), "`body` is \"text\", expected \"other\"");
    assert_eq!(contents.reads.get(), 1);
}
