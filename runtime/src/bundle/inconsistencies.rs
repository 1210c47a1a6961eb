//! Tests: catalogs that contradict themselves, one for each rule.

use std::collections::BTreeMap;

use super::invariants::check;
use super::limits::MAX_ASSET;
use super::samples::{assets, catalog_of, component, resource};
use crate::model::asset::AssetRef;
use crate::model::catalog::{
    Asset, Catalog, Control, DeferredBlock, Edge, EdgeReason, MAX_TIMEOUT_MS, Module, Semantics, Source, State,
};
use crate::model::digest::{AssetDigest, ComponentDigest};
use crate::model::expression::Expression;

/// Two resources, `motd` before `issue`.
fn sample() -> Catalog {
    let assets = assets(&[b"hello"]);
    let mut catalog = catalog_of(&component(b""), &assets);
    catalog.resources.push(resource("issue", &assets));
    catalog.edges.push(edge("file.motd", "file.issue"));
    catalog
}

fn edge(prerequisite: &str, dependent: &str) -> Edge {
    let (prerequisite, dependent) = (prerequisite.parse().unwrap(), dependent.parse().unwrap());
    Edge { prerequisite, dependent, reason: EdgeReason::Require, source: Source { file: "site.hcl".into(), line: 9, column: 5 } }
}

fn semantics(catalog: &mut Catalog) -> &mut Semantics {
    match &mut catalog.resources[0].state {
        State::Compiled { semantics, .. } => semantics,
        State::Deferred { .. } => panic!("it is compiled"),
    }
}

fn expression(json: &str) -> Expression {
    serde_json::from_str(json).unwrap()
}

fn double<T: Clone>(items: &mut Vec<T>) {
    items.push(items[0].clone());
}

fn refused(change: impl FnOnce(&mut Catalog)) -> String {
    let mut catalog = sample();
    change(&mut catalog);
    check(&catalog).expect_err("the change must be found").to_string()
}

#[test]
fn the_sample_is_taken() {
    check(&sample()).unwrap();
}

#[test]
fn resources_are_unique_and_edges_hold() {
    let twice = refused(|catalog| catalog.resources.push(resource("motd", &[])));
    insta::assert_snapshot!(twice, @"resource `file.motd`: it is declared twice");
    let unknown = refused(|catalog| catalog.edges[0] = edge("file.motd", "file.other"));
    insta::assert_snapshot!(unknown, @"edge from `file.motd` to `file.other` (site.hcl:9:5): one end is not a resource of the catalog");
    let backwards = refused(|catalog| catalog.resources.reverse());
    insta::assert_snapshot!(backwards, @"edge from `file.motd` to `file.issue` (site.hcl:9:5): the order of resources goes against it");
    let itself = refused(|catalog| catalog.edges[0] = edge("file.motd", "file.motd"));
    insta::assert_snapshot!(itself, @"edge from `file.motd` to `file.motd` (site.hcl:9:5): a resource cannot go before itself");
    let doubled = refused(|catalog| catalog.edges.push(catalog.edges[0].clone()));
    insta::assert_snapshot!(doubled, @"`edges`: they are out of order, or one occurs twice");
    let elsewhere = refused(|catalog| {
        let mut again = catalog.edges[0].clone();
        again.source.line += 1;
        catalog.edges.push(again);
    });
    insta::assert_snapshot!(elsewhere, @"`edges`: they are out of order, or one occurs twice");
}

#[test]
fn every_type_has_its_own_module_and_no_module_is_idle() {
    let missing = refused(|catalog| catalog.modules.clear());
    insta::assert_snapshot!(missing, @"type `file`: no module serves it");
    let module = |content: &[u8], schema_version| Module { component: ComponentDigest::of(content), schema_version };
    let idle = refused(|catalog| {
        catalog.modules.insert("user".parse().unwrap(), module(b"u", 1));
    });
    insta::assert_snapshot!(idle, @"module `user`: no resource is of its type");
    let zero = refused(|catalog| {
        catalog.modules.insert("file".parse().unwrap(), module(b"f", 0));
    });
    insta::assert_snapshot!(zero, @"module `file`: schema versions start at 1");
    let shared = refused(|catalog| {
        catalog.resources[1].id.type_name = "user".parse().unwrap();
        catalog.edges.clear();
        let module = catalog.modules.values().next().unwrap().clone();
        catalog.modules.insert("user".parse().unwrap(), module);
    });
    insta::assert_snapshot!(shared, @"module `user`: it has the same component as `file`");
}

