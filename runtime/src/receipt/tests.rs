//! Tests with the real engine and a real component: what a bundle says is taken only if its modules say so too.

mod blocks;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::LazyLock;

use serde_json::{Value as Json, json};

use super::*;
use crate::builtins;
use crate::bundle::{catalog, write};
use crate::engine::{Child, EngineOptions, ParameterError, Parameters, on_large_stack};
use crate::model::asset::AssetRef;
use crate::model::canonical::CanonicalJson;
use crate::model::catalog::{CATALOG_VERSION, Edge, EdgeReason, LANGUAGE_VERSION, Module as Named, Resource, Source, State};
use crate::model::digest::{AssetDigest, ComponentDigest};
use crate::model::ids::ResourceId;
use crate::policy;
use crate::providers::{NodeIdentity, candidates_of, select};

static ENGINE: LazyLock<Engine> = LazyLock::new(|| Engine::new(EngineOptions::default()).unwrap());

/// A component that starts as one does and is none.
const JUNK: &[u8] = b"\0asm\x0d\0\x01\0junk";

fn file_component() -> &'static [u8] {
    builtins::all().iter().find(|builtin| builtin.name == "file").unwrap().bytes
}

struct Given(BTreeMap<&'static str, Json>);

impl Parameters for Given {
    fn children(&self, _: &str) -> Result<Vec<Child>, ParameterError> {
        Ok(Vec::new())
    }

    fn has(&self, name: &str) -> Result<bool, ParameterError> {
        Ok(self.0.contains_key(name))
    }

    fn read(&self, name: &str) -> Result<Option<Json>, ParameterError> {
        Ok(self.0.get(name).cloned())
    }
}

/// A directory, as the module of `file` compiles it.
fn directory(name: &str, path: &str) -> Resource {
    let module = ENGINE.load(file_component()).unwrap();
    let id = format!("file.{name}").parse().unwrap();
    let (desired, validated) = on_large_stack(|| {
        let given = Given(BTreeMap::from([("path", json!(path)), ("ensure", json!("directory"))]));
        let compiled = module.compile(&id, Rc::new(given)).unwrap();
        let validated = module.validate(&compiled.desired).unwrap();
        (compiled.desired, validated)
    });
    Resource {
        id,
        source: Source { file: "site.hcl".into(), line: 1, column: 1 },
        claims: validated.footprint.claims,
        effects: validated.footprint.effects,
        affected_paths: validated.footprint.affected_paths,
        timeout_ms: None,
        control: None,
        health: None,
        state: State::Compiled { desired: CanonicalJson::new(&desired).unwrap(), semantics: validated.semantics },
        backends: None,
    }
}

fn sample() -> Catalog {
    let module = Named { component: ComponentDigest::of(file_component()), schema_version: 1 };
    Catalog {
        catalog_version: CATALOG_VERSION,
        language_version: LANGUAGE_VERSION,
        owner: "site".parse().unwrap(),
        serial: 1,
        audience: Vec::new(),
        target_facts: BTreeMap::new(),
        providers: BTreeMap::new(),
        modules: BTreeMap::from([("file".parse().unwrap(), module)]),
        assets: BTreeMap::new(),
        secrets: Vec::new(),
        node_secrets: Vec::new(),
        resources: vec![directory("one", "/srv/one"), directory("two", "/srv/two")],
        edges: Vec::new(),
    }
}

fn admit_with(catalog: &Catalog, component: &[u8], policy: &Policy) -> Result<Admitted, ReceiptError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wasm.tar");
    let components = [(ComponentDigest::of(component), component)];
    write(&path, &catalog::encode(catalog).unwrap(), &components, &[], None).unwrap();
    admit(Bundle::open(&path).unwrap(), policy, &ENGINE, &Facts::given(json!({ "os": { "id": "debian" } })))
}

fn refused(change: impl FnOnce(&mut Catalog)) -> ReceiptError {
    let mut catalog = sample();
    change(&mut catalog);
    match admit_with(&catalog, file_component(), &Policy::default()) {
        Ok(_) => panic!("the change must be found"),
        Err(error) => error,
    }
}

#[test]
fn a_bundle_that_its_modules_agree_with_is_admitted() {
    let admitted = admit_with(&sample(), file_component(), &Policy::default()).unwrap();
    let module = &admitted.modules[&"file".parse().unwrap()];
    assert_eq!(*module.grant, Grant::requested(true));
    assert!(!module.asks.is_empty());
    assert!(admitted.notes.is_empty());
    let record: Json = serde_json::from_str(&admitted.policy).unwrap();
    assert_eq!(record["file"]["by"], "built in");
    assert_eq!(record["file"]["component"], json!(ComponentDigest::of(file_component())));
}

#[test]
fn whatever_the_catalog_says_otherwise_is_refused_by_name() {
    fn semantics(catalog: &mut Catalog) -> &mut crate::model::catalog::Semantics {
        match &mut catalog.resources[1].state {
            State::Compiled { semantics, .. } => semantics,
            State::Deferred { .. } => panic!("it is compiled"),
        }
    }
    type Change = fn(&mut Catalog);
    let changes: [(&str, Change); 8] = [
        ("claims", |catalog| catalog.resources[1].claims.clear()),
        ("effects", |catalog| catalog.resources[1].effects[0].key = "/srv/three".into()),
        ("affected paths", |catalog| catalog.resources[1].affected_paths = vec!["/".into()]),
        ("capabilities", |catalog| semantics(catalog).capabilities.insert(0, "a.b".into())),
        ("sensitivity", |catalog| semantics(catalog).sensitive ^= true),
        ("acceptance of refreshes", |catalog| semantics(catalog).accepts_refresh ^= true),
        ("timeout", |catalog| semantics(catalog).timeout_ms += 1),
        ("prerequisites", |catalog| semantics(catalog).prerequisites.insert(0, "a".into())),
    ];
    for (what, change) in changes {
        let error = refused(change);
        assert_eq!(error.to_string(), format!("the catalog has other {what} for `file.two` than its module"));
        assert!(!error.is_refusal());
    }
}

#[test]
fn assets_that_the_module_does_not_name_are_refused() {
    let mut catalog = sample();
    let content = b"hello";
    let digest = AssetDigest::of(content);
    catalog.assets.insert(digest, crate::model::catalog::Asset { size: 5 });
    let State::Compiled { semantics, .. } = &mut catalog.resources[0].state else { panic!("it is compiled") };
    semantics.assets = vec![AssetRef::Plain(digest)];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wasm.tar");
    let component = file_component();
    let asset = crate::bundle::AssetSource { digest, size: 5, content: crate::bundle::AssetContent::Bytes(content.to_vec()) };
    write(&path, &catalog::encode(&catalog).unwrap(), &[(ComponentDigest::of(component), component)], &[asset], None).unwrap();
    let error = admit(Bundle::open(&path).unwrap(), &Policy::default(), &ENGINE, &Facts::given(json!({}))).err().unwrap();
    assert_eq!(error.to_string(), "the catalog has other assets for `file.one` than its module");
}

#[test]
fn a_desired_state_that_the_module_cannot_give_is_refused() {
    let error = refused(|catalog| {
        let State::Compiled { desired, .. } = &mut catalog.resources[0].state else { panic!("it is compiled") };
        *desired = CanonicalJson::new(&json!({ "nonsense": true })).unwrap();
    });
    assert!(matches!(&error, ReceiptError::Definition { resource, .. } if resource.to_string() == "file.one"), "{error:?}");
}

#[test]
fn an_order_that_no_module_derives_is_refused() {
    let source = Source { file: "site.hcl".into(), line: 7, column: 3 };
    let (prerequisite, dependent): (ResourceId, ResourceId) = ("file.one".parse().unwrap(), "file.two".parse().unwrap());
    let edge = |reason| Edge { prerequisite: prerequisite.clone(), dependent: dependent.clone(), reason, source: source.clone() };
    let error = refused(|catalog| catalog.edges.push(edge(EdgeReason::Derived("because".into()))));
    insta::assert_snapshot!(error, @"the catalog says that `file.one` goes before `file.two`, which no module derives: because (site.hcl:7:3)");
    let mut declared = sample();
    declared.edges.push(edge(EdgeReason::Require));
    admit_with(&declared, file_component(), &Policy::default()).unwrap();
}