#[test]
fn assets_and_their_names_agree() {
    let unknown = refused(|catalog| semantics(catalog).assets = vec![AssetRef::Plain(AssetDigest::from_bytes([0; 32]))]);
    assert!(unknown.ends_with("is not in `assets`"), "{unknown}");
    let secret = refused(|catalog| semantics(catalog).assets = vec!["secret:file.motd/content".parse().unwrap()]);
    assert!(secret.ends_with("its secret `file.motd/content` is not in `secrets`"), "{secret}");
    let idle = |catalog: &mut Catalog| {
        catalog.assets.insert(AssetDigest::of(b"idle"), Asset { size: 4 });
    };
    assert!(refused(idle).ends_with("no resource names it"));
    let deferred = |catalog: &mut Catalog, source: &str| {
        idle(catalog);
        let sources = BTreeMap::from([(source.to_owned(), AssetDigest::of(b"idle"))]);
        let attributes = BTreeMap::from([("source".to_owned(), expression(r#"["literal","site.hcl:1:1+1","a"]"#))]);
        catalog.resources[1].state = State::Deferred { attributes, sources, blocks: Vec::new() };
    };
    let mut named = sample();
    deferred(&mut named, "source");
    check(&named).unwrap();
    let unnamed = refused(|catalog| deferred(catalog, "other"));
    assert!(unnamed.ends_with("the source `other` is not an attribute of it"), "{unnamed}");
    let large = refused(|catalog| catalog.assets.values_mut().for_each(|asset| asset.size = MAX_ASSET + 1));
    assert!(large.ends_with("it is larger than 8589934591 bytes"), "{large}");
}

#[test]
fn expressions_read_resources_that_are_there() {
    let reads = |id: &str| expression(&format!(r#"["not","site.hcl:1:1+1",["export","1:2+1","{id}","path"]]"#));
    let gated = |catalog: &mut Catalog, id: &str| {
        catalog.resources[1].control = Some(Box::new(Control { if_: None, unless: Some(reads(id)) }));
    };
    let mut known = sample();
    gated(&mut known, "file.motd");
    check(&known).unwrap();
    let error = refused(|catalog| gated(catalog, "file.other"));
    insta::assert_snapshot!(error, @"resource `file.issue`: it reads `file.other`, which is not a resource of the catalog");
    refused(|catalog| {
        let attributes = BTreeMap::from([("path".to_owned(), reads("file.other"))]);
        catalog.resources[1].state = State::Deferred { attributes, sources: BTreeMap::new(), blocks: Vec::new() };
    });
}

#[test]
fn lists_are_sorted_and_hold_nothing_twice() {
    let changes: [fn(&mut Catalog); 6] = [
        |catalog| double(&mut catalog.resources[0].claims),
        |catalog| double(&mut catalog.resources[0].effects),
        |catalog| catalog.resources[0].affected_paths.insert(0, "/z".into()),
        |catalog| catalog.resources[0].effects[0].actions.reverse(),
        |catalog| semantics(catalog).capabilities.reverse(),
        |catalog| semantics(catalog).prerequisites = vec!["b".into(), "a".into()],
    ];
    for change in changes {
        let error = refused(change);
        assert!(error.contains("are out of order, or one occurs twice"), "{error}");
    }
}

#[test]
fn times_lines_and_controls_are_in_their_ranges() {
    for timeout in [0, MAX_TIMEOUT_MS + 1, u64::MAX] {
        refused(|catalog| semantics(catalog).timeout_ms = timeout);
        refused(|catalog| catalog.resources[0].timeout_ms = Some(timeout));
    }
    refused(|catalog| catalog.resources[0].source.line = 0);
    refused(|catalog| catalog.resources[0].source.column = 0);
    refused(|catalog| catalog.resources[0].control = Some(Box::new(Control { if_: None, unless: None })));
}

#[test]
fn paths_are_absolute_and_plain() {
    let paths = ["", "etc", "/etc/", "//etc", "/etc//motd", "/etc/./motd", "/etc/../motd", "/a\0b", "//**", "/../**"];
    for path in paths {
        refused(|catalog| catalog.resources[0].claims[0].key = path.into());
        refused(|catalog| catalog.resources[0].effects[0].key = path.into());
        refused(|catalog| catalog.resources[0].affected_paths = vec![path.into()]);
    }
    for path in ["/", "/**", "/etc", "/etc/**", "/a b/…"] {
        let mut catalog = sample();
        catalog.resources[0].claims[0].key = path.into();
        check(&catalog).expect(path);
    }
}

#[test]
fn domains_belong_to_the_host_or_to_the_type() {
    for domain in ["paths", "other/thing", "file", "file/", "file/A", "/x", "file/a\u{1b}"] {
        let error = refused(|catalog| catalog.resources[0].claims[0].domain = domain.into());
        assert!(!error.contains('\u{1b}'), "{error}");
    }
    let mut catalog = sample();
    catalog.resources[0].claims[0].domain = "file/thing".into();
    check(&catalog).unwrap();
    refused(|catalog| catalog.resources[0].effects[0].actions.clear());
    refused(|catalog| semantics(catalog).capabilities = vec!["files".into()]);
    refused(|catalog| semantics(catalog).capabilities = vec!["files.Write".into()]);
}

/// The sample with a second resource that waits for the node, with two blocks of one name.
fn with_blocks() -> Catalog {
    let mut catalog = sample();
    let literal = || BTreeMap::from([("page".to_owned(), expression(r#"["literal","site.hcl:1:1+1","a"]"#))]);
    let block = |label: &str, attributes| DeferredBlock { name: "vhost".into(), label: Some(label.into()), attributes };
    let blocks = vec![block("a", BTreeMap::new()), block("b", literal())];
    catalog.assets.insert(AssetDigest::of(b"page"), Asset { size: 4 });
    let sources = BTreeMap::from([("vhost[1].page".to_owned(), AssetDigest::of(b"page"))]);
    catalog.resources[1].state = State::Deferred { attributes: BTreeMap::new(), sources, blocks };
    catalog
}

fn refused_with_blocks(change: impl FnOnce(&mut Vec<DeferredBlock>, &mut BTreeMap<String, AssetDigest>)) -> String {
    let mut catalog = with_blocks();
    let State::Deferred { blocks, sources, .. } = &mut catalog.resources[1].state else { panic!("it waits") };
    change(blocks, sources);
    check(&catalog).expect_err("the change must be found").to_string()
}

#[test]
fn blocks_hold_to_the_same_rules_as_what_is_around_them() {
    check(&with_blocks()).unwrap();
    let name = refused_with_blocks(|blocks, _| blocks[0].name = "a b".into());
    insta::assert_snapshot!(name, @"resource `file.issue`: `a b` is not a valid block");
    let label = refused_with_blocks(|blocks, _| blocks[0].label = Some("\u{1b}".into()));
    assert!(label.contains("a block `vhost` has a label that cannot be one") && !label.contains('\u{1b}'), "{label}");
    let attribute = refused_with_blocks(|blocks, _| {
        let value = blocks[1].attributes["page"].clone();
        blocks[0].attributes.insert("A".into(), value);
    });
    insta::assert_snapshot!(attribute, @"resource `file.issue`: `A` is not a valid attribute");
    let reads = refused_with_blocks(|blocks, _| {
        let reads = expression(r#"["export","site.hcl:1:1+1","file.other","path"]"#);
        blocks[0].attributes.insert("root".into(), reads);
    });
    insta::assert_snapshot!(reads, @"resource `file.issue`: it reads `file.other`, which is not a resource of the catalog");
    let many = refused_with_blocks(|blocks, _| {
        blocks.resize_with(1_001, || DeferredBlock { name: "rule".into(), label: None, attributes: BTreeMap::new() })
    });
    insta::assert_snapshot!(many, @"resource `file.issue`: it has more than 1000 blocks");
}

#[test]
fn a_source_is_an_attribute_that_is_given_wherever_it_stands() {
    for path in ["page", "vhost[0].page", "vhost[2].page", "vhost[1]", "vhost[01].page", "other[1].page"] {
        let error = refused_with_blocks(|_, sources| {
            let digest = sources.remove("vhost[1].page").unwrap();
            sources.insert(path.into(), digest);
        });
        assert!(error.ends_with(&format!("the source `{path}` is not an attribute of it")), "{error}");
    }
}