#[test]
fn a_subscriber_that_takes_no_refresh_is_refused() {
    for reason in [EdgeReason::Subscribe, EdgeReason::Notify] {
        let (prerequisite, dependent) = ("file.one".parse().unwrap(), "file.two".parse().unwrap());
        let source = Source { file: "site.hcl".into(), line: 7, column: 3 };
        let error = refused(|catalog| catalog.edges.push(Edge { prerequisite, dependent, reason, source }));
        insta::allow_duplicates! {
            insta::assert_snapshot!(error, @"the catalog says that `file.two` is refreshed after `file.one`, and it takes no refresh");
        }
        assert!(matches!(&error, ReceiptError::Order(OrderError::NoRefresh { .. })), "{error:?}");
        assert_eq!(error.hint().as_deref(), Some("compile the manifest again"));
    }
}

/// The sample with a second resource that is compiled on the node, from what `expression` gives for its mode.
fn deferring(expression: &str) -> Catalog {
    let mut catalog = sample();
    let literal = |text: &str| format!(r#"["literal","site.hcl:9:3+1","{text}"]"#);
    let attributes = [("ensure", literal("directory")), ("path", literal("/srv/two")), ("mode", expression.to_owned())];
    let attributes = attributes.into_iter().map(|(name, json)| (name.to_owned(), serde_json::from_str(&json).unwrap()));
    catalog.resources[1].state =
        State::Deferred { attributes: attributes.collect(), sources: BTreeMap::new(), blocks: Vec::new() };
    let source = Source { file: "site.hcl".into(), line: 9, column: 3 };
    let (prerequisite, dependent) = ("file.one".parse().unwrap(), "file.two".parse().unwrap());
    catalog.edges.push(Edge { prerequisite, dependent, reason: EdgeReason::Reference, source });
    catalog
}

#[test]
fn what_is_read_on_the_node_goes_before_and_may_be_read() {
    let admitted = |catalog: &Catalog| admit_with(catalog, file_component(), &Policy::default());
    let read = |name: &str| format!(r#"["export","site.hcl:9:9+1","file.one","{name}"]"#);
    admitted(&deferring(&read("mode"))).unwrap();
    let mut unordered = deferring(&read("mode"));
    unordered.edges[0].reason = EdgeReason::Require;
    let error = admitted(&unordered).err().unwrap();
    insta::assert_snapshot!(error, @"the catalog lacks that `file.one` goes before `file.two`, which reads `file.one.mode` on the node");
    assert_eq!(error.hint().as_deref(), Some("compile the manifest again"));
    for name in ["content", "nothing"] {
        let error = admitted(&deferring(&read(name))).err().unwrap().to_string();
        assert!(error.contains("`mode` of `file.two`") && error.contains("no export and no output"), "{error}");
    }
}

#[test]
fn a_component_is_the_module_that_the_catalog_says() {
    let error = refused(|catalog| catalog.modules.values_mut().for_each(|module| module.schema_version = 7));
    assert!(matches!(error, ReceiptError::OtherModule { .. }), "{error:?}");
    assert!(!error.is_refusal());
}

/// The sample with all of `file` under another name.
fn renamed(name: &str, component: &[u8]) -> Catalog {
    let mut catalog = sample();
    let named = Named { component: ComponentDigest::of(component), schema_version: 1 };
    catalog.modules = BTreeMap::from([(name.parse().unwrap(), named)]);
    for resource in &mut catalog.resources {
        resource.id.type_name = name.parse().unwrap();
    }
    catalog
}

#[test]
fn policy_is_asked_before_a_component_is_looked_at() {
    let catalog = renamed("thing", JUNK);
    let error = admit_with(&catalog, JUNK, &Policy::default()).err().unwrap();
    assert!(matches!(&error, ReceiptError::Policy(refusals) if refusals.len() == 1), "{error:?}");
    assert!(error.is_refusal());
    let hint = error.hint().unwrap();
    let (_, row) = hint.split_once('\n').unwrap();
    let allowing = policy::parse(row, &[]).unwrap();
    let error = admit_with(&catalog, JUNK, &allowing).err().unwrap();
    assert!(matches!(error, ReceiptError::Component { .. }), "{error:?}");
    assert!(!error.is_refusal());
}

#[test]
fn a_component_cannot_run_under_another_name() {
    let catalog = renamed("thing", file_component());
    let error = admit_with(&catalog, file_component(), &Policy::default()).err().unwrap();
    let hint = error.hint().unwrap();
    let allowing = policy::parse(hint.split_once('\n').unwrap().1, &[]).unwrap();
    let error = admit_with(&catalog, file_component(), &allowing).err().unwrap();
    assert!(matches!(error, ReceiptError::OtherModule { .. }), "{error:?}");
}

#[test]
fn another_component_cannot_take_a_reserved_name() {
    let error = admit_with(&renamed("file", JUNK), JUNK, &Policy::default()).err().unwrap();
    assert!(error.is_refusal());
    assert!(error.hint().unwrap().contains("builtins {"), "{error}");
}

#[test]
fn a_declared_path_outside_the_grant_is_refused() {
    let file = "file".parse().unwrap();
    let narrow =
        policy::parse("module \"file\" {\n files {\n read = [\"/srv/**\"]\n write = [\"/srv/one\"]\n }\n}", &[file]).unwrap();
    let error = admit_with(&sample(), file_component(), &narrow).err().unwrap();
    assert_eq!(error.to_string(), "`file` declares to write `/srv/two`, which the policy does not grant it");
    assert!(error.is_refusal());
}

#[test]
fn facts_that_are_otherwise_here_refuse_the_bundle() {
    let error = refused(|catalog| drop(catalog.target_facts.insert("os.id".into(), json!("fedora"))));
    assert!(matches!(&error, ReceiptError::TargetFacts(differences) if differences.len() == 1), "{error:?}");
    assert!(error.is_refusal());
    let mut catalog = sample();
    catalog.target_facts.insert("os.id".into(), json!("debian"));
    admit_with(&catalog, file_component(), &Policy::default()).unwrap();
}

#[test]
fn unused_rows_are_noted() {
    let policy = policy::parse(
        "builtins { digests = [\"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\"] }",
        &[],
    )
    .unwrap();
    let admitted = admit_with(&sample(), file_component(), &policy).unwrap();
    assert_eq!(admitted.notes.len(), 1);
    assert!(admitted.notes[0].message.contains("line 1"), "{:?}", admitted.notes);
}

#[test]
fn modules_for_recovery_are_those_that_policy_lets_run() {
    let count = |builtins: &Builtins| builtins.modules.len() + builtins.providers.values().map(BTreeMap::len).sum::<usize>();
    let modules = builtin_modules(&Policy::default(), &ENGINE).unwrap();
    assert_eq!(count(&modules), builtins::all().len());
    let denied = policy::parse("deny { modules = [\"file\"] }", &[]).unwrap();
    assert_eq!(count(&builtin_modules(&denied, &ENGINE).unwrap()), builtins::all().len() - 1);
}

/// What each real distribution selects of the providers that are built in, from its os-release as the facts of a node tell it.
#[test]
fn real_distributions_select_what_they_ship() {
    let builtins = builtin_modules(&Policy::default(), &ENGINE).unwrap();
    let type_name: TypeName = "package".parse().unwrap();
    let described = builtins.providers[&type_name].values().map(|admitted| admitted.provider.description());
    let candidates = candidates_of(described);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/support/os-release");
    let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| !name.ends_with(".json") && !name.ends_with(".md")).collect();
    names.sort();
    let mut told = Vec::new();
    for name in names {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("etc")).unwrap();
        std::fs::copy(folder.join(&name), root.path().join("etc/os-release")).unwrap();
        let node = host_functions::Node::open(root.path(), &[]).unwrap();
        let selected = select(&type_name, &candidates, &NodeIdentity::new(node.facts(), node.init()), &Statement::default());
        told.push(format!("{name}: {}", selected.map_or_else(|error| error.to_string(), |name| name.to_string())));
    }
    insta::assert_snapshot!(told.join("\n"), @r"
    almalinux-9: dnf
    alpine-3.21: apk
    amazon-2023: dnf
    arch: pacman
    centos-7: dnf
    debian-12: apt
    debian-sid: apt
    fedora-42: dnf
    linuxmint-22: apt
    manjaro: pacman
    nixos-24.11: no Package provider supports ID=nixos, ID_LIKE unset
    opensuse-leap-15.6: zypper
    opensuse-tumbleweed: zypper
    rhel-9: dnf
    rocky-9: dnf
    sles-15: zypper
    ubuntu-24.04: apt
    unknown: no Package provider supports ID=novel, ID_LIKE unset
    without-id: no Package provider supports ID=linux, ID_LIKE unset
    ");
}
